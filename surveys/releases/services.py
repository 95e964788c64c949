"""Charge, draw and store: the only place where central noise is drawn.

Whoever draws holds the study's budget until it is stored, so that of any number of workers one draws and the others
find what it drew. Locks are taken in one order: budgets by id, then the row of a series.
"""

import datetime
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import structlog
from celery import current_app
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import translation
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError as BrokerError

from dpengine.privacy import plain
from surveys.aggregation import queries as aggregation
from surveys.design import queries as design
from surveys.design import services as lives
from surveys.design.models import Plan, Study
from surveys.each import for_each
from surveys.encryption import has_first_key
from surveys.erasing import erasing
from surveys.ledger import queries as ledger
from surveys.ledger import services as charges
from surveys.ledger.models import Entry
from surveys.releases import covered, queries, standing, statistics
from surveys.releases.asked.base import Asked, Refused, Standing
from surveys.releases.asked.shares import Shares
from surveys.releases.continual import Continual
from surveys.releases.models import Release, Request, Series, Step
from surveys.releases.queries import SCHEDULE

__all__ = ["Refused", "ask_for", "publish", "publish_asked", "publish_due", "take_step"]

log = structlog.get_logger(__name__)

LONGEST_REASON = 200
AT_ONCE = {"max_retries": 0, "socket_connect_timeout": 2, "socket_timeout": 2}  # seconds: somebody looks at the page
WAITED = datetime.timedelta(seconds=15)  # until a sweep looks for a request whose message may be lost


class CannotAsk(Exception):
    """Nothing can be asked of this study now; the text says why."""


# Asking


@transaction.atomic
def ask_for(*, plan: Plan, kind: str, parameters: Mapping[str, Any], who: str, now: datetime.datetime) -> Request:
    """Return the confirmed request for a statistic on all batches sealed by now.

    The same again is the same request for ever, with the same numbers. One that could not be paid waits for a
    worker again. Refused names the parameter that is wrong, CannotAsk says why nothing can be asked.
    """
    if reason := queries.may_ask(plan, now.date()):
        raise CannotAsk(reason)
    asked = queries.read(plan, kind, parameters)
    if problem := queries.too_dear(plan, asked):
        raise Refused("epsilon", problem)
    request = _request(plan=plan, asked=asked, batches=aggregation.sealed_batches(plan), who=who, now=now)
    return confirm(request_id=request.pk, who=who, now=now)


@transaction.atomic
def confirm(*, request_id: int, who: str, now: datetime.datetime) -> Request:
    """Have a worker draw a request, again if the ledger refused it before. One that is drawn stays as it is.

    Whoever confirms what was refused pays from then on: it was their own budget that they were shown.
    """
    request = Request.objects.select_related("plan__study").get(pk=request_id)
    payer = {"who": who} if request.refused else {}
    waiting = Request.objects.filter(pk=request_id, release=None, series=None)
    if waiting.update(confirmed_at=now, refused="", **payer):
        transaction.on_commit(lambda: _tell_a_worker(request_id))
    request.refresh_from_db(fields=("who", "confirmed_at", "refused"))
    return request


def _ended(plan: Plan, now: datetime.datetime) -> str:
    """Say that nothing is published any more, from the day of retirement on, before a worker has come to it too."""
    day = design.ended_on(plan, now.date())
    text = _("“%(study)s” is retired from %(day)s on. Nothing is published from it any more.")
    return text % {"study": plan.study, "day": date_format(day, "DATE_FORMAT")} if day else ""


def _request(*, plan: Plan, asked: Asked, batches: int, who: str, now: datetime.datetime) -> Request:
    wanted = queries.statistic(plan, asked, batches)
    digest = statistics.digest(wanted)
    try:
        with transaction.atomic():
            return Request.objects.create(
                plan=plan, digest=digest, statistic=wanted, requested_on=now.date(), who=who, confirmed_at=now
            )
    except IntegrityError:
        return Request.objects.get(digest=digest)


