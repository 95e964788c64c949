"""Missing or contradictory settings: refused at start, with an id and a hint."""

import base64
import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from surveys import checks
from surveys.environment import Environment
from tests.patience import PATIENCE

HOUSE = Path(__file__).parent.parent.parent
KEY, OTHER_KEY = (base64.b64encode(bytes(range(start, start + 32))).decode() for start in (0, 100))
SECRET = "aZ3-q+7" * 15
SOUND = {
    "CANDOR_MODE": "production",
    "SECRET_KEY": "aZ3-q" * 15,
    "ALLOWED_HOSTS": "candor.example.org",
    "DATABASE_URL": "postgres://candor@db/candor",
    "REDIS_URL": "redis://queue:6379/0",
    "PUBLICATION_KEYS": f"{KEY}, {OTHER_KEY}",
}


def start(tmp_path, *command, **environment):
    settings = {"PATH": "/usr/bin:/bin", "CANDOR_DATA": str(tmp_path), **environment}
    return subprocess.run(
        [sys.executable, *command],
        cwd=HOUSE,
        env=settings,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def check(tmp_path, **environment):
    return start(tmp_path, "manage.py", "check", **environment)


def test_local_mode_needs_no_setting(tmp_path):
    assert check(tmp_path).returncode == 0


def test_production_with_everything_it_needs_is_let_through(tmp_path):
    done = check(tmp_path, **SOUND)
    assert done.returncode == 0, done.stderr


def test_a_replica_of_another_host_is_let_through(tmp_path):
    done = check(tmp_path, **SOUND, READ_DATABASE_URL="postgres://candor@copy/candor")
    assert done.returncode == 0, done.stderr


FAULTS = [
    ({"SECRET_KEY": ""}, "candor.E002"),
    ({"SECRET_KEY": "short"}, "candor.E002"),
    ({"SECRET_KEY": "a" * 60}, "candor.E002"),
    ({"ALLOWED_HOSTS": ""}, "candor.E003"),
    ({"ALLOWED_HOSTS": "*"}, "candor.E003"),
    ({"ALLOWED_HOSTS": "", "FORMS_URL": "https://forms.example.org"}, "candor.E003"),
    ({"DEBUG": "1"}, "candor.E004"),
    ({"DATABASE_URL": ""}, "candor.E005"),
    ({"DATABASE_URL": "sqlite:////tmp/x"}, "candor.E005"),
    ({"REDIS_URL": ""}, "candor.E006"),
    ({"CANDOR_DEMO": "1"}, "candor.E007"),
    ({"CANDOR_MODE": "local", "CANDOR_DEMO": "1", "CANDOR_HOST": "192.0.2.7"}, "candor.E008"),
    ({"DATABASE_URL": "postgres://"}, "candor.E001"),
    ({"DATABASE_URL": "mysql://root:hunter2@db/x"}, "candor.E001"),
    ({"REDIS_URL": "amqp://queue"}, "candor.E001"),
    ({"CANDOR_PORT": "eighty"}, "candor.E001"),
    ({"CANDOR_PORT": "70000"}, "candor.E001"),
    ({"DEBUG": "maybe"}, "candor.E001"),
    ({"CANDOR_MODE": "prod"}, "candor.E001"),
    ({"PUBLICATION_KEYS": ""}, "candor.E009"),
    ({"CANDOR_MODE": "local", "PUBLICATION_KEYS": "hunter2"}, "candor.E001"),
    ({"CANDOR_METRICS_TOKEN": "hunter2"}, "candor.E010"),
    ({"READ_DATABASE_URL": "sqlite:////tmp/x"}, "candor.E001"),
    ({"READ_DATABASE_URL": "mysql://root:hunter2@db/x"}, "candor.E001"),
    ({"READ_DATABASE_URL": "postgres://other:hunter2@db/candor"}, "candor.E011"),
    (
        {
            "CANDOR_MODE": "local",
            "DATABASE_URL": "",
            "READ_DATABASE_URL": "postgres://candor@copy/candor",
        },
        "candor.E011",
    ),
]


def starts():
    """Return the faults by starts: each as many as change a variable each, another mode alone."""
    found = []
    for fault in FAULTS:
        fit = (
            each
            for each in found
            if not any("CANDOR_MODE" in change or change.keys() & fault[0] for change, _ in each)
        )
        place = None if "CANDOR_MODE" in fault[0] else next(fit, None)
        if place is None:
            found.append(place := [])
        place.append(fault)
    return found


@pytest.mark.parametrize(
    "faults", starts(), ids=lambda faults: "-".join(id[7:] for _, id in faults)
)
def test_what_is_missing_or_contradictory_is_named_with_a_hint(tmp_path, faults):
    changes = {name: value for change, _ in faults for name, value in change.items()}
    done = check(tmp_path, **{**SOUND, **changes})
    assert done.returncode != 0
    errors = done.stderr.partition("ERRORS:")[2].partition("WARNINGS:")[0]
    for change, id in faults:
        named = rf"\({id}\) .*({'|'.join(change)}).*\n\s*HINT: "
        assert re.search(named, errors), (change, id)
    assert "hunter2" not in done.stderr
    assert KEY not in done.stderr


@pytest.mark.parametrize("module", ["surveys.wsgi", "surveys.celery", "surveys.scheduler"])
def test_server_worker_and_scheduler_refuse_to_start_too(tmp_path, module):
    start_it = {
        "surveys.wsgi": "import surveys.wsgi",
        "surveys.celery": "from surveys.celery import app, refuse_unsafe_settings; "
        "app.loader.import_default_modules();"
        " refuse_unsafe_settings()",
        "surveys.scheduler": "from surveys import scheduler; scheduler.refuse_unsafe_settings()",
    }
    done = start(tmp_path, "-c", start_it[module], **{**SOUND, "SECRET_KEY": ""})
    assert done.returncode != 0
    assert "candor.E002" in done.stderr


@pytest.mark.parametrize(
    "text",
    ["hunter2", base64.b64encode(b"hunter2").decode(), f"{KEY};{OTHER_KEY}", f"{KEY},", KEY[:-4]],
)
def test_keys_that_cannot_be_read_are_a_problem_that_repeats_none_of_them(text):
    environment = Environment({"PUBLICATION_KEYS": text})
    assert environment.keys("PUBLICATION_KEYS", None) == ()
    (problem,) = environment.problems
    assert problem.variable == "PUBLICATION_KEYS"
    assert text not in problem.expected + problem.hint


@pytest.mark.parametrize(
    ("keys", "secret"),
    [
        ((), SECRET),
        ((bytes(32),), SECRET),
        ((b"hunter2-" * 4,), SECRET),
        ((bytes(range(32)), bytes(range(32))), SECRET),
        ((SECRET.encode()[:32],), SECRET),
        ((hashlib.sha256(SECRET.encode()).digest(),), SECRET),
        ((bytes(range(32)),), KEY),
        ((bytes(range(7, 39)), bytes(range(32))), KEY.rstrip("=")),
    ],
)
def test_publication_keys_are_random_and_nothing_made_of_the_secret_key(settings, keys, secret):
    settings.PRODUCTION, settings.SECRET_KEY, settings.PUBLICATION_KEYS = True, secret, keys
    assert "candor.E009" in [error.id for error in checks.production_takes_nothing_for_granted()]
    settings.PUBLICATION_KEYS = (hashlib.sha256(b"another").digest(),)
    assert "candor.E009" not in [
        error.id for error in checks.production_takes_nothing_for_granted()
    ]


def test_every_problem_is_gathered_not_only_the_first():
    environment = Environment({"A": "x", "B": "y"})
    assert environment.whole("A", 1, least=0, most=9) == 1
    assert environment.flag("B", default=True) is True
    assert [problem.variable for problem in environment.problems] == ["A", "B"]


@pytest.mark.parametrize("held", ["", "not base64!", "c2hvcnQ="])
def test_a_damaged_key_file_is_named_before_anything_starts(tmp_path, held):
    (tmp_path / "publication.key").write_text(held)
    done = check(tmp_path, CANDOR_DATA=str(tmp_path))
    assert done.returncode != 0
    assert "PUBLICATION_KEYS (publication.key)" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("environment", "trusted"), [({}, "0"), ({"BEHIND_PROXY": "1"}, "1")])
