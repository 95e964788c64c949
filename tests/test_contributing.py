"""The four lists of CONTRIBUTING.md are true: what is there already stands in these files."""

import re
from pathlib import Path

import pytest

from dpengine.local.channels import CHANNELS
from surveys.plan.kinds import KINDS
from surveys.releases.queries import EVERY
from surveys.results.exports import FORMATS

HOUSE = Path(__file__).parent.parent
PAGE = (HOUSE / "CONTRIBUTING.md").read_text()
MOST = {"a channel": 8, "a question kind": 8, "a query": 3, "an export": 3}  # files to touch


def steps(title: str) -> list[str]:
    section = PAGE.split(f"## Add {title}\n")[1].split("\n## ")[0]
    return re.findall(r"^\d+\. (.*)$", section, re.M)


def files(title: str) -> list[str]:
    """Return the first path of every step."""
    return [re.findall(r"`([^`]+)`", step)[0] for step in steps(title)]


def text(path: str) -> str:
    return (HOUSE / path).read_text()


@pytest.mark.parametrize(("title", "most"), MOST.items())
def test_no_list_is_longer_than_it_may_be(title, most):
    assert 0 < len(files(title)) <= most


def test_all_files_are_there_but_those_that_are_made():
    named = [path for title in MOST for path in files(title) if "<" not in path]
    assert [path for path in named if not (HOUSE / path).is_file()] == []


@pytest.mark.parametrize("kind", sorted({kind for kinds in CHANNELS.values() for kind in kinds}))
def test_every_channel_stands_in_the_files_of_its_list(kind):
    for path in files("a channel"):
        own = HOUSE / path.replace("<channel>", kind)
        assert own.is_file()
        assert kind in own.read_text()
    assert (HOUSE / f"tests/vectors/{kind}.json").is_file()


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_of_question_stands_in_what_is_shared(kind):
    for path in ("surveys/design/models.py", "tests/vectors/kinds.py"):
        assert f'"{kind}"' in text(path) or kind.upper() in text(path), path


@pytest.mark.parametrize("query", EVERY, ids=lambda query: query.kind)
def test_every_query_is_a_file_a_line_and_a_test(query):
    own, registry, test = (path.replace("<query>", query.kind) for path in files("a query"))
    assert query.__module__ == own.removesuffix(".py").replace("/", ".")
    assert query.__name__ in text(registry)
    assert query.__name__ in text(test)


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_export_is_a_function_a_line_and_a_test(suffix):
    name = FORMATS[suffix].write.__name__
    own, registry, test = files("an export")
    assert f"def {name}(" in text(own) + text(own.replace("plain", "labelled"))
    assert name in text(registry)
    assert suffix in text(test)
