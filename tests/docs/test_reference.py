"""The reference under Help: settings, commands and JSON are those of the code, none missing."""

import ast
import re
from http import HTTPStatus

import msgspec
import pytest
from django.conf import settings
from django.core.management import get_commands, load_command_class

from dpengine.cli.commands import ANALYSE, PLAN_SIZE, PRIVATISE
from surveys.intake import reports
from tests.deploy.test_files import DEPLOY, variables_read
from tests.surveys.results.small import answer, open_small, publish

HOUSE = settings.BASE_DIR
GUIDES = HOUSE / "docs" / "guides"
LANGUAGES = {"en": GUIDES, "zh-hans": GUIDES / "zh-hans"}
in_both = pytest.mark.parametrize("folder", LANGUAGES.values(), ids=LANGUAGES)


def rows(text):
    """Return the rows of the tables of a text, without their heads."""
    found = re.findall(r"^\| (`.+|\d.+) \|$", text, re.MULTILINE)
    return [re.split(r" \| ?", row) for row in found]


def part(folder, name, number):
    return (folder / f"{name}.md").read_text().split("\n## ")[number]


def quoted(text):
    return re.findall("`([^`]+)`", text)


# Settings


@in_both
def test_each_setting_is_there_once(folder):
    names = [
        quoted(name)[0] for name, _default, _does in rows((folder / "settings.md").read_text())
    ]
    assert len(names) == len(set(names))
    assert set(names) == variables_read()


def literals():
    """Return the defaults that settings.py writes beside the name of a variable."""
    calls = (
        call
        for call in ast.walk(ast.parse((HOUSE / "surveys" / "settings.py").read_text()))
        if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("env.")
    )
    for call in calls:
        default = [*call.args[1:], *(word.value for word in call.keywords if word.arg == "default")]
        found = [each.value for each in default if isinstance(each, ast.Constant)]
        if found:
            value = found[-1]
            yield call.args[0].value, str(int(value) if isinstance(value, bool) else value)


@in_both
def test_defaults_are_those_of_the_settings_and_of_the_sample(folder):
    told = {
        quoted(name)[0]: quoted(default)
        for name, default, _ in rows((folder / "settings.md").read_text())
    }
    written = dict(literals())
    assert len(written) >= 12
    assert {name: told[name] for name in written} == {
        name: [each] for name, each in written.items()
    }
    sample = (DEPLOY / "env.sample").read_text()
    for name, value in re.findall(r"^#([A-Z_]+)=(.+)$", sample, re.MULTILINE):
        if name in written:
            assert value == written[name], name


# Commands


def options(parser):
    of_all = {"--help", "--version", "--settings", "--pythonpath", "--traceback", "--no-color"}
    of_all |= {"--force-color", "--verbosity", "--skip-checks"}
    long = (word for action in parser._actions for word in action.option_strings)
    return {word for word in long if word.startswith("--")} - of_all


@in_both
def test_each_command_of_the_site_is_there_with_its_options(folder):
    ours = {name for name, app in get_commands().items() if app.startswith("surveys.")}
    ours -= {"analyse", "plan-size"}  # those of the library
    told = {
        quoted(name)[0].split()[0]: quoted(more)
        for name, _does, more in rows(part(folder, "commands", 2) + part(folder, "commands", 3))
    }
    assert set(told) == ours
    for name, found in told.items():
        command = load_command_class(get_commands()[name], name)
        known = options(command.create_parser("manage.py", name))
        if not isinstance(command, djangos()):
            assert set(found) == known, name


def djangos():
    """Return the commands that are Django's, with options that Django's pages explain."""
    from django.contrib.auth.management.commands import changepassword, createsuperuser
    from django.core.management.commands import makemessages, makemigrations, migrate

    modules = (changepassword, createsuperuser, makemessages, makemigrations, migrate)
    return tuple(module.Command for module in modules)


@in_both
def test_each_command_of_the_library_is_there_with_its_options(folder):
    told = {
        quoted(name)[0].split()[0]: quoted(more)
        for name, _does, more in rows(part(folder, "commands", 4))
    }
    known = {"privatise": PRIVATISE, "analyse": ANALYSE, "plan-size": PLAN_SIZE}
    assert {name: set(found) for name, found in told.items()} == {
        name: {word for word in command.options if word.startswith("--")}
        for name, command in known.items()
    }


# JSON


@pytest.fixture
def published(db):
    plan = open_small(results="public")
    answer(plan)
    publish(plan)
    return plan


@in_both
def test_each_address_answers_and_its_keys_are_those_that_are_told(folder, client, published):
    study = published.study.slug
    digest = published.digest
    addresses = [quoted(address)[0] for address, _has in rows(part(folder, "json", 1))]
    assert len(addresses) == 13
    found = {}
    for address in addresses:
        path = address.replace("STUDY", study).replace("DIGEST", digest)
        answer = client.get(path.replace("RECEIPT", "0000-0000-0000"))
        assert answer.status_code == 200, address
        found[address] = answer
    keys = {key for cell, _has in rows(part(folder, "json", 2)) for key in quoted(cell)}
    assert keys == set(found["/registry/STUDY.json"].json())
    ledger = found["/registry/ledger.json"].getvalue()
    of_rows = {key for row in msgspec.json.decode(ledger)["rows"] for key in row}
    keys = {key for cell, _has in rows(part(folder, "json", 3)) for key in quoted(cell)}
    assert of_rows - {"reads"} <= keys <= of_rows | {"published"}
    keys = {key for cell, _has in rows(part(folder, "json", 4)) for key in quoted(cell)}
    assert keys == set(found["/api/v1/studies/STUDY/releases"].json()["releases"][0])
    assert set(found["/api/v1/receipts/RECEIPT"].json()) == {"accepted"}


@in_both
def test_a_response_has_the_parts_and_the_answers_that_are_told(folder):
    told = rows(part(folder, "json", 5))
    keys = [quoted(cell)[0] for cell, _has in told if cell.startswith("`")]
    assert keys == list(reports.Envelope.__struct_fields__)
    assert set(quoted(told[3][1])) == set(reports.Ticket.__struct_fields__)
    statuses = {int(each) for cell, _ in told for each in re.findall(r"^\d+|(?<=, )\d+", cell)}
    raised = set()
    for name in (
        "refusals.py",
        "intake/door.py",
        "intake/group.py",
        "intake/posts.py",
        "intake/reports.py",
    ):
        raised |= set(re.findall(r"HTTPStatus\.(\w+)", (HOUSE / "surveys" / name).read_text()))
    assert statuses == {HTTPStatus[name] for name in raised} | {413}
