"""What a release publishes: tables of numbers with their intervals, and how they were made.

A release stores it as JSON, which is hashed: a whole number or a text is written as it is, and
what a kind of query does not publish is left out.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import msgspec
from django.db import models
from msgspec import UNSET, UnsetType, structs

from dpengine.estimates import CONFIDENCE, Estimate, Variance
from surveys.messages import Text, codes_in, message, with_codes

UNITS = (  # of rows; a question's own unit is said as it is
    message("percent", fills="unit"),
    message("people", fills="unit"),
    message("points", fills="unit"),
    message("months", fills="unit"),
)
Value = int | float | str
Document = dict[str, Any]  # a JSON object
OF_QUESTIONS_ONLY: Document = {"tables": [], "method": "", "notes": [], "derived": []}
CODES = "messages"  # beside the stored numbers, never hashed: see `NumbersField`


class Row(msgspec.Struct, frozen=True):
    """One number with its interval; a limit that nobody knows is None."""

    label: str
    value: Value
    low: Value | None = None
    high: Value | None = None
    standard_error: float | None = None
    unit: str = ""


def interval_within(low: float, high: float, least: float, most: float) -> tuple[float, float]:
    """Return the part of an interval that lies between two limits, and at least a quarter of its
    width: where noise took nearly all of the interval beyond them, a single point would promise
    certainty (the idea of power-constrained limits: Cowan, Cranmer, Gross and Vitells 2011). The
    result is never narrower than the plain intersection, so it covers the truth at least as often.
    """
    least_wide = (high - low) / 4
    low, high = min(low, most - least_wide), max(high, least + least_wide)
    return max(low, least), min(high, most)


class Table(msgspec.Struct, frozen=True):
    caption: str
    rows: Sequence[Row]


class NoiseLaw(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The law of the noise in published counts."""

    name: str
    scale: float
    epsilon: str = ""
    sensitivity: int = 0
    rho: str = ""
    sensitivity_squared: int = 0
    horizon: int = 0  # of a continual counter
    step: int = 0
    standard_error: float = 0.0  # people
    known_sum: bool = False  # of counts: they were made to have it before people were estimated


class Figure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One number that was estimated, with its interval."""

    estimate: int | float
    interval: Sequence[int | float]  # low and high
    standard_error: float | None
    variance: Mapping[str, float | None] = {}  # as `dpengine.estimates.Variance` writes it

    @classmethod
    def of(cls, estimate: Estimate, **others: Any) -> Self:
        return cls(
            estimate=estimate.value,
            interval=[estimate.low, estimate.high],
            standard_error=estimate.standard_error,
            variance=estimate.variance.document(),
            **others,
        )

    @property
    def low(self) -> float:
        return self.interval[0]

    @property
    def high(self) -> float:
        return self.interval[1]

    def scaled(self, times: float) -> Self:
        """Return it so many times larger, as a share in percent."""
        error, squared = self.standard_error, times**2
        return structs.replace(
            self,
            estimate=times * self.estimate,
            interval=[times * end for end in self.interval],
            standard_error=None if error is None else times * error,
            variance={
                name: None if part is None else squared * part
                for name, part in self.variance.items()
            },
        )

    def row(self, label: str, unit: str) -> Row:
        return Row(label, self.estimate, self.low, self.high, self.standard_error, unit)

    def as_estimate(self, confidence: float = CONFIDENCE) -> Estimate:
        variance = Variance.read(self.variance) if self.variance else Variance(0.0, 0.0, 0.0)
        return Estimate(self.estimate, self.low, self.high, variance, confidence)


class ChoiceFigure(Figure, frozen=True, kw_only=True):
    """The share of people whose answer is a choice."""

    choice: str
    index: int
    noisy_count: int
    projected: float


class MeanFigure(Figure, frozen=True, kw_only=True):
    unit: str | UnsetType = UNSET


class QuartileFigure(Figure, frozen=True, kw_only=True):
    """The value that so many percent of people are at or below."""

    part: int


class RangeFigure(Figure, frozen=True, kw_only=True):
    """The share of people whose number is in a range."""

    least: int
    most: int


class QuestionNumbers(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of people's answers to one question: choices, a mean, or a distribution."""

    name: str
    mechanism: NoiseLaw
    as_precise_as: Sequence[int] | int | None  # from so many plain answers to so many
    kind: str = ""  # multiple, mean or distribution
    n: int = 0  # how many were asked it, where devices draw that; else all who answered
    noisy_counts: Sequence[int] = ()
    unit: str | UnsetType = UNSET
    is_month: bool = False
    choices: Sequence[ChoiceFigure] = ()
    mean: MeanFigure | None = None
    quartiles: Sequence[QuartileFigure] = ()
    ranges: Sequence[RangeFigure] = ()

    @property
    def plain_answers(self) -> Sequence[int] | None:
        """Return the two ends; of the one number that the first versions stored, nothing: it was
        too high for means, and unsteady for rare shares.
        """
        return None if isinstance(self.as_precise_as, int) else self.as_precise_as


class StratumNumbers(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of the people of one part of a list: of one stratum, or of several."""

    reports: Sequence[int]  # of each stratum of the Plan
    weight: float  # for how much of the list they stand
    questions: Sequence[QuestionNumbers]  # each with its n

    @property
    def n(self) -> int:
        return sum(self.reports)


class Numbers(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The numbers of one release, or of one step of a series."""

    tables: Sequence[Table]
    method: str
    notes: Sequence[str]
    derived: Sequence[str]  # what follows from them at no cost
    n: int  # how many answered
    batches: int = 0  # that a step counted
    confidence: float | None = None  # of shares
    questions: Sequence[QuestionNumbers] = ()
    strata: Sequence[StratumNumbers] = ()  # of which `questions` are put together, weighted
    refresh: int = 0  # of shares that are published again and again
    noisy_counts: Sequence[Sequence[int]] = ()  # of a table of two questions
    known_sum: bool = False  # of these: as in `NoiseLaw`
    columns: Sequence[str] = ()  # of a synthetic set
    people: Sequence[Sequence[Value]] = ()  # rows of it, each with its count last

    def n_of(self, question: QuestionNumbers) -> int:
        """Return how many answered a question."""
        return question.n or self.n

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> "Numbers":
        """Return the values of a document: the first versions wrote questions only."""
        return msgspec.convert({**OF_QUESTIONS_ONLY, **document}, cls)

    def document(self) -> Document:
        """Return it as JSON holds it; its texts know their messages."""
        document: Document = msgspec.to_builtins(self, builtin_types=(Text,))
        return document


class NumbersField(models.JSONField):
    """A document of numbers whose texts know their messages.

    The codes and values of texts are stored beside the English, under a name of their own. They
    are not part of what a release publishes or of what is hashed, and never change what it says.
    """

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.JSONField", args, kwargs

    def get_prep_value(self, value: Any) -> Any:
        codes = codes_in(value)
        return super().get_prep_value({**value, CODES: codes} if codes else value)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        document = super().from_db_value(value, expression, connection)
        return without_codes(document)


def without_codes(document: Any) -> Any:
    """Return a stored document as it was published; its texts know their messages."""
    if not isinstance(document, dict) or CODES not in document:
        return document
    codes = document.pop(CODES)
    return with_codes(document, codes) if isinstance(codes, dict) else document
