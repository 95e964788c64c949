"""How far off a publication is, in points: as reports' losses are charged, as answers' are, and as
devices alone leave it: 1.96 standard errors, expected, at the share of one half. The intervals that
are published are exact ones, and 2 to 5 % wider at these numbers of people.
"""

import os
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "surveys.settings")
django.setup()

from surveys.demo.answers import people_of_health, people_with_habits  # noqa: E402
from surveys.demo.studies import (  # noqa: E402
    DEPRESSED,
    HABITS,
    HARD_DRUGS,
    HEALTH,
    HEALTH_QUESTIONS,
)
from surveys.design.models import Question  # noqa: E402
from surveys.plan.content import ANSWERS, PublicationTerms  # noqa: E402
from surveys.planning.precision import noise_of, precision_of  # noqa: E402
from surveys.planning.questions import HALF, PlannedQuestion, others_of  # noqa: E402
from tests.bench import report  # noqa: E402

PEOPLE = (40, 100, 200, 400, 800, 3000)
EXACT = "20"  # more than any of these devices gave away


def half(questions: Sequence[Any], n: int, epsilon: str, counts: str = ANSWERS) -> float:
    """Return the widest ± of the questions that share one publication."""
    terms = PublicationTerms(epsilon=epsilon, rule="when-closed", smallest_batch=1, counts=counts)
    return 196 * max(
        precision_of(
            each, noise_of(each, others_of(each, questions), terms), n, HALF
        ).variance.total
        ** 0.5
        for each in questions
    )


def asked(kind: str, epsilon: str, many: int, choices: int = 2) -> list[Any]:
    made = {} if kind == "yes_no" else {"choices": choices}
    planned = [PlannedQuestion.made_up(kind, **made) for _ in range(many)]
    for number, each in enumerate(planned, 1):
        each.row.name = f"q{number}"  # questions of one name would be sent as one answer
    return [each.at(Decimal(epsilon)) for each in planned]


def by_people() -> list[dict[str, Any]]:
    """Six yes/no questions at ε 1 each."""
    questions = asked("yes_no", "1", 6)
    return [
        {
            "people": n,
            **{
                f"{name}, cap {cap}": half(questions, n, cap, counts)
                for name, counts in (("reports", ""), ("answers", ANSWERS))
                for cap in ("1", "2")
            },
            "devices alone": half(questions, n, EXACT),
        }
        for n in PEOPLE
    ]


def by_question() -> list[dict[str, Any]]:
    """One publication of five questions at ε 1 in all, of 1,000 people."""
    rows = []
    for epsilon in ("0.5", "1", "2", "3"):
        for choices in (2, 5, 10):
            kind = "yes_no" if choices == 2 else "single"
            questions = asked(kind, epsilon, 5, choices)
            rows.append(
                {
                    "ε of an answer": epsilon,
                    "choices": choices,
                    "reports": half(questions, 1000, "1", ""),
                    "answers": half(questions, 1000, "1"),
                    "devices alone": half(questions, 1000, EXACT),
                }
            )
    return rows


def seven_choices() -> list[dict[str, Any]]:
    """Five questions of seven choices at a charge of 1 in all, of 1,000 people."""
    questions = asked("single", "1", 5, 7)
    return [
        {
            "reports": half(questions, 1000, "1", ""),
            "answers": half(questions, 1000, "1"),
            "devices alone": half(questions, 1000, EXACT),
        }
    ]


def of_the_demo() -> list[dict[str, Any]]:
    """One publication of the questions that devices change, as many people as the data have."""
    rows = []
    for study, asked_for, people in (
        (HEALTH, HEALTH_QUESTIONS, people_of_health()),
        (HABITS, [HARD_DRUGS, DEPRESSED], people_with_habits()),
    ):
        rows_of = [Question(**fields) for fields in asked_for]
        questions = [PlannedQuestion(row).at(Decimal(row.epsilon)) for row in rows_of]
        epsilon, n = str(study["release_epsilon"]), len(people)
        rows.append(
            {
                "study": study["slug"],
                "people": n,
                "ε": epsilon,
                "reports": half(questions, n, epsilon, ""),
                "answers": half(questions, n, epsilon),
                "devices alone": half(questions, n, EXACT),
            }
        )
    return rows


TABLES = {
    "six yes/no questions at ε 1 each, ± points": by_people,
    "five questions, one publication at ε 1, 1,000 people": by_question,
    "five questions of seven choices, ε 1 each": seven_choices,
    "the demo's studies, as one publication": of_the_demo,
}


def main() -> None:
    for title, made in TABLES.items():
        rows = made()
        report.table(title, rows)
        report.save(f"through_noise: {title}", rows)


if __name__ == "__main__":
    main()
