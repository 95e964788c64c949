"""What a researcher can ask for: the furniture that every kind shares.

A kind is a frozen dataclass in a module of its own. It reads its parameters from a form or from a
stored request, says what it costs and how far off it will be before anything is drawn, and draws once.
Errors and expectations depend on public values only: the Plan, how many answered, the parameters.
"""

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from dpengine.privacy import LARGEST_EPSILON, Cost, Neighbours, plain
from surveys.design import documents
from surveys.design.models import Plan

Counts = Counter[tuple[Any, ...]]  # how many reports hold each combination of values
Numbers = dict[str, Any]  # what is published, ready for JSON
State = dict[str, Any]  # what a mechanism remembers between steps, ready for JSON; secret
PLACES = 9  # decimals of an ε


class Refused(Exception):
    """A parameter that cannot be: which one, what was expected, what came."""

    def __init__(self, field: str, expected: str) -> None:
        super().__init__(f"{field}: {expected}")
        self.field = field
        self.expected = expected


@runtime_checkable
class Asked(Protocol):
    """One kind of statistic, at one setting."""

    kind: ClassVar[str]
    title: ClassVar[str | Promise]
    sentence: ClassVar[str | Promise]

    @classmethod
    def form(cls, plan: Plan) -> type[forms.Form] | None:
        """Return the form of its parameters, or None if nothing in this Plan can be asked so."""

    @classmethod
    def read(cls, plan: Plan, parameters: Mapping[str, Any]) -> Self:
        """Return it from cleaned form data or from a stored document; Refused names a part that is wrong."""

    def document(self) -> dict[str, Any]:
        """Return its canonical parameters: the same again is the same request."""

    @property
    def questions(self) -> tuple[str, ...]:
        """Return the names of the questions whose joint counts it reads."""

    @property
    def cost(self) -> Cost: ...

    @property
    def mechanism(self) -> str: ...

    @property
    def sensitivity(self) -> str: ...

    def expected(self, n: int) -> list[str]:
        """Say how far off it will be, for n answers, before anything is drawn."""

    def draw(self, counts: Counts, n: int) -> Numbers:
        """Draw once. A second call is a second release, and must be paid for."""


@runtime_checkable
class Standing(Asked, Protocol):
    """A kind that goes on after its first draw."""

    def start(self, counts: Counts, n: int) -> State:
        """Draw what is drawn once, and return the secret state."""

    def step(
        self, state: State, counts: Counts, n: int, question: Mapping[str, Any] | None = None
    ) -> tuple[State, Numbers]:
        """Return the state after one more step, and what is published of it; state["over"] ends the series."""

    def question_form(self, plan: Plan) -> type[forms.Form] | None:
        """Return the form of what a researcher asks at a step, whose cleaned fields are `question` as JSON.

        None: nobody asks, and it makes a step of its own for every batch that is sealed.
        """


class EpsilonInput(forms.DecimalField):
    """An ε: above 0, at most twenty, nine decimals."""

    def __init__(self, **kwargs: Any) -> None:
        defaults: dict[str, Any] = {
            "label": _("Cost, ε"),
            "min_value": Decimal("0.001"),
            "max_value": LARGEST_EPSILON,
            "decimal_places": PLACES,
            "max_digits": 12,
            "help_text": _("What this uses of the budget, for good."),
        }
        super().__init__(**(defaults | kwargs))


def epsilon_of(parameters: Mapping[str, Any], name: str = "epsilon") -> Decimal:
    """Read an ε from a form's Decimal or a document's string."""
    try:
        epsilon = Decimal(str(parameters[name]))
    except (KeyError, ArithmeticError):
        raise Refused(name, _("expected a decimal above 0")) from None
    if not epsilon.is_finite() or not 0 < epsilon <= LARGEST_EPSILON:
        raise Refused(
            name,
            _("expected a decimal above 0 and at most %(most)s, got %(got)s")
            % {"most": LARGEST_EPSILON, "got": epsilon},
        )
    if Fraction(epsilon) * 10**PLACES % 1:
        raise Refused(name, _("expected at most %(places)s decimals, got %(got)s") % {"places": PLACES, "got": epsilon})
    return epsilon


def epsilon_text(epsilon: Decimal) -> str:
    """Return an ε as a canonical document holds it."""
    return str(plain(epsilon))


def neighbours_of(plan: Plan) -> Neighbours:
    return Neighbours(plan.content["neighbours"])


def questions_of(plan: Plan, *, protection: str = "", kinds: tuple[str, ...] = ()) -> dict[str, dict[str, Any]]:
    """Return a Plan's questions by name, those of one protection and of some kinds if named."""
    return {
        question["name"]: question
        for question in plan.content["questions"]
        if protection in ("", question["protection"]) and (not kinds or question["kind"] in kinds)
    }


def question_field(questions: Mapping[str, Mapping[str, Any]], **kwargs: Any) -> forms.ChoiceField:
    """Return a form field to choose one of these questions by its label."""
    return forms.ChoiceField(choices=question_choices(questions), **kwargs)


def question_choices(questions: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return these questions as a form offers them."""
    return [(name, question["label"]) for name, question in questions.items()]


def question_of(
    parameters: Mapping[str, Any], name: str, questions: Mapping[str, dict[str, Any]], plan: Plan | None = None
) -> dict[str, Any]:
    """Read a question's name from parameters and return the question; Refused if it is none of these, and why."""
    wanted = parameters.get(name)
    if isinstance(wanted, str) and wanted in questions:
        return questions[wanted]
    others = questions_of(plan) if plan else {}
    expected = _("expected one of %(names)s") % {"names": ", ".join(questions)}
    if isinstance(wanted, str) and wanted in others and (why := why_not(others[wanted])):
        expected = f"{expected}. {why}"
    raise Refused(name, expected)


def why_not(question: Mapping[str, Any]) -> str:
    """Say why most kinds cannot be asked of a question, and what to ask instead; nothing if there is no such reason."""
    if question["kind"] == documents.MULTIPLE:
        return _(
            "Each report on several ticks is about one option only, so that nothing tells which options or answers go "
            "together: ask for the shares of its options"
        )
    if question["kind"] not in documents.WITH_STEPS or question["protection"] != documents.DEVICE:
        return ""
    if question["wanted"] == "mean":
        return _(
            "This number was changed on the device so that its mean can be known, and nothing else: ask for that, as "
            "its shares"
        )
    return _(
        "This number was changed on the device so that its distribution can be known, and nothing else: ask for that, "
        "as its shares"
    )
