"""How many numbers are published about how few people: from public counts only.

About as many numbers as people, each with less chance in it than √n, give back nearly everyone's
record by least squares (Dinur and Nissim 2003). Where all answers are changed on the device the
record is the report, which gives away what the device allowed and no more.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from surveys.design.models import Plan
from surveys.releases.models import Release, Step
from surveys.releases.numbers import Numbers
from surveys.releases.selectors import people_counted

CROWDED = Fraction(1, 2)  # published numbers for each person, from which on a page warns


@dataclass(frozen=True, slots=True)
class Crowding:
    """What has been published of one wave: each number is an equation about its people."""

    numbers: int
    people: int
    is_of_reports: bool  # all answers were changed before they were sent

    @property
    def is_near(self) -> bool:
        return self.numbers > 0 and self.numbers >= CROWDED * self.people

    @property
    def root(self) -> int:
        """Return √n: errors of this size are what reconstruction cannot get over."""
        return math.isqrt(self.people)


def crowding_of(plan: Plan, more: int = 0) -> Crowding:
    """Return how many numbers of a wave are published, with `more` to come, and of how many
    people.
    """
    documents = [
        *Release.objects.filter(request__plan=plan).values_list("numbers", flat=True),
        *Step.objects.filter(series__request__plan=plan).values_list("numbers", flat=True),
    ]
    numbers = sum(len(table.rows) for each in documents for table in Numbers.read(each).tables)
    return Crowding(numbers + more, people_counted(plan), not plan.content.cleartext)
