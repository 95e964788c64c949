"""Letters that are not sent from here: a file to merge, for paper or for short messages, and pages
with a QR code each.

Every file has fresh codes; older ones of the same people work on until a ticket is fetched. They go
to everybody chosen: leaving out who has fetched would show who it was. Each answers for itself.
"""

from collections.abc import Sequence

from django.db.models import QuerySet

from surveys.design.models import Study
from surveys.invited.models import Person
from surveys.invited.selectors import WITHOUT_EMAIL
from surveys.invited.services import Coded
from surveys.spreadsheets import csv_lines

ON_PAPER = 100  # sheets at once: each takes its time to draw


def chosen(study: Study, *, everybody: bool) -> QuerySet[Person]:
    """Return the people of a list: all, or those whom no letter from here reaches."""
    people = Person.objects.filter(study=study).order_by("pk")
    return people if everybody else people.filter(WITHOUT_EMAIL)


def parts(study: Study) -> list[tuple[int, int, int]]:
    """Return how pages are parted that are printed at once: number, first and last sheet."""
    count = Person.objects.filter(study=study).count()
    return [
        (at, start + 1, min(start + ON_PAPER, count))
        for at, start in enumerate(range(0, count, ON_PAPER))
    ]


def part(people: QuerySet[Person], number: int) -> QuerySet[Person]:
    """Return the people of a part, of the first where there are no so many."""
    number = number if number * ON_PAPER < people.count() else 0
    return people[number * ON_PAPER : (number + 1) * ON_PAPER]


def as_csv(made: Sequence[Coded]) -> str:
    """Return a file to merge: address, name, language, stratum, the list's columns, the link."""
    columns = sorted({name for each in made for name in each.entry.columns})
    head = ["address", "name", "language", "stratum", *columns, "link"]
    return "\ufeff" + csv_lines(head, (_row(each, columns) for each in made))


def _row(each: Coded, columns: Sequence[str]) -> list[str]:
    entry = each.entry
    own = [entry.address, entry.name, entry.language, entry.stratum]
    return [*own, *(entry.columns.get(name, "") for name in columns), each.link]
