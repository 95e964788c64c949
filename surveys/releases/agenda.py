"""Which Plans may be due: what has changed since their rules had nothing to publish.

Whether a rule publishes depends on what is sealed, on whether the Plan is open, on the ledger, and
on time. Of a Plan that was not due, that is kept, and the moment from which on time alone may make
it due. Asking who is due costs one query then, however many studies there are; `is_due` decides,
as ever. A Plan without such a note is asked each time: a note can be late, and is never needed.
"""

import datetime
from collections.abc import Iterator

from django.db import transaction
from django.db.models import F, Q

from surveys.aggregation import selectors as aggregation
from surveys.design import news, selectors as design
from surveys.design.models import Plan
from surveys.design.news import News
from surveys.ledger import selectors as ledger
from surveys.releases import selectors
from surveys.releases.models import NotDue, Release, Step
from surveys.releases.selectors import SCHEDULE

READER = "rules"
DAY = datetime.timedelta(days=1)
AT_A_TIME = 100  # Plans that are in memory


def read_on() -> News:
    """Read the ledger on, and drop the notes on all studies that it has news of."""
    unseen = news.of(READER)
    if unseen.start == unseen.end:
        return unseen  # nothing is written, nobody waits
    with transaction.atomic():
        if unseen.read():
            of_these = design.plans().filter(study__in=unseen.studies).order_by()
            NotDue.objects.filter(plan__in=of_these.values("pk")).delete()
    return unseen


def uncounted() -> dict[int, int]:
    """Return the living Plans whose rule is to count more than it has, by id, and how many reports
    it has counted; but those that protect whether somebody took part, and lists that are asked.
    """
    read_on()
    living = design.counted_live().filter(study__retired_on=None)
    with_more = living.annotate(sealed=aggregation.sealed_of("pk")).filter(
        not_due__published__lt=F("sealed")
    )
    counts = dict(with_more.values_list("pk", "not_due__published"))
    others = list(living.filter(not_due=None))
    last = selectors.latest_releases(others)
    counts |= {plan.pk: _published(plan, last.get(plan.pk)) for plan in others}
    return {pk: count for pk, count in counts.items() if count is not None}


class Agenda:
    """The Plans whose rules are to be asked at a moment, and notes of those that were not due."""

    def __init__(self, now: datetime.datetime) -> None:
        self.now = now
        self.news = read_on()
        self._found: dict[int, tuple[int, bool]] = {}

    def plans(self) -> Iterator[Plan]:
        """Yield the Plans that may be due."""
        changed = (
            Q(not_due=None)
            | Q(not_due__until__lte=self.now)
            | Q(not_due__sealed__lt=F("sealed"))
            | Q(not_due__was_open=True, closed_on__isnull=False)
        )
        living = design.plans().filter(study__retired_on=None).order_by()
        found = living.annotate(sealed=aggregation.sealed_of("pk")).filter(changed)
        rows = list(found.values_list("pk", "sealed", "closed_on"))
        # noted as it was before the rule is asked: what changes meanwhile is a change
        self._found = {pk: (sealed, closed_on is None) for pk, sealed, closed_on in rows}
        plans = design.plans().select_related("study__panel").order_by("study_id", "wave")
        found_ids = list(self._found)
        for start in range(0, len(found_ids), AT_A_TIME):
            yield from plans.filter(pk__in=found_ids[start : start + AT_A_TIME])

    @transaction.atomic
    def note_not_due(self, plan: Plan) -> None:
        """Note that a Plan of these was not due, unless somebody has read the ledger on: it may
        be due for what they found there.
        """
        is_swept = plan.is_open or aggregation.everything_is_sealed(plan)
        if not is_swept or design.ended_on(plan, self.now.date()) is not None:
            return  # it waits for what leaves no trace here: its last sweep; its retirement
        if news.hold(READER) != self.news.end:
            return
        sealed, was_open = self._found[plan.pk]
        note = NotDue(
            plan=plan,
            sealed=sealed,
            published=_published(plan, selectors.last_by_rule(plan)),
            was_open=was_open,
            until=_until(plan, self.now),
        )
        changes = ["sealed", "published", "was_open", "until"]
        NotDue.objects.bulk_create(
            [note], update_conflicts=True, unique_fields=["plan"], update_fields=changes
        )


def _published(plan: Plan, last: Release | Step | None) -> int | None:
    """Return how many reports the last publication of a Plan's rule counted; None where it is to
    count no more: it never does, or did so once, of all there are.
    """
    if plan.content.publication.rule == "on-request":
        return None
    return None if last and not plan.content.n_is_public else last.content.n if last else 0


def _until(plan: Plan, now: datetime.datetime) -> datetime.datetime | None:
    """Return the next moment at which time, by itself, lets a rule do what it may not do now: its
    hours have passed, a charge leaves the week that has a limit, or it is midnight, at which a
    list's batches are counted.
    """
    hours, last = plan.content.publication.hours, selectors.last_by_rule(plan)
    moments = [ledger.leave_the_week(selectors.budgets_of(plan, SCHEDULE), now)]
    if hours and last:
        moments.append(last.published_at + datetime.timedelta(hours=hours))
    if plan.content.invited:
        moments.append(datetime.datetime.combine(now.date(), datetime.time(), datetime.UTC) + DAY)
    return min((moment for moment in moments if moment and moment > now), default=None)
