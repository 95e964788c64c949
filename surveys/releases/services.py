"""Charge, draw and store: the only place where central noise is drawn."""

import datetime

from django.db import IntegrityError, transaction

from surveys.aggregation import queries as aggregation
from surveys.design import queries as design
from surveys.design.models import Plan
from surveys.each import for_each
from surveys.ledger import queries as ledger
from surveys.ledger import services as charges
from surveys.releases import statistics
from surveys.releases.models import Release, Request

SCHEDULE = "the study's rule"  # who asks, when nobody does


def publish_due(*, now: datetime.datetime) -> list[int]:
    """Publish what every Plan's rule says is due; return the ids of the releases."""

    def publish_one(plan: Plan) -> Release | None:
        return publish_if_due(plan=plan, now=now) if is_due(plan=plan, now=now) else None

    return [release.pk for release in for_each(design.plans(), publish_one) if release]


@transaction.atomic
def publish_if_due(*, plan: Plan, now: datetime.datetime) -> Release | None:
    """Publish one Plan's numbers if its rule says so. The budget is held, so that no two workers both say yes."""
    charges.lock(_budget_of(plan))
    if not is_due(plan=plan, now=now):
        return None
    request = ask(plan=plan, who=SCHEDULE, today=now.date())
    return publish(request_id=request.pk, now=now)


def is_due(*, plan: Plan, now: datetime.datetime) -> bool:
    """Tell whether a Plan's rule asks for a publication, from public quantities only.

    Never before the smallest batch, never again for fewer new answers than that, and never
    when the budget cannot pay: a rule that has used up its cap falls silent.
    """
    rule = plan.content["publication"]
    last = Release.objects.filter(request__plan=plan).last()
    sealed = aggregation.sealed_reports(plan)
    new = sealed - (last.numbers["n"] if last else 0)
    if new < rule["smallest_batch"] or not _can_pay(plan):
        return False
    if not plan.is_open:
        return aggregation.everything_is_sealed(plan)
    if rule["rule"] != "every":
        return False
    return last is None or now - last.published_at >= datetime.timedelta(hours=rule["hours"])


def _can_pay(plan: Plan) -> bool:
    return ledger.account(_budget_of(plan)).can_pay(statistics.cost(statistics.parts_of(plan)))


def _budget_of(plan: Plan) -> int:
    budget_id = plan.study.budget_id
    if budget_id is None:
        raise RuntimeError(f"{plan} has no budget")
    return budget_id


def ask(*, plan: Plan, who: str, today: datetime.date) -> Request:
    """Return the request for a Plan's shares on all batches sealed by now, the earlier one if it was asked before."""
    parts = statistics.parts_of(plan)
    wanted = statistics.statistic(plan, parts, aggregation.totals(plan).batches)
    digest = statistics.digest(wanted)
    try:
        with transaction.atomic():
            return Request.objects.create(plan=plan, digest=digest, statistic=wanted, requested_on=today, who=who)
    except IntegrityError:
        return Request.objects.get(digest=digest)


@transaction.atomic
def publish(*, request_id: int, now: datetime.datetime) -> Release:
    """Charge for, draw and store one release, at most once.

    Charge and draw stand or fall together. A second call finds the first draw:
    fresh noise on the same totals would be a second release, paid for once.
    """
    request = Request.objects.select_for_update(of=("self",)).select_related("plan__study").get(pk=request_id)
    if done := Release.objects.filter(request=request).first():
        return done
    plan, parts = request.plan, statistics.parts_of(request.plan)
    totals = aggregation.totals(plan, request.statistic["batches"])
    entry = charges.charge(
        budget_id=_budget_of(plan),
        epsilon=statistics.cost(parts),
        statistic=request.digest,
        reason=f"Shares of {len(parts)} questions, wave {plan.wave}",
        mechanism=f"discrete Laplace, {len(parts)} tallies of {totals.reports:,} reports",
        who=request.who,
        day=now.date(),
    )
    numbers = statistics.draw(plan, parts, totals)
    return Release.objects.create(
        request=request, entry=entry, numbers=numbers, published_on=now.date(), published_at=now
    )
