"""A rehearsal of six questions: 1,000 made-up people, 200 times; how long it takes, and how many
intervals hold.

Wanted: 93 to 97 % of the 95 % intervals hold what was assumed.

    python -m tests.bench.rehearsal
"""

import os
import time
from decimal import Decimal

import django
from msgspec.structs import replace

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "surveys.settings")
django.setup()

from surveys.plan.content import read  # noqa: E402
from surveys.planning.population import population_of, usual  # noqa: E402
from surveys.planning.questions import PlannedQuestion  # noqa: E402
from surveys.planning.rehearsal import Record, Rehearsal  # noqa: E402
from tests.bench.report import save, table  # noqa: E402
from tests.plans import whole  # noqa: E402

PEOPLE, RUNS = 1000, 200
ASKED = (
    ("yes or no", PlannedQuestion.made_up("yes_no"), "1"),
    ("yes or no, ε 1.5", PlannedQuestion.made_up("yes_no"), "1.5"),
    ("scale of 5", PlannedQuestion.made_up("likert"), "1"),
    ("4 choices", PlannedQuestion.made_up("single", choices=4), "1"),
    ("any of 4", PlannedQuestion.made_up("multiple", choices=4), "1"),
    ("mean, 0 to 20", PlannedQuestion.made_up("number", most=20), "1"),
)


def main() -> None:
    questions = [
        replace(question.at(Decimal(epsilon)).content, name=f"q{number}")
        for number, (_, question, epsilon) in enumerate(ASKED, start=1)
    ]
    content = read(whole(questions=questions))
    population = population_of(content, {each.name: usual(each) for each in questions})
    rehearsal, truths, record = Rehearsal(content, population), population.truths(), Record()
    begun = time.perf_counter()
    for _ in range(RUNS):
        record.add(rehearsal.run(PEOPLE), truths)
    seconds = time.perf_counter() - begun
    rows = [
        _row(name, record.coverage(f"q{at}"), _off(record.bias(f"q{at}")))
        for at, (name, *_) in enumerate(ASKED, 1)
    ]
    rows.append(
        _row(
            f"all, {seconds:.1f} s",
            record.coverage(),
            max(row["bias, standard errors"] for row in rows),
        )
    )
    table(f"{len(questions)} questions, {PEOPLE:,} made-up people, {RUNS} rehearsals", rows)
    save("rehearsal", [{**row, "seconds": seconds} for row in rows])


def _off(bias: list[tuple[float, float]]) -> float:
    return max(abs(mean) / error for mean, error in bias)


def _row(name: str, coverage: tuple[float, float, float], bias: float) -> dict[str, str | float]:
    covered, low, high = coverage
    return {
        "question": name,
        "intervals that hold": covered,
        "from": low,
        "to": high,
        "bias, standard errors": bias,
    }


if __name__ == "__main__":
    main()
