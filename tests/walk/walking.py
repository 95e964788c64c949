"""Walk a study and say what came of it, so that somebody can see it again."""

import re
from collections import Counter

import pytest

from tests.walk.known import KNOWN
from tests.walk.life import Life, Walk
from tests.walk.studies import Wanted

WALKS: list[Walk] = []  # in this process


def walk_whole(wanted: Wanted) -> Walk:
    """Walk a study to its end; fail with every fault of it."""
    walk = Life(wanted).walk()
    WALKS.append(walk)
    slowest = f"{walk.slowest[0]:.1f} s, {walk.slowest[1]}"
    print(
        f"{wanted}: {walk.pages} pages in {walk.seconds:.1f} s, {walk.waves} waves, to {walk.ended}"
    )
    print(f"the slowest page took {slowest}", *walk.refusals, sep="\n")
    new = [each for each in walk.faults if not any(re.search(one, each.what) for one in KNOWN)]
    print(*new, sep="\n")
    if new:
        again = f"again: pytest tests/walk -k {wanted.name}"
        pytest.fail("\n".join([str(wanted), again, *map(str, new)]), pytrace=False)
    return walk


def summary() -> str:
    """Return what was walked in this process."""
    pages, seconds = sum(each.pages for each in WALKS), sum(each.seconds for each in WALKS)
    ends = Counter(each.ended for each in WALKS)
    told = ", ".join(f"{count} to “{end}”" for end, count in ends.items())
    return f"{len(WALKS)} studies, {pages} pages, {seconds:.0f} s: {told}"
