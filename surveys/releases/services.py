"""Charge, draw and store: the only place where central noise is drawn.

Whoever draws holds the study's budget until it is stored, so that of any number of workers one
draws and the others find what it drew. Locks are taken in one order: budgets by id, then the row of
a series.
"""

import datetime
import threading
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

import structlog
from django.db import transaction
from django.db.models import Q
from django.utils import translation
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from msgspec.structs import replace

from dpengine.privacy import plain
from surveys import clock, metrics
from surveys.aggregation import selectors as aggregation
from surveys.design import selectors as design, services as lives
from surveys.design.models import Plan, Study
from surveys.encryption import has_first_key
from surveys.erasing import erasing
from surveys.isolation import isolate_failures
from surveys.ledger import services as charges
from surveys.ledger.models import Entry
from surveys.messages import message, plural_message
from surveys.releases import covered, selectors, statistics
from surveys.releases.agenda import Agenda
from surveys.releases.models import ERASED, Release, Request, Series, Step
from surveys.releases.numbers import Document
from surveys.releases.queries.base import InteractiveQuery, Query
from surveys.releases.queries.parameters import WrongParameter
from surveys.releases.selectors import SCHEDULE

log = structlog.get_logger(__name__)

MAX_REASON = 200
# seconds: somebody looks at the page
AT_ONCE = {"max_retries": 0, "socket_connect_timeout": 2, "socket_timeout": 2}
# until a sweep looks for a request whose message may be lost
WAITED = datetime.timedelta(seconds=15)


MECHANISM = plural_message(
    "%(mechanism)s; %(n)s report", "%(mechanism)s; %(n)s reports", number="n"
)
WANTED = message("a researcher wants the numbers as they are")
PAID = message("paid for in row %(number)s")
RETIRED = message("“%(study)s” is retired from %(day)s on. Nothing is published from it any more.")


class CannotAsk(Exception):
    """Nothing can be asked of this study now; the text says why."""


# Asking


@transaction.atomic
def ask_for(
    *, plan: Plan, kind: str, parameters: Document, who: str, now: datetime.datetime
) -> Request:
    """Return the confirmed request for a statistic on all batches sealed by now.

    The same again is the same request for ever, with the same numbers. One that could not be paid
    waits for a worker again. WrongParameter names what is wrong; CannotAsk says why nothing can
    be asked.
    """
    if reason := selectors.may_ask(plan, now.date()):
        raise CannotAsk(reason)
    query = selectors.asked(plan, kind, parameters)
    if query.n_is_public and not query.people(selectors.countable_batches(plan)):
        raise CannotAsk(_("No one whose responses are counted has been asked all of this yet."))
    if problem := selectors.too_dear(plan, query):
        raise WrongParameter("epsilon", problem)
    request = _request(
        plan=plan, query=query, batches=selectors.batches_named(plan), who=who, now=now
    )
    return confirm(request_id=request.pk, who=who, now=now)


@transaction.atomic
def confirm(*, request_id: int, who: str, now: datetime.datetime) -> Request:
    """Have a worker draw a request, again if the ledger refused it before.

    One that is drawn stays as it is. Whoever confirms what was refused pays from then on: it was
    their own budget that they were shown.
    """
    request = Request.objects.select_related("plan__study").get(pk=request_id)
    payer = {"who": who} if request.refused else {}
    waiting = Request.objects.filter(pk=request_id, release=None, series=None)
    if waiting.update(confirmed_at=now, refused="", is_waiting=True, **payer):
        transaction.on_commit(lambda: _tell_a_worker(request_id))
    request.refresh_from_db(fields=("who", "confirmed_at", "refused"))
    return request


def _ended(plan: Plan, now: datetime.datetime) -> str:
    """Say that a retired study publishes nothing, even before a worker has retired it."""
    day = design.ended_on(plan, now.date())
    return RETIRED.said(study=plan.study, day=date_format(day, "DATE_FORMAT")) if day else ""


def _request(
    *, plan: Plan, query: Query, batches: int, who: str, now: datetime.datetime
) -> Request:
    statistic = selectors.statistic(plan, query, batches)
    request, _is_new = Request.objects.get_or_create(
        digest=statistics.digest(statistic),
        defaults={
            "plan": plan,
            "statistic": statistic,
            "requested_on": now.date(),
            "who": who,
            "confirmed_at": now,
            "is_waiting": True,
        },
    )
    return request


def _tell_a_worker(request_id: int) -> None:
    """Send the request to a worker at once; a sweep finds it if the message is lost.

    In a thread: to load all that speaks with a broker takes a second of an idle processor, the
    first time, and several of one on which a site has just begun.
    """
    if selectors.drawn(Request.objects.get(pk=request_id)) is None:
        in_a_thread(partial(_send, request_id))


