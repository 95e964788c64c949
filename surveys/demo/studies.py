"""The two demo studies, as an admin would type them."""

from decimal import Decimal
from typing import Any

HEALTH: dict[str, Any] = {
    "slug": "health-and-habits",
    "title": "Health and habits",
    "organisation": "Candor demo · answers from NHANES 2009–2012",
    "purpose": (
        "Shows what Candor does with real answers: 3,615 people of a national health survey, each answer changed by "
        "chance as a browser would before anyone here could see it."
    ),
    "contact": "demo@example.org",
    "cap": Decimal(2),
    "release_epsilon": Decimal(1),
}
HEALTH_QUESTIONS: list[dict[str, Any]] = [
    {
        "name": "hard_drugs",
        "kind": "yes_no",
        "text": "Have you ever tried cocaine, crack, heroin or methamphetamine?",
        "label": "Ever tried a hard drug",
        "help": "Once is enough to answer yes.",
    },
    {
        "name": "depressed",
        "kind": "single",
        "text": "In the last two weeks, on how many days did you feel down, depressed or hopeless?",
        "label": "Felt down, depressed or hopeless",
        "choices": "None\nSeveral days\nMost days",
        "may_decline": True,
    },
    {
        "name": "marijuana",
        "kind": "yes_no",
        "text": "Have you ever tried marijuana or hashish?",
        "label": "Ever tried marijuana",
        "may_decline": True,
    },
    {
        "name": "same_sex",
        "kind": "yes_no",
        "text": "Have you ever had any kind of sex with a partner of your own sex?",
        "label": "Ever had a same-sex partner",
        "may_decline": True,
    },
]

MEDICINES: dict[str, Any] = {
    "slug": "medicines-and-help",
    "title": "Medicines, alcohol and getting help",
    "organisation": "University of Aldermoor · Student Health Service",
    "purpose": (
        "The Student Health Service asks how common borrowed medicines are, and whether people know where to find "
        "help, to decide where to open a second advice room. Aldermoor is invented: this form is for trying out."
    ),
    "contact": "advice@example.org",
    "cap": Decimal("1.8"),
    "release_epsilon": Decimal("0.45"),
    "rule": "every",
    "hours": 24,
    "smallest_batch": 30,
}
MEDICINES_QUESTIONS: list[dict[str, Any]] = [
    {
        "name": "borrowed",
        "kind": "yes_no",
        "text": "In the last 12 months, have you taken a prescription medicine that was meant for someone else?",
        "label": "Taken a medicine meant for someone else",
        "help": "For example a friend’s sleeping pills, strong painkillers or ADHD tablets.",
    },
    {
        "name": "would_know",
        "kind": "likert",
        "text": "If drinking or medicines became a problem for me, I would know whom to ask for help.",
        "label": "Would know whom to ask for help",
    },
    {
        "name": "last_drink",
        "kind": "single",
        "text": "When did you last have more to drink than you wanted to?",
        "label": "Last drank more than wanted",
        "choices": "Never\nMore than a month ago\nIn the last month\nIn the last week",
        "may_decline": True,
    },
]
