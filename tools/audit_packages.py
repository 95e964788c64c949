"""Name the pinned packages with known weaknesses; where their data cannot be had, say of when the
pins are. `make lock` ends with it.

Exits with 1 if there are weaknesses, and with 0 if nothing could be asked: a machine without a way
out pins as well.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HOUSE = Path(__file__).parent.parent
PIP_AUDIT = "pip-audit==2.10.1"
LISTS = ("requirements-bench.txt",)
PATIENCE = 300  # seconds


def main() -> int:
    python = {name: of_python(name) for name in LISTS}
    asked = {**python, "package-lock.json": of_node()}
    for name, found in asked.items():
        if found is not None:
            print(f"{name}: {'; '.join(found) or 'no known weakness'}")
    if unknown := [f"{name} ({pinned_on(name)})" for name in asked if asked[name] is None]:
        print(f"No data on weaknesses could be reached. Pinned on: {', '.join(unknown)}")
    return int(any(asked.values()))


def of_python(name: str) -> list[str] | None:
    """Return what is known of the packages of a list; None if that cannot be told of each: of what
    its service does not have, pip-audit says in the same breath that nothing is known against it.
    """
    uv = Path(sys.executable).with_name("uv")
    audit = (uv, "tool", "run", "--quiet", PIP_AUDIT, "--requirement", name, "--format", "json")
    told = answer(*audit, "--no-deps", "--disable-pip", "--progress-spinner", "off")
    if told is None or any("vulns" not in each for each in told.get("dependencies", [{}])):
        return None
    return [
        f"{each['name']} {each.get('version', '')}: {weakness['id']}"
        for each in told["dependencies"]
        for weakness in each["vulns"]
    ]


def of_node() -> list[str] | None:
    told = answer("npm", "audit", "--json", "--package-lock-only")
    if told is None or "vulnerabilities" not in told:
        return None
    found = told["vulnerabilities"].values()
    return [f"{each['name']}: {each['severity']}" for each in found]


def answer(*command: str | Path) -> dict[str, Any] | None:
    """Return the JSON object that a program prints, whatever it ends with; None if it is none."""
    try:
        done = subprocess.run(
            command, cwd=HOUSE, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
        told = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return None
    return told if isinstance(told, dict) else None


def pinned_on(name: str) -> str:
    """Return the day of the newest commit of a list, or that it is not committed yet."""
    try:
        done = subprocess.run(
            ("git", "log", "-1", "--format=%cs", "--", name),  # noqa: S607
            cwd=HOUSE,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return "a day that no history tells"
    return done.stdout.strip() or "a day that no history tells"


if __name__ == "__main__":
    sys.exit(main())
