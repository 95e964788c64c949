"""What a reader of the registry looks for."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.utils.timezone import now

from surveys.design import selectors as design
from surveys.design.models import Plan
from surveys.results.registered import registered_all


@dataclass(frozen=True, slots=True)
class Search:
    """What a reader looks for; an empty part means any."""

    words: str = ""
    state: str = ""
    unit: str = ""
    model: str = ""

    @property
    def query(self) -> str:
        """Return what goes before the number of a page in its address."""
        parts = {"q": self.words, "state": self.state, "unit": self.unit, "model": self.model}
        return "".join(f"{urlencode({name: value})}&" for name, value in parts.items() if value)

    def plans(self) -> QuerySet[Plan, int]:
        """Return the newest Plans of the studies that are found, by id, in the registry's order."""
        narrowed = {"unit": self.unit, "changed": self.model}
        wanted = {name: part for name, part in narrowed.items() if part}
        plans = design.registered_plans(self.words, **wanted)
        if self.state == "retired":
            plans = plans.filter(study__retired_on__isnull=False)
        elif self.state:
            is_open = self.state == "collecting"
            plans = plans.filter(study__retired_on=None, closed_on__isnull=is_open)
        if self.state in ("closed", "spent"):
            # those whose cap is used up are few: a worker retires most within a minute
            maybe = plans.filter(study__in=design.maybe_spent()).values_list("pk", flat=True)
            found = registered_all(maybe, now())
            spent = Q(pk__in=[each.plan.pk for each in found if each.state == "spent"])
            plans = plans.filter(spent if self.state == "spent" else ~spent)
        return plans.values_list("pk", flat=True)
