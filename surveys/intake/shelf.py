"""Plans that reports came for, read once and kept: a Plan is frozen and never deleted, and its
study keeps its address.
"""

import threading
from collections.abc import Collection

from surveys.design import selectors as design
from surveys.design.models import Plan

SIZE = 256  # Plans; of more, those that came first are asked for anew
Plans = dict[tuple[str, str], Plan]  # by study and digest


class Shelf:
    """Plans by study and digest. Only what is there is kept: who asks for what is not asks anew."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.plans: Plans = {}

    def fetch(self, digests: Collection[str]) -> Plans:
        """Look for Plans in the database; keep and return them. Who asked reads what is returned:
        what is kept may be gone again.
        """
        found = {(plan.study.slug, plan.digest): plan for plan in design.plans_of(digests)}
        with self.lock:
            for key in found:
                self.plans.pop(key, None)  # what is asked for now goes last
            self.plans.update(found)
            while len(self.plans) > SIZE:
                del self.plans[next(iter(self.plans))]
        return found


shelf = Shelf()
