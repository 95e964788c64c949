"""A door that runs: granian in a process of its own, on a site of the tests' own."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.patience import PATIENCE, became
from tests.ports import free_port

HOUSE = Path(__file__).parent.parent
DOOR = ("--interface", "rsgi", "surveys.door:app")
PAGES = (
    "--interface",
    "wsgi",
    "--workers",
    "2",
    "--blocking-threads",
    "5",
    "surveys.wsgi:application",
)


def give_way() -> None:
    """Leave processors to others, as pages do where they are deployed. Linux may weigh sessions
    rather than processes (autogroup, sched(7)): so this process's session gives way too.
    """
    os.nice(10)
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text("10")


@dataclass
class Served:
    """A server, and where it listens."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path

    def workers(self) -> list[int]:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in children.read_text().split()]

    def seconds(self) -> float:
        """Return the processor time that its workers have used."""
        stats = [Path(f"/proc/{pid}/stat").read_text() for pid in self.workers()]
        ticks = [stat.rpartition(")")[2].split()[11:13] for stat in stats]
        return sum(int(one) for pair in ticks for one in pair) / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> int:
        """Return the resident memory of its workers."""
        pages = sum(
            int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in self.workers()
        )
        return pages * os.sysconf("SC_PAGE_SIZE") // 2**20

    def kill_worker(self) -> None:
        for pid in self.workers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)


@contextlib.contextmanager
def served(
    environment: dict[str, str],
    log: Path,
    *what: str,
    folder: Path = HOUSE,
    port: int = 0,
    light: bool = False,
) -> Iterator[Served]:
    """Serve an application of this folder until the block ends; a light one gives way to others, as
    pages do.
    """
    port = port or free_port()
    options = ("--host", "127.0.0.1", "--port", str(port), "--log-level", "warning")
    more = ("--respawn-failed-workers", "--workers-kill-timeout", "10")
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "granian", *options, *more, *what],
            cwd=folder,
            env=environment,
            stdout=output,
            stderr=output,
            start_new_session=light,
            preexec_fn=give_way if light else None,
        )
    found = Served(port, process, log)
    try:
        assert became(lambda: answers(port) or process.poll() is not None), log.read_text()
        assert process.poll() is None, log.read_text()
        yield found
    finally:
        process.terminate()
        process.wait(PATIENCE)


def answers(port: int) -> bool:
    """Tell whether somebody answers there, whatever they say."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)) as line:
        line.settimeout(5)
        line.sendall(b"GET /nobody HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        return line.recv(9) == b"HTTP/1.1 "
    return False
