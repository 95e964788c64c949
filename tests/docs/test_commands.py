"""Every command that a document prints is run by a test, or it says here why none runs it."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandParser, get_commands, load_command_class

from dpengine.cli.commands import COMMANDS
from dpengine.cli.main import main

HOUSE = Path(__file__).parents[2]
PAGES = [
    *(HOUSE / name for name in ("README.md", "CONTRIBUTING.md", "dpengine/README.md")),
    *sorted((HOUSE / "docs").glob("*.md")),
    *sorted((HOUSE / "docs" / "guides").glob("*.md")),
]
BLOCK = re.compile(
    r"```(?:ba)?sh\n(.*?)```|(?<=\n\n)((?: {4}[^\n]*\n)+)|(?<=\n\n)((?: {8}[^\n]*\n)+)", re.DOTALL
)
NO_COMMANDS = {"docs/design.md", "docs/theory.md"}  # pictures made of letters, and formulas
OTHER_LINES = (
    "scrape_configs:",
    "- job_name",
    "scheme:",
    "authorization:",
    "static_configs:",
    "UPDATE ",
)
RUN_BY = {  # a command of the site, and a test that runs it
    "analyse": "tests/surveys/planning/test_commands.py",
    "clock": "tests/surveys/test_clock.py",
    "collectstatic": "tests/surveys/operations/test_doctor.py",
    "doctor": "tests/surveys/operations/test_doctor.py",
    "forget": "tests/journeys/test_erased.py",
    "install_language": "tests/surveys/design/test_words.py",
    "invite": "tests/surveys/people/test_accounts.py",
    "migrate": "tests/surveys/operations/test_restore.py",
    "verify_ledger": "tests/surveys/operations/test_restore.py",
}
PROGRAMS = {  # why no test runs it as it is printed
    "apt-get": "as root, it installs packages",
    "certbot": "it asks an authority on the internet",
    "git": "it fetches a version from where an operator has it",
    ".venv/bin/pip": "it installs packages, as `make` does for every test",
    "pip": "it installs packages; tests/test_library.py builds and installs the library",
    "useradd": "as root",
    "install": "as root",
    "cp": "as root; tests/deploy reads the files with the tools that they are for",
    "rm": "as root",
    "ln": "as root",
    "sed": "as root",
    "editor": "a person types in it",
    "systemctl": "as root, with systemd; tests/deploy has systemd verify the units",
    "nginx": "as root; tests/deploy/test_nginx.py runs it with the same files",
    "runuser": "as root; tests/surveys/operations/test_restore.py does the same as another user",
    "P=$(openssl": "of the shell",
    "python3": "it makes the environment that the tests run in",
    "cd": "of the shell",
    "curl": "of a running site; tests/surveys/api asks for the same",
    "node": "`make test-node` runs it",
    "make": "it runs the tests",
}


def printed():
    """Yield the commands of all pages, with the page; a line with && has several."""
    for page in PAGES:
        name = str(page.relative_to(HOUSE))
        if name in NO_COMMANDS:
            continue
        for block in BLOCK.findall(page.read_text(encoding="utf-8")):
            text = re.sub(r" *\\\n +", " ", "".join(block))
            for line in text.splitlines():
                line = re.sub(r"\s+#.*", "", line.strip())
                if line and not line.startswith(("#", *OTHER_LINES)):
                    yield from ((name, part.strip()) for part in re.split(r"&&| \| ", line))


def lines():
    """Return the commands of all pages, without what the examples of docs/analyse.md print."""
    found = list(printed())
    return [
        (name, line.removeprefix("$ "))
        for name, line in found
        if name != "docs/analyse.md" or line.startswith(("$ ", "dpengine", "python"))
    ]


def program(line):
    return line.split()[0]


def test_there_are_many():
    found = {program(line) for _name, line in lines()}
    assert len(lines()) > 80
    assert {"dpengine", "deploy/manage", "python", *PROGRAMS} <= found


@pytest.mark.parametrize(("page", "line"), sorted(set(lines())))
def test_a_command_is_run_by_a_test_or_says_why_not(page, line):
    first, words = program(line), shlex.split(re.sub(r"\[[^]]*\]|[<>].*", "", line))
    if first.endswith("deploy/manage") or "manage.py" in words:
        place = next(i for i, word in enumerate(words) if word.endswith(("manage", "manage.py")))
        of_the_site(words[place + 1], words[place + 2 :])
    elif first == "dpengine":
        assert {word for word in words if word.startswith("--")} <= set(COMMANDS[words[1]].options)
    elif "-m" in words and first.endswith("python"):
        assert words[words.index("-m") + 1].startswith(("tests.", "pytest"))
        for path in (word for word in words if word.startswith("tests/")):
            assert (HOUSE / path).exists(), path
    elif first == "python":
        done = subprocess.run([sys.executable, *words[1:]], capture_output=True, check=True)
        assert done.stdout
    elif first not in ("sha256sum", "grep"):  # behind a pipe
        assert first in PROGRAMS, f"{page}: {line}"


def of_the_site(name, words):
    """Its words are read as it reads them, and a test runs it."""
    command = load_command_class(get_commands()[name], name)
    parser: CommandParser = command.create_parser("manage.py", name)
    parser.allow_abbrev = False
    parser.parse_args([{"LENGTH": "1"}.get(word, word) for word in words])
    assert re.search(rf"\b{name}\b", (HOUSE / RUN_BY[name]).read_text(encoding="utf-8"))


def test_the_example_of_the_reference_runs(capsys):
    for folder in ("guides", "guides/zh-hans"):
        text = (HOUSE / "docs" / folder / "commands.md").read_text(encoding="utf-8")
        (example,) = re.findall(r"^    \$ dpengine (.+)$", text, re.MULTILINE)
        main(shlex.split(example))
        assert "4333" in capsys.readouterr().out
