"""The real answers behind the demo study: as the people gave them, before any browser changed them."""

import csv
from pathlib import Path

FILE = Path(__file__).parent / "data" / "nhanes.csv"

# Question: its column, and what each choice is called there. A blank is the last choice, “Prefer not to say”.
COLUMNS = {
    "hard_drugs": ("HardDrugs", ("No", "Yes")),
    "depressed": ("Depressed", ("None", "Several", "Most", "")),
    "marijuana": ("Marijuana", ("No", "Yes", "")),
    "same_sex": ("SameSex", ("No", "Yes", "")),
}


def people() -> list[dict[str, int]]:
    """Return every person's true choices, by question."""
    with FILE.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [{name: choices.index(row[column]) for name, (column, choices) in COLUMNS.items()} for row in rows]
