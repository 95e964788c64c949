"""What must hold whatever happened: told from the rows, and from what clients were told."""

import datetime
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from django.db import connection

from surveys.aggregation import selectors as aggregation
from surveys.aggregation.models import Batch, Tally
from surveys.design import selectors as design
from surveys.design.models import Plan
from surveys.encryption import open_sealed
from surveys.intake import digest_keys, report_tables, selectors as intake
from surveys.intake.models import DigestKey, OpenReport, Receipt, Settled
from surveys.intake.reports import Report, open_envelope, read_report
from surveys.ledger.models import Budget, Entry
from surveys.operations.checks import faults
from surveys.releases.models import Release, Request, Series, Step
from tests.simulator.world import SMALLEST, Message, World

UNHEARD = (None, 503)  # it may have been taken, or not
NOT_COMPARED = ("django_", "operations_", "people_", "sqlite_")


def broken(world: World) -> list[str]:
    """Return all that does not hold between two acts."""
    kept, by_id = receipts(), defaultdict(list)
    for message in world.messages:
        by_id[message.digest].append(message)
    plans = {plan.pk: Kept(plan, key_of(plan)) for plan in design.plans()}
    taken = {at: taken_of(row, plans[row.plan_id], by_id[at]) for at, row in kept.items()}
    return [
        *_of_messages(kept, by_id, taken),
        *(wrong for each in plans.values() for wrong in _of_plan(each, kept, taken)),
        *(str(fault) for fault in faults()),
        *_of_charges(),
        *_of_numbers(world),
    ]


def half_done() -> Iterator[str]:
    """Find what waits for a hand once every task has run until nothing changed."""
    waiting = intake.open_counts()
    for plan in design.plans():
        is_retired, left = design.is_retired(plan), waiting.get(plan.pk, 0)
        if left >= (SMALLEST if plan.is_open else 1):
            yield f"{plan}: {left} reports wait for a sweep"
        if is_retired:
            yield from _left_of(plan)
        if not plan.is_open and plan.pk in report_tables.plans_with_a_place():
            yield f"{plan}: its table of reports is there"
    for request in Request.objects.filter(release=None, series=None, refused=""):
        yield f"{request} waits"


def _left_of(plan: Plan) -> Iterator[str]:
    """Find what is left of a retired study."""
    if Batch.objects.filter(plan=plan).exists() or Tally.objects.filter(plan=plan).exclude(
        counts={}
    ):
        yield f"{plan} is retired and has batches or counts"
    if DigestKey.objects.filter(plan=plan).exists():
        yield f"{plan} is retired and has a key"
    if Series.objects.filter(request__plan=plan, is_over=False).exists():
        yield f"{plan} is retired and has a series that remembers"


# What people were told, and what is there of it


def receipts() -> dict[bytes, Any]:
    kept: dict[bytes, Any] = {}
    for table in (Receipt, Settled):
        for row in table.objects.all():
            assert bytes(row.pk) not in kept, "a receipt stands in both tables"
            row.content_digest = bytes(row.content_digest)
            kept[bytes(row.pk)] = row
    return kept


def _of_messages(
    kept: dict[bytes, Any],
    by_id: dict[bytes, list[Message]],
    taken: dict[bytes, Message | None],
) -> Iterator[str]:
    for digest, messages in by_id.items():
        for message in messages:
            yield from _of_message(message, kept.get(digest), taken.get(digest))
    if unknown := kept.keys() - by_id.keys():
        yield f"{len(unknown)} receipts of no message"


def _of_message(message: Message, row: Any, taken: Message | None) -> Iterator[str]:
    name = f"message {message.report_id[:6]}, told {message.told}"
    if others := set(message.told) - {None, 200, 201, 409, 410, 503}:
        yield f"{name}: never {others}"
    if message.told.count(201) > 1:
        yield f"{name}: new twice"
    if row is None:
        if message.was_taken or 409 in message.told:
            yield f"{name}: there is no receipt"
        return
    if message.receipt and message.receipt != _receipt_of(row):
        yield f"{name}: its receipt says something else"
    if taken is message and not _could_be_taken(
        list(zip(message.steps, message.told, strict=True))
    ):
        yield f"{name}: it was taken"
    if taken is not message and taken is not None and message.was_taken:
        yield f"{name}: it was not taken"


