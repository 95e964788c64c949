"""`manage.py up`, for real: its processes are started, killed, and looked for afterwards."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from kombu.exceptions import OperationalError
from redis.exceptions import ConnectionError as NoConnection

from surveys.aggregation.tasks import sweep_all
from surveys.operations import up
from surveys.operations.tasks import ping
from tests import services
from tests.patience import PATIENCE, became
from tests.ports import free_port

HOUSE = Path(__file__).parents[3]
# seconds: a worker that starts hears no question, and a slow one answers late
WAITS = (0.5, 1, 2, 4, 8)
# words of their commands, and of no other
WEB, WORKER, BROKER = "surveys.operations.web", "-A surveys worker", "valkey-server"


@dataclass
class Site:
    """A site on a data folder and a port of its own, and what `ps` would say of it."""

    environment: dict[str, str]
    output: Path
    process: subprocess.Popen[bytes] | None = None
    before: int = 0  # characters of the output that earlier tests left

    def up(self) -> subprocess.Popen[bytes]:
        with self.output.open("ab") as output:
            return subprocess.Popen(
                [sys.executable, "manage.py", "up"],
                cwd=HOUSE,
                env=self.environment,
                stdout=output,
                stderr=output,
            )

    def start(self) -> None:
        self.process = self.up()
        assert became(self.answers), self.said
        assert became(lambda: "running on" in self.said), self.said

    @property
    def said(self) -> str:
        return self.output.read_text()[self.before :]

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def answers(self) -> bool:
        return self.status("/") == 200

    def status(self, path: str, body: bytes | None = None) -> int:
        """Return how a page, or a post of JSON, is answered; 0 if nobody does."""
        address = f"http://127.0.0.1:{self.environment['CANDOR_PORT']}{path}"
        asked = urllib.request.Request(address, body, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(asked, timeout=PATIENCE) as page:
                return int(page.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code
        except (urllib.error.URLError, OSError):
            return 0

    def processes(self) -> dict[int, str]:
        """Every living process with this site's data folder in its environment or its command,
        and its command.
        """
        data = self.environment["CANDOR_DATA"].encode()
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it ended meanwhile
                command = (folder / "cmdline").read_bytes()
                if data in command or b"CANDOR_DATA=" + data in (folder / "environ").read_bytes():
                    found[int(folder.name)] = command.replace(b"\0", b" ").decode()
        return found

    def child(self, word: str, parent: int | None = None) -> int | None:
        """Return the process of this word that `up`, or the given parent, started."""
        parents = {
            pid: parent_of(pid) for pid, command in self.processes().items() if word in command
        }
        return next(
            (pid for pid, mother in parents.items() if mother == (parent or self.pid)), None
        )

    def kill(self, pid: int | None) -> None:
        assert pid is not None
        os.kill(pid, signal.SIGKILL)

    def end(self, by: signal.Signals) -> int:
        assert self.process is not None
        self.process.send_signal(by)
        return self.process.wait(PATIENCE)


def parent_of(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return None


def heard(broker: str, ask: Callable[[Any], Any]) -> Any:
    """Ask the workers, with more time from try to try: question and answer both travel through
    the broker.
    """
    with Celery(broker=broker, set_as_current=False) as app:
        return next(
            filter(None, (ask(app.control.inspect(timeout=wait, limit=1)) for wait in WAITS)), {}
        )


def worker_answers(broker: str) -> bool:
    """Tell whether a worker gives a sign of life."""
    try:
        return bool(heard(broker, lambda workers: workers.ping()))
    except (OperationalError, NoConnection):
        return False


def send_ping(broker: str, queue: str = "celery") -> None:
    with Celery(broker=broker, set_as_current=False) as app:
        app.send_task(ping.name, queue=queue)


def taken(broker: str, task: str) -> int:
    """Return how many of a task the workers say they have taken: no result is kept."""
    stats = heard(broker, lambda workers: workers.stats())
    return sum(each["total"].get(task, 0) for each in stats.values())


def waiting(broker: str, queue: str) -> int:
    with Celery(broker=broker, set_as_current=False) as app, app.connection() as connection:
        try:
            return int(connection.default_channel.client.llen(queue))
        except (OperationalError, NoConnection):
            return -1


@contextlib.contextmanager
def new_site(output: Path) -> Iterator[Site]:
    """Yield a site that has not started, on a new folder; end what is left of it."""
    with services.temporary_folder() as data:
        variables = {
            "CANDOR_DATA": str(data),
            "CANDOR_PORT": str(free_port()),
            "CANDOR_MODE": "local",
        }
        ours = {"CANDOR_DEMO", "CANDOR_HOST", "REDIS_URL"}
        inherited = {name: value for name, value in os.environ.items() if name not in ours}
        site = Site({**inherited, **variables}, output)
        yield site
        if site.process is not None:
            site.process.kill()
            site.process.wait()
        became(lambda: not site.processes())
        left = site.processes()
        for pid in left:
            site.kill(pid)
        assert left == {}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with new_site(tmp_path / "output") as site:
        yield site


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The site of all tests that need a running one: its tables are made once."""
    with new_site(tmp_path_factory.mktemp("house") / "output") as site:
        site.output.touch()
        yield site