def in_a_thread(act: Callable[[], None]) -> None:
    """Do this without being waited for."""
    threading.Thread(target=act, daemon=True).start()


def _send(request_id: int) -> None:
    from kombu.exceptions import OperationalError as BrokerError  # pages begin without a broker

    from surveys.celery import app

    try:
        with app.connection_for_write(transport_options=AT_ONCE) as connection:
            app.send_task(
                "surveys.releases.tasks.publish",
                args=[request_id],
                retry=False,
                connection=connection,
            )
    except BrokerError as error:
        log.warning("no broker", kind=type(error).__name__)


# Publishing


def publish(*, request_id: int, now: datetime.datetime) -> Release | Series:
    """Charge for, draw and store one release, at most once.

    Charge and draw stand or fall together. A second call finds the first draw: fresh noise on the
    same totals would be a second release, paid for once. What it draws from is counted before
    anything is locked, so that nobody waits for that. Whatever is stored of it, a refusal too, is
    in English, whoever acts and in whatever language: this is the door.
    """
    if doubt := clock.doubt():
        raise CannotAsk(doubt)
    with translation.override("en"):
        request = Request.objects.select_related("plan__study__panel").get(pk=request_id)
        counted = _counted(request, now)
        with transaction.atomic():
            drawn = _publish(request, counted, now)
            Request.objects.filter(pk=request.pk).update(is_waiting=None)
            return drawn


def _counted(request: Request, now: datetime.datetime) -> dict[str, Any]:
    """Return what a request is drawn from, by its digest; nothing where nothing will be drawn.

    Sealed batches never change, and the digest names how many, of which Plan: whoever finds it
    under the lock would have counted the same.
    """
    if selectors.drawn(request) or _ended(request.plan, now):
        return {}
    query = selectors.query_of(request)
    if not query.n_is_public or not selectors.can_pay(request.plan, query, request.who, now):
        return {}  # what names no batches is counted under the lock
    counted = query.counted(request.statistic["batches"])
    return {statistics.digest(request.statistic): counted}


def _publish(request: Request, counted: dict[str, Any], now: datetime.datetime) -> Release | Series:
    charges.lock(*selectors.budgets_of(request.plan, request.who))
    if done := selectors.drawn(request):
        return done
    # As it is now, and held: who confirms it meanwhile waits, and does not pay for it.
    request = (
        Request.objects.select_for_update(of=("self",))
        .select_related("plan__study__panel")
        .get(pk=request.pk)
    )
    if reason := _ended(request.plan, now):
        raise charges.Refused(reason)
    query = selectors.query_of(request)
    batches = request.statistic["batches"]
    if query.n_is_public:
        n = query.people(batches)
    else:  # the noisy number of people; 0 where that is still to be drawn
        n = selectors.people_counted(request.plan)
        batches = aggregation.sealed_batches(request.plan)
    own = statistics.digest(request.statistic)

    def counts() -> Any:
        return counted[own] if own in counted else query.counted(batches)

    if isinstance(query, InteractiveQuery):
        entry = _charge(request, query, n=n, now=now)
        return _begin(request, query, entry, counts(), n=n, now=now)
    release = Release(
        request=request, salt=covered.new_salt(), published_on=now.date(), published_at=now
    )

    def draw() -> str:
        release.numbers = query.draw(counts(), n).document()
        return covered.digest_of(covered.document_of(release))

    release.entry = _charge(request, query, n=n, now=now, draw=draw)
    release.save(force_insert=True)
    return release


def _charge(
    request: Request,
    query: Query,
    *,
    n: int,
    now: datetime.datetime,
    draw: Callable[[], str] | None = None,
) -> Entry:
    """Charge every budget that applies; return the row of the study's own.

    A researcher's may have been opened while the study's was waited for. It is the youngest: it is
    locked last.
    """
    mechanism = query.mechanism
    if n and query.n_is_public:
        mechanism = MECHANISM(mechanism=mechanism, n=f"{n:,}")
    entries = charges.charge(
        budget_ids=selectors.budgets_of(request.plan, request.who),
        cost=query.cost,
        statistic=request.digest,
        reason=selectors.reason(request.plan, query)[:MAX_REASON],
        mechanism=mechanism[:MAX_REASON],
        sensitivity=query.sensitivity[:MAX_REASON],
        part=selectors.part_of(request.plan),
        who=request.who,
        now=now,
        n=n,
        draw=draw,
    )
    return next(entry for entry in entries if entry.budget_id == request.plan.study.budget_id)


def try_to_publish(*, request_id: int, now: datetime.datetime) -> Release | Series | None:
    """Publish a request, or keep with it why the ledger refused: it can be asked again. While the
    clock is in doubt it waits.
    """
    try:
        return publish(request_id=request_id, now=now)
    except CannotAsk:
        return None
    except charges.Refused as refusal:
        metrics.budget_refused(type(refusal).__name__)
        # made in English: `publish`
        Request.objects.filter(pk=request_id).update(refused=str(refusal)[:500], is_waiting=None)
        return None


