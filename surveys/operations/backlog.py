"""What waits to be sealed and to be published, in numbers that are public under change-one, and in days.

A report has no time: only its day is kept, and not with its values. So nothing here tells when an answer came: the
age of what is unsealed is counted from the moment the site first owed a sweep, not from an arrival.
"""

import datetime
from dataclasses import dataclass
from itertools import accumulate

from surveys.aggregation import queries as aggregation
from surveys.design import queries as design
from surveys.design.models import Plan
from surveys.intake import queries as intake
from surveys.releases import queries as releases
from surveys.releases import services as publishing


@dataclass(frozen=True, slots=True)
class Unsealed:
    """Reports that wait for a sweep: all of them, and those of studies where one is due."""

    reports: int
    due: int


@dataclass(frozen=True, slots=True)
class Unpublished:
    """The oldest sealed batch that no publication by its study's rule has counted yet."""

    plan: Plan
    sealed_on: datetime.date
    batches: int


def unsealed(today: datetime.date) -> Unsealed:
    """A sweep is due where a smallest batch has come, or the wave takes no more answers."""
    counts = intake.open_counts()
    plans = {plan.pk: plan for plan in design.plans().filter(pk__in=counts)}
    due = sum(count for pk, count in counts.items() if _is_due(plans[pk], count, today))
    return Unsealed(sum(counts.values()), due)


def _is_due(plan: Plan, count: int, today: datetime.date) -> bool:
    return not plan.takes_answers(today) or count >= plan.content["publication"]["smallest_batch"]


def oldest_unpublished() -> Unpublished | None:
    """Return the oldest batch that waits, of studies that publish by a rule; None if none does."""
    plans = list(design.plans().filter(study__retired_on=None))
    last = releases.latest_releases(plans)
    by_rule = [plan for plan in plans if plan.content["publication"]["rule"] != "on-request"]
    found = [_first_beyond(plan, last[plan.pk].numbers["n"] if plan.pk in last else 0) for plan in by_rule]
    return min((each for each in found if each is not None), key=lambda each: each.sealed_on, default=None)


def _first_beyond(plan: Plan, published: int) -> Unpublished | None:
    """Return the first batch that holds reports beyond those that were published."""
    sizes, days = aggregation.batch_sizes(plan), aggregation.sealed_days(plan)
    waiting = [day for day, reports in zip(days, accumulate(sizes), strict=True) if reports > published]
    return Unpublished(plan, waiting[0], len(waiting)) if waiting else None


def due_now(now: datetime.datetime) -> int:
    """Return of how many studies something is due to be published and is not."""
    return sum(publishing.is_due(plan=plan, now=now) for plan in design.plans().filter(study__retired_on=None))
