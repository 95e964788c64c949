"""The demo study that asks in every way there is, each person two of eight. Its people are made up,
and its title page says so.

One person gives away ε 2 at most: the devices draw two questions of ε 1 each, where a question that
follows from another shares its ε with that. Of 3,000 people 750 are asked each.

Nobody's real answers fit such a form: these are drawn by chance, from shares that are written down
here, so that there is something to read. Each made-up person then answers as a browser does.
"""

import json
from decimal import Decimal

from dpengine.randomness import below
from surveys.demo.answers import Answers
from surveys.demo.studies import FOLDER, Fields

PEOPLE = 3000
FIRST_MONTH = 12 * 2016  # January 2016
FIRST_WEEK = 105654  # from 25 November 2024
DOES_NOT_APPLY = 5  # of "what keeps you awake"

SLEEP: Fields = {
    "slug": "sleep-and-work",
    "title": "Sleep and work",
    "organisation": "Candor demo · 3,000 invented answers",
    "purpose": (
        "Every kind of question. The first 3,000 answers were made up: nobody gave them. Add "
        "yours, and see what is sent."
    ),
    "contact": "demo@example.org",
    "asked": 2,
    "cap": Decimal(2),
    "release_epsilon": Decimal(2),
    "rule": "every",
    "hours": 24,
    "smallest_batch": 30,
    "expected": PEOPLE,
}
SLEEP_QUESTIONS: list[Fields] = [
    {
        "name": "drowsy",
        "kind": "yes_no",
        "text": "In the last month, have you driven or worked while you were too tired for it to "
        "be safe?",
        "label": "Too tired to be safe",
        "help": "At a machine, with patients or children, in traffic: anything where falling "
        "asleep would have hurt.",
        "epsilon": Decimal("0.45"),
    },
    {
        "name": "awake",
        "kind": "single",
        "text": "What kept you from sleeping enough?",
        "label": "What kept people awake",
        "choices": "Work or study\nWorry\nChildren or noise\nPhone or games\nSomething else",
        "asked_if": "drowsy",
        "asked_if_answers": [1],
        "epsilon": Decimal("0.55"),
    },
    {
        "name": "taken",
        "kind": "multiple",
        "text": "What have you taken in the last month to stay awake or to fall asleep?",
        "label": "Taken to stay awake or fall asleep",
        "help": "Tick all that are true, or none.",
        "choices": "Coffee, tea or energy drinks\nSleeping pills of my own\nMedicine meant for "
        "someone else\nAlcohol",
        "may_decline": True,
    },
    {
        "name": "boss",
        "kind": "likert",
        "text": "Where I work, I can say that I am too tired.",
        "label": "Can say so",
        "group": "work",
        "group_text": "How much do you agree?",
    },
    {
        "name": "rest",
        "kind": "likert",
        "text": "Where I work, I get the breaks that I am owed.",
        "label": "Gets breaks",
        "group": "work",
        "group_text": "How much do you agree?",
    },
    {
        "name": "slept",
        "kind": "number",
        "wanted": "mean",
        "text": "How many hours did you sleep last night?",
        "label": "Hours slept",
        "least": 0,
        "most": 14,
        "unit": "hours",
    },
    {
        "name": "overtime",
        "kind": "number",
        "wanted": "distribution",
        "text": "How many hours did you work last week?",
        "label": "Hours worked",
        "help": "If there were more than 79, enter 79.",
        "least": 0,
        "most": 79,
        "unit": "hours",
    },
    {
        "name": "started",
        "kind": "month",
        "wanted": "mean",
        "text": "When did you begin the work you do now?",
        "label": "Began the present work",
        "help": "If it was before 2016, choose January 2016. If you do not work, choose this "
        "month.",
        "least": FIRST_MONTH,
        "most": FIRST_MONTH + 12 * 11 - 1,
    },
    {
        "name": "holiday",
        "kind": "date",
        "wanted": "mean",
        "text": "When did your last holiday of a week or more begin?",
        "label": "Began the last holiday",
        "help": "If it was earlier than the first day offered, choose that day.",
        "least": FIRST_WEEK,
        "most": FIRST_WEEK + 103,
    },
]
SLEEP_IN_CHINESE: Fields = json.loads((FOLDER / "sleep.zh-hans.json").read_text(encoding="utf-8"))
TAKEN = (85, 12, 7, 30)  # of 100 made-up people who take each


def made_up_people() -> list[Answers]:
    """Return the answers of PEOPLE people who never were."""
    return [_person() for _ in range(PEOPLE)]


def _person() -> Answers:
    drowsy = int(below(100) < 35)
    return {
        "drowsy": drowsy,
        "awake": _one_of((30, 30, 15, 15, 10)) if drowsy else DOES_NOT_APPLY,
        "taken": _ticks(),
        "boss": _one_of((20, 30, 20, 20, 10)),
        "rest": _one_of((10, 20, 20, 35, 15)),
        "slept": 3 + sum(below(2) for _ in range(8)),  # 7 on average
        "overtime": 20 + sum(below(6) for _ in range(8)),  # 40 on average
        "started": 131
        - min(below(132), below(132)),  # steps from the first month; more of them lately
        "holiday": 103 - min(below(104), below(104)),
    }


def _one_of(parts: tuple[int, ...]) -> int:
    """Return an answer drawn in these parts of 100."""
    drawn = below(sum(parts))
    return next(place for place in range(len(parts)) if drawn < sum(parts[: place + 1]))


def _ticks() -> list[int]:
    if below(100) < 4:
        return [len(TAKEN)]  # prefers not to say
    return [option for option, part in enumerate(TAKEN) if below(100) < part]
