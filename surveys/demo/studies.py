"""The demo studies, as an admin would type them."""

import json
from decimal import Decimal
from pathlib import Path

FOLDER = Path(__file__).parent / "data"
Fields = dict[str, object]  # of a study or a question, by name, as the draft has them

HARD_DRUGS: Fields = {
    "name": "hard_drugs",
    "kind": "yes_no",
    "text": "Have you ever tried cocaine, crack, heroin or methamphetamine?",
    "label": "Ever tried a hard drug",
}
DEPRESSED: Fields = {
    "name": "depressed",
    "kind": "single",
    "text": "In the last two weeks, on how many days did you feel down, depressed or hopeless?",
    "label": "Felt down, depressed or hopeless",
    "choices": "None\nSeveral days\nMost days",
}
HEALTH: Fields = {
    "slug": "health-and-habits",
    "title": "Health and habits",
    "organisation": "Candor demo · answers from NHANES 2009–2012",
    "purpose": (
        "Shows what Candor does with real answers: 3,615 people of a national health survey, each "
        "answer changed by "
        "chance as a browser would before anyone here could see it."
    ),
    "contact": "demo@example.org",
    "cap": Decimal(2),
    "release_epsilon": Decimal(1),
}
HEALTH_QUESTIONS: list[Fields] = [
    {**HARD_DRUGS, "help": "Once is enough to answer yes."},
    {**DEPRESSED, "may_decline": True},
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

MEDICINES: Fields = {
    "slug": "medicines-and-help",
    "title": "Medicines, alcohol and getting help",
    "organisation": "University of Aldermoor · Student Health Service",
    "purpose": (
        "How common are borrowed medicines, and do people know where to find help? Aldermoor is "
        "invented: this form is for trying out."
    ),
    "contact": "advice@example.org",
    "cap": Decimal("1.8"),
    "release_epsilon": Decimal("0.45"),
    "rule": "every",
    "hours": 24,
    "smallest_batch": 30,
}
MEDICINES_QUESTIONS: list[Fields] = [
    {
        "name": "borrowed",
        "kind": "yes_no",
        "text": "In the last 12 months, have you taken a prescription medicine that was meant for "
        "someone else?",
        "label": "Taken a medicine meant for someone else",
        "help": "For example a friend’s sleeping pills, strong painkillers or ADHD tablets.",
    },
    {
        "name": "would_know",
        "kind": "likert",
        "text": "If drinking or medicines became a problem for me, I would know whom to ask for "
        "help.",
        "label": "Would know whom to ask for help",
        "epsilon": Decimal("0.5"),
    },
    {
        "name": "last_drink",
        "kind": "single",
        "text": "When did you last have more to drink than you wanted to?",
        "label": "Last drank more than wanted",
        "choices": "Never\nMore than a month ago\nIn the last month\nIn the last week",
        "may_decline": True,
        "epsilon": Decimal("0.5"),
    },
]

HABITS: Fields = {
    "slug": "partners-and-drinking",
    "title": "Partners and drinking",
    "organisation": "Candor demo · answers from NHANES 2009–2012",
    "purpose": (
        "Shows what a researcher can ask for: 1,551 people of a national health survey. Two "
        "answers were changed by "
        "chance on the device, the others sent as given, kept encrypted, and published only when "
        "somebody asks."
    ),
    "contact": "demo@example.org",
    "cap": Decimal(4),
    "cap_delta": "0.000001",
    "release_epsilon": Decimal(2),
    "rule": "on-request",
    "given_cap": Decimal(4),
    "given_why": "These answers are public already: anyone can download them from the survey's "
    "own site.",
}
HABITS_QUESTIONS: list[Fields] = [
    HARD_DRUGS,
    DEPRESSED,
    {
        "name": "gender",
        "kind": "single",
        "protection": "publication",
        "text": "What is your gender?",
        "label": "Gender",
        "choices": "Woman\nMan",
    },
    {
        "name": "schooling",
        "kind": "single",
        "protection": "publication",
        "text": "What is the highest school you have finished?",
        "label": "Schooling",
        "choices": "8th grade or less\n9th to 11th grade\nHigh school\nSome college\nCollege",
    },
    {
        "name": "age",
        "kind": "number",
        "protection": "publication",
        "text": "How old are you?",
        "label": "Age",
        "least": 18,
        "most": 100,
        "unit": "years",
    },
    {
        "name": "partners",
        "kind": "number",
        "protection": "publication",
        "text": "With how many people have you had sex in your life?",
        "label": "Partners in life",
        "help": "If there were more than 100, enter 100.",
        "least": 0,
        "most": 100,
        "unit": "people",
    },
    {
        "name": "drinking_days",
        "kind": "number",
        "protection": "publication",
        "text": "On how many days of the last year did you drink alcohol?",
        "label": "Days with alcohol in a year",
        "least": 0,
        "most": 366,
        "unit": "days",
    },
]
HABITS_ASKED: list[tuple[str, Fields]] = [  # by the researcher, once it has closed
    ("mean", {"question": "partners", "epsilon": "0.5", "spread": "bound"}),
    (
        "quantile",
        {"question": "drinking_days", "percent": "50", "method": "exponential", "epsilon": "1.5"},
    ),
    ("most_common", {"question": "schooling", "best": 1, "epsilon": "0.5"}),
    ("crosstab", {"rows": "hard_drugs", "within": "gender", "epsilon": "1"}),
    ("synthetic", {"questions": ["gender", "schooling", "age"], "bins": 10, "epsilon": "1.5"}),
    (
        "check",
        {"questions": ["gender", "schooling"], "tolerance": "5", "numbers": 5, "epsilon": "1"},
    ),
]
HABITS_CHECKED: Fields = {
    "question": "gender",
    "choice": 2,
    "percent": "53",
}  # found in the synthetic set

CARE: Fields = {  # one answer that the team can read, and a question that follows from another
    "slug": "going-without-care",
    "title": "Going without care",
    "organisation": "Free Clinic of Aldermoor",
    "purpose": (
        "How many people go without care, and why? The clinic is invented: this form is for trying "
        "out."
    ),
    "contact": "care@example.org",
    "cap": Decimal(1),
    "release_epsilon": Decimal("0.5"),
    "smallest_batch": 50,
    "rule": "every",
    "hours": 24,
}
CARE_QUESTIONS: list[Fields] = [
    {
        "name": "without",
        "kind": "yes_no",
        "text": "In the last 12 months, have you gone without care or medicine that you needed?",
        "label": "Went without care",
    },
    {
        "name": "reason",
        "kind": "single",
        "text": "What was the main reason?",
        "label": "Main reason",
        "choices": "Money\nTime or distance\nFear or shame\nSomething else",
        "asked_if": "without",
        "asked_if_answers": [1],
    },
    {
        "name": "age_group",
        "kind": "single",
        "protection": "publication",
        "text": "How old are you?",
        "label": "Age",
        "choices": "Under 30\n30 to 49\n50 to 69\n70 or older",
    },
]
NIGHTS: Fields = {  # for a list of people, each of whom answers once
    "slug": "night-shifts",
    "title": "Safe on night shifts",
    "organisation": "Aldermoor General Hospital",
    "purpose": (
        "Do nurses feel safe at night? The hospital and its list of 400 people are invented: this "
        "form is for trying out."
    ),
    "contact": "nights@example.org",
    "is_invited": True,
    "cap": Decimal(2),
    "release_epsilon": Decimal(2),
    "smallest_batch": 50,
    "expected": 400,
}
NIGHTS_QUESTIONS: list[Fields] = [
    {
        "name": "threatened",
        "kind": "yes_no",
        "text": "In the last month, were you threatened or attacked on a night shift?",
        "label": "Threatened at night",
    },
    {
        "name": "reported",
        "kind": "yes_no",
        "text": "Did you report it?",
        "label": "Reported it",
        "asked_if": "threatened",
        "asked_if_answers": [1],
    },
]
NIGHTS_LIST = {"Wards": 240, "Emergency": 160}  # people of the list, by stratum
_IN_CHINESE: dict[str, Fields] = json.loads(
    (FOLDER / "small.zh-hans.json").read_text(encoding="utf-8")
)
CARE_IN_CHINESE, NIGHTS_IN_CHINESE = _IN_CHINESE["care"], _IN_CHINESE["nights"]