def test_only_a_proxy_that_is_told_of_says_whose_attempts_are_counted(
    tmp_path, environment, trusted
):
    code = "from allauth import app_settings; print(app_settings.TRUSTED_PROXY_COUNT)"
    assert (
        start(
            tmp_path, "manage.py", "shell", "--no-imports", "-c", code, **environment
        ).stdout.strip()
        == trusted
    )


HEADERS = """
import django; django.setup()
from django.test import Client
print(Client().get("/health/live", secure=True, headers={"host": "candor.example.org"})
    .headers.get("Strict-Transport-Security"))
"""


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({}, "max-age=31536000"),
        (
            {"SECURE_HSTS_INCLUDE_SUBDOMAINS": "1", "SECURE_HSTS_PRELOAD": "1"},
            "max-age=31536000; includeSubDomains; preload",
        ),
    ],
)
def test_other_names_of_the_domain_are_bound_to_https_only_if_chosen(tmp_path, chosen, expected):
    done = start(
        tmp_path, "-c", HEADERS, **SOUND, **chosen, DJANGO_SETTINGS_MODULE="surveys.settings"
    )
    assert done.stdout.strip() == expected, done.stderr


def test_the_data_folder_of_a_checkout_is_for_its_owner_only():
    own = HOUSE / "var"
    own.mkdir(exist_ok=True)
    own.chmod(0o755)  # as `make`, or a version before, left it
    done = subprocess.run(
        [sys.executable, "-c", "import surveys.settings"],
        cwd=HOUSE,
        env={"PATH": "/usr/bin:/bin"},
        check=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, own.stat().st_mode & 0o777) == (0, 0o700)
