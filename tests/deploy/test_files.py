"""The files to deploy with, each read by the tool that it is for."""

import ast
import base64
import contextlib
import datetime
import http.client
import json
import re
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from dpengine import __version__
from surveys import metrics
from surveys.aggregation.tasks import MAX_REQUEST, settle
from surveys.design.models import GRACE
from surveys.operations import exposition, up
from surveys.streams import AT_ONCE
from tests.journeys.site import HOUSE
from tests.patience import PATIENCE, became
from tests.ports import free_port
from tests.services import in_ci

DEPLOY = HOUSE / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("candor-*.service"))
BIN = Path(sys.executable).parent
MOST_EXPOSED = 1.5  # of 10, as systemd reckons; 1.4 when this was written
READERS = {
    "origin",
    "choice",
    "contact",
    "text",
    "whole",
    "flag",
    "folder",
    "keys",
    "names",
    "database",
    "redis",
    "email",
    "log",
    "zone",
}


def tool(name: str, package: str) -> str:
    """Return a program's path. Without it the test is skipped, but in CI it fails."""
    found = shutil.which(name, path=f"{BIN}:/usr/sbin:/usr/bin:/bin:/usr/local/bin")
    if found is None:
        (pytest.fail if in_ci() else pytest.skip)(f"{name} is not installed: {package}")
    return str(found)


def run(*command: str | Path, **more: Any) -> str:
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, **more
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A machine's folder of units, ours, with the programs of this one."""
    folder = tmp_path_factory.mktemp("root") / "etc" / "systemd" / "system"
    shutil.copytree(DEPLOY / "systemd", folder)
    for unit in folder.glob("*.service"):
        unit.write_text(unit.read_text().replace("/opt/candor/.venv/bin", str(BIN)))
    return folder.parent.parent.parent


def test_a_backup_is_made_when_the_order_of_the_day_before_is_gone():
    """That of waves which ended on it goes last, but where texts are very long."""
    timer = (DEPLOY / "systemd" / "candor-backup.timer").read_text()
    ((hour, minute),) = re.findall(r"^OnCalendar=\*-\*-\* (\d\d):(\d\d):00 UTC$", timer, re.M)
    planned = settings.CELERY_BEAT_SCHEDULE.values()
    every = next(each["schedule"] for each in planned if each["task"] == settle.name)
    tries = 4 * datetime.timedelta(seconds=every)
    assert datetime.timedelta(hours=int(hour), minutes=int(minute)) >= GRACE + MAX_REQUEST + tries


def test_systemd_finds_no_fault_in_the_units(root: Path) -> None:
    folder = root / "etc" / "systemd" / "system"
    units = [path for path in folder.iterdir() if path.is_file()]
    said = run(
        tool("systemd-analyze", "apt-get install systemd"),
        "verify",
        "--man=no",
        *units,
        env={"SYSTEMD_UNIT_PATH": f"{folder}:", "PATH": "/usr/bin:/bin"},
    )
    assert "candor" not in said, said


@pytest.mark.parametrize("unit", [path.name for path in UNITS])
def test_systemd_finds_a_unit_well_walled(root: Path, unit: str) -> None:
    analyze = tool("systemd-analyze", "apt-get install systemd")
    said = run(analyze, "security", "--offline=true", f"--root={root}", "--no-pager", unit)
    found = re.search(r"exposure level for \S+: ([\d.]+)", said)
    assert found, said
    print(f"{unit}: {found[1]}")
    assert float(found[1]) <= MOST_EXPOSED


def test_units_start_again_and_what_they_start_is_there() -> None:
    for path in UNITS:
        text = path.read_text()
        assert ("Restart=always" in text) != ("Type=oneshot" in text), path.name
        for program in re.findall(r"/opt/candor/\.venv/bin/(\w+)", text):
            assert (BIN / program).exists(), program
        for command in re.findall(r"manage\.py (\w+)", text):
            found = list(HOUSE.glob(f"surveys/*/management/commands/{command}.py"))
            assert found, command


