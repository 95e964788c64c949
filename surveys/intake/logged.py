"""Reports by way of a log (REPORTS_LOG), where one database is too slow for all that come at once.

The door    judges a group as it does without a log, but appends what is new, holding its Plans open
            until all replicas have it, and answers 202.
Consumers   (`manage.py take_from_log`, as many as there are partitions) store it by the same
            commit, then delete it from the log. What comes again is known by its receipt.
A verdict   is asked for by what 202 said: 200 and 409 from the receipts, 202 while the Plan has
            lanes, then 410.

A Plan has a lane a partition (`Lane`) from before its first report there. When it has closed, a
marker is appended to each; as the closing waited for the doors, all that was answered 202 stands
before it. The consumer that meets the marker takes the lane away, and takes nothing of the Plan
from that partition ever after; the last sweep and publication wait until all are gone.

A record is one report or marker, encrypted, padded, and stamped with a day: what the log keeps is
an order of what nobody without the key can tell apart.
"""

import datetime
import itertools
import json
import threading
import time
from collections.abc import Sequence
from typing import Any

import structlog
from django.db import Error, connection, transaction
from django.db.models import QuerySet

from surveys.design import selectors as design
from surveys.encryption import CannotOpen, open_sealed, seal
from surveys.intake import broker, group, report_tables, selectors
from surveys.intake.broker import Away, Line, Reader
from surveys.intake.group import Acceptance, Kept, Logged, Outcome, Rule
from surveys.intake.models import Lane

STEP = 512  # bytes that a record's length is a multiple of, before it is sealed
AGAIN = 1.0  # seconds until what could not be stored is tried again
MARK_EVERY = 10.0  # seconds between looks for Plans that have closed
NO_PLAN = 0  # whose marker begins a day, so that a broker puts yesterday's file away
log = structlog.get_logger(__name__)


def append_all(kept: list[Kept]) -> list[Outcome]:
    """Have a group's new reports in the log when this returns; the others are known or refused."""
    try:
        if kept:
            _make_lanes({each.plan_id for each in kept})
            return _append(kept)
    except Error as error:
        return [error] * len(kept)
    return []


@transaction.atomic
def _append(kept: list[Kept]) -> list[Outcome]:
    """Append while Plans are held open, so that no marker comes before."""
    outcomes, new = group.judged(kept, group.open_plans)
    fate: dict[bytes, Away | None] = {}
    today = datetime.datetime.now(datetime.UTC).date()  # brokers refuse a time that is to come
    for day, of_day in itertools.groupby(sorted(new, key=_day), _day):
        lines = [(each, _line(each)) for each in of_day]
        told = broker.topic().append([line for _, line in lines], min(day, today))
        fate.update(zip((each.id_digest for each, _ in lines), told, strict=True))
    pairs = zip(kept, outcomes, strict=True)
    return [fate.get(each.id_digest) or _as_logged(each, outcome, fate) for each, outcome in pairs]


def _as_logged(kept: Kept, outcome: Outcome, new: dict[bytes, Away | None]) -> Outcome:
    is_new = isinstance(outcome, Acceptance) and kept.id_digest in new
    return Logged(kept) if is_new else outcome


def _day(kept: Kept) -> datetime.date:
    return kept.day


def _make_lanes(plan_ids: set[int]) -> None:
    """Make the lanes of Plans that are open, if there are none, seen by consumers from now on."""
    partitions = range(broker.topic().partitions)
    kept = set(Lane.objects.filter(plan__in=plan_ids).values_list("plan_id", "partition"))
    if all((plan_id, partition) in kept for plan_id in plan_ids for partition in partitions):
        return
    with transaction.atomic():
        lanes = [
            Lane(plan_id=plan_id, partition=partition)
            for plan_id in design.taking(plan_ids)
            for partition in partitions
        ]
        Lane.objects.bulk_create(lanes, ignore_conflicts=True)


def verdicts(asked: list[Kept]) -> list[Outcome]:
    """Return what became of reports that stood in the log, each known by its digests; write
    nothing.
    """
    try:
        return _verdicts(asked) if asked else []
    except Error as error:
        return [error] * len(asked)


@transaction.atomic
def _verdicts(asked: list[Kept]) -> list[Outcome]:
    rule = _in_lanes(Lane.objects.filter(plan__in={each.plan_id for each in asked}))
    outcomes, new = group.judged(asked, rule)
    left: dict[bytes, Away | None] = {each.id_digest: None for each in new}
    pairs = zip(asked, outcomes, strict=True)
    return [_as_logged(each, outcome, left) for each, outcome in pairs]


