"""The parameters of queries: each is declared once, beside its attribute of a query.

A parameter makes a field of a form, reads its value from cleaned form data or from a stored
document, and writes it into the canonical document, which is hashed: the same again is the same
request.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from dpengine.privacy import LARGEST_EPSILON, plain, round_down
from surveys.design.models import Plan
from surveys.design.terms import rho_within
from surveys.ledger import selectors as ledger
from surveys.messages import Message
from surveys.plan.content import PlanContent, PlanQuestion
from surveys.releases.numbers import Document

Question = PlanQuestion
Questions = dict[str, Question]  # by name
Label = str | Promise
ONE_CHOICE = ("yes_no", "single", "likert")  # kinds whose answers are one of some choices
PLACES = 9  # decimals of an ε
STRONGEST = Fraction(LARGEST_EPSILON)  # noise that hardly moves anything, where none is needed
COST = gettext_lazy("Cost, ε")
COST_HELP = gettext_lazy(
    "What this may tell by itself. The budget is charged what it adds, shown next."
)
EXAMPLES = (Decimal("0.1"), Decimal("0.4"), Decimal(1), Decimal(2), Decimal(4))  # of ε
SHOWN = 3  # examples, of those that the cap can pay


class WrongParameter(Exception):
    """A parameter that cannot be: which one, what was expected, what came."""

    def __init__(self, field: str, expected: str, **values: Any) -> None:
        self.field = field
        self.expected = expected % values if values else expected
        super().__init__(f"{field}: {self.expected}")


@dataclass(frozen=True)
class Context:
    """The Plan, the questions that fit a kind of query, and the parameters read so far."""

    plan: Plan
    questions: Questions
    values: Document = field(default_factory=dict)

    @property
    def question(self) -> Question:
        question: Question = self.values["question"]
        return question


@dataclass(frozen=True, kw_only=True)
class Parameter(ABC):
    label: Label = ""
    help: Label | Callable[[], str] = ""
    initial: Any = None  # of the form, and where a document does not have it

    def is_offered(self, plan: Plan) -> bool:
        """Tell whether the form of this Plan has it."""
        return True

    @abstractmethod
    def field(self, context: Context) -> forms.Field: ...

    def read(self, value: Any, name: str, context: Context) -> Any:
        """Return it from what was given under its name, as its field of a form takes it;
        WrongParameter says what is wrong.
        """
        try:
            return self.field(context).clean(value)
        except forms.ValidationError as error:
            raise WrongParameter(name, " ".join(error.messages).removesuffix(".")) from error

    def written(self, value: Any) -> Any:
        """Return it as the canonical document holds it; None leaves it out."""
        return value

    def names(self, value: Any) -> list[str]:
        """Return the names of the questions that it holds."""
        return []

    @property
    def shown(self) -> Document:
        """Return what every field shows."""
        return {"label": self.label, "help_text": self.help() if callable(self.help) else self.help}


@dataclass(frozen=True, kw_only=True)
class Unasked(Parameter):
    """What follows from the Plan: no form asks for it."""

    def is_offered(self, plan: Plan) -> bool:
        return False

    def field(self, context: Context) -> forms.Field:
        raise TypeError("expected no form to ask for what the Plan says")


@dataclass(frozen=True, kw_only=True)
class Alone(Unasked):
    """Whether the ε of a request is all that this release lets out by itself, of all people of a
    record, at the Plan's δ. Requests of before this was so do not have it, and stay as they were;
    nor do those of Plans where ε never meant anything else.
    """

    def read(self, value: Any, name: str, context: Context) -> bool:
        content = context.plan.content
        return bool(value) and (content.is_concentrated or content.people > 1)

    def written(self, value: bool) -> bool | None:
        return value or None


@dataclass(frozen=True, kw_only=True)
class OneQuestion(Parameter):
    """A question of the Plan, among those that fit; one that some settings leave out is None."""

    starts_at: int = 0
    is_required: bool = True

    def field(self, context: Context) -> forms.Field:
        names, choices = list(context.questions), choices_of(context.questions)
        if not self.is_required:
            choices = [("", "—"), *choices]
        return forms.ChoiceField(
            choices=choices,
            initial=names[self.starts_at] if 0 < self.starts_at < len(names) else None,
            required=self.is_required,
            **self.shown,
        )

    def read(self, value: Any, name: str, context: Context) -> Any:
        return context.questions.get(super().read(value, name, context))

    def written(self, value: Question | None) -> str | None:
        return value.name if value else None

    def names(self, value: Question | None) -> list[str]:
        return [value.name] if value else []


@dataclass(frozen=True, kw_only=True)
class SomeQuestions(Parameter):
    """One or more questions, in the Plan's order: the same set is the same request."""

    at_most: int | None = None

    def field(self, context: Context) -> forms.Field:
        return forms.MultipleChoiceField(
            choices=choices_of(context.questions),
            widget=forms.CheckboxSelectMultiple,
            **self.shown,
        )

    def read(self, value: Any, name: str, context: Context) -> tuple[Question, ...]:
        chosen = super().read(value, name, context)
        if self.at_most is not None and len(chosen) > self.at_most:
            names = ", ".join(context.questions)
            text = _("expected 1 to %(most)s of %(names)s")
            raise WrongParameter(name, text, most=self.at_most, names=names)
        return tuple(question for each, question in context.questions.items() if each in chosen)

    def written(self, value: Sequence[Question]) -> list[str]:
        return self.names(value)

    def names(self, value: Sequence[Question]) -> list[str]:
        return [question.name for question in value]