@pytest.fixture
def redis_url() -> Iterator[str]:
    with services.or_skip(services.redis) as url:
        yield url


@pytest.fixture
def running(house: Site) -> Site:
    """The site, started again if the test before has ended it."""
    house.before = len(house.output.read_text())
    if house.process is None or house.process.poll() is not None:
        house.start()
    return house


@pytest.fixture
def broker(running: Site) -> str:
    url = f"redis+socket://{running.environment['CANDOR_DATA']}/valkey.sock"
    assert became(lambda: worker_answers(url)), running.said
    return url


def test_one_command_runs_one_web_server_one_worker_and_a_broker(running, broker):
    started = {pid for pid in running.processes() if parent_of(pid) == running.pid}
    assert started == {running.child(word) for word in (WEB, WORKER, BROKER)}


def test_its_one_port_takes_reports_too(running):
    """The same posts to both ways of taking them: intake/test_rsgi.py, journeys/test_load.py."""
    assert running.status("/api/v1/studies/nowhere/reports", b"{}") == 404


def test_a_killed_server_is_started_again(running):
    first = running.child(WEB)
    running.kill(first)
    assert became(lambda: running.child(WEB) not in (None, first))
    assert became(running.answers)
    assert "web was killed by SIGKILL; starting it again in 0.2 s" in running.said


def test_a_killed_process_of_the_server_is_started_again(running):
    server = running.child(WEB)
    killed = running.child(WEB, server)
    running.kill(killed)
    assert became(lambda: running.child(WEB, server) not in (None, killed))
    assert became(running.answers)
    assert running.child(WEB) == server


def test_what_keeps_ending_is_started_later_each_time(monkeypatch, capsys):
    now = [100.0]
    monkeypatch.setattr(up.time, "monotonic", lambda: now[0])
    service = up.Service("fragile", sys.executable, "-c", "raise SystemExit(3)")
    delays = []
    for _ in range(10):
        service.process.wait()
        service.look_after()
        delays.append(round(service.due - now[0], 1))
        now[0] = service.due - 0.01
        service.look_after()
        assert service.process.returncode == 3, "its time has not come"
        now[0] = service.due
        service.look_after()
    assert delays == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30]
    service.process.wait()
    now[0] += up.STEADY + 1
    service.look_after()
    assert service.due - now[0] == pytest.approx(0.2), "it ran for long"
    assert "fragile ended: 3; starting it again in 0.2 s" in capsys.readouterr().out


@pytest.mark.parametrize("word", [WORKER, BROKER])
def test_work_goes_on_after_the_kill_of(running, broker, word):
    first = running.child(word)
    running.kill(first)
    assert became(lambda: running.child(word) not in (None, first))
    assert became(lambda: worker_answers(broker))


def test_a_task_that_waits_survives_the_kill_of_the_broker(running, broker):
    """It is in the broker's log before the sender hears that it was taken."""
    send_ping(broker, queue="of-nobody")
    first = running.child(BROKER)
    running.kill(first)
    assert became(lambda: running.child(BROKER) not in (None, first))
    assert became(lambda: waiting(broker, "of-nobody") == 1)