def _in_lanes(lanes: QuerySet[Lane]) -> Rule:
    """Take what is of Plans that have one of these lanes now, before receipts are looked up."""
    plan_ids = set(lanes.values_list("plan_id", flat=True))
    return lambda _group: lambda kept: None if kept.plan_id in plan_ids else group.CLOSED


# Consumers


def consume(reader: Reader, stop: threading.Event) -> None:
    """Store what comes until told to stop. What cannot be stored is tried again, and nothing that
    stands behind it comes before.
    """
    lines: list[Line] = []
    marks = Marks()
    while not stop.is_set():
        try:
            connection.close_if_unusable_or_obsolete()
            take(lines)
            reader.done()
            lines = []
            marks.look()
            lines = reader.read(AGAIN)
        except (Error, CannotOpen) as error:
            why = {"why": str(error)} if isinstance(error, CannotOpen) else {}
            log.error("reports wait in the log", kind=type(error).__name__, **why)
            stop.wait(AGAIN)


def take(lines: Sequence[Line]) -> None:
    """Store reports and heed markers, each partition's in their order; or raise why not."""
    for partition, of_one in itertools.groupby(sorted(lines, key=_partition), _partition):
        said = [_opened(line) for line in of_one]
        for is_report, some in itertools.groupby(said, lambda each: isinstance(each, Kept)):
            if is_report:
                _store(partition, [each for each in some if isinstance(each, Kept)])
            else:
                _end_lanes(partition, [each for each in some if isinstance(each, int)])


def _partition(line: Line) -> int:
    return line.partition


def _store(partition: int, kept: list[Kept]) -> None:
    rule = _in_lanes(
        Lane.objects.filter(partition=partition, plan__in={each.plan_id for each in kept})
    )
    for outcome in group.stored_all(kept, rule):
        if isinstance(outcome, Error):
            raise outcome


@transaction.atomic
def _end_lanes(partition: int, plan_ids: list[int]) -> None:
    """Take lanes away, and have a sweep look whether they were the last."""
    lanes = Lane.objects.filter(partition=partition, plan__in=plan_ids)
    for plan_id in lanes.values_list("plan_id", flat=True):
        report_tables.mark(plan_id)
    lanes.delete()


class Marks:
    """Append markers every few seconds, to all lanes of Plans that have closed, and a day's."""

    def __init__(self) -> None:
        self.next, self.day = 0.0, datetime.date.min

    def look(self) -> None:
        """Append what is due. May raise Away."""
        if time.monotonic() < self.next:
            return
        self.next = time.monotonic() + MARK_EVERY
        today = datetime.datetime.now(datetime.UTC).date()
        marks = list(selectors.lanes_that_end().values_list("partition", "plan_id"))
        if today > self.day:
            marks += [(partition, NO_PLAN) for partition in range(broker.topic().partitions)]
        told = broker.topic().append([_marker(*mark) for mark in marks], today)
        if lost := next(filter(None, told), None):
            raise lost
        self.day = today


# Records


def _line(kept: Kept) -> Line:
    id_digest, content, plan_id, day, values, given, stratum, _is_listed = kept
    partition = int.from_bytes(id_digest[:4]) % broker.topic().partitions
    said = [id_digest.hex(), (content or b"").hex(), plan_id, day.isoformat(), values, given.hex()]
    said += [] if stratum is None else [stratum]
    return _sealed(partition, said)


def _marker(partition: int, plan_id: int) -> Line:
    return _sealed(partition, plan_id)


def _sealed(partition: int, said: list[Any] | int) -> Line:
    text = json.dumps(said)
    padded = text.ljust(-(-len(text) // STEP) * STEP).encode()
    return Line(partition, seal(padded, about=_about(partition)))


def _opened(line: Line) -> Kept | int:
    said = json.loads(open_sealed(line.text, about=_about(line.partition)))
    if isinstance(said, int):
        return said
    id_digest, content, plan_id, day, values, given, *stratum = said
    on = datetime.date.fromisoformat(day)
    digests = bytes.fromhex(id_digest), bytes.fromhex(content)
    return Kept(*digests, plan_id, on, values, bytes.fromhex(given), *stratum)


def _about(partition: int) -> str:
    return f"record of {broker.topic().name}, partition {partition}"