def _tell_a_worker(request_id: int) -> None:
    """Send the request to a worker at once. If the message is lost, the next sweep finds the request."""
    if queries.drawn(Request.objects.get(pk=request_id)) is not None:
        return
    try:
        with current_app.connection_for_write(transport_options=AT_ONCE) as connection:
            current_app.send_task(
                "surveys.releases.tasks.publish", args=[request_id], retry=False, connection=connection
            )
    except BrokerError as error:
        log.warning("no broker", kind=type(error).__name__)


# Publishing


@transaction.atomic
def publish(*, request_id: int, now: datetime.datetime) -> Release | Series:
    """Charge for, draw and store one release, at most once.

    Charge and draw stand or fall together. A second call finds the first draw:
    fresh noise on the same totals would be a second release, paid for once. Whatever is stored of it, a refusal too,
    is in English, whoever acts and in whatever language: this is the door.
    """
    with translation.override("en"):
        return _publish(Request.objects.select_related("plan__study__panel").get(pk=request_id), now)


def _publish(request: Request, now: datetime.datetime) -> Release | Series:
    charges.lock(*queries.budgets_of(request.plan, request.who))
    if done := queries.drawn(request):
        return done
    request = _held(request)
    if reason := _ended(request.plan, now):
        raise charges.Refused(reason)
    asked = queries.asked_of(request)
    n = aggregation.reports_in(request.plan, request.statistic["batches"])
    if isinstance(asked, Standing):
        return _begin(request, asked, _charge(request, asked, n=n, now=now), n=n, now=now)
    release = Release(request=request, salt=covered.new_salt(), published_on=now.date(), published_at=now)

    def draw() -> str:
        release.numbers = {**_draw(request, asked, n), "n": n}
        return covered.digest_of(covered.document_of(release))

    release.entry = _charge(request, asked, n=n, now=now, draw=draw)
    release.save(force_insert=True)
    return release


def _held(request: Request) -> Request:
    """Return a request as it is now, held: who confirms it meanwhile waits, and does not pay for it."""
    found = Request.objects.select_for_update(of=("self",)).select_related("plan__study__panel")
    return found.get(pk=request.pk)


def _charge(
    request: Request, asked: Asked, *, n: int, now: datetime.datetime, draw: Callable[[], str] | None = None
) -> Entry:
    """Charge every budget that applies; return the row of the study's own.

    A researcher's may have been opened while the study's was waited for. It is the youngest: it is locked last.
    """
    entries = charges.charge(
        budget_ids=queries.budgets_of(request.plan, request.who),
        cost=asked.cost,
        statistic=request.digest,
        reason=queries.reason(request.plan, asked)[:LONGEST_REASON],
        mechanism=(f"{asked.mechanism}; {n:,} reports" if n else asked.mechanism)[:LONGEST_REASON],
        sensitivity=asked.sensitivity[:LONGEST_REASON],
        part=queries.part_of(request.plan),
        who=request.who,
        now=now,
        n=n,
        draw=draw,
    )
    return next(entry for entry in entries if entry.budget_id == request.plan.study.budget_id)


def _draw(request: Request, asked: Asked, n: int) -> dict[str, Any]:
    plan, batches = request.plan, request.statistic["batches"]
    if isinstance(asked, Shares):  # the running tallies answer: no report is unpacked
        return asked.publish(aggregation.totals(plan, batches).counts, n)
    return asked.draw(aggregation.joint(plan, asked.questions, batches), n)


def try_to_publish(*, request_id: int, now: datetime.datetime) -> Release | Series | None:
    """Publish a request, or keep with it why the ledger refused: it can be confirmed again later."""
    try:
        return publish(request_id=request_id, now=now)
    except charges.Refused as refusal:
        Request.objects.filter(pk=request_id).update(refused=str(refusal)[:500])  # made in English: `publish`
        return None


def publish_asked(*, now: datetime.datetime) -> list[int]:
    """Publish every confirmed request whose message or worker was lost; return the ids of what was drawn."""
    waiting = queries.waiting_requests().filter(confirmed_at__lte=now - WAITED)

    def publish_one(request: Request) -> int | None:
        drawn = try_to_publish(request_id=request.pk, now=now)
        return drawn.pk if drawn else None

    return [pk for pk in for_each(waiting, publish_one) if pk]


# The rule of a study


