"""The door to raw data, at its widest: a statistic that the analyst writes, on random groups.

An expression over the answers as they are (dpengine.expressions) is computed on each group within
walls (surveys.releases.sandbox); what leaves is the private median over the groups, as with the
statistics of `trusted`. A group without a number counts as one that the analyst named before.
It stands among the requests, because raw answers are nowhere else, and because it must be charged:
`analyse` reads files of its own, which it need not protect.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Self

from django import forms
from django.utils.translation import gettext as _, gettext_lazy

from dpengine import expressions
from dpengine.central.subsample import Subsample
from dpengine.expressions import Formula
from dpengine.privacy import plain
from surveys.ledger.services import Refused
from surveys.messages import Text, message, translate
from surveys.releases import sandbox
from surveys.releases.numbers import Numbers, Table
from surveys.releases.queries.base import HEADING, HEADING_IN_WAVE, Counts, Query
from surveys.releases.queries.parameters import (
    Context,
    Paid,
    Parameter,
    Question,
    WrongParameter,
)
from surveys.releases.queries.scored import READ_OFF, is_number_in_clear, row, rows_of
from surveys.releases.queries.trusted import (
    METHOD,
    PARTS,
    RESULT,
    SENSITIVITY,
    covered_ranks,
    dealt_into,
    expected_ranks,
)

MAX_GROUPS = 500
FARTHEST = 10**6  # either way, of what an expression can be said to be
PLACES = 3

MECHANISM = message(
    "subsample and aggregate of an expression, %(count)s groups, private median by report noisy max"
)
NEUTRAL = message(
    "A group in which it cannot be computed, for whatever reason, counts as %(amount)s. Nobody is "
    "told whether there are any."
)
FIXED_TIME = message("It takes %(n)s seconds to draw, whatever the answers are.")
TOO_MANY_PEOPLE = message(
    "Groups of this size are too large for this expression: every one would count as %(amount)s. "
    "Take more groups."
)
NOT_STARTED = message(
    "The program that computes what you wrote did not start. Nothing was published: ask again."
)
CLAMPED = message("Results beyond %(low)s to %(high)s count as the nearer of the two.")
BIASED = message("A statistic that is biased in small groups is as biased here.")

# What dpengine.expressions says of a text that it cannot read
READER = (
    message("an expression must have 1 to %(most)s characters, got %(count)s"),
    message("%(typed)s: expected numbers, columns, + - * / ^ and brackets, got %(got)s"),
    message("%(typed)s: expected a column, one of %(names)s, got %(got)s"),
    message("%(typed)s: expected one of the functions %(names)s, got %(got)s"),
    message("%(typed)s: expected one of the functions %(names)s before a bracket"),
    message("%(typed)s: expected at most %(most)s parts in one another"),
    message("%(typed)s: %(name)s takes %(most)s in its brackets, got %(count)s"),
    message("%(typed)s: quantile takes a number from 0 to 1 after the comma"),
    message("%(typed)s: a comma stands outside a function's brackets"),
    message("%(typed)s is not an expression such as (age/10)^2"),
    message("%(typed)s must be one number: put columns into one of %(names)s"),
)


@dataclass(frozen=True, kw_only=True)
class Written(Parameter):
    """An expression over the questions that fit, which gives one number."""

    def field(self, context: Context) -> forms.Field:
        columns = ", ".join(f"{name} ({one.label})" for name, one in context.questions.items())
        help_text = _("%(help)s Columns: %(columns)s.") % {
            "help": self.shown["help_text"],
            "columns": columns,
        }
        return forms.CharField(
            max_length=expressions.MAX_LENGTH,
            widget=forms.Textarea({"rows": 3}),
            **self.shown | {"help_text": help_text},
        )

    def read(self, value: Any, name: str, context: Context) -> Formula:
        try:
            formula = expressions.read(str(value or ""), context.questions, of_all=True)
        except ValueError as error:
            raise WrongParameter(name, translate(str(error))) from None
        if not formula.columns:
            names = ", ".join(context.questions)
            raise WrongParameter(name, _("expected one or more of %(names)s") % {"names": names})
        return formula

    def written(self, value: Formula) -> str:
        return value.typed

    def names(self, value: Formula) -> list[str]:
        return list(value.columns.values())


@dataclass(frozen=True, kw_only=True)
class Amount(Parameter):
    """A decimal of a few places, either way; None where it may be left out."""

    is_required: bool = True

    def field(self, context: Context) -> forms.Field:
        return forms.DecimalField(
            min_value=-FARTHEST,
            max_value=FARTHEST,
            decimal_places=PLACES,
            required=self.is_required,
            **self.shown,
        )

    def read(self, value: Any, name: str, context: Context) -> Decimal | None:
        amount = super().read(value, name, context)
        return None if amount is None else plain(amount)

    def written(self, value: Decimal | None) -> str | None:
        return None if value is None else str(value)


@dataclass(frozen=True)
class Expression(Query):
    expression: Annotated[
        Formula,
        Written(
            label=gettext_lazy("Expression"),
            help=lambda: (
                _(
                    "One number of all people, as in mean(hours > 40) or correlation(hours, age). "
                    "Columns stand within %(functions)s. You can also use + - * / ^, comparisons, "
                    "and, or, not, A if C else B, log, exp, sqrt and abs."
                )
                % {"functions": ", ".join(f"{name}()" for name in expressions.OF_ALL)}
            ),
        ),
    ]
    least: Annotated[Decimal, Amount(label=gettext_lazy("Minimum"))]
    most: Annotated[
        Decimal,
        Amount(
            label=gettext_lazy("Maximum"),
            help=gettext_lazy("From what you know without these answers. Narrower: less chance."),
        ),
    ]
    otherwise: Annotated[
        Decimal | None,
        Amount(
            label=gettext_lazy("What a group without a result counts as"),
            help=gettext_lazy("Empty: the middle between the two."),
            is_required=False,
        ),
    ]
    groups: Annotated[int, dealt_into(MAX_GROUPS)]
    epsilon: Paid

    kind = "expression"
    title = message("A statistic that you write, group by group", fills="title")
    sentence = gettext_lazy(
        "Computes your expression in random groups of people, and publishes a typical result with "
        "random noise."
    )

    fits = staticmethod(is_number_in_clear)

    def settled(self) -> Self:
        if self.least >= self.most:
            raise WrongParameter("most", _("expected more than %(least)s"), least=self.least)
        if self.otherwise is not None and not self.least <= self.otherwise <= self.most:
            raise WrongParameter(
                "otherwise",
                _("expected a decimal from %(least)s to %(most)s"),
                least=self.least,
                most=self.most,
            )
        return self

    @property
    def questions(self) -> list[Question]:
        return [self.plan.content.question(name) for name in self.names]

    @cached_property
    def engine(self) -> Subsample:
        return Subsample.for_epsilon(
            self.strength(self.epsilon, PARTS),
            self.groups,
            Fraction(self.least),
            Fraction(self.most),
            self.neighbours,
            None if self.otherwise is None else Fraction(self.otherwise),
        )

    @property
    def neutral(self) -> str:
        return f"{self.engine.otherwise / self.engine.scale:g}"

    @property
    def mechanism(self) -> str:
        return MECHANISM(count=f"{self.groups:,}")

    @property
    def sensitivity(self) -> str:
        return SENSITIVITY()

    def heading(self, labels: Mapping[str, str], wave: int) -> Text:
        """Return what a release of it is called: by what was written, which is as public."""
        parts = {"title": self.title(), "labels": self.expression.typed}
        return HEADING_IN_WAVE(**parts, wave=wave) if wave > 1 else HEADING(**parts)

    def covers(self, n: int) -> float:
        return 1.0 if self._is_too_much(n) else covered_ranks(self.engine, n)

    def _is_too_much(self, n: int) -> bool:
        """Tell whether no group of n people can be computed in the steps that it is given."""
        return self.expression.cells * -(-n // self.groups) > sandbox.STEPS

    def expected(self, n: int) -> list[str]:
        seconds = FIXED_TIME(n=f"{sandbox.budget(self.groups):.0f}")
        known = [*expected_ranks(self.engine, n), NEUTRAL(amount=self.neutral), seconds]
        return [TOO_MANY_PEOPLE(amount=self.neutral), *known] if self._is_too_much(n) else known

    def counted(self, batches: int) -> list[int]:
        return self.results(super().counted(batches))

    def results(self, counts: Counts) -> list[int]:
        """Return the result of every group, into which people are dealt anew. Never shown.

        Refused if it could not begin.
        """
        groups = self.engine.deal(rows_of(self.questions, counts))
        try:
            computed = sandbox.compute(self.expression.typed, self.names, groups)
        except sandbox.NotStarted:
            raise Refused(NOT_STARTED()) from None
        return self.engine.whole(computed)

    def draw(self, counts: list[int], n: int) -> Numbers:
        """Draw once from the groups' results."""
        measured = self.engine.median(counts)
        return Numbers(
            tables=[
                Table(
                    " and ".join(question.label for question in self.questions),
                    [row(RESULT(result=self.expression.typed), measured, "")],
                )
            ],
            method=METHOD(count=f"{self.groups:,}"),
            notes=[
                NEUTRAL(amount=self.neutral),
                CLAMPED(low=str(self.least), high=str(self.most)),
                BIASED(),
            ],
            derived=[READ_OFF()],
            n=n,
        )