def _receipt_of(row: Any) -> tuple[str, str]:
    from surveys.intake.receipts import number

    said = number(bytes(row.pk))
    day = intake.day_accepted(said)
    return said, day.isoformat() if isinstance(day, datetime.date) else "never"


def _could_be_taken(tries: list[tuple[int, int | None]]) -> bool:
    """Tell whether a message can have been taken at one of its tries, by what was answered before
    and after: (step, status), those of one step in any order.
    """
    return any(
        status in (201, *UNHEARD)
        and not any(then < step and said in (200, 201) for then, said in tries)
        and all(said in (200, *UNHEARD) for then, said in tries if then > step)
        for step, status in tries
    )


@dataclass(frozen=True, slots=True)
class Kept:
    """A Plan, and the key of its receipts: None once it is gone."""

    plan: Plan
    key: bytes | None


def key_of(plan: Plan) -> bytes | None:
    sealed = DigestKey.objects.filter(plan=plan).first()
    return None if sealed is None else sealed.opened()


def taken_of(row: Any, kept: Kept, messages: list[Message]) -> Message | None:
    """Return the message that a receipt is of; None once its key is gone."""
    if kept.key is None:
        return None
    for message in messages:
        if message.plan == kept.plan.digest:
            content = report_of(message, kept.plan).canonical_content
            if digest_keys.digest(kept.key, message.report_id, content) == row.content_digest:
                return message
    raise AssertionError("a receipt is of none of the messages with its id")


def report_of(message: Message, plan: Plan) -> Report:
    return read_report(open_envelope(message.body), plan)


# What is there of a Plan's reports


def _of_plan(
    each: Kept, kept: dict[bytes, Any], taken: dict[bytes, Message | None]
) -> Iterator[str]:
    plan = each.plan
    batches = list(Batch.objects.filter(plan=plan).order_by("number"))
    tally = Tally.objects.filter(plan=plan).first() or Tally(plan=plan)
    rows = [digest for digest, row in kept.items() if row.plan_id == plan.pk]
    waiting = OpenReport.objects.filter(plan=plan).count()
    if design.is_retired(plan):
        if tally.reports + waiting > len(rows):
            yield f"{plan}: {len(rows)} receipts, {tally.reports} sealed, {waiting} wait"
        return
    if tally.reports + waiting != len(rows):
        yield f"{plan}: {len(rows)} receipts, {tally.reports} sealed, {waiting} wait"
    if [batch.number for batch in batches] != list(range(1, tally.batches + 1)):
        yield f"{plan}: batches {[batch.number for batch in batches]} of {tally.batches}"
    if sum(batch.size for batch in batches) != tally.reports:
        yield f"{plan}: batches of {[batch.size for batch in batches]}, tally of {tally.reports}"
    hidden = batches if plan.is_open else batches[:-1]
    if any(batch.size < SMALLEST for batch in hidden):
        yield f"{plan}: batches of {[batch.size for batch in batches]}, at least {SMALLEST}"
    if batches and tally.counts != aggregation.recount(
        plan, aggregation.sealed(plan, tally.batches), plan.content.reports
    ):
        yield f"{plan}: the tally is not what its batches hold"
    sent = [report_of(one, plan) for one in map(taken.get, rows) if one is not None]
    yield from _of_rows(plan, sent)


def _of_rows(plan: Plan, sent: list[Report]) -> Iterator[str]:
    """Find reports that are not there exactly once, by all that they say."""
    content, aad = plan.content, intake.report_aad(plan.digest)
    waiting = [
        intake.WaitingReport(
            json.loads(values), open_sealed(bytes(given), about=aad) if given else b""
        )
        for values, given in OpenReport.objects.filter(plan=plan).values_list("values", "given")
    ]
    names = [*content.reports, *content.cleartext]
    groups = [(name,) for name in names] if content.drawn else [tuple(names)]
    for group in groups:
        expected = Counter(_told(content, each.values, each.given, group) for each in sent)
        held = aggregation.joint(plan, group)
        for kept in waiting:
            held[_told(content, kept.values, _opened(content, kept.given), group)] += 1
        for counts in (expected, held):
            counts.pop(None, None)  # type: ignore[call-overload]
        if expected != held:
            yield f"{plan}: {group} of the rows are not what was sent: {expected - held} missing"


