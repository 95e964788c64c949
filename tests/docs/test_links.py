"""Every link from a document to a file of the repository, or to a part of one, leads there."""

import re
from pathlib import Path

import pytest
from django.utils.text import slugify

HOUSE = Path(__file__).parents[2]
PAGES = sorted(
    [*HOUSE.glob("*.md"), *(HOUSE / "docs").rglob("*.md"), HOUSE / "dpengine" / "README.md"]
)
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?[^)]*\)")


def parts(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {slugify(heading.replace("`", ""), allow_unicode=True) for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(HOUSE)))
def test_its_links_lead_somewhere(page):
    for path, part in LINK.findall(page.read_text(encoding="utf-8")):
        there = page.parent / path if path else page
        assert there.exists(), path
        assert not part or part in parts(there), f"{path}#{part}"


def test_there_are_many():
    assert len(PAGES) > 100
