"""docs/analyse.md: what its examples print is what the commands print."""

import shlex
from pathlib import Path

import pytest

from dpengine.cli.main import main

HOUSE = Path(__file__).parents[2]
PROMPT = "    $ dpengine "


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
    command: str,
    lines: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(HOUSE)
    main(shlex.split(command))
    assert lines
    assert "\n".join(lines) in capsys.readouterr().out


def test_there_are_examples() -> None:
    assert len(examples()) == 2
