"""Say how many lines and branches of each room its tests reach, and fail where they are too few: the
last step of `make test-python`.

Reads what slipcover wrote (pyproject.toml: `tool.slipcover`). Processes that tests start are not
measured.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

# In a hundred. Wanted of the library and the ledger are 100, of every other room OTHERS: raise what is below as it
# is reached.
LEAST = {
    "dpengine": 99.9,
    "dpengine/cli": 95,
    "surveys": 89,
    "surveys/ledger": 100,
}
OTHERS = 90


def room(path: str) -> str:
    """Return the room of a file: the library but its command line, a folder of the site, or what
    lies beside the folders.
    """
    top, *below = Path(path).parts
    named = "/".join([top, *below[:1]]) if len(below) > 1 else top
    return named if top == "surveys" or named == "dpengine/cli" else top


def reached(files: dict[str, Any]) -> dict[str, tuple[float, list[str]]]:
    """Return of each room how much of it is reached, in a hundred, and what is not."""
    done: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    missing: dict[str, list[str]] = {}
    for path, of in files.items():
        name = room(path)
        done[name] += len(of["executed_lines"]) + len(of["executed_branches"])
        left = [f"{path}:{line}" for line in of["missing_lines"]]
        left += [f"{path}:{start}→{end or 'end'}" for start, end in of["missing_branches"]]
        missing.setdefault(name, []).extend(left)
        whole[name] += len(of["missing_lines"]) + len(of["missing_branches"])
    whole += done
    return {name: (100 * done[name] / whole[name], missing[name]) for name in sorted(whole)}


def main(file: Path) -> int:
    failed = 0
    for name, (found, missing) in reached(json.loads(file.read_text())["files"]).items():
        least = LEAST.get(name, OTHERS)
        print(f"{name:22} {found:6.2f} % reached, at least {least} % wanted")
        if found < least:
            failed += 1
            print("", *missing, sep="\n    not reached: ")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
