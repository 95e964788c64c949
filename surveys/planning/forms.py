"""What is typed on the planner and before a rehearsal: a form keeps it, says at the field what is
wrong, and knows what is planned.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from django.utils.translation import gettext as _, gettext_lazy

from dpengine.local.blocks import Set
from dpengine.local.ways import Importance
from dpengine.privacy import plain
from surveys.design.blocks import IMPORTANCES
from surveys.design.goal import MAX_ANSWERS, Goal, Topic
from surveys.design.models import Question
from surveys.plan import kinds as plan_kinds
from surveys.plan.content import PlanQuestion
from surveys.planning.population import WHOLE, rows_of, usual
from surveys.planning.wording import brief, count

MIN_ANSWERS = 10
MIN_PEOPLE, MAX_PEOPLE = 50, 20_000  # of one rehearsal
MAX_DRAWS = 6_000_000  # answers of one rehearsal in all its repetitions: half a minute of yes or no
TOLERANCE = 0.05  # percent by which shares may miss a hundred
MAX_QUESTIONS = 20  # of a plan that a stranger makes: the ways of more take a second to find
MIN_EPSILON = Decimal("0.1")  # of a person: below it, nobody learns anything
KINDS = [
    ("yes_no", gettext_lazy("yes or no")),
    ("single", gettext_lazy("one of several choices")),
    ("multiple", gettext_lazy("any of several choices")),
    ("likert", gettext_lazy("a point on a scale")),
    ("number", gettext_lazy("a number, for its mean")),
]
WITH_CHOICES = ("single", "multiple", "likert")
WEIGHTS = Question.Matters.choices

BOUNDS = {
    "min_value": gettext_lazy("it must be %(limit_value)s at least; it is %(show_value)s."),
    "max_value": gettext_lazy("it must be %(limit_value)s at most; it is %(show_value)s."),
}


class Whole(forms.IntegerField):
    """A whole number as people write it: 3,850 and 3 850 too."""

    def to_python(self, value: Any) -> int | None:
        if isinstance(value, str):
            value = value.translate(dict.fromkeys(map(ord, " ,'\u2019\u00a0\u202f"), None))
        return super().to_python(value)

    def run_validators(self, value: Any) -> None:
        """Say bounds, and what is beyond them, as pages say numbers; a long one by its length."""
        try:
            super().run_validators(value)
        except forms.ValidationError as error:
            for each in error.error_list:
                each.params = {name: brief(part) for name, part in (each.params or {}).items()}
            raise


class GoalForm(forms.Form):
    """How many people, how safe one of them, and what is wanted of what matters most."""

    n = Whole(
        label=gettext_lazy("How many people?"),
        min_value=MIN_ANSWERS,
        max_value=MAX_ANSWERS,
        error_messages={
            **BOUNDS,
            "required": gettext_lazy("Say how many people you expect, for example 800."),
            "invalid": gettext_lazy("A number of people is a whole number, for example 800."),
        },
    )
    epsilon = forms.DecimalField(
        label=gettext_lazy("How safe is one of them?"),
        max_digits=4,
        decimal_places=2,
        error_messages={
            **BOUNDS,
            "required": gettext_lazy("Say which ε one person may give away, for example 2."),
            "invalid": gettext_lazy("ε is a number, for example 2 or 1.5."),
        },
    )
    half = forms.DecimalField(
        label=gettext_lazy("± wanted, in points"),
        required=False,
        min_value=Decimal("0.1"),
        max_value=100,
        max_digits=4,
        decimal_places=1,
        help_text=gettext_lazy("Of what matters most. Empty: the best there is."),
        error_messages={
            **BOUNDS,
            "invalid": gettext_lazy("A ± is a number of points, for example 4."),
        },
    )
    asked = Whole(
        label=gettext_lazy("Questions each person is asked"),
        required=False,
        min_value=1,
        max_value=MAX_QUESTIONS,
        help_text=gettext_lazy("Empty: as many as is best. Each device draws which."),
        error_messages=BOUNDS,
    )

    declines = forms.BooleanField(required=False)  # of questions that nobody has written yet

    def __init__(self, *args: Any, limits: tuple[Decimal, Decimal], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        least, most = limits
        epsilon = self.fields["epsilon"]
        epsilon.min_value, epsilon.max_value = least, most  # type: ignore[attr-defined]
        epsilon.validators += [MinValueValidator(least), MaxValueValidator(most)]

    def goal(self, topics: Sequence[Topic], kept: Sequence[Set] = ()) -> Goal:
        typed = self.cleaned_data
        return Goal(
            typed["n"],
            typed["epsilon"].normalize(),
            tuple(topics),
            tuple(kept),
            half=typed["half"],
            asked=typed["asked"],
        )


class WeightForm(forms.Form):
    """How much a question matters."""

    weight = forms.ChoiceField(label=gettext_lazy("Matters"), choices=WEIGHTS)

    @property
    def importance(self) -> Importance:
        return IMPORTANCES[self.cleaned_data["weight"]]


class TopicForm(WeightForm):
    """Some questions alike that nobody has written yet."""

    many = Whole(
        label=gettext_lazy("Questions"),
        min_value=1,
        max_value=MAX_QUESTIONS,
        error_messages=BOUNDS,
    )
    kind = forms.ChoiceField(label=gettext_lazy("Each asks for"), choices=KINDS)
    choices = Whole(label=gettext_lazy("Choices"), min_value=2, max_value=50, error_messages=BOUNDS)
    field_order = ("many", "kind", "choices", "weight")

    @property
    def has_choices(self) -> bool:
        return self["kind"].value() in WITH_CHOICES

    def clean(self) -> None:
        super().clean()
        typed = self.cleaned_data
        if typed.get("kind") not in WITH_CHOICES:
            self.errors.pop("choices", None)
        bounds = plan_kinds.KINDS.get(str(typed.get("kind")))
        if bounds is None or bounds.is_counted or typed.get("choices") is None:
            return
        if typed["kind"] in WITH_CHOICES and not (
            bounds.least_choices <= typed["choices"] <= bounds.max_choices
        ):
            message = _("It has %(least)s to %(most)s choices; got %(found)s.")
            parts = {"least": bounds.least_choices, "most": min(bounds.max_choices, 50)}
            self.add_error("choices", message % {**parts, "found": typed["choices"]})

    @property
    def topic(self) -> Topic:
        typed = self.cleaned_data
        if typed["kind"] == "number":
            return Topic("number", 0, 0, 100, "mean", self.importance)
        choices = typed["choices"] if typed["kind"] in WITH_CHOICES else 2
        return Topic(typed["kind"], choices, importance=self.importance)


class RehearsalForm(forms.Form):
    """How many people, how often, and what they are assumed to answer."""

    people = Whole(
        label=gettext_lazy("Made-up respondents"),
        min_value=MIN_PEOPLE,
        max_value=MAX_PEOPLE,
        initial=1000,
    )
    runs = Whole(
        label=gettext_lazy("How often to repeat it"), min_value=20, max_value=1000, initial=200
    )

    def __init__(self, *args: Any, questions: list[PlanQuestion], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.names: dict[str, list[str]] = {}  # of the fields for the shares of every question
        self.questions = questions
        for question in questions:
            rows = list(zip(rows_of(question), usual(question), strict=True))
            names = [f"share_{question.name}_{place}" for place in range(len(rows))]
            self.names[question.name] = names
            for name, (label, share) in zip(names, rows, strict=True):
                self.fields[name] = forms.DecimalField(
                    label=label,
                    min_value=0,
                    max_value=100,
                    max_digits=5,
                    decimal_places=2,
                    initial=f"{100 * share / WHOLE:.2f}".removesuffix(".00"),
                )

    def clean(self) -> None:
        cleaned = self.cleaned_data
        for question in self.questions:
            names = self.names[question.name]
            if question.kind == "multiple" or not cleaned.keys() >= set(names):
                continue
            total = sum((cleaned[name] for name in names), Decimal(0))
            if abs(float(total) - 100) > TOLERANCE:
                message = _(
                    "The shares of “%(question)s” must add up to 100; they add up to %(total)s."
                ) % {"question": question.label, "total": plain(total)}
                self.add_error(names[0], message)
        if {"people", "runs"} <= cleaned.keys():
            draws = cleaned["people"] * cleaned["runs"] * len(self.questions)
            if draws > MAX_DRAWS:
                runs = MAX_DRAWS // (cleaned["people"] * len(self.questions))
                message = _(
                    "That is %(draws)s answers to draw, at most %(most)s at once: repeat it "
                    "%(runs)s times or less."
                )
                numbers = {"draws": draws, "most": MAX_DRAWS, "runs": runs}
                self.add_error("runs", message % {key: count(n) for key, n in numbers.items()})

    @property
    def shares(self) -> dict[str, list[int]]:
        """Return the assumed shares in ten-thousandths."""
        return {
            question: [int(self.cleaned_data[name] * WHOLE / 100) for name in names]
            for question, names in self.names.items()
        }

    @property
    def groups(self) -> list[tuple[PlanQuestion, list[forms.BoundField]]]:
        """Return every question with its fields."""
        return [
            (question, [self[name] for name in self.names[question.name]])
            for question in self.questions
        ]
