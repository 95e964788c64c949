"""docs/design.md and docs/decisions: what they name is there, and the index has every record."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent.parent / "docs"
RECORDS = sorted(path for path in (DOCS / "decisions").glob("*.md") if path.stem != "README")
INDEX = (DOCS / "decisions" / "README.md").read_text()
TREES = ("surveys/", "dpengine/", "templates/", "tests/", "tools/", "deploy/", "locale/")
FILES = [
    f"/{path.relative_to(DOCS.parent)}"
    for tree in TREES
    for path in (DOCS.parent / tree).rglob("*.*")
]


def missing(text: str) -> list[str]:
    """Return the files and folders that a page names between backticks, and that are not there."""
    named = re.findall(r"`([\w./-]+)`", text)
    files = [
        name for name in named if re.search(r"\w\.(py|js|html|txt|json|service|sample)$", name)
    ]
    folders = [name for name in named if name.startswith(TREES) and name.endswith("/")]
    return [
        *(name for name in files if not any(each.endswith(f"/{name}") for each in FILES)),
        *(name for name in folders if not (DOCS.parent / name).is_dir()),
    ]


def test_every_path_of_the_page_is_there():
    assert missing((DOCS / "design.md").read_text()) == []


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_record_is_short_and_names_what_is_there(path):
    text = path.read_text()
    assert re.findall(r"^\*\*(\w+)\.\*\*", text, re.MULTILINE) == ["Context", "Decision", "Because"]
    assert len(text.split()) <= 120
    assert missing(text) == []


def test_the_index_has_each_record_once_by_its_title():
    titles = {path.name: path.read_text().splitlines()[0].removeprefix("# ") for path in RECORDS}
    linked = re.findall(r"^- \[(.*)\]\(([\w-]+\.md)\)$", INDEX, re.MULTILINE)
    assert sorted((name, title) for title, name in linked) == sorted(titles.items())