def test_an_issuer_by_itself_shares_nothing_of_the_sites(root: Path) -> None:
    folder = root / "etc" / "systemd" / "system"
    sites = (folder / "candor-.service.d" / "hardening.conf").read_text()
    own = (folder / "candor-issuer.service.d" / "issuer.conf").read_text()
    assert "issuer.conf" > "hardening.conf", "what is read last holds"
    for name in ("User", "Group", "EnvironmentFile", "StateDirectory", "RuntimeDirectory"):
        theirs = re.findall(rf"^{name}=(.+)$", sites, re.MULTILINE)
        assert theirs, name
        assert not set(theirs) & set(re.findall(rf"^{name}=(.+)$", own, re.MULTILINE)), name
        if name not in ("User", "Group"):  # of which there may be several: those before are dropped
            assert re.search(rf"^{name}=$", own, re.MULTILINE), name


@pytest.fixture(scope="module")
def composed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What Compose reads: it looks for the files that an operator makes."""
    import yaml

    folder = tmp_path_factory.mktemp("compose")
    shutil.copytree(DEPLOY, folder / "deploy")
    shutil.copy(DEPLOY / "env.sample", folder / "deploy" / "candor.env")
    (folder / "deploy" / "postgres_password").write_text("x")
    compose = tool("docker-compose", "apt-get install docker-compose")
    return yaml.safe_load(run(compose, "-f", folder / "deploy" / "compose.yaml", "config"))


def test_compose_reads_its_file(composed: Any) -> None:
    ours = {"web", "door", "worker", "beat", "prepare", "nightly", "watch"}
    assert set(composed["services"]) == ours | {"database", "broker", "proxy"}
    for name, service in composed["services"].items():
        assert service.get("read_only") or name == "database", name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert "ports" not in service or name == "proxy", name
    assert composed["networks"]["inside"]["internal"]
    for name in ours:
        assert composed["services"][name]["cap_drop"] == ["ALL"]


def test_containers_and_units_start_the_same(composed: Any) -> None:
    """But for where they listen and what they remember on this machine's disk."""

    def plain(words: list[str]) -> list[str]:
        own = r"[\d.]+|/.+/beat-schedule"
        words = [word for word in words if word.isdigit() or not re.fullmatch(own, word)]
        return [Path(word).name if "/bin/" in word else word for word in words]

    image = re.search(r"^CMD (.+)", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    assert image
    for name in ("web", "door", "worker", "beat"):
        unit = (DEPLOY / "systemd" / f"candor-{name}.service").read_text()
        started = re.search(r"^ExecStart=(.+)", unit, re.MULTILINE)
        assert started
        container = composed["services"][name].get("command") or json.loads(image[1])
        assert plain(container) == plain(started[1].split()), name


def test_pages_have_a_tenth_of_the_doors_weight(composed: Any) -> None:
    unit = (DEPLOY / "systemd" / "candor-web.service").read_text()
    assert "CPUWeight=10\n" in unit  # of 100
    shares = {name: each["cpu_shares"] for name, each in composed["services"].items()}
    assert shares.pop("web") == 102
    assert set(shares.values()) == {1024}


UNITS = sorted((DEPLOY / "systemd").glob("*.service"))


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_no_unit_takes_all_of_the_machines_memory(path: Path) -> None:
    assert re.search(r"^MemoryMax=\d+[MG]$", path.read_text(), re.MULTILINE)


def test_a_linter_finds_nothing_in_the_dockerfile() -> None:
    linter = tool("hadolint", "make test installs it")
    assert run(linter, "--failure-threshold", "style", DEPLOY / "Dockerfile") == ""


def test_the_image_has_what_the_site_needs_runs_as_nobody_and_holds_no_key() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    stages = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
    assert len(stages) == 2
    assert re.search(r"^USER 10001:10001$", text, re.MULTILINE)
    copied = {
        name
        for line in re.findall(r"^COPY (?!--)(.+) \S+$", text, re.MULTILINE)
        for name in line.split()
    }
    let_in = set(
        re.findall(r"^!(\S+)$", (DEPLOY / "Dockerfile.dockerignore").read_text(), re.MULTILINE)
    )
    assert copied == let_in
    assert all((HOUSE / name).exists() for name in copied)
    rooms = {"dpengine", "surveys", "templates", "locale", "manage.py", "requirements.txt"}
    assert rooms <= copied


def test_containers_are_of_this_version() -> None:
    label = f"org.opencontainers.image.version={__version__}\n"
    assert label in (DEPLOY / "Dockerfile").read_text()
    assert f"  image: candor:{__version__}\n" in (DEPLOY / "compose.yaml").read_text()


SLOW_PAGE = """
import pathlib, sys, time
def application(environ, start_response):
    pathlib.Path({begun!r}).touch()
    while not pathlib.Path({go!r}).exists():
        time.sleep(0.05)
    time.sleep(2)
    start_response("200 OK", [("Content-Length", "4")])
    return [b"done"]
"""


def test_a_server_that_is_asked_to_end_answers_what_it_has_taken_first(tmp_path: Path) -> None:
    """The command of the unit, with a page that takes two seconds more than until then."""
    begun, go, port = tmp_path / "begun", tmp_path / "go", free_port()
    (tmp_path / "slow.py").write_text(SLOW_PAGE.format(begun=str(begun), go=str(go)))
    unit = (DEPLOY / "systemd" / "candor-web.service").read_text()
    started = re.search(
        r"^ExecStart=\S+/granian (.+) surveys\.wsgi:application$", unit, re.MULTILINE
    )
    assert started
    words = started[1].replace("--port 8000", f"--port {port}").split()
    server = subprocess.Popen([BIN / "granian", *words, "slow:application"], cwd=tmp_path)
    told: list[int] = []

    def visit() -> None:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port)) as page:
            page.request("GET", "/")
            told.append(page.getresponse().status)

    try:
        assert became(lambda: listens(port))
        visitor = threading.Thread(target=visit)
        visitor.start()
        assert became(begun.exists)
        server.terminate()
        go.touch()
        visitor.join(PATIENCE)
        assert told == [200]
        assert server.wait(PATIENCE) == 0
    finally:
        server.kill()
        server.wait()


def listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def variables_read() -> set[str]:
    tree = ast.parse((HOUSE / "surveys" / "settings.py").read_text())
    return {
        str(call.args[0].value)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in READERS
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id == "env"
        and isinstance(call.args[0], ast.Constant)
    }


def test_the_sample_names_every_variable_that_settings_read_and_no_other() -> None:
    text = (DEPLOY / "env.sample").read_text()
    named = re.findall(r"^#?([A-Z][A-Z_]+)=", text, re.MULTILINE)
    assert len(named) == len(set(named))
    assert set(named) == variables_read()


def test_the_sample_filled_in_is_let_through(tmp_path: Path) -> None:
    text = (DEPLOY / "env.sample").read_text()
    sample = dict(re.findall(r"^([A-Z][A-Z_]+)=(.*)$", text, re.MULTILINE))
    filled = {
        "SECRET_KEY": "aZ3-q" * 15,
        "PUBLICATION_KEYS": base64.b64encode(bytes(range(32))).decode(),
        "CANDOR_METRICS_TOKEN": "t" * 40,
        "CANDOR_DATA": str(tmp_path),
    }
    blank = {name for name, value in sample.items() if not value}
    assert blank <= {*filled, "EMAIL_URL", "CANDOR_ALARMS_TO", "CANDOR_CONTACT"}
    own = {**sample, **filled, "PATH": "/usr/bin:/bin"}
    run(sys.executable, "manage.py", "check", cwd=HOUSE, env=own)


