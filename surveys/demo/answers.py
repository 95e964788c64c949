"""The real answers behind the demo studies: as the people gave them, before any browser changed
them.
"""

import csv

from surveys.demo.studies import FOLDER

# Of one person, by question: the index of a choice, the ticked options, or a number (of one that
# devices change, its steps from the least one).
Answers = dict[str, int | list[int]]

MAX_PARTNERS = 100  # that the question takes

# Question: its column, and what each choice is called there. A blank is the last choice, “Prefer
# not to say”.
COLUMNS = {
    "hard_drugs": ("HardDrugs", ("No", "Yes")),
    "depressed": ("Depressed", ("None", "Several", "Most", "")),
    "marijuana": ("Marijuana", ("No", "Yes", "")),
    "same_sex": ("SameSex", ("No", "Yes", "")),
}
HABITS = {
    "gender": ("Gender", ("female", "male")),
    "schooling": (
        "Education",
        ("8th Grade", "9 - 11th Grade", "High School", "Some College", "College Grad"),
    ),
    "depressed": ("Depressed", ("None", "Several", "Most")),
    "hard_drugs": ("HardDrugs", ("No", "Yes")),
}
HABIT_NUMBERS = {"age": "Age", "partners": "SexNumPartnLife", "drinking_days": "AlcoholYear"}


def people_of_health() -> list[Answers]:
    """Return every person's true choices, by question."""
    return [_choices(row, COLUMNS) for row in _rows("nhanes.csv")]


def people_with_habits() -> list[Answers]:
    """Return the true choices and numbers of everyone who gave them all."""
    people = []
    for row in _rows("habits.csv"):
        numbers = {name: int(row[column]) for name, column in HABIT_NUMBERS.items()}
        partners = min(numbers["partners"], MAX_PARTNERS)
        people.append(_choices(row, HABITS) | numbers | {"partners": partners})
    return people


def _rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(newline="") as file:
        return list(csv.DictReader(file))


def _choices(row: dict[str, str], columns: dict[str, tuple[str, tuple[str, ...]]]) -> Answers:
    return {name: choices.index(row[column]) for name, (column, choices) in columns.items()}
