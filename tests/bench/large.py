"""A site of any size, made quickly: studies that are copies of one, and a ledger of which every row
is in the chain as if it had been written by the site.

Copies have the Plan of the first with an address, a title and a digest of their own, and a tally;
their charges are of one question each. Only the first study has reports and publications.
"""

import contextlib
import datetime
import hashlib
import json
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any

from django.db import connection, models, transaction

NOW = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
KINDS: list[dict[str, Any]] = [
    {"kind": "yes_no"},
    {"kind": "likert"},
    {"kind": "single", "choices": "Never\nOnce\nOften", "may_decline": True},
]
TERMS: dict[str, Any] = {
    "organisation": "Brightwater College",
    "purpose": "To learn how common copying is.",
    "contact": "asks@example.org",
    "cap": Decimal(2),
    "release_epsilon": Decimal("0.5"),
    "rule": "every",
    "hours": 24,
    "smallest_batch": 10,
    "widest": 100,
}
EACH = Decimal("0.001")  # ε of a charge
BULK = 2_000


def questions(count: int) -> list[dict[str, Any]]:
    epsilon = max(Decimal("0.01"), (Decimal(6) / count).quantize(Decimal("0.01")))
    each = {"epsilon": min(Decimal(1), epsilon)}
    return [
        {"name": f"q{at}", "text": f"Question {at}?", "label": f"Q{at}", **each, **KINDS[at % 3]}
        for at in range(count)
    ]


def build(*, studies: int, asked: int, rows: int) -> Any:
    """Make so many studies of so many questions each and so many rows of the ledger; return the
    first Plan, which has answers and a publication.
    """
    from surveys.aggregation import services as aggregation
    from surveys.demo import services as demo
    from surveys.design import services as design
    from surveys.releases import services as releases

    drafted = {**TERMS, "slug": "draft", "title": "A draft"}
    design.draft_study(study=drafted, questions=questions(asked))
    plan, _ = demo.ensure_study(
        {**TERMS, "slug": "study-0", "title": "Study 0"}, questions(asked), NOW
    )
    answers = [dict.fromkeys(plan.content.channels, 0)] * 12
    demo.answer_as_browsers(plan, answers, NOW.date())
    aggregation.sweep_all(today=NOW.date())
    releases.publish_if_due(plan=plan, now=NOW)
    with transaction.atomic():
        copies = copied(plan, studies - 1)
        with uncounted_charges():
            write(ledger_rows(plan, copies, rows))
        add_up(copies)
    return plan


def copied(plan: Any, count: int) -> list[Any]:
    """Return the budgets of so many copies of a study."""
    from surveys.aggregation.models import Tally
    from surveys.design.models import Plan, Study, Summary
    from surveys.ledger.models import Budget

    names = [f"study-{at + 1}" for at in range(count)]
    budget = plan.study.budget
    budgets = Budget.objects.bulk_create(
        (again(budget, name=f"study:{name}") for name in names), batch_size=BULK
    )
    studies = Study.objects.bulk_create(
        (
            again(plan.study, slug=name, title=name.capitalize().replace("-", " "), budget=own)
            for name, own in zip(names, budgets, strict=True)
        ),
        batch_size=BULK,
    )
    closed = [NOW.date() if at % 2 else None for at in range(count)]
    plans = Plan.objects.bulk_create(
        (
            again(plan, study=study, closed_on=day, **renamed(plan.document, study))
            for study, day in zip(studies, closed, strict=True)
        ),
        batch_size=BULK,
    )
    summary = Summary.objects.get(plan=plan)
    Summary.objects.bulk_create(
        (
            again(summary, plan=each, title=each.study.title, words=each.study.title.casefold())
            for each in plans
        ),
        batch_size=BULK,
    )
    Tally.objects.bulk_create(
        (Tally(plan=each, reports=5, batches=1, counts={}) for each in plans), batch_size=BULK
    )
    return list(budgets)


def again(row: models.Model, **changes: Any) -> Any:
    """Return a new row like another."""
    kept = {
        field.attname: getattr(row, field.attname)
        for field in row._meta.concrete_fields
        if not field.primary_key and field.name not in changes
    }
    return type(row)(**kept, **changes)