def _told(content: Any, values: list[Any], given: dict[str, Any], names: tuple[str, ...]) -> Any:
    """Return what a report says to these questions; None if it was not asked them all."""
    said = dict(zip(content.reports, values, strict=True)) | given
    found = [said[name] for name in names]
    if any(value is None for value in found):
        return None
    return tuple(tuple(value) if isinstance(value, list) else value for value in found)


def _opened(content: Any, packed: bytes) -> dict[str, Any]:
    opened, start = {}, 0
    for name, channel in content.cleartext.items():
        own, codes = channel.codes(packed[start : start + channel.width])
        opened[name], start = own[int(codes[0])], start + channel.width
    return opened


# What was paid and published


def _of_charges() -> Iterator[str]:
    """Add up again what every budget paid, and what was drawn for it."""
    drawn = {one.request.digest: one for table in (Release, Series) for one in table.objects.all()}
    entries = list(Entry.charges.select_related("budget"))
    for digest in drawn.keys() - {entry.statistic for entry in entries}:
        yield f"request {digest[:8]} was drawn and not paid"
    for budget in Budget.objects.all():
        own = [entry for entry in entries if entry.budget_id == budget.pk]
        if not budget.filter.holds([entry.charge for entry in own]):
            yield f"{budget} paid more than its cap"
        for entry in own:
            if entry.statistic not in drawn:
                yield f"row {entry.position} paid for nothing"
            elif not budget.counts_answers and entry.epsilon is not None:
                asked = drawn[entry.statistic].request.parameters.get("epsilon")
                if asked is not None and Fraction(entry.epsilon) < Fraction(asked):
                    yield f"row {entry.position}: {entry.epsilon} for ε {asked}"
        yield from _after_retirement(budget, own)


def _after_retirement(budget: Budget, charges: list[Entry]) -> Iterator[str]:
    end = Entry.objects.filter(budget=budget, what="retired").first()
    if (end is None) != (budget.retired_on is None):
        yield f"{budget}: retired on {budget.retired_on}, its row: {end}"
    if end and any(entry.position > end.position for entry in charges):
        yield f"{budget}: paid after it was retired"


def _of_numbers(world: World) -> Iterator[str]:
    """Find numbers that somebody saw and that are gone, or others now."""
    seen = see(world)
    for name, numbers in world.published.items():
        if seen.get(name) != numbers:
            yield f"the numbers of {name} are not what was seen"
    twice = Request.objects.filter(release__isnull=False, series__isnull=False)
    if twice.exists():
        yield "a request was drawn twice"


def see(world: World) -> dict[str, str]:
    """Look at all that is published, as readers do; what is seen first stays."""
    releases = Release.objects.values_list("request__digest", "numbers")
    steps = Step.objects.values_list("series__request__digest", "numbers", "number")
    seen = {
        f"request {digest[:8]} {number}": hashlib.sha256(repr(numbers).encode()).hexdigest()
        for digest, numbers, *number in [*releases, *steps]
    }
    for name, numbers in seen.items():
        world.published.setdefault(name, numbers)
    return seen


def fingerprint() -> str:
    """Return a digest of all rows but those that say that tasks are done."""
    found = hashlib.sha256()
    with connection.cursor() as cursor:
        for table in sorted(connection.introspection.table_names(cursor)):
            if not table.startswith(NOT_COMPARED):
                cursor.execute(f'SELECT * FROM "{table}"')  # noqa: S608
                found.update(table.encode())
                for row in sorted(map(repr, cursor.fetchall())):
                    found.update(row.encode())
    return found.hexdigest()
