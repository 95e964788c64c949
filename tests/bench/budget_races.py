"""200 requests at once from 8 processes, against one budget that can pay for 17, or for 39 where
its cap has a δ and holds by ε or by ρ: on SQLite and on PostgreSQL.

Every request is another statistic: another three of a study's twelve questions, at ε = 0.1. Half of
the processes ask as a researcher with a budget of their own, so that those charges lock two
budgets. After each round every charge must have its release with numbers in it, and the chain and
all totals must hold from the first row on.

    python -m tests.bench.budget_races [rounds]                  both engines, 50 rounds each
    python -m tests.bench.budget_races here <rounds> <delta>     on the database of the environment
"""

import contextlib
import datetime
import itertools
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.bench import report
from tests.patience import PATIENCE

TOGETHER = "paid once for all"
ROUNDS, PROCESSES, REQUESTS = 50, 8, 200
PAID = {"0": 17, "0.000001": 39}  # by the δ of the cap
COST, CAP = Decimal("0.1"), Decimal("1.75")
NOW = datetime.datetime(2026, 5, 11, 12, tzinfo=datetime.UTC)
NAMES = [f"q{number}" for number in range(12)]
CHOICES = [list(chosen) for chosen in itertools.combinations(NAMES, 3)][:REQUESTS]
RESEARCHER, OTHER = "mira", "otto"


def race_here(rounds: int, delta: str) -> dict[str, Any]:
    """Run the rounds on the database of this process; return what was found."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connections

    call_command("migrate", verbosity=0)
    context = multiprocessing.get_context("fork")
    start, end = context.Barrier(PROCESSES + 1), context.Barrier(PROCESSES + 1)
    rows, said = context.Queue(), context.Queue()
    connections.close_all()  # a connection is not shared with a child
    racers = [
        context.Process(target=race, args=(i, rounds, rows, said, start, end), daemon=True)
        for i in range(PROCESSES)
    ]
    for racer in racers:
        racer.start()
    began, found = (
        time.perf_counter(),
        [one_round(number, delta, rows, said, start, end) for number in range(rounds)],
    )
    for racer in racers:
        racer.join(PATIENCE)
    return summary(found, PAID[delta], time.perf_counter() - began)


def one_round(
    number: int, delta: str, rows: Any, said: Any, start: Any, end: Any
) -> dict[str, Any]:
    """Open a study, let everyone ask, and look at what came of it."""
    plan_id = open_study(f"race-{number}", delta)
    for _ in range(PROCESSES):
        rows.put(plan_id)
    start.wait(PATIENCE)
    began = time.perf_counter()
    end.wait(PATIENCE)
    seconds = time.perf_counter() - began
    heard: Counter[str] = Counter()
    for _ in range(PROCESSES):
        heard += said.get(timeout=PATIENCE)
    return {"seconds": seconds, "heard": heard, **state_of(plan_id)}


def open_study(slug: str, delta: str) -> int:
    """Open a study of twelve questions with twelve sealed answers; return its Plan's id."""
    from surveys.aggregation import services as sweeps
    from surveys.demo.services import answer_as_browsers
    from surveys.design import services as design
    from surveys.ledger import services as ledger

    study = {
        "slug": slug,
        "title": slug,
        "organisation": "o",
        "purpose": "p",
        "contact": "a@example.org",
        "cap": CAP,
        "cap_delta": delta,
        "release_epsilon": COST,
        "smallest_batch": 10,
        "rule": "on-request",
        "unit": "respondent-in-wave",  # so that each costs the same, whatever was asked before
    }
    questions = [
        {
            "name": name,
            "kind": "yes_no",
            "text": f"{name}?",
            "label": name,
            "epsilon": Decimal("0.5"),
        }
        for name in NAMES
    ]
    made = design.draft_study(study=study, questions=questions)
    plan = design.open_study(why="A test.", study_id=made.pk, who="ada", now=NOW)
    answer_as_browsers(plan, [dict.fromkeys(NAMES, i % 2) for i in range(12)], NOW.date())
    sweeps.sweep_all(today=NOW.date())
    study_id = plan.study.budget_id
    ledger.open_share(
        study_id=study_id, holder=RESEARCHER, cap=Fraction(9), why="a share", who="ada", now=NOW
    )
    return plan.pk


def race(number: int, rounds: int, rows: Any, said: Any, start: Any, end: Any) -> None:
    """Make one request together with everyone, and then every eighth: all as soon as everyone is
    ready. What all ask for is drawn once, and everyone finds it.
    """
    from surveys.design.selectors import plans
    from surveys.releases import services

    services._tell_a_worker = lambda request_id: None  # this process is the worker
    who = RESEARCHER if number % 2 else OTHER
    for _ in range(rounds):
        plan = plans().get(pk=rows.get(timeout=PATIENCE))
        start.wait(PATIENCE)
        together = ask(plan, CHOICES[0], who).replace("paid", TOGETHER)
        heard = Counter(ask(plan, chosen, who) for chosen in CHOICES[number::PROCESSES])
        heard[together] += 1
        end.wait(PATIENCE)
        said.put(heard)


