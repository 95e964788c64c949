"""Play the insider: try to tell whose report is whose, from copies of the data of a rehearsal whose
people are known. Prints what it tried, how many people are hidden among how many, and the joins
that are right more often than chance; ends with 1 if there are any.

    python -m tests.linkage.audit COPY… --truth FILE [--log FILE]…
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.linkage.copies import Unreadable
from tests.linkage.joins import BadTruth, Join, audit, people_of

SHOWN = 20  # joins


def main(words: Sequence[str]) -> int:
    """Say what was found; return 1 if anything was, and 2 of what cannot be read."""
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "copies",
        nargs="+",
        metavar="COPY",
        help="an SQLite file, a dump of pg_dump, a data folder, postgresql:// (the oldest first)",
    )
    parser.add_argument(
        "--truth",
        type=Path,
        required=True,
        help="CSV, a line a person: stratum, fetched and answered (their order in whole "
        "numbers), list… and report… (identifiers on either side: a reference, a digest)",
    )
    parser.add_argument(
        "--log",
        type=Path,
        action="append",
        default=[],
        help="a log, or what a broker keeps: no identifier may stand in it",
    )
    asked = parser.parse_args(words)
    try:
        found = audit(people_of(asked.truth), asked.copies, asked.log)
    except (BadTruth, Unreadable, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    for look, sizes in found.sizes.items():
        said = ", ".join(f"{times} × {size}" for size, times in sorted(sizes.items()))
        print(f"{look}: hidden among each other, sets × people: {said}")
    least = min(found.joins, key=lambda each: each.likely, default=None)
    print(f"{len(found.joins)} joins tried")
    for join in found.found[:SHOWN] or ([least] if least else []):
        print(_said(join))
    for file, times in found.named.items():
        print(f"{file}: {times} identifiers")
    if found.found or any(found.named.values()):
        print(f"FOUND: {len(found.found)} joins tell more than chance")
        return 1
    print("Nothing tells more than chance.")
    return 0


def _said(join: Join) -> str:
    return (
        f"{join.copies}: {join.one} × {join.other}: {join.right} of {join.people} right where "
        f"chance has {join.sets}, {join.halves} in both first halves; by chance in all joins "
        f"{join.likely:.2g}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
