"""What a site takes: seconds to its first page, memory by process, disk by package.

    python -m tests.bench.processes [another environment's python]

RSS counts what processes share in each of them, PSS once over all of them.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

from tests.bench.report import save, table
from tests.journeys.site import HOUSE, own_environment
from tests.patience import PATIENCE, became
from tests.ports import free_port

NAMES = {"valkey": "broker", "surveys worker": "worker", "granian": "web"}
SETTLED = 15.0  # seconds after the first page; the worker has begun and done its first tasks
PINNED = re.compile(r"^([\w.-]+)==", re.MULTILINE)


def main(python: str) -> None:
    with tempfile.TemporaryDirectory(prefix="candor-bench-") as folder:
        starts, processes = [], []
        for which in ("first, with the demo to make", "second"):
            seconds, processes = started(python, Path(folder))
            starts.append({"start": which, "seconds to the first page": seconds})
    table("Start", starts)
    table("Memory", processes)
    disk = list(packages(python))
    table("Disk", disk)
    save("processes", [*starts, *processes, *disk])


def started(python: str, folder: Path) -> tuple[float, list[dict[str, object]]]:
    """Start a site on a folder, and return seconds to its first page and memory by process."""
    environment = {**own_environment(folder), "CANDOR_PORT": str(free_port()), "CANDOR_DEMO": "1"}
    address = f"http://127.0.0.1:{environment['CANDOR_PORT']}/"
    begun = time.monotonic()
    with subprocess.Popen(
        [python, "manage.py", "up"], cwd=HOUSE, env=environment, stdout=subprocess.DEVNULL
    ) as site:
        try:
            assert became(lambda: answers(address), pause=0.02), f"no page in {PATIENCE:.0f} s"
            seconds = time.monotonic() - begun
            time.sleep(SETTLED)
            return seconds, memory(site.pid)
        finally:
            site.send_signal(signal.SIGTERM)


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def memory(root: int) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for pid in tree(root):
        words = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        name = next((name for word, name in NAMES.items() if word in words), "up")
        sizes = {kind: int(re.findall(rf"{kind}: +(\d+)", rollup)[0]) / 1024 for kind in KINDS}
        rows.append({"process": name, **sizes})
    whole = {kind: sum(float(str(row[kind])) for row in rows) for kind in KINDS}
    return [*rows, {"process": "together", **whole}]


KINDS = ("Rss", "Pss")  # MB


def tree(root: int) -> Iterator[int]:
    yield root
    for task in Path(f"/proc/{root}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield from tree(int(child))


def packages(python: str) -> Iterator[dict[str, object]]:
    """Return what the packages of requirements.txt take in an environment, the largest first."""
    prefix = Path(python).parent.parent
    asked = {plain(name) for name in PINNED.findall((HOUSE / "requirements.txt").read_text())}
    found = distributions(path=list(map(str, prefix.glob("lib/python*/site-packages"))))
    sizes = {each.name: size(each) for each in found if plain(each.name) in asked}
    for name, megabytes in sorted(sizes.items(), key=lambda item: -item[1])[:12]:
        yield {"package": name, "MB": megabytes}
    yield {"package": f"all {len(sizes)} of requirements.txt", "MB": sum(sizes.values())}


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.lower())


def size(package: Distribution) -> float:
    """Return what is there of a package's files, in MB; bytecode too."""
    files = {Path(str(package.locate_file(file))) for file in package.files or []}
    compiled = (folder.glob("*.pyc") for folder in {file.parent / "__pycache__" for file in files})
    every = files.union(*compiled)
    return sum(file.stat().st_size for file in every if file.is_file()) / 2**20


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else sys.executable))