def publish_asked(*, now: datetime.datetime) -> list[int]:
    """Publish confirmed requests whose message or worker was lost; return the ids drawn."""
    waiting = selectors.waiting_requests().filter(confirmed_at__lte=now - WAITED)
    done = isolate_failures(waiting, lambda each: try_to_publish(request_id=each.pk, now=now))
    return [drawn.pk for drawn in done if drawn]


# The rule of a study


def publish_due(*, now: datetime.datetime) -> list[int]:
    """Publish what every Plan's rule says is due; return the ids of the releases and steps."""
    if clock.doubt():
        return []
    agenda = Agenda(now)

    def publish_one(plan: Plan) -> Release | Step | None:
        if is_due(plan=plan, now=now):
            return publish_if_due(plan=plan, now=now)
        agenda.note_not_due(plan)
        return None

    return [done.pk for done in isolate_failures(agenda.plans(), publish_one) if done]


def is_any_due(*, now: datetime.datetime) -> bool:
    """Tell whether any Plan's rule asks for a publication."""
    return any(is_due(plan=plan, now=now) for plan in Agenda(now).plans())


@transaction.atomic
def publish_if_due(*, plan: Plan, now: datetime.datetime) -> Release | Step | None:
    """Publish one Plan's numbers if its rule says so. No second worker can say so meanwhile."""
    charges.lock(*selectors.budgets_of(plan, SCHEDULE))
    if not is_due(plan=plan, now=now):
        return None
    series = selectors.series_by_rule(plan)
    if series is not None:
        return take_step(series_id=series.pk, now=now)
    request = request_by_rule(plan=plan, now=now)
    drawn = publish(request_id=request.pk, now=now)
    return drawn if isinstance(drawn, Release) else drawn.published.last()


def request_by_rule(*, plan: Plan, now: datetime.datetime) -> Request:
    """Return the request that a Plan's rule makes on all batches sealed by now."""
    query = selectors.next_by_rule(plan)
    # a series counts later ones too
    batches = 0 if isinstance(query, InteractiveQuery) else selectors.batches_named(plan)
    return _request(plan=plan, query=query, batches=batches, who=SCHEDULE, now=now)


def is_due(*, plan: Plan, now: datetime.datetime) -> bool:
    """Tell whether a Plan's rule asks for a publication, from public quantities only.

    Never before the smallest batch, never again for fewer new answers than that, and never
    when the budget cannot pay: a rule that has used up its cap falls silent. A series is paid
    for, so that its steps wait for their hour and for one new answer only.
    """
    rule, people = plan.content.publication, selectors.people(plan)
    if _ended(plan, now):
        return False
    if people is None:  # to be counted, however many they are
        is_closed = not plan.is_open and aggregation.everything_is_sealed(plan)
        return is_closed and selectors.rule_can_pay(plan, now)
    if not selectors.publishes_by_rule(plan):
        return False
    series, last = selectors.series_by_rule(plan), selectors.last_by_rule(plan)
    new = people - (last.content.n if last else 0)
    if new < (1 if series else rule.smallest_batch) or not (
        not series.is_over if series else selectors.rule_can_pay(plan, now)
    ):
        return False
    if not plan.is_open:
        return aggregation.everything_is_sealed(plan) and (
            last is not None or selectors.waits(plan) is None
        )
    if not rule.hours:
        return False
    is_time = last is None or now - last.published_at >= datetime.timedelta(hours=rule.hours)
    return is_time and (last is not None or selectors.waits(plan) is None)


@transaction.atomic
def publish_anyway(*, plan: Plan, who: str, now: datetime.datetime) -> None:
    """Have the rule publish although its intervals will say next to nothing. Twice changes nothing.

    CannotAsk if nothing waits for that.
    """
    charges.lock(*selectors.budgets_of(plan, SCHEDULE))
    if selectors.is_wanted_anyway(plan):
        return
    if selectors.waits(plan) is None:
        raise CannotAsk(_("Nothing waits to be confirmed."))
    charges.record(
        budget_id=plan.study.budget_id,
        what=selectors.ANYWAY(),
        old="",
        new=plan.digest,
        why=WANTED(),
        who=who,
        now=now,
    )


# Series


def _begin(
    request: Request,
    query: InteractiveQuery,
    entry: Entry,
    counts: Any,
    *,
    n: int,
    now: datetime.datetime,
) -> Series:
    """Store a series with what it draws once, and its first step unless somebody asks for it."""
    series = Series(request=request, entry=entry)
    series.memory = query.start(counts, n)
    series.save(force_insert=True)
    if query.question_form() is None:
        take_step(series_id=series.pk, now=now)
    return series


