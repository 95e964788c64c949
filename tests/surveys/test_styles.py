"""In the dark colours differ and nothing else: there tests/journeys/axe.py looks for nothing else."""

import re
from pathlib import Path

import pytest

HOUSE = Path(__file__).parent.parent.parent
WORD, TAKEN = "prefers-color-scheme", (".css", ".html", ".js")
DARK = re.compile(rf"@media\s*\({WORD}:\s*dark\)\s*\{{\s*:root\s*\{{([^{{}}]*)\}}\s*\}}")
COLOUR = re.compile(r"--[a-z0-9-]+:\s*(#[0-9a-f]{6}|0 0 0 (transparent|1px var\(--line\), [^;]*))")
FILES = sorted(
    path
    for folder in ("surveys", "templates")
    for path in (HOUSE / folder).rglob("*")
    if path.suffix in TAKEN and WORD in path.read_text()
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_dark_gives_names_of_colours_other_values(path):
    text = path.read_text()
    blocks = DARK.findall(text)
    assert len(blocks) == text.count(WORD)
    declared = [each.strip() for block in blocks for each in block.split(";") if each.strip()]
    assert [each for each in declared if not COLOUR.fullmatch(each)] == []


def test_both_sets_of_colours_are_looked_at():
    assert {path.name for path in FILES} >= {"tokens.css", "tokens-work.css", "form.css"}
