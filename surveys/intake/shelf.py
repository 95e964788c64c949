"""Plans that reports came for, read once and kept: a Plan is frozen and never deleted, and its
study keeps its address.
"""

import threading
from collections.abc import Collection
from typing import Any

from surveys.design import selectors as design
from surveys.design.models import Plan

SIZE = 256  # Plans, and as many studies; of more, those that came first are asked for anew


class Shelf:
    """Plans by study and digest. Only what is there is kept: who asks for what is not asks anew."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.plans: dict[tuple[str, str], Plan] = {}
        self.studies: dict[str, None] = {}

    def fetch(self, slugs: Collection[str], digests: Collection[str]) -> None:
        """Look for studies that have opened, and for Plans, in the database."""
        plans = design.plans_of(digests) if digests else []
        for plan in plans:
            plan.content.reports  # noqa: B018 (worked out now, not where a report waits)
        studies = design.published_among(slugs)
        with self.lock:
            self.plans.update({(plan.study.slug, plan.digest): plan for plan in plans})
            self.studies.update(dict.fromkeys(studies))
            _forget(self.plans)
            _forget(self.studies)


def _forget(kept: dict[Any, Any]) -> None:
    while len(kept) > SIZE:
        del kept[next(iter(kept))]


shelf = Shelf()
