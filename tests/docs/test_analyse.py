"""docs/analyse.md: what its examples print is what the commands print."""

import shlex
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

HOUSE = Path(__file__).parents[2]
PROMPT = "    $ python manage.py "


def examples() -> list[tuple[str, list[str]]]:
    """Return each command with the lines that stand under it."""
    found: list[tuple[str, list[str]]] = []
    is_under = False
    for line in (HOUSE / "docs" / "analyse.md").read_text(encoding="utf-8").splitlines():
        if line.startswith(PROMPT):
            found.append((line.removeprefix(PROMPT), []))
            is_under = True
        elif is_under and line.startswith("    "):
            found[-1][1].append(line.removeprefix("    "))
        else:
            is_under = False
    return found


@pytest.mark.parametrize(("command", "lines"), examples())
def test_an_example_prints_what_stands_under_it(
    command: str, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(HOUSE)
    out = StringIO()
    call_command(*shlex.split(command), stdout=out)
    assert lines
    assert "\n".join(lines) in out.getvalue()


def test_there_are_examples() -> None:
    assert len(examples()) == 2
