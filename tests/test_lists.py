"""The lists of packages: every one pinned, with hashes, and no address to fetch them from."""

import re
from pathlib import Path

import pytest

HOUSE = Path(__file__).parent.parent
LISTS = (
    "requirements",
    "requirements-dev",
    "requirements-bench",
)
PACKAGE = re.compile(
    r"([\w.-]+)(?:\[[\w,]+\])?==([\w.]+)(?: *;[^\n\\]+)? *\\?\n((?: "
    r"+--hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)"
)


def wanted(name):
    """Return what a list of ours asks for, and the lists that it takes in."""
    lines = (
        line.partition("#")[0].strip() for line in (HOUSE / f"{name}.in").read_text().splitlines()
    )
    found = set()
    for line in filter(None, lines):
        taken = re.fullmatch(r"-r ([\w-]+)\.in", line)
        found |= wanted(taken[1]) if taken else {plain(*re.sub(r"\[.*\]", "", line).split("=="))}
    return found


def plain(name, version):
    return re.sub(r"[-_.]+", "-", name.lower()), version


@pytest.mark.parametrize("name", LISTS)
def test_every_line_is_a_version_with_hashes_and_no_address(name):
    text = re.sub(r"^#.*\n", "", (HOUSE / f"{name}.txt").read_text(), flags=re.MULTILINE)
    assert PACKAGE.sub("", text) == ""


@pytest.mark.parametrize("name", LISTS)
def test_what_was_asked_for_is_what_is_pinned(name):
    pinned = {plain(*found[:2]) for found in PACKAGE.findall((HOUSE / f"{name}.txt").read_text())}
    assert wanted(name) - pinned == set()
    assert not [each for each in pinned if each[0] in {"pip", "setuptools"}]


def test_the_tests_run_with_what_the_site_runs_with():
    site, tests, bench = (
        set(PACKAGE.findall((HOUSE / f"{name}.txt").read_text())) for name in LISTS
    )
    assert site <= tests <= bench
