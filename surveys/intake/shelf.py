"""Plans that reports came for, read once and kept: a Plan is frozen and never deleted, and its
study keeps its address.
"""

import threading
from collections.abc import Collection
from typing import Any, NamedTuple

from surveys.design import selectors as design
from surveys.design.models import Plan

SIZE = 256  # Plans, and as many studies; of more, those that came first are asked for anew


class Found(NamedTuple):
    """What the database has of what was asked for."""

    plans: dict[tuple[str, str], Plan]
    studies: dict[str, None]


class Shelf:
    """Plans by study and digest. Only what is there is kept: who asks for what is not asks anew."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.plans: dict[tuple[str, str], Plan] = {}
        self.studies: dict[str, None] = {}

    def fetch(self, slugs: Collection[str], digests: Collection[str]) -> Found:
        """Look for studies that have opened, and for Plans, in the database; keep and return them.
        Who asked reads what is returned: what is kept may be gone again.
        """
        plans = design.plans_of(digests) if digests else []
        found = Found(
            {(plan.study.slug, plan.digest): plan for plan in plans},
            dict.fromkeys(design.published_among(slugs)),
        )
        with self.lock:
            _keep(self.plans, found.plans)
            _keep(self.studies, found.studies)
        return found


def _keep(kept: dict[Any, Any], found: dict[Any, Any]) -> None:
    for key, value in found.items():
        kept.pop(key, None)  # what is asked for now goes last
        kept[key] = value
    while len(kept) > SIZE:
        del kept[next(iter(kept))]


shelf = Shelf()
