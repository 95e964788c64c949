"""Say how many tests of each kind ran: the last lines of `make test`.

Reads what each run printed: pytest's closing line, and Node's counts.
"""

import re
import sys
from pathlib import Path

KINDS = {
    "node": "scripts, in Node",
    "sqlite": "Python, SQLite",
    "redis": "Python, Redis",
    "postgres": "Python, PostgreSQL",
    "chromium": "journeys, Chromium",
}
COUNTS = ("passed", "failed", "skipped")
NODE = re.compile(r"^\W*(pass|fail|skipped) (\d+)$", re.MULTILINE)
PYTEST = re.compile(r"^=*\s*((?:\d+ [a-z]+,? )+in [\d.]+s.*?)\s*=*$", re.MULTILINE)


def counts(printed: str) -> dict[str, int]:
    """Return how many tests passed, failed and were skipped; nothing if the run did not come to
    its end.
    """
    if closing := PYTEST.findall(printed):
        return {
            word: int(number)
            for number, word in re.findall(r"(\d+) ([a-z]+)", closing[-1])
            if word in COUNTS
        }
    return {
        {"pass": "passed", "fail": "failed"}.get(word, word): int(number)
        for word, number in NODE.findall(printed)
    }


def said(printed: str) -> str:
    """Return one line for a person: the closing line of the run, or why it was left out."""
    if closing := PYTEST.findall(printed):
        return str(closing[-1])
    if found := counts(printed):
        return ", ".join(f"{number} {word}" for word, number in found.items() if number)
    return printed.strip().splitlines()[-1] if printed.strip() else "did not run"


def main(folder: Path) -> None:
    total = dict.fromkeys(COUNTS, 0)
    print("\n== Summary")
    for name, kind in KINDS.items():
        log = folder / f"{name}.log"
        printed = log.read_text() if log.exists() else ""
        print(f"{kind:20} {said(printed)}")
        for word, number in counts(printed).items():
            total[word] += number
    print(", ".join(f"{number} {word}" for word, number in total.items()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
