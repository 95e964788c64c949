"""How long a report waits, and another publication of the same study, while an expression is
computed in 500 groups: on SQLite and on PostgreSQL.

One process publishes; another, for as long as that takes, sends a report and takes the study's
budget, again and again. SQLite has one lock for all that is written.

    python -m tests.bench.expression_waits                  both engines, 500 groups
    python -m tests.bench.expression_waits here <groups>    on the database that the environment names
"""

import datetime
import json
import multiprocessing
import os
import subprocess
import sys
import time
from decimal import Decimal
from typing import Any

from tests.bench import report
from tests.bench.budget_races import engine
from tests.patience import PATIENCE, became

GROUPS, PEOPLE = 500, 40
NOW = datetime.datetime(2026, 5, 11, 12, tzinfo=datetime.UTC)
STUDY = {
    "slug": "waits",
    "title": "Waits",
    "organisation": "o",
    "purpose": "p",
    "contact": "a@example.org",
    "cap": Decimal(1),
    "smallest_batch": 10,
    "rule": "on-request",
    "given_batch": 10,
    "given_why": "Nobody's answers: a bench.",
    "given_by": "root",
}
HOURS = {
    "name": "hours",
    "kind": "number",
    "protection": "publication",
    "text": "How many hours a week do you study?",
    "label": "Hours",
    "least": 0,
    "most": 80,
    "unit": "hours",
}


def publish_here(groups: int) -> dict[str, Any]:
    """Publish an expression on the database of this process; return who waited how long."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connections

    from surveys.aggregation import services as sweeps
    from surveys.demo.services import answer_as_browsers, ensure_study
    from surveys.releases import sandbox, services

    call_command("migrate", verbosity=0)
    plan, _ = ensure_study(STUDY, [HOURS], NOW)
    answer_as_browsers(plan, [{"hours": i % 60} for i in range(PEOPLE)], NOW.date())
    sweeps.sweep_all(today=NOW.date())
    wanted = {"expression": "mean(hours)", "least": 0, "most": 80, "groups": groups, "epsilon": "1"}
    asked = services.ask_for(plan=plan, kind="expression", parameters=wanted, who="mira", now=NOW)
    connections.close_all()  # a connection is not shared with a child
    context = multiprocessing.get_context("fork")
    times, done, told = context.Value("i", 0), context.Event(), context.Queue()
    words = (plan.pk, times, done, told)
    other = context.Process(target=keep_writing, args=words, daemon=True)
    other.start()
    became(lambda: times.value)
    compute, meanwhile = sandbox.compute, 0

    def until_others_wrote(*what: Any) -> list[float]:
        """Compute, and end when the other has written twice: once it may have been at it before."""
        nonlocal meanwhile
        before, values = times.value, compute(*what)
        became(lambda: times.value >= before + 2)
        meanwhile = times.value - before
        return values

    sandbox.compute = until_others_wrote
    began = time.perf_counter()
    release = services.publish(request_id=asked.pk, now=NOW)
    seconds = time.perf_counter() - began
    done.set()
    waits = told.get(timeout=PATIENCE)
    other.join(PATIENCE)
    return {
        "groups": groups,
        "n": release.content.n,
        "publication, s": seconds,
        "meanwhile": meanwhile,
        **waits,
    }


def keep_writing(plan_id: int, times: Any, done: Any, told: Any) -> None:
    """Send a report and take the budget until it is done; tell the longest that each took."""
    from django.db import transaction

    from surveys.demo.services import answer_as_browsers
    from surveys.design.selectors import plans
    from surveys.ledger import services as ledger

    plan = plans().get(pk=plan_id)
    report_waits, budget_waits = [], []
    while not done.is_set():
        began = time.perf_counter()
        answer_as_browsers(plan, [{"hours": 7}], NOW.date())
        sent = time.perf_counter()
        with transaction.atomic():
            ledger.lock(plan.study.budget_id)
        report_waits.append(sent - began)
        budget_waits.append(time.perf_counter() - sent)
        times.value += 1
        time.sleep(0.01)
    told.put(
        {
            "reports": len(report_waits),
            "longest wait of a report, s": max(report_waits),
            "longest wait for the budget, s": max(budget_waits),
        }
    )


def publish_on(environment: dict[str, str], groups: int) -> dict[str, Any]:
    """Publish in a process with this environment."""
    command = [sys.executable, "-m", "tests.bench.expression_waits", "here", str(groups)]
    settings = {**os.environ, "DJANGO_SETTINGS_MODULE": "surveys.settings", **environment}
    done = subprocess.run(command, env=settings, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    rows = []
    for name in ("SQLite", "PostgreSQL"):
        with engine(name) as environment:
            rows.append({"engine": name, **publish_on(environment, GROUPS)})
    report.table("Who waits while an expression is computed", rows)
    report.save("expression_waits", rows)


if __name__ == "__main__":
    if sys.argv[1:2] == ["here"]:
        print(json.dumps(publish_here(int(sys.argv[2]))))
    else:
        main()
