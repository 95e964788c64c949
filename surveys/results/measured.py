"""Numbers and months that were changed on the device: a mean, or how answers are spread."""

from dataclasses import dataclass, replace
from functools import partial

from django.utils.translation import gettext as _

from surveys.charts.intervals import Bar, half_widths, share_label
from surveys.charts.scales import Scale, percent, position, round_steps
from surveys.design.calendars import amount_text, calendar_of
from surveys.plan.content import PlanQuestion
from surveys.releases.numbers import Numbers, QuestionNumbers
from surveys.results.metadata import shown_epsilon
from surveys.results.strata import ByStratum
from surveys.results.tables import NumberRow, number_scale, places_of, possible, value_text

MIN_TOP = 0.01  # of a spread's scale
HALVED = (1, 2, 3, 4, 6, 8)  # times a power of ten, have a half that is easy to read
FILLED = 0.96  # of a column's place


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeColumn(NumberRow):
    """The share of people in one range, as a column with its interval."""

    sign: str = "%"
    bar: Bar
    middle: str
    from_: str
    to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One question of a release, as a page shows it."""

    number: int
    question: PlanQuestion
    numbers: QuestionNumbers
    n: int
    people: int  # of the release: more than n where devices drew whom they ask
    by_stratum: ByStratum | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberResult(Shown):
    """One question of a release that is a number."""

    epsilon: str
    mean: NumberRow | None  # within what is possible
    unbiased: str  # the mean as it came out, where that is not possible
    doubts: dict[str, str]
    scale: Scale | None  # of the mean, or of the quartiles
    quartiles: list[NumberRow]
    columns: list[RangeColumn]
    upright: Scale | None  # of the columns

    template = "results/measured.html"

    @property
    def says_nothing(self) -> bool:
        """Tell whether every mean that is possible is in the interval."""
        mean, question = self.numbers.mean, self.question
        return mean is not None and mean.low <= question.least and mean.high >= question.most

    @property
    def placed(self) -> list[NumberRow]:
        """Return the quartiles, and the mean below them, each under its name."""
        rows = [
            replace(row, label=_("%(part)s of 100") % {"part": row.label}) for row in self.quartiles
        ]
        return rows + ([replace(self.mean, label=_("Mean"))] if self.mean else [])

    @property
    def doubts_unit(self) -> str:
        """Return the word after a ±: the number's own unit, or months."""
        calendar = calendar_of(self.question)
        return _(calendar.steps()) if calendar else self.question.unit

    @classmethod
    def of(
        cls,
        number: int,
        question: PlanQuestion,
        numbers: QuestionNumbers,
        content: Numbers,
        by_stratum: ByStratum | None = None,
    ) -> "NumberResult":
        came_out = numbers.mean.as_estimate() if numbers.mean else None
        mean = possible(came_out, question.least, question.most) if came_out else None
        quartiles = [part.as_estimate() for part in numbers.quartiles]
        drawn = quartiles or ([mean] if mean else [])
        places = min(places_of(drawn), 2) if drawn else 0
        calendar = calendar_of(question)
        if calendar:
            scale, text, whole = None, calendar.text, calendar.text
        else:
            scale = number_scale(drawn, "")
            text, whole = partial(value_text, places=places), partial(value_text, places=0)
        doubts, ends = {}, (question.least, question.most)
        if mean and mean.variance.total:
            width = came_out.high - came_out.low if came_out else 0.0
            doubts = half_widths(width / 2, mean.variance, max(places, 1))
        highest = max((part.high for part in numbers.ranges), default=None)
        upright = None if highest is None else upright_scale(highest)
        return cls(
            by_stratum=by_stratum,
            number=number,
            question=question,
            numbers=numbers,
            n=content.n_of(numbers),
            people=content.n,
            epsilon=shown_epsilon(question.loss) if question.loss else "",
            mean=NumberRow.of("", mean, text, ends=ends) if mean else None,
            unbiased=text(came_out.value)
            if came_out and mean and came_out.value != mean.value
            else "",
            doubts=doubts,
            scale=scale,
            quartiles=[
                NumberRow.of(str(part.part), estimate, whole, ends=ends)
                for part, estimate in zip(numbers.quartiles, quartiles, strict=True)
            ],
            columns=_columns(question, numbers, upright) if upright else [],
            upright=upright,
        )


def upright_scale(highest: float) -> Scale:
    """Return the scale of columns: 0, a round share above all, half of it."""
    top = min(next(round_steps(max(highest, MIN_TOP), among=HALVED)), 1.0)
    return Scale(0.0, top, top / 2, label=share_label)


def _columns(question: PlanQuestion, numbers: QuestionNumbers, scale: Scale) -> list[RangeColumn]:
    columns, count = [], len(numbers.ranges)
    for place, part in enumerate(numbers.ranges):
        least, most = (amount_text(question, end) for end in (part.least, part.most))
        height = min(max(scale.part(part.estimate), 0.0), 1.0)
        columns.append(
            RangeColumn.of(
                least if part.least == part.most else f"{least} – {most}",
                part.as_estimate(),
                percent,
                bar=Bar(
                    "whole",
                    position(place / count),
                    position(1 - height),
                    position(FILLED / count),
                    position(height),
                ),
                middle=position((place + FILLED / 2) / count),
                from_=scale.from_top(min(max(part.high, 0.0), scale.high)),
                to=scale.from_top(min(max(part.low, 0.0), scale.high)),
            )
        )
    return columns