def ask(plan: Any, chosen: list[str], who: str) -> str:
    """Ask for the shares of some questions, as a researcher's page and its worker do."""
    from surveys.ledger.services import Overspent
    from surveys.releases import services

    try:
        parameters = {"questions": chosen, "epsilon": str(COST)}
        request = services.ask_for(
            plan=plan, kind="shares", parameters=parameters, who=who, now=NOW
        )
        services.publish(request_id=request.pk, now=NOW)
    except Overspent:
        return "refused"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "paid"


def state_of(plan_id: int) -> dict[str, Any]:
    """Return what stands in the database after a round."""
    from surveys.design.models import Plan
    from surveys.ledger import selectors as ledger
    from surveys.ledger.verification import faults
    from surveys.releases.models import Release

    plan = Plan.objects.select_related("study").get(pk=plan_id)
    account = ledger.account(plan.study.budget_id)
    releases = list(Release.objects.filter(request__plan=plan).select_related("request"))
    own = ledger.share_of(RESEARCHER, plan.study.budget_id)
    asked = [release for release in releases if release.request.who == RESEARCHER]
    whole = (
        {entry.pk for entry in account.entries} == {release.entry_id for release in releases}
        and {entry.statistic for entry in account.entries}
        == {release.request.digest for release in releases}
        and all(
            len(made.numbers["questions"]) == len(made.request.parameters["questions"])
            for made in releases
        )
        and len(ledger.account(own.pk).entries) == len(asked)
        and account.count == len(account.entries)
        and account.budget.filter.total(entry.charge for entry in account.entries) == account.spent
    )
    return {
        "charges": len(account.entries),
        "releases": len(releases),
        "whole": whole,
        "left": account.amount_left,
        "faults": list(map(str, faults())),
        "length": ledger.head()[1],
    }


def summary(found: list[dict[str, Any]], paid: int, seconds: float) -> dict[str, Any]:
    expected = {"paid": paid, "refused": REQUESTS - paid, TOGETHER: PROCESSES}
    return {
        "rounds": len(found),
        "requests": REQUESTS * len(found),
        "paid": paid,
        "rounds with exactly so many paid": sum(
            one["heard"] == expected and one["charges"] == one["releases"] == paid for one in found
        ),
        "half-done": sum(not one["whole"] for one in found),
        "rounds with a fault in the chain": sum(bool(one["faults"]) for one in found),
        "rows of the chain": found[-1]["length"],
        "a round, s": sum(one["seconds"] for one in found) / len(found),
        "all, s": seconds,
        "surprises": sorted(
            {text for one in found for text in one["heard"] if text not in expected}
        )[:3],
    }


def race_on(environment: dict[str, str], rounds: int, delta: str) -> dict[str, Any]:
    """Run the rounds in a process with this environment."""
    command = [sys.executable, "-m", "tests.bench.budget_races", "here", str(rounds), delta]
    settings = {**os.environ, "DJANGO_SETTINGS_MODULE": "surveys.settings", **environment}
    done = subprocess.run(command, env=settings, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


@contextlib.contextmanager
def engine(name: str) -> Iterator[dict[str, str]]:
    """Yield the settings of a new database."""
    from tests.services import postgres

    with tempfile.TemporaryDirectory(prefix="candor-") as folder:
        if name == "SQLite":
            yield {"CANDOR_DATA": folder, "DATABASE_URL": f"sqlite:///{folder}/races.sqlite3"}
        else:
            with postgres() as url:
                yield {"CANDOR_DATA": folder, "DATABASE_URL": url}


def main(rounds: int) -> None:
    rows = []
    for name, delta in itertools.product(("SQLite", "PostgreSQL"), PAID):
        with engine(name) as environment:
            rows.append({"engine": name, "δ": delta, **race_on(environment, rounds, delta)})
    for row in rows:
        report.table(
            f"200 requests, 8 processes, a budget for {row['paid']}, on {row['engine']}",
            [{"": key, "found": value} for key, value in row.items() if key != "engine"],
        )
    report.save("budget_races", rows)
    if any(
        row["rounds with exactly so many paid"] != rounds or row["half-done"] or row["surprises"]
        for row in rows
    ):
        sys.exit("a round went wrong")


if __name__ == "__main__":
    if sys.argv[1:2] == ["here"]:
        print(json.dumps(race_here(int(sys.argv[2]), sys.argv[3]), default=str))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