def publish_due(*, now: datetime.datetime) -> list[int]:
    """Publish what every Plan's rule says is due; return the ids of the releases and steps."""

    def publish_one(plan: Plan) -> Release | Step | None:
        return publish_if_due(plan=plan, now=now) if is_due(plan=plan, now=now) else None

    return [done.pk for done in for_each(design.plans().select_related("study__panel"), publish_one) if done]


@transaction.atomic
def publish_if_due(*, plan: Plan, now: datetime.datetime) -> Release | Step | None:
    """Publish one Plan's numbers if its rule says so. The budget is held, so that no two workers both say yes."""
    charges.lock(*queries.budgets_of(plan, SCHEDULE))
    if not is_due(plan=plan, now=now):
        return None
    series = queries.series_by_rule(plan)
    if series is not None:
        return take_step(series_id=series.pk, now=now)
    request = request_by_rule(plan=plan, now=now)
    done = publish(request_id=request.pk, now=now)
    return done if isinstance(done, Release) else done.published.last()


def request_by_rule(*, plan: Plan, now: datetime.datetime) -> Request:
    """Return the request that a Plan's rule makes on all batches sealed by now, the earlier one if there is one."""
    asked = queries.by_rule(plan)
    batches = 0 if isinstance(asked, Standing) else aggregation.sealed_batches(plan)  # a series counts later ones too
    return _request(plan=plan, asked=asked, batches=batches, who=SCHEDULE, now=now)


def is_due(*, plan: Plan, now: datetime.datetime) -> bool:
    """Tell whether a Plan's rule asks for a publication, from public quantities only.

    Never before the smallest batch, never again for fewer new answers than that, and never
    when the budget cannot pay: a rule that has used up its cap falls silent. A series is paid
    for, so that its steps wait for their hour and for one new answer only.
    """
    rule = plan.content["publication"]
    if rule["rule"] == "on-request" or not statistics.public_names(plan) or _ended(plan, now):
        return False
    series, last = queries.series_by_rule(plan), queries.last_by_rule(plan)
    new = aggregation.sealed_reports(plan) - (last.numbers["n"] if last else 0)
    if new < (1 if series else rule["smallest_batch"]) or not (_goes_on(series) if series else _can_pay(plan, now)):
        return False
    if not plan.is_open:
        return aggregation.everything_is_sealed(plan)
    if "hours" not in rule:
        return False
    return last is None or now - last.published_at >= datetime.timedelta(hours=rule["hours"])


def _goes_on(series: Series) -> bool:
    return not series.is_over


def _can_pay(plan: Plan, now: datetime.datetime) -> bool:
    cost, part = queries.by_rule(plan).cost, queries.part_of(plan)
    accounts = [ledger.account(budget_id) for budget_id in queries.budgets_of(plan, SCHEDULE)]
    return all(account.can_pay(cost, part=part, now=now) for account in accounts)


# Series


def _begin(request: Request, asked: Standing, entry: Entry, *, n: int, now: datetime.datetime) -> Series:
    """Store a series with what it draws once, and its first step unless somebody has to ask for it."""
    counts = aggregation.joint(request.plan, asked.questions, request.statistic["batches"])
    state = asked.start(counts, n)
    series = Series.objects.create(request=request, entry=entry, state=standing.sealed(request, state))
    if asked.question_form(request.plan) is None:
        take_step(series_id=series.pk, now=now)
    return series


@transaction.atomic
def take_step(*, series_id: int, now: datetime.datetime, question: Mapping[str, Any] | None = None) -> Step:
    """Draw and store the next step of a series; it was paid for with the first. CannotAsk if there is none.

    A question that was asked before gets the step it got: the same question again is the same answer for ever.
    """
    series = Series.objects.select_related("request__plan__study").get(pk=series_id)
    charges.lock(*queries.budgets_of(series.request.plan, series.request.who))
    series = Series.objects.select_for_update(of=("self",)).select_related("request__plan__study").get(pk=series_id)
    question = None if question is None else canonical(question)
    if question is not None and (same := series.published.filter(question=question).first()):
        return same
    if series.is_over or _ended(series.request.plan, now):
        raise CannotAsk(_("It is over: nothing more is drawn."))
    return _step(series, queries.standing_of(series.request), now=now, question=question)


