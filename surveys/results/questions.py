"""A release as a page shows it: shares with their intervals, and how they were made."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from django.utils.translation import gettext as _

from dpengine.estimates import CONFIDENCE, Estimate
from surveys.charts.intervals import half_widths, share_scale
from surveys.charts.scales import Scale, number_text, percent
from surveys.design import selectors as design
from surveys.design.selectors import Odds
from surveys.plan.content import PlanQuestion
from surveys.releases import comparisons, selectors as releases
from surveys.releases.models import Release, Step
from surveys.releases.numbers import ChoiceFigure, Numbers, QuestionNumbers
from surveys.releases.queries.base import Query
from surveys.results.measured import NumberResult, Shown
from surveys.results.strata import ByStratum
from surveys.results.tables import NumberRow, possible

MANY = 50  # false reports, to make the harm of one easier to see


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceShare(NumberRow):
    """The share of people whose answer is one choice of a question."""

    number: Estimate  # within what is possible
    figure: ChoiceFigure  # as it came out
    is_not_asked: bool
    sign: str = "%"
    ends: tuple[float, float] = (0.0, 1.0)

    @property
    def says_nothing(self) -> bool:
        """Tell whether every share that is possible is in the interval."""
        return self.figure.low <= 0 and self.figure.high >= 1

    @property
    def count(self) -> str:
        return f"{self.figure.noisy_count:,}"

    @property
    def projected(self) -> str:
        """Return the nearest share of those that add up to 100."""
        return f"{percent(self.figure.projected)}%"

    @property
    def unbiased(self) -> str:
        """Return the share as it came out; nothing where that is possible."""
        return "" if 0 <= self.figure.estimate <= 1 else percent(self.figure.estimate)

    @property
    def doubts(self) -> dict[str, str]:
        """Return half the interval's width, in points, up to each noise; see `half_widths`."""
        return half_widths(50 * (self.figure.high - self.figure.low), self.number.variance, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(Shown):
    """One question of a release whose answers are choices."""

    odds: Odds | None  # none where the answer was sent as given
    contrast: float  # how far one answer moves the expected share of reports
    scale: Scale
    rows: list[ChoiceShare]  # in the order in which people see the choices
    among_asked: list[NumberRow]  # empty where all were asked, or where nothing sound can be said

    template = "results/result.html"

    @property
    def headline(self) -> ChoiceShare | None:
        """Return the row to say first: Yes."""
        return self.rows[0] if self.question.kind == "yes_no" else None

    @property
    def is_binary(self) -> bool:
        return len(self.rows) == 2

    @property
    def is_of_options(self) -> bool:
        """Tell whether people could tick several."""
        return self.question.kind == "multiple"

    @property
    def may_add_up(self) -> bool:
        """Tell whether shares that add up to 100 are others than those that are shown."""
        return not self.is_of_options and bool(not self.is_binary or self.impossible)

    @property
    def impossible(self) -> list[ChoiceShare]:
        """Return the rows whose share came out as one that cannot be."""
        return [row for row in self.rows if row.unbiased]

    @property
    def total(self) -> str:
        return percent(sum(row.figure.estimate for row in self.rows))

    @property
    def skew(self) -> tuple[str, str, str]:
        """Say how far one false report, and `MANY` of them, can move a share: 1/(n(a − b)) each."""
        one = 100 / (self.n * self.contrast)  # points
        many = _("%(skew)s points") % {"skew": f"{math.ceil(10 * MANY * one) / 10:.1f}"}
        question = _("question %(number)s") % {"number": self.number}
        return question, f"{math.ceil(100 * one) / 100:.2f}", many


@dataclass(frozen=True, slots=True)
class JointIntervals:
    """A release with intervals that all hold at once, in at least 95 of 100 studies.

    Of m intervals each holds with 1 − .05/m (Bonferroni; Dunn 1961), whatever they have to do with
    one another: answers of the same people, and shares of one question, depend on each other.
    """

    intervals: int
    content: Numbers
    confidence: float

    @classmethod
    def of(cls, release: Release | Step) -> "JointIntervals | None":
        """Return it where there is more than one interval, from the published numbers alone."""
        plan, query = release.request.plan, releases.query_of(release.request)
        count = comparisons.interval_count(plan, release.content)
        if count < 2:
            return None
        confidence = 1 - (1 - CONFIDENCE) / count
        content = comparisons.simultaneous(plan, query, release.content, confidence)
        return None if content is None else cls(count, content, confidence)

    @property
    def percent(self) -> str:
        """Return the confidence of each interval, rounded down."""
        return number_text(math.floor(1e5 * self.confidence) / 1e3, 3)


def results_of(release: Release | Step, together: JointIntervals | None = None) -> list[Shown]:
    """Return every question of a release, in the Plan's order."""
    content = together.content if together else release.content
    by_name = {numbers.name: numbers for numbers in content.questions}
    query, results = releases.query_of(release.request), list[Shown]()
    for number, question in enumerate(release.request.plan.spoken.questions, start=1):
        if (numbers := by_name.get(question.name)) is None:
            continue
        if numbers.choices:
            confidence = together.confidence if together else CONFIDENCE
            results.append(_result(number, question, numbers, release, query, content, confidence))
        else:
            by_stratum = ByStratum.of(question, numbers, query, content)
            results.append(NumberResult.of(number, question, numbers, content, by_stratum))
    return results


def drawn_choices(question: PlanQuestion) -> list[int]:
    """Return the choices that a picture needs, as people see them: No mirrors Yes."""
    order = question.shown_order
    return order[:1] if question.kind == "yes_no" and len(order) == 2 else order


def _result(
    number: int,
    question: PlanQuestion,
    numbers: QuestionNumbers,
    release: Release | Step,
    query: Query,
    content: Numbers,
    confidence: float,
) -> Result:
    estimates = [possible(choice.as_estimate()) for choice in numbers.choices]
    order = question.shown_order
    odds = [] if question.is_cleartext else design.odds_of(question)
    contrast = min((float(each.own - each.other) for each in odds), default=1.0)
    if question.kind == "multiple":  # a report is about some of so many options
        contrast *= odds[0].told / len(order)
    last, among = order[-1] if question.skipped else None, None
    if question.skipped:
        among = comparisons.among_asked(
            query.plan, query, release.content, question.name, confidence
        )
    return Result(
        number=number,
        question=question,
        numbers=numbers,
        n=release.content.n_of(numbers),
        people=release.content.n,
        odds=odds[order[0]] if odds else None,
        contrast=contrast,
        scale=share_scale(estimates[at] for at in drawn_choices(question)),
        rows=[
            ChoiceShare.of(
                question.choices[at],
                estimates[at],
                percent,
                figure=numbers.choices[at],
                is_not_asked=at == last,
            )
            for at in order
        ],
        among_asked=[
            NumberRow.of(question.choices[at], among[at], percent, sign="%") for at in order[:-1]
        ]
        if among
        else [],
        by_stratum=ByStratum.of(question, numbers, query, content, drawn_choices(question)),
    )


@dataclass(frozen=True, slots=True)
class ResultBlock:
    """One question, or the statements of one matrix, which share a scale."""

    results: Sequence[Shown]
    text: str = ""
    scale: Scale | None = None

    @property
    def end(self) -> str:
        """Return the last line of the scale, in percent."""
        return percent(min(self.scale.high, 1.0), 0) if self.scale else ""


def blocks_of(results: list[Shown]) -> list[ResultBlock]:
    """Return results as a page shows them: neighbouring statements of one group as one matrix, as
    the form has them: by the group's name, whatever each says above it.
    """
    blocks = []
    by_matrix = groupby(results, key=lambda each: each.question.group and each.question.group.name)
    for _name, members in by_matrix:
        statements = list(members)
        matrix = [result for result in statements if isinstance(result, Result)]
        group = statements[0].question.group
        if group and len(matrix) == len(statements) > 1:
            scale = share_scale(row.number for result in matrix for row in result.rows)
            shared = [replace(result, scale=scale) for result in matrix]
            blocks.append(ResultBlock(shared, group.text, scale))
        else:
            blocks += [ResultBlock([result]) for result in statements]
    return blocks
