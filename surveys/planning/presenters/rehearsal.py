"""What came of rehearsals, in the words and units of its reader."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from django.utils.translation import gettext as _

from dpengine.estimates import Estimate
from surveys.charts.intervals import Interval
from surveys.charts.scales import Scale, round_steps
from surveys.design.calendars import amount_text
from surveys.planning.population import rows_of
from surveys.planning.questions import QuestionAtEpsilon
from surveys.planning.rehearsal import Coverage, Record
from surveys.planning.wording import decimal_text

FEW_LINES = 5
ROUND = (1, 2, 2.5, 5)  # times a power of ten, between two lines
ROOM = 1.04  # beside the widest interval
COVERED = 0.95  # of intervals that should hold
Z = 1.96  # standard errors of a mean


@dataclass(frozen=True)
class Row:
    """One choice in one rehearsal, and over all of them."""

    label: str
    value: str
    low: str
    high: str
    holds: str  # or misses, what was assumed
    interval: Interval
    bias: float
    bias_text: str
    margin: str


@dataclass(frozen=True)
class QuestionResults:
    """One question's rehearsals."""

    question: QuestionAtEpsilon
    scale: Scale
    rows: list[Row]
    coverage: Coverage
    half: str

    @property
    def is_low(self) -> bool:
        """Tell whether fewer intervals hold than 95 of 100, beyond chance."""
        return self.coverage.high < COVERED

    @property
    def worst(self) -> Row:
        """Return the row with the largest bias."""
        return max(self.rows, key=lambda row: abs(row.bias))


def results_of(
    question: QuestionAtEpsilon, record: Record, assumed: Sequence[Fraction]
) -> QuestionResults:
    """Return what all rehearsals of a question came to."""
    content = question.content
    truths, estimates = list(map(float, assumed)), record.first[content.name]
    scale = _scale(question, estimates, truths)
    labels = [_("Mean")] if question.is_mean else content.choices or rows_of(content)
    rows = [
        _row(question, scale, *row)
        for row in zip(labels, estimates, truths, record.bias(content.name), strict=True)
    ]
    order = content.shown_order if len(rows) > 1 and content.choices else range(len(rows))
    half = question.half_width_text(record.half_width(content.name))
    return QuestionResults(
        question, scale, [rows[place] for place in order], record.coverage(content.name), half
    )


def _scale(
    question: QuestionAtEpsilon, estimates: Sequence[Estimate], truths: Sequence[float]
) -> Scale:
    """Return a scale that holds every interval and, of shares, 0."""
    least = question.content.least if question.is_mean else 0.0
    low = min(least, *(each.low for each in estimates), *truths)
    high = max(*(each.high for each in estimates), *truths)
    high = low + (high - low) * ROOM
    step = next(round_steps((high - low) / FEW_LINES, among=ROUND))
    return Scale(
        low, high, step, zero_stands_out=False, label=lambda value, _places: _value(value, question)
    )


def _row(
    question: QuestionAtEpsilon,
    scale: Scale,
    label: str,
    estimate: Estimate,
    truth: float,
    bias: tuple[float, float],
) -> Row:
    holds = (
        _("holds %(truth)s") if estimate.low <= truth <= estimate.high else _("misses %(truth)s")
    )
    mean, error = bias
    return Row(
        label=label,
        value=_value(estimate.value, question),
        low=_value(estimate.low, question),
        high=_value(estimate.high, question),
        holds=holds % {"truth": _value(truth, question)},
        interval=Interval.of(scale, estimate, truth),
        bias=mean,
        bias_text=_signed(mean, question.is_mean),
        margin=_signed(Z * error, question.is_mean).lstrip("+"),
    )


def _value(value: float, question: QuestionAtEpsilon) -> str:
    if not question.is_mean:
        return f"{_signed(value, False).lstrip('+')}%"
    return amount_text(
        question.content, value, lambda mean: decimal_text(mean, 1).replace("-", "−")
    )


def _signed(value: float, is_mean: bool) -> str:
    shown = value if is_mean else 100 * value
    text = decimal_text(abs(shown), 2 if is_mean else 1)
    return text if not float(f"{abs(shown):.2f}") else f"{'−' if value < 0 else '+'}{text}"