def test_the_issuers_sample_filled_in_starts_an_issuer(tmp_path: Path) -> None:
    text = (DEPLOY / "issuer.env.sample").read_text()
    sample = dict(re.findall(r"^([A-Z][A-Z_]+)=(.*)$", text, re.MULTILINE))
    assert set(sample) <= variables_read()
    filled = {
        "SECRET_KEY": "aZ3-q" * 15,
        "PUBLICATION_KEYS": base64.b64encode(bytes(range(32))).decode(),
        "ISSUER_TOKEN": "t" * 40,
        "CANDOR_DATA": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{tmp_path}/issuer.sqlite3",
        "CANDOR_PORT": str(free_port()),
        "PATH": "/usr/bin:/bin",
    }
    assert {name for name, value in sample.items() if not value} <= set(filled)
    with subprocess.Popen(
        [sys.executable, "manage.py", "issuer"], cwd=HOUSE, env={**sample, **filled}
    ) as issuer:
        try:
            port = int(filled["CANDOR_PORT"])
            assert became(lambda: listens(port) or issuer.poll() is not None)
            with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port)) as page:
                told = {
                    "Host": sample["ALLOWED_HOSTS"],
                    "Origin": sample["ISSUER_ORIGIN"],
                    "X-Forwarded-Proto": "https",
                }
                page.request("OPTIONS", "/issuer/tickets", headers=told)
                answer = page.getresponse()
                assert answer.status == 204
                assert answer.headers["Access-Control-Allow-Origin"] == sample["ISSUER_ORIGIN"]
        finally:
            issuer.terminate()


def test_every_metric_of_the_dashboard_exists_and_every_one_that_exists_is_on_it() -> None:
    board = json.loads((DEPLOY / "grafana.json").read_text())
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    named = set(re.findall(r"candor_\w+", " ".join(asked)))
    counted = {f"candor_{name}{suffix}" for name in COUNTERS for suffix in ("_total",)}
    counted |= {f"candor_{name}{suffix}" for name in HISTOGRAMS for suffix in ("_bucket", "_count")}
    standing = {f"candor_{name}" for name in exposition.HELP}
    assert named <= counted | standing
    assert standing <= named
    assert {name.removeprefix("candor_") for name in metrics.OF_REQUESTS} <= COUNTERS | HISTOGRAMS
    assert all(any(name in expr for expr in asked) for name in COUNTERS | HISTOGRAMS)
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


def test_the_rules_of_alarms_ask_for_metrics_that_exist() -> None:
    import yaml

    (group,) = yaml.safe_load((DEPLOY / "alerts.yml").read_text())["groups"]
    named = set(re.findall(r"candor_(\w+)", " ".join(rule["expr"] for rule in group["rules"])))
    rows = {"ledger_rows", "queue_tasks", "backup_bytes"}  # of which none is wrong
    assert named == set(exposition.HELP) - rows


def kinds(of: str) -> set[str]:
    text = (HOUSE / "surveys" / "metrics.py").read_text()
    return set(re.findall(rf"{of}\(\s*\"(\w+)\"", text))


COUNTERS, HISTOGRAMS = kinds("Counter"), kinds("Histogram")


def test_pages_have_as_many_threads_everywhere_more_than_documents_take_and_no_warning():
    unit = (DEPLOY / "systemd" / "candor-web.service").read_text()
    image = (DEPLOY / "Dockerfile").read_text()
    found = re.findall(r"--blocking-threads\W+(\d+)", f"{unit} {image}")
    found.append(up.WEB[up.WEB.index("--blocking-threads") + 1])
    assert len(found) == 3
    assert len(set(found)) == 1
    processors = 2  # granian warns, where somebody runs the site for the first time, of more
    assert AT_ONCE + 2 < int(found[0]) <= 2 * processors + 1