@transaction.atomic
def take_step(*, series_id: int, now: datetime.datetime, question: Document | None = None) -> Step:
    """Draw and store the next step of a series, paid for with the first. CannotAsk if it is over.

    A question that was asked before gets the step it got: the same question again is the same
    answer for ever.
    """
    series = Series.objects.select_related("request__plan__study").get(pk=series_id)
    charges.lock(*selectors.budgets_of(series.request.plan, series.request.who))
    series = (
        Series.objects.select_for_update(of=("self",))
        .select_related("request__plan__study")
        .get(pk=series_id)
    )
    question = None if question is None else canonical(question)
    if question is not None and (same := series.published.filter(question=question).first()):
        return same
    if doubt := clock.doubt():
        raise CannotAsk(doubt)
    if series.is_over or _ended(series.request.plan, now):
        raise CannotAsk(_("The series has ended: nothing more will be drawn."))
    return _step(series, selectors.interactive_query_of(series.request), now=now, question=question)


def _step(
    series: Series,
    query: InteractiveQuery,
    *,
    now: datetime.datetime,
    question: Document | None,
) -> Step:
    batches = selectors.batches_for_step(series, query)
    n = query.people(batches)
    state, numbers = query.step(series.memory, query.counted(batches), n, question)
    series.steps += 1
    series.is_over = bool(state.get("over"))
    series.memory = {} if series.is_over else state
    series.save(update_fields=["steps", "is_over", "state"])
    step = Step.objects.create(
        series=series,
        number=series.steps,
        question=question,
        numbers=replace(numbers, batches=batches).document(),
        salt=covered.new_salt(),
        published_on=now.date(),
        published_at=now,
    )
    # The first row of its series paid for it: this one vouches for it.
    charges.record(
        budget_id=step.entry.budget_id,
        what=covered.STEP(number=step.number),
        old="",
        new=step.request.digest,
        why=PAID(number=step.entry.position),
        published=covered.digest_of(covered.document_of(step)),
        who=step.request.who,
        now=now,
    )
    return step


def canonical(question: Document) -> Document:
    """Return a question of a series in canonical JSON: sorted, decimals as text."""
    return {
        name: str(plain(value)) if isinstance(value, Decimal) else value
        for name, value in sorted(question.items())
        if value not in (None, "")
    }


def step_due(*, now: datetime.datetime) -> list[int]:
    """Take a step of every series with a batch it has not seen; return the ids."""

    def step_one(series: Series) -> Step | None:
        return take_step(series_id=series.pk, now=now) if selectors.has_new_batch(series) else None

    if clock.doubt():
        return []
    return [step.pk for step in isolate_failures(selectors.series_behind(), step_one) if step]


def retire_spent(*, now: datetime.datetime) -> list[int]:
    """Retire studies whose cap is reached and that nothing paid for is still due from."""
    going = Series.objects.filter(is_over=False).select_related("request__plan__study")

    def is_unfinished(study: Study) -> bool:
        return any(_may_deliver(series, now) for series in going.filter(request__plan__study=study))

    return lives.retire_spent(now=now, is_unfinished=is_unfinished)


def _may_deliver(series: Series, now: datetime.datetime) -> bool:
    """Tell whether a series can still have a step, and not only the right to one."""
    plan = series.request.plan
    if plan.is_open or not aggregation.everything_is_sealed(plan):
        return True
    if series.request.who == SCHEDULE:
        return is_due(plan=plan, now=now)
    return (
        selectors.has_new_batch(series)
        or selectors.interactive_query_of(series.request).question_form() is not None
    )


def erase_over() -> int:
    """Erase what ended series remembered, from the files too, not their steps; return how many."""
    retired = Q(request__plan__study__retired_on__isnull=False, is_over=False)
    remembering = Series.objects.filter(retired | Q(is_over=True, state=b""))
    if not remembering.exists():
        return 0
    with erasing(releases_series="state"):
        return remembering.update(is_over=True, state=ERASED)


def encrypt_anew() -> int:
    """Encrypt with the first key what series remember under an older one; return how many.

    Then erase how it was, from the files too. May raise InUse.
    """
    old = [
        series
        for series in Series.objects.filter(is_over=False)
        if not has_first_key(bytes(series.state))
    ]
    count = sum(isolate_failures(old, _encrypt_anew))
    with erasing(releases_series="state"):
        return count


@transaction.atomic
def _encrypt_anew(old: Series) -> bool:
    series = Series.objects.select_for_update(of=("self",)).select_related("request").get(pk=old.pk)
    if series.is_over:
        return False
    series.memory = series.memory  # sealed with the first key
    series.save(update_fields=["state"])
    return True
