"""Accept reports, each once, any number of them in one transaction.

Whoever brings one waits for the commit of all. Equal ids in one group are answered as if they had
come one by one, in the order of the list; what is stored stands in the order of the digests of
ids, which tells nothing of it. A report that the database refuses is found by halving, and fails
alone.

Outside the transaction  content is digested and answers sent as given are sealed
Inside, in this order    receipts are held where they are (`settle` waits), Plans are held open (a
                         closing waits), earlier receipts are looked up, new ones and their values
                         are written
"""

import datetime
import hashlib
import hmac
from collections import Counter
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import NamedTuple

from django.db import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    connection,
    transaction,
)

from surveys.design import selectors as design
from surveys.design.models import Plan
from surveys.encryption import CannotOpen, seal
from surveys.intake import bulk, digest_keys, receipts, report_tables, selectors
from surveys.intake.reports import Refused, Report

LARGEST = 256  # reports in one transaction: a few milliseconds
AGAIN = 5  # times that a group is tried whose ids another process claims meanwhile
COLUMNS = ("id_digest", "content_digest", "plan_id", "day")
TABLES = ("intake_receipt", "intake_settled")


class Entry(NamedTuple):
    """A report on a Plan, and the day on which all of it was here."""

    plan: Plan
    report: Report
    day: datetime.date


class Acceptance(NamedTuple):
    receipt: str
    accepted_on: datetime.date
    is_new: bool


class Kept(NamedTuple):
    """A report as it is kept, or would be: its digests, Plan and day, and what is stored of it."""

    id_digest: bytes
    content_digest: bytes | None  # None: its Plan's key was destroyed, so nothing can be compared
    plan_id: int
    day: datetime.date
    values: str = ""
    given: bytes = b""
    stratum: int | None = None
    is_listed: bool = False  # its Plan asks a list of people


# What became of an entry. Whoever brought one that was not stored may send it again.
Outcome = Acceptance | Refused | Error | CannotOpen
CLOSED = Refused("plan", "this study has closed and takes no more answers", HTTPStatus.GONE)
FULL = Refused("ticket", "so many of this group have answered as are asked", HTTPStatus.GONE)


class Overtaken(DatabaseError):
    """Another process has claimed an id since it was looked up."""


def _open_plans(group: list[Kept]) -> Callable[[Kept], Refused | None]:
    """Return what tells why a report may not be taken, None where it may: what Plans that are open
    take; they stay so until this transaction ends.

    Where a Plan closes at so many answers, those are counted that are committed, and those of this
    group: groups that other doors commit meanwhile are what comes beyond. Where it asks a list,
    only those of last midnight are: what comes on the day that fills it is taken.
    """
    plans = design.taking(kept.plan_id for kept in group)
    listed = {kept.plan_id for kept in group if kept.is_listed}
    came = {
        plan_id: Counter(selectors.deciding(plan_id, is_listed=plan_id in listed))
        for plan_id, terms in plans.items()
        if terms.is_limited
    }

    def refusal(kept: Kept) -> Refused | None:
        terms = plans.get(kept.plan_id)
        if kept.content_digest is None or terms is None or kept.day > terms.last:
            return CLOSED
        if kept.day < terms.first:
            text = f"this study takes answers from {terms.first.isoformat()} on"
            return Refused("plan", text, HTTPStatus.FORBIDDEN)
        return _counted_in(came[kept.plan_id], kept, terms) if terms.is_limited else None

    return refusal


def _counted_in(came: Counter[int], kept: Kept, terms: design.Taking) -> Refused | None:
    """Count a report in, or refuse it where all, or its stratum, is full."""
    stratum = kept.stratum or 0
    if terms.most is not None and came.total() >= terms.most:
        return CLOSED
    if terms.most_of_stratum is not None and came[stratum] >= terms.most_of_stratum:
        return FULL
    came[stratum] += not kept.is_listed
    return None


def accept_all(entries: Sequence[Entry]) -> list[Outcome]:
    """Take reports, or recognise them as some that were taken; never count one twice.

    Returned are their outcomes, in their order. A retry of what was accepted is answered the same
    for ever.
    """
    if not entries:
        return []
    kept = _prepared(entries)
    stored = iter(_stored_all([each for each in kept if isinstance(each, Kept)]))
    return [next(stored) if isinstance(each, Kept) else each for each in kept]