def _step(series: Series, asked: Standing, *, now: datetime.datetime, question: Mapping[str, Any] | None) -> Step:
    plan, batches = series.request.plan, queries.batches_for_step(series, asked)
    n = aggregation.reports_in(plan, batches)
    state = standing.opened(series)
    if isinstance(asked, Continual):  # the running tallies answer here too
        state, numbers = asked.refresh(state, aggregation.totals(plan, batches).counts, n)
    else:
        state, numbers = asked.step(state, aggregation.joint(plan, asked.questions, batches), n, question)
    series.steps += 1
    series.is_over = bool(state.get("over"))
    series.state = standing.sealed(series.request, {} if series.is_over else state)
    series.save(update_fields=["steps", "is_over", "state"])
    step = Step.objects.create(
        series=series,
        number=series.steps,
        question=question,
        numbers={**numbers, "n": n, "batches": batches},
        salt=covered.new_salt(),
        published_on=now.date(),
        published_at=now,
    )
    _vouch(step, now)
    return step


def _vouch(step: Step, now: datetime.datetime) -> None:
    """Write down, by its digest, what a step published: it was paid for with the first row of its series."""
    charges.record(
        budget_id=step.entry.budget_id,
        what=covered.named(step.number),
        old="",
        new=step.request.digest,
        why=f"paid for in row {step.entry.position}",
        published=covered.digest_of(covered.document_of(step)),
        who=step.request.who,
        now=now,
    )


def canonical(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return a question of a series so that the same one always has the same JSON: sorted, decimals as text."""
    said = {name: value for name, value in sorted(question.items()) if value not in (None, "")}
    return {name: str(plain(Decimal(value))) if isinstance(value, Decimal) else value for name, value in said.items()}


def step_due(*, now: datetime.datetime) -> list[int]:
    """Take a step of every series that was asked for and has a batch it has not seen; return the ids of the steps."""

    def step_one(series: Series) -> Step | None:
        return take_step(series_id=series.pk, now=now) if queries.has_new_batch(series) else None

    return [step.pk for step in for_each(queries.series_that_go_on(), step_one) if step]


def retire_spent(*, now: datetime.datetime) -> list[int]:
    """Retire the studies whose cap is reached and from which nothing paid for is still to come; return their ids."""
    going = Series.objects.filter(is_over=False).select_related("request__plan__study")

    def is_unfinished(study: Study) -> bool:
        return any(_may_deliver(series, now) for series in going.filter(request__plan__study=study))

    return lives.retire_spent(now=now, is_unfinished=is_unfinished)


def _may_deliver(series: Series, now: datetime.datetime) -> bool:
    """Tell whether a series that is not over can still have a step, and not only the right to one."""
    plan = series.request.plan
    if plan.is_open or not aggregation.everything_is_sealed(plan):
        return True
    if series.request.who == SCHEDULE:
        return is_due(plan=plan, now=now)
    return queries.has_new_batch(series) or queries.standing_of(series.request).question_form(plan) is not None


def erase_over() -> int:
    """Erase what series that are over or retired remembered, from the files too; their steps stay. Return how many."""
    retired = Q(request__plan__study__retired_on__isnull=False, is_over=False)
    remembering = Series.objects.filter(retired | Q(is_over=True, state=b""))
    if not remembering.exists():
        return 0
    with erasing(releases_series="state"):
        return remembering.update(is_over=True, state=standing.ERASED)


def encrypt_anew() -> int:
    """Encrypt with the first key what series remember under an older one, so that it can go; return how many.

    Then erase how it was, from the files too. May raise InUse.
    """
    old = [series for series in Series.objects.filter(is_over=False) if not has_first_key(bytes(series.state))]
    done = sum(for_each(old, _encrypt_anew))
    with erasing(releases_series="state"):
        return done


@transaction.atomic
def _encrypt_anew(found: Series) -> bool:
    series = Series.objects.select_for_update(of=("self",)).select_related("request").get(pk=found.pk)
    if series.is_over:
        return False
    series.state = standing.sealed(series.request, standing.opened(series))
    series.save(update_fields=["state"])
    return True
