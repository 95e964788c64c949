"""Calendars: kinds of questions that count whole steps of time, and how a step is read and written.

In a Plan and in what is published a step is a number; people and files have what its calendar says.
"""

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils import formats
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from surveys.messages import Message, message
from surveys.plan.kinds import DATE, KINDS, MONTH, Kind


@dataclass(frozen=True)
class Calendar:
    """A kind's steps, counted from the beginning of year 0."""

    kind: Kind
    steps: Message  # what a ± counts
    per_year: float
    appearance: str  # of a date in an XLSForm
    # In the form of a draft
    labels: tuple[Promise, Promise]
    examples: tuple[str, str]
    pattern: str
    input_type: str
    # What is refused, and what to do instead
    in_the_clear: Promise
    too_far: Promise
    no_bounds: Promise
    # How steps are read and written
    day_text: Callable[[datetime.date], str]  # the step that begins on a day, in words
    typed: Callable[[int], str]  # a step, as forms have it
    first_day: Callable[[int], str]  # the day on which a step begins, such as 2020-01-01
    step_of: Callable[[str], int]  # the step that holds a day, or what is typed; or ValueError

    def text(self, step: float) -> str:
        """Return a step in words; of a mean, the step that it falls in.

        Noise takes numbers anywhere: one before year 1 or after year 9999 has the words of the
        kind's first or last step. Whether a draw can be told must not depend on what was drawn.
        """
        whole = min(max(int(step // 1), self.kind.first), self.kind.last)
        return self.day_text(datetime.date.fromisoformat(self.first_day(whole)))


def _month_typed(step: int) -> str:
    return f"{step // 12:04d}-{step % 12 + 1:02d}"


MONTHS = Calendar(  # a month is year × 12 + (month − 1)
    kind=KINDS[MONTH],
    steps=message("months", fills="unit"),
    per_year=12.0,
    appearance="month-year",
    labels=(gettext_lazy("First month"), gettext_lazy("Last month")),
    examples=("2020-01", "2025-12"),
    pattern=r"^\d{4}-(0[1-9]|1[0-2])$",
    input_type="month",
    in_the_clear=gettext_lazy(
        "A month must be randomised: choose that protection, or ask for the year "
        "as a number that is not randomised."
    ),
    too_far=gettext_lazy("expected months from January of year 1 to December of year 9999"),
    no_bounds=gettext_lazy(
        "A month needs its first and last one: write . >= date('2020-01-01') and . <= "
        "date('2025-12-31')."
    ),
    day_text=lambda day: formats.date_format(day, "YEAR_MONTH_FORMAT"),
    typed=_month_typed,
    first_day=lambda step: f"{_month_typed(step)}-01",
    step_of=lambda day: int(day[:4]) * 12 + int(day[5:7]) - 1,
)


def _monday(step: int) -> str:
    return datetime.date.fromordinal(7 * step - 363).isoformat()


# A date is its week, Monday to Sunday: a day would be too exact to protect well. Weeks count from
# Monday, 3 January of year 0: day d of Python's calendar, whose day 1 is Monday, 1 January of year
# 1, is in week ⌊(d + 363)/7⌋. Twin of intake/inputs.js.
WEEKS = Calendar(
    kind=KINDS[DATE],
    steps=message("weeks", fills="unit"),
    per_year=365.2425 / 7,
    appearance="week",
    labels=(gettext_lazy("First day"), gettext_lazy("Last day")),
    examples=("2020-01-06", "2025-12-28"),
    pattern=r"^\d{4}-\d{2}-\d{2}$",
    input_type="date",
    in_the_clear=gettext_lazy(
        "A date must be randomised: choose that protection, or ask for the year "
        "as a number that is not randomised."
    ),
    too_far=gettext_lazy("expected days from year 1 to year 9999"),
    no_bounds=gettext_lazy(
        "A date needs its first and last day: write . >= date('2020-01-06') and . <= "
        "date('2025-12-28')."
    ),
    day_text=lambda day: _("week of %(day)s") % {"day": formats.date_format(day, "DATE_FORMAT")},
    typed=_monday,
    first_day=_monday,
    step_of=lambda day: (datetime.date.fromisoformat(day).toordinal() + 363) // 7,
)
CALENDARS = {MONTH: MONTHS, DATE: WEEKS}  # by kind of question


def calendar_of(question: Any) -> Calendar | None:
    """Return the calendar of a question of a draft or a Plan; None if it counts no time."""
    return CALENDARS.get(question.kind)


def amount_text(question: Any, amount: float, number_text: Callable[[Any], str] = str) -> str:
    """Return what a question counts in the words of its calendar, or as a number."""
    calendar = calendar_of(question)
    return calendar.text(amount) if calendar else number_text(amount)
