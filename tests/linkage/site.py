"""A site that people filled in a known order, over days, with a copy of its data each night: what an
insider has. Real tickets, receipts, sweeps and nights; days are counted, not waited for.

Builds   honest; and three that forget what keeps people apart: `dated` notes on a mark the day it
         was made on, `ordered` never puts receipts in the order of their digests, `unsettled` puts
         nothing in order.
"""

import csv
import datetime
import hashlib
import json
import random
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import connection
from msgspec import convert

from surveys.aggregation import services as aggregation
from surveys.design import services as design
from surveys.design.models import Plan
from surveys.intake import services as intake
from surveys.intake.group import Acceptance, Entry, accept_all
from surveys.intake.reports import open_envelope, read_report
from surveys.issuer import fetching, services as issuer, tables
from surveys.plan.content import Invited
from surveys.plan.tickets import report_id
from tests import tickets
from tests.conftest import NOW, QUESTIONS, STUDY, TODAY

SEED = 16
DAY = datetime.timedelta(days=1)


@dataclass
class Person:
    reference: str
    stratum: int
    code: str
    fetched: int  # in which order
    day: int
    answered: int = 0
    report_id: str = ""


def filled(folder: Path, *, people: int, days: int, build: str = "honest") -> list[str]:
    """Fill the database, which is empty, with people of each of three strata; return what
    `audit.py` is told: copies, and who is whose.
    """
    chance = random.Random(SEED)
    plan = _opened(people)
    listed = [
        Person(chance.randbytes(16).hex(), stratum, tickets.new_code(), 0, 0)
        for stratum in range(3)
        for _ in range(people)
    ]
    rows = [(each.reference, each.stratum, tickets.code_digest(each.code)) for each in listed]
    issuer.invite(plan.digest, rows)
    if build == "dated":
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE issuer_mark ADD COLUMN day varchar(10)")
    chance.shuffle(listed)
    copies = []
    for day in range(days):
        today = TODAY + day * DAY
        come = listed[day * len(listed) // days : (day + 1) * len(listed) // days]
        for at, each in enumerate(come):
            each.day, each.fetched = day, day * len(listed) + at
            _answer(plan, each, today, is_dated=build == "dated", chance=chance)
        _night(today + DAY, build)
        copies.append(_copy(folder / f"{build}-{day}"))
    return [*copies, "--truth", str(_truth(folder / f"{build}.csv", listed))]


def _opened(people: int) -> Plan:
    part = convert(tickets.invited(issuer.make_keys(3), people=max(people, 30)), Invited)
    listed = {**STUDY, "slug": "invited", "is_invited": True}
    draft = design.draft_study(study=listed, questions=QUESTIONS)
    plan = design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW, invited=part)
    issuer.open_plan(str(plan.document).encode())
    return plan


def _answer(
    plan: Plan, person: Person, today: datetime.date, *, is_dated: bool, chance: random.Random
) -> None:
    """Fetch a ticket, and send a report with it: the next person comes when this one is done."""
    invited = plan.content.invited
    assert invited is not None
    modulus = invited.strata[person.stratum].key
    own = tickets.blind(modulus, plan.digest)
    signature = fetching.issue(plan.digest, person.stratum, person.code, own.blinded)
    if is_dated:
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE issuer_mark SET day = %s WHERE invitation_id = %s",
                [today.isoformat(), bytes.fromhex(person.reference)],
            )
    prefix = own.prefix
    person.report_id = report_id(own.message)
    answers = plan.content.randomised({"copied": chance.randrange(2), "fair": 3, "often": 0})
    sent = {
        "plan": plan.digest,
        "answers": answers,
        "report_id": person.report_id,
        "ticket": tickets.as_part(prefix, tickets.finish(modulus, own, signature), person.stratum),
    }
    report = read_report(open_envelope(json.dumps(sent).encode()), plan)
    (outcome,) = accept_all([Entry(plan, report, today)])
    assert isinstance(outcome, Acceptance), outcome
    assert outcome.is_new
    person.answered = person.fetched


def _night(today: datetime.date, build: str) -> None:
    aggregation.sweep_all(today=today)
    if build != "unsettled":
        tables.settle(today)
    if build in ("honest", "dated"):
        intake.settle(today=today)


def _copy(path: Path) -> str:
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [str(path)])
        return str(path)
    chosen = connection.settings_dict
    host, name, user = (str(chosen[part]) for part in ("HOST", "NAME", "USER"))
    command = ["pg_dump", f"--host={host}", f"--username={user}", f"--file={path}", name]
    subprocess.run(command, check=True, capture_output=True)
    return str(path)


def _truth(path: Path, people: Sequence[Person]) -> Path:
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["stratum", "fetched", "answered", "list_person", "list_code", "report"])
        rows.writerows(_rows(people))
    return path


def _rows(people: Sequence[Person]) -> Iterator[tuple[Any, ...]]:
    for each in people:
        receipt = hashlib.sha256(each.report_id.encode()).hexdigest()
        code = tickets.code_digest(each.code).hex()
        yield each.stratum, each.fetched, each.answered, each.reference, code, receipt