def test_the_scheduler_inside_a_killed_worker_comes_back_with_it(running, broker):
    """It has no process of its own that could be killed alone: the worker's child does tasks."""
    first = running.child(WORKER)
    assert len([pid for pid in running.processes() if parent_of(pid) == first]) == 1
    running.kill(first)
    assert became(lambda: running.child(WORKER) not in (None, first))
    assert became(lambda: taken(broker, sweep_all.name) >= 1), running.said


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_all_when_asked(running, broker, by):
    assert running.end(by) == 0
    assert became(lambda: running.processes() == {})


def test_it_ends_when_asked_before_it_answers(site):
    site.process = site.up()
    assert became(lambda: site.child(BROKER))
    site.end(signal.SIGTERM)
    assert became(lambda: site.processes() == {})


def test_killed_outright_it_leaves_no_process_behind(running, broker):
    running.kill(running.pid)
    running.process.wait()
    assert became(lambda: running.processes() == {})


def test_killed_while_the_web_server_starts_it_leaves_no_process_behind(running):
    """The server's worker then wakes up without the parent that it was to die with."""
    first = running.child(WEB)
    running.kill(first)
    assert became(lambda: running.child(WEB) not in (None, first))
    assert became(lambda: running.child(WEB, running.child(WEB)))
    running.kill(running.pid)
    running.process.wait()
    assert became(lambda: running.processes() == {})


def test_it_starts_again_on_the_data_it_left(running):
    key = Path(running.environment["CANDOR_DATA"], "secret.key").read_text()
    running.kill(running.pid)
    running.process.wait()
    running.start()
    assert Path(running.environment["CANDOR_DATA"], "secret.key").read_text() == key


def test_a_second_one_on_the_same_data_is_refused(running):
    second = running.up()
    assert second.wait(PATIENCE) == 1
    assert (
        f"already running on {running.environment['CANDOR_DATA']} (process {running.pid})"
        in running.said
    )
    assert running.answers()


def test_a_port_in_use_is_refused_by_name(site):
    with socket.create_server(("127.0.0.1", int(site.environment["CANDOR_PORT"]))):
        assert site.up().wait(PATIENCE) == 1
    assert f"Port {site.environment['CANDOR_PORT']} on 127.0.0.1" in site.said
    assert "CANDOR_PORT=" in site.said


@pytest.mark.parametrize("host", ["192.0.2.7", "::", "forms.example.org"])
def test_an_address_that_others_can_reach_is_refused_with_the_way_out(site, host):
    site.environment["CANDOR_HOST"] = host
    assert site.up().wait(PATIENCE) == 1
    assert f"CANDOR_HOST={host}" in site.said
    assert "docs/deploy.md" in site.said
    assert not Path(site.environment["CANDOR_DATA"], "up.lock").exists()


def test_nothing_is_served_on_a_site_that_cannot_be_prepared(site):
    Path(site.environment["CANDOR_DATA"], "candor.sqlite3").write_bytes(b"no database" * 100)
    assert site.up().wait(PATIENCE) == 1
    assert "candor: the site could not be prepared" in site.said
    assert "running on" not in site.said
    assert became(lambda: site.processes() == {})


def test_unsafe_settings_are_refused_in_the_words_of_the_checks(site):
    site.environment["CANDOR_MODE"] = "production"
    assert site.up().wait(PATIENCE) == 1
    assert "candor.E006" in site.said


def test_what_it_writes_only_its_owner_can_read(running):
    data = Path(running.environment["CANDOR_DATA"])
    assert {path.name for path in data.iterdir() if path.stat().st_mode & 0o077} == set()


@pytest.mark.redis
def test_with_a_redis_of_ones_own_no_broker_is_started_and_tasks_are_done(site, redis_url):
    site.environment["REDIS_URL"] = redis_url
    site.start()
    assert site.child(BROKER) is None
    assert became(lambda: worker_answers(redis_url)), site.said
    send_ping(redis_url)
    assert became(lambda: taken(redis_url, ping.name) >= 1), site.said
