"""Every section of docs/theory.md has an example; each runs, and its claims hold."""

import ast
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent.parent / "docs" / "theory.md"
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.M | re.S))
WANTED = (
    "simplex",
    "random variable",
    "quantifiers",
    "1 + ε",
    "convexity",
    "Group privacy",
    "n unknown",
    "Granularity",
    "Entropies",
    "divergences",
    "Bayes",
    "utility",
    "smoking",
    "κ",
    "Reconstruction",
    "lifetime",
    "depends on the data",
    "Pan-privacy",
    "Blind signatures",
    "Stable prices",
    "Subsample",
    "drawn questions",
)


def example(section: str) -> str:
    return "\n".join(re.findall(r"```python\n(.*?)```", section, re.S))


@pytest.mark.parametrize("title", SECTIONS)
def test_its_example_runs_and_claims_something(title):
    code = example(SECTIONS[title])
    assert code.count("assert ") >= 1
    exec(compile(code, title, "exec"), {})  # noqa: S102


@pytest.mark.parametrize("word", WANTED)
def test_the_page_has_a_section_on(word):
    assert any(word in title for title in SECTIONS)


@pytest.mark.parametrize("title", SECTIONS)
def test_an_example_fails_when_what_it_claims_is_turned_round(title):
    """The claims are not idle: negating all assertions must fail in each."""
    turned = ast.parse(example(SECTIONS[title]))
    for claim in (node for node in ast.walk(turned) if isinstance(node, ast.Assert)):
        claim.test = ast.copy_location(ast.UnaryOp(ast.Not(), claim.test), claim.test)
    with pytest.raises(AssertionError):
        exec(compile(ast.fix_missing_locations(turned), title, "exec"), {})  # noqa: S102


def test_pages_that_it_links_to_are_there():
    for link in re.findall(r"\]\(([^)#]+)\)", PAGE.read_text()):
        assert (PAGE.parent / link).exists(), link
