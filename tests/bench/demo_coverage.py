"""The demo's estimates against the truth in the data.

Runs the demo study again and again through the real rooms (open, randomise as browsers do, accept,
sweep, close, publish) and counts how often each estimate's 95 % interval holds the true share. The
answers are fixed and the intervals also count sampling, so they hold more often than they say.

    python -m tests.bench.demo_coverage [--runs 200]
"""

import argparse
import datetime
import statistics
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from tests.bench.report import save, table
from tests.bench.site import fresh_site

WORKERS = 2
LEAST = (
    177  # of 200: an interval that holds 95 % of the time falls below once in about 10,000 tries
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    runs = parser.parse_args().runs
    parts = [runs // WORKERS + (worker < runs % WORKERS) for worker in range(WORKERS)]
    with ProcessPoolExecutor(WORKERS) as pool:
        found = [row for rows in pool.map(measure, parts) for row in rows]
    report(found, runs)


def measure(runs: int) -> list[dict[str, Any]]:
    """Return, for every run and choice, the truth, the estimate and whether its interval holds
    the truth.
    """
    with fresh_site():
        from surveys.demo import answers

        people = answers.people_of_health()
        return [row for run in range(runs) for row in one_run(run, people)]


def one_run(run: int, people: list[dict[str, int]]) -> Iterator[dict[str, Any]]:
    from django.db import transaction

    from surveys.aggregation import services as aggregation
    from surveys.demo import services as demo
    from surveys.demo.studies import HEALTH, HEALTH_QUESTIONS
    from surveys.design import services as design
    from surveys.releases import services as releases

    now = datetime.datetime.now(datetime.UTC)
    with transaction.atomic():
        plan, _ = demo.ensure_study({**HEALTH, "slug": f"run-{run}"}, HEALTH_QUESTIONS, now)
        demo.answer_as_browsers(plan, people, now.date())
        plan = design.close_plan(plan_id=plan.pk, today=now.date())
    aggregation.sweep_plan(plan, now.date())
    release = releases.publish_if_due(plan=plan, now=now)
    assert release is not None, "nothing was due"
    for question in release.numbers["questions"]:
        for choice in question["choices"]:
            truth = sum(person[question["name"]] == choice["index"] for person in people) / len(
                people
            )
            low, high = choice["interval"]
            yield {
                "what": f"{question['name']}: {choice['choice']}",
                "truth": truth,
                "estimate": choice["estimate"],
                "standard_error": choice["standard_error"],
                "half_width": (high - low) / 2,
                "inside": low <= truth <= high,
            }


def report(found: list[dict[str, Any]], runs: int) -> None:
    rows = []
    for what in dict.fromkeys(row["what"] for row in found):
        mine = [row for row in found if row["what"] == what]
        estimates = [row["estimate"] for row in mine]
        rows.append(
            {
                "estimate of": what,
                "truth": mine[0]["truth"],
                "mean": statistics.fmean(estimates),
                "spread": statistics.stdev(estimates),
                "mean s.e.": statistics.fmean(row["standard_error"] for row in mine),
                "mean ±": statistics.fmean(row["half_width"] for row in mine),
                f"inside of {runs}": sum(row["inside"] for row in mine),
            }
        )
    table("Demo estimates against the truth", rows)
    save("demo_coverage", rows)
    least = min(row[f"inside of {runs}"] for row in rows)
    print(f"least inside: {least} of {runs} (wanted: {LEAST * runs // 200})")


if __name__ == "__main__":
    main()