def renamed(document: str, study: Any) -> dict[str, str]:
    parts = {**json.loads(document), "slug": study.slug, "title": study.title}
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {"document": text, "digest": hashlib.sha256(text.encode()).hexdigest()}


def ledger_rows(plan: Any, budgets: list[Any], rows: int) -> Iterator[Any]:
    """Yield rows to the chain's end until it has so many: an opening a study, then charges."""
    from dpengine.contraction import Noise, noise_within
    from surveys.ledger.models import Entry, Head
    from surveys.ledger.reads import to_text

    content, name = plan.content, plan.content.questions[0].name
    report = content.report_of(name)
    noise = Noise(frozenset([report]), noise_within(Fraction(EACH), content.losses[name]))
    reads = to_text(content.reading([name], [noise])) if plan.study.budget.counts_answers else None
    head, start = Head.objects.get(), NOW - datetime.timedelta(days=80)
    common = {"who": "the study's rule", "at": start}
    for at, position in enumerate(range(head.length + 1, rows + 1)):
        budget, number = budgets[at % len(budgets)], at // len(budgets) + 1
        common["at"] = start + datetime.timedelta(days=80) * at / rows
        if number == 1:
            yield Entry(
                position=position, kind="act", budget=budget, number=1, what="opened", why="A bench.",
                **common,
            )  # fmt: skip
            continue
        yield Entry(
            position=position,
            kind="charge",
            budget=budget,
            number=number,
            epsilon=EACH,
            rho=EACH * EACH / 2,
            delta=Decimal(0),
            statistic=hashlib.sha256(str(position).encode()).hexdigest(),
            reason="How many of each answer: Q0 (wave 1)",
            mechanism="discrete Laplace noise; 12 reports",
            sensitivity="1 in one count",
            reads=reads,
            **common,
        )


@contextlib.contextmanager
def uncounted_charges() -> Iterator[None]:
    """Let rows be written before what they add up to is."""
    name = "ledger_entry_is_counted"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL session_replication_role = replica")  # no triggers
            yield
            cursor.execute("SET LOCAL session_replication_role = origin")
            return
        cursor.execute("SELECT sql FROM sqlite_master WHERE name = %s", [name])
        (trigger,) = cursor.fetchone()
        cursor.execute(f"DROP TRIGGER {name}")
        yield
        cursor.execute(trigger)


def add_up(budgets: list[Any]) -> None:
    """Write the totals of budgets whose charges were written without."""
    from surveys.ledger.fields import moment_of
    from surveys.ledger.models import Total
    from surveys.ledger.totals import Running

    columns = ("position", "number", "part", "rho", "delta", "epsilon", "reads", "at")
    with connection.cursor() as cursor:
        for budget in budgets:
            running = Running()
            cursor.execute(
                f"SELECT {', '.join(columns)} FROM ledger_entry "  # noqa: S608
                "WHERE budget_id = %s AND kind = 'charge' ORDER BY number",
                [budget.pk],
            )
            for row in cursor.fetchall():
                running.add(
                    dict(zip(columns, row, strict=True)), counts_answers=budget.counts_answers
                )
            if running.charges:
                first_at = moment_of(running.first_at)
                Total.objects.create(budget=budget, **{**running.columns, "first_at": first_at})


def write(entries: Iterator[Any]) -> None:
    """Chain rows to the end of the ledger."""
    from surveys.ledger import chain
    from surveys.ledger.models import Entry, Head

    end = Head.objects.get().digest
    while some := list(islice(entries, BULK)):
        for entry in some:
            entry.previous = end
            entry.digest = end = chain.digest_of(chain.document_of(entry))
        Entry.objects.bulk_create(some)
        steps = [(entry.position, entry.digest) for entry in some]
        if connection.vendor == "postgresql":  # where no trigger asks for each
            del steps[:-1]
        with connection.cursor() as cursor:  # the chain only grows, by a row at a time
            cursor.executemany("UPDATE ledger_head SET length = %s, digest = %s", steps)