@dataclass(frozen=True, kw_only=True)
class Epsilon(Parameter):
    """What a query costs: above 0, at most twenty, nine decimals."""

    label: Label = COST
    help: Label | Callable[[], str] = COST_HELP

    def field(self, context: Context) -> forms.Field:
        shown, content = self.shown, context.plan.content
        if content.is_concentrated:
            help_text = "" if self.help is COST_HELP else f"{shown['help_text']} "
            shown["help_text"] = help_text + _under_delta(context.plan)
        return forms.DecimalField(
            min_value=Decimal("0.001"),
            max_value=LARGEST_EPSILON,
            decimal_places=PLACES,
            max_digits=12,
            initial=proposed(context.plan),
            **shown,
        )

    def read(self, value: Any, name: str, context: Context) -> Decimal:
        try:
            epsilon = Decimal(str(value))
        except ArithmeticError:
            raise WrongParameter(name, _("expected a decimal above 0")) from None
        if not epsilon.is_finite() or not 0 < epsilon <= LARGEST_EPSILON:
            raise WrongParameter(
                name,
                _("expected a decimal above 0 and at most %(most)s, got %(got)s"),
                most=LARGEST_EPSILON,
                got=epsilon,
            )
        if Fraction(epsilon) * 10**PLACES % 1:
            raise WrongParameter(
                name,
                _("expected at most %(places)s decimals, got %(got)s"),
                places=PLACES,
                got=epsilon,
            )
        return epsilon

    def written(self, value: Decimal) -> str:
        return str(plain(value))


@dataclass(frozen=True, kw_only=True)
class Whole(Parameter):
    """A whole number; what is possible at most may depend on the Plan, and is checked later."""

    least: int = 1
    most: int | None = None

    def field(self, context: Context) -> forms.Field:
        return forms.IntegerField(
            min_value=self.least, max_value=self.most, initial=self.initial, **self.shown
        )


@dataclass(frozen=True, kw_only=True)
class Percent(Parameter):
    """A decimal with one place."""

    least: Decimal = Decimal(0)
    most: Decimal = Decimal(100)

    def field(self, context: Context) -> forms.Field:
        return forms.DecimalField(
            min_value=self.least,
            max_value=self.most,
            decimal_places=1,
            initial=self.initial,
            **self.shown,
        )

    def written(self, value: Decimal) -> str:
        return str(plain(value))


@dataclass(frozen=True, kw_only=True)
class OneOf(Parameter):
    """One of a few settings, by its name; which there are may depend on the Plan."""

    options: Callable[[Plan], Mapping[str, Label | Message]]

    def field(self, context: Context) -> forms.Field:
        options = self.options(context.plan).items()
        return forms.ChoiceField(
            choices=[(str(name), str(label)) for name, label in options], **self.shown
        )


AnyQuestion = Annotated[Question, OneQuestion(label=gettext_lazy("Question"))]
Paid = Annotated[Decimal, Epsilon()]


def choices_of(questions: Questions) -> list[tuple[str, str]]:
    """Return questions as a form offers them: by their labels."""
    return [(name, question.label) for name, question in questions.items()]


def rho_alone(content: PlanContent, epsilon: Decimal) -> Fraction:
    """Return the ρ of a release that lets out this ε at most by itself, at the Plan's δ: half of
    that is for the conversion, half for mechanisms with a δ of their own (design.terms).
    """
    return Fraction(rho_within(epsilon, content.caps.central_delta or "0"))


def proposed(plan: Plan) -> Decimal:
    """Return the ε that a form proposes: what one publication may cost, or what is left of the cap
    where that is less and is anything.
    """
    usual = Decimal(plan.content.publication.epsilon)
    budget_id = plan.study.budget_id if plan.study_id else None
    if budget_id is None or plan.content.is_concentrated:
        return plain(usual)
    left = round_down(Fraction(ledger.account(budget_id).amount_left), 3)
    return plain(left if 0 < left < usual else usual)


def _under_delta(plan: Plan) -> str:
    """Say what ε means under a δ, and how much of the cap, as it is now, some amounts use."""
    content, used = plan.content, []
    cap = plan.study.cap if plan.study_id else Decimal(content.caps.central_epsilon)
    for epsilon in [each for each in EXAMPLES if each <= cap][-SHOWN:]:
        share = rho_alone(content, epsilon) / rho_alone(content, cap)
        used.append(
            _("ε %(epsilon)s uses %(percent)s %%")
            % {"epsilon": epsilon, "percent": percent_of(share)}
        )
    text = _(
        "What this release alone lets out at most, at δ %(delta)s. What requests use of the cap "
        "adds up, their ε does not: %(list)s."
    )
    listed = ", ".join(used)
    return text % {"delta": content.caps.central_delta, "list": listed}


def percent_of(share: Fraction) -> str:
    """Return a share of a cap in percent, rounded up: to a tenth below ten."""
    tenths = math.ceil(1000 * share)
    return f"{tenths / 10:g}" if tenths < 100 else f"{math.ceil(100 * share):,}"