def _prepared(entries: Sequence[Entry]) -> list[Kept | Error | CannotOpen]:
    """Digest and seal, before anything is locked."""
    try:
        plans = {entry.plan.pk: entry.plan for entry in entries}
        day = min(entry.day for entry in entries)
        keys = digest_keys.keys_of(plans.values(), day)
    except Error as error:
        return [error] * len(entries)
    return [_kept(entry, keys[entry.plan.pk]) for entry in entries]


def _kept(entry: Entry, key: bytes | CannotOpen | None) -> Kept | CannotOpen:
    if isinstance(key, CannotOpen):
        return key
    plan, report = entry.plan, entry.report
    id_digest = hashlib.sha256(report.report_id.encode()).digest()
    if key is None:
        return Kept(id_digest, None, plan.pk, entry.day)
    content = digest_keys.digest(key, report.report_id, report.canonical_content)
    try:
        given = _sealed(plan, report)
    except CannotOpen as error:
        return error
    stratum = report.stratum if plan.content.stratum_sizes else None
    stored = (report.canonical_values, given, stratum, plan.content.invited is not None)
    return Kept(id_digest, content, plan.pk, entry.day, *stored)


def _sealed(plan: Plan, report: Report) -> bytes:
    """Encrypt what was sent as given before it is stored anywhere."""
    channels = plan.content.cleartext
    if not channels:
        return b""
    packed = b"".join(channel.pack([report.given[name]]) for name, channel in channels.items())
    return seal(packed, about=selectors.report_aad(plan.digest))


def _stored_all(group: list[Kept]) -> list[Outcome]:
    """Store a group whole, or find what keeps it from being stored."""
    try:
        return _store_again(group) if group else []
    except (DataError, IntegrityError) as error:  # of a row
        if len(group) == 1:
            return [error]
        half = len(group) // 2
        return [*_stored_all(group[:half]), *_stored_all(group[half:])]
    except Error as error:  # of the database, which is away, full, read-only: everybody's
        return [error] * len(group)


def _store_again(group: list[Kept]) -> list[Outcome]:
    """Store a group, from the beginning if another process came between, or a first report."""
    for _try in range(AGAIN):
        try:
            return _store(group)
        except report_tables.NoPlace:
            for plan_id in sorted({kept.plan_id for kept in group}):
                report_tables.make_place(plan_id)
        except Overtaken:
            pass
    return _store(group)


@transaction.atomic
def _store(group: list[Kept]) -> list[Outcome]:
    known, refusal = _held(group), _open_plans(group)
    outcomes: list[Outcome] = []
    new: list[Kept] = []
    for kept in group:
        earlier = known.get(kept.id_digest)
        if earlier is not None:
            outcomes.append(_of_known(kept, earlier))
        elif refused := refusal(kept):
            outcomes.append(refused)
        else:
            known[kept.id_digest] = kept
            new.append(kept)
            outcomes.append(_acceptance(kept, is_new=True))
    _write(sorted(new))
    return outcomes


def _held(group: list[Kept]) -> dict[bytes, Kept]:
    """Return the earlier receipts of these ids: of today, or settled. None of them moves until
    this transaction ends.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:  # as whoever inserts does, so that `settle` waits
            cursor.execute("LOCK TABLE intake_receipt IN ROW EXCLUSIVE MODE")
    rows = bulk.find(TABLES, COLUMNS, list({kept.id_digest for kept in group}))
    return {
        bytes(id_digest): Kept(bytes(id_digest), bytes(content), plan_id, bulk.as_day(day))
        for id_digest, content, plan_id, day in rows
    }


def _write(new: list[Kept]) -> None:
    if not new:
        return
    rows = [(*kept[:3], kept.day.isoformat()) for kept in new]
    if bulk.insert("intake_receipt", COLUMNS, rows) < len(new):
        raise Overtaken
    report_tables.put([(each.plan_id, each.values, each.given, each.stratum) for each in new])


def _of_known(kept: Kept, earlier: Kept) -> Outcome:
    """Answer who sends an id again: without the Plan's key nobody can compare what it says, and
    nobody does.
    """
    said, then = kept.content_digest, earlier.content_digest or b""
    if kept.plan_id == earlier.plan_id and (said is None or hmac.compare_digest(then, said)):
        return _acceptance(earlier, is_new=False)
    expected = "a report with this id and other content was accepted before"
    return Refused("report_id", expected, HTTPStatus.CONFLICT)


def _acceptance(kept: Kept, *, is_new: bool) -> Acceptance:
    return Acceptance(receipts.number(kept.id_digest), kept.day, is_new)
