"""What the audit of packages says of weaknesses, and of none that it could ask for."""

import json

import pytest

from tools import audit_packages

SKIPPED = {"dependencies": [{"name": "django", "skip_reason": "not found"}]}
SOUND = {"dependencies": [{"name": "django", "version": "6.0", "vulns": []}]}
WEAK = {"dependencies": [{"name": "django", "version": "1.0", "vulns": [{"id": "PYSEC-1"}]}]}


@pytest.fixture
def printed(monkeypatch, tmp_path):
    """Have each program print the same text."""
    program = tmp_path / "printed"

    def by(text):
        program.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit 1\n")
        program.chmod(0o755)
        answer = audit_packages.answer
        monkeypatch.setattr(audit_packages, "answer", lambda *_command: answer(program))

    return by


@pytest.mark.parametrize("told", ["", "no way out", json.dumps({"message": "405"})])
def test_what_cannot_be_asked_is_one_plain_line_and_fails_nothing(printed, capsys, told):
    printed(told)
    assert audit_packages.main() == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("No data on weaknesses could be reached. Pinned on: requirements-bench")
    assert "package-lock.json (2" in line


def test_a_package_that_the_service_does_not_have_is_not_called_sound(printed):
    printed(json.dumps(SKIPPED))
    assert audit_packages.of_python("requirements.txt") is None


def test_a_weakness_is_named_and_fails(printed, capsys):
    printed(json.dumps(WEAK))
    assert audit_packages.main() == 1
    assert "django 1.0: PYSEC-1" in capsys.readouterr().out


def test_what_was_asked_of_every_package_is_sound(printed):
    printed(json.dumps(SOUND))
    assert audit_packages.of_python("requirements.txt") == []


def test_a_program_that_is_not_there_is_no_answer(tmp_path):
    assert audit_packages.answer(tmp_path / "nothing") is None
