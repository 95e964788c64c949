"""What is typed on the planner and before a rehearsal: a form keeps it, says at the field what is
wrong, and knows what is planned.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _, gettext_lazy

from dpengine.privacy import plain
from surveys.plan.content import PlanQuestion
from surveys.planning.population import WHOLE, rows_of, usual
from surveys.planning.precision import PublicationNoise, noise_of, pure
from surveys.planning.questions import PlannedQuestion, QuestionAtEpsilon
from surveys.planning.scenarios import PlannedStudy, Scenario
from surveys.planning.solver import MAX_ANSWERS, Solution, solve
from surveys.planning.wording import count

MIN_ANSWERS = 10
MIN_PEOPLE, MAX_PEOPLE = 50, 20_000  # of one rehearsal
MAX_DRAWS = 6_000_000  # answers of one rehearsal in all its repetitions: some twenty seconds
TOLERANCE = 0.05  # percent by which shares may miss a hundred
MAX_QUESTIONS = 50
MIN_PART = Decimal("0.002")  # of one publication, for one question
FOLLOWS = [
    ("n", gettext_lazy("the answers")),
    ("width", gettext_lazy("the precision")),
    ("epsilon", gettext_lazy("the protection")),
]
KINDS = [
    ("yes_no", gettext_lazy("yes or no")),
    ("single", gettext_lazy("one of several choices")),
    ("multiple", gettext_lazy("any of several choices")),
    ("likert", gettext_lazy("a point on a scale")),
    ("mean", gettext_lazy("a number, for its mean")),
    ("distribution", gettext_lazy("a number, for how answers are spread")),
    ("month", gettext_lazy("a month from 2000 to 2025, for its mean")),
]
MONTHS = 2000 * 12, 2025 * 12 + 11
NUMBERS = {  # the question's kind, and what is wanted of it
    "mean": ("number", "mean"),
    "distribution": ("number", "distribution"),
    "month": ("month", "mean"),
}


class Whole(forms.IntegerField):
    """A whole number as people write it: 3,850 and 3 850 too."""

    def to_python(self, value: Any) -> int | None:
        if isinstance(value, str):
            value = value.translate(dict.fromkeys(map(ord, " ,'\u2019\u00a0\u202f"), None))
        return super().to_python(value)


class DialsForm(forms.Form):
    """The three dials, and which one follows."""

    sets: Sequence[frozenset[str]] = ()  # of questions, of which a device draws one

    n = Whole(
        label=gettext_lazy("Answers I expect"),
        min_value=MIN_ANSWERS,
        max_value=MAX_ANSWERS,
        error_messages={
            "required": gettext_lazy("Say how many answers you expect, for example 800."),
            "invalid": gettext_lazy("A number of answers is a whole number, for example 800."),
        },
    )
    width = forms.DecimalField(
        label=gettext_lazy("Precision I want"),
        min_value=Decimal("0.001"),
        max_digits=12,
        error_messages={
            "required": gettext_lazy("Say how many points of ± you can live with, for example 4."),
            "invalid": gettext_lazy("A precision is a number, for example 4 or 2.5."),
        },
    )
    epsilon = forms.DecimalField(
        label=gettext_lazy("Protection of one answer"),
        max_digits=12,
        decimal_places=9,
        error_messages={
            "required": gettext_lazy("Say which ε one answer may cost, for example 1."),
            "invalid": gettext_lazy("ε is a number, for example 1 or 0.69."),
        },
    )
    follows = forms.ChoiceField(choices=FOLLOWS, widget=forms.RadioSelect)
    at = forms.DecimalField(
        label=gettext_lazy("Share I plan for, in percent"),
        min_value=Decimal("0.1"),
        max_value=Decimal("99.9"),
        max_digits=6,
        help_text=gettext_lazy("50 is the worst case."),
    )

    def __init__(self, *args: Any, limits: tuple[Decimal, Decimal], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.limits = limits  # of ε

    @cached_property
    def scenarios(self) -> list[Scenario]:
        """Return what is planned of every question."""
        raise NotImplementedError

    @property
    def weights(self) -> list[Decimal]:
        """Return every question's part of one person's ε."""
        return [Decimal(1)] * len(self.scenarios)

    @property
    def scenario(self) -> Scenario:
        """Return what the dials are turned for."""
        return self.scenarios[0]

    @property
    def share(self) -> Fraction:
        return Fraction(self.cleaned_data["at"]) / 100

    def solution(self) -> Solution:
        """Return the dials with the third one worked out."""
        typed = self.cleaned_data
        is_mean = self.scenario.question.at(self.limits[0]).is_mean
        return solve(
            self.scenario,
            typed["follows"],
            n=typed["n"] or 1,
            wanted=float(typed["width"] or 1) / (1 if is_mean else 100),
            epsilon=typed["epsilon"] or Decimal(1),
        )

    def clean_epsilon(self) -> Decimal:
        epsilon: Decimal = self.cleaned_data["epsilon"]
        least, most = self.limits
        if not least <= epsilon <= most:
            raise ValidationError(
                _("ε must be between %(least)s and %(most)s; it is %(epsilon)s.")
                % {"least": plain(least), "most": plain(most), "epsilon": epsilon}
            )
        return epsilon

    def clean(self) -> None:
        """The dial that follows is worked out: what stands in it need not make sense."""
        cleaned = self.cleaned_data
        follower = str(cleaned.get("follows", ""))
        if follower in self.errors:
            del self.errors[follower]
            cleaned[follower] = None


class FreeForm(DialsForm):
    """The dials for a question that nobody has written yet."""

    kind = forms.ChoiceField(label=gettext_lazy("The question asks for"), choices=KINDS)
    choices = Whole(label=gettext_lazy("Choices"), min_value=2, max_value=50)
    least = Whole(label=gettext_lazy("Least number"), min_value=-(2**31), max_value=2**31)
    most = Whole(label=gettext_lazy("Greatest number"), min_value=-(2**31), max_value=2**31)
    questions = Whole(
        label=gettext_lazy("Questions like it"),
        min_value=1,
        max_value=MAX_QUESTIONS,
        help_text=gettext_lazy("They share what one publication may cost."),
    )
    publication = forms.DecimalField(
        label=gettext_lazy("One publication costs, ε"),
        min_value=MIN_PART,
        max_value=20,
        max_digits=12,
        decimal_places=9,
        help_text=gettext_lazy("For the chance that is added to totals."),
    )

    def clean(self) -> None:
        """Refuse a publication that leaves a question next to nothing: all noise, and slow."""
        super().clean()
        cleaned = self.cleaned_data
        publication = cleaned.get("publication")
        least = MIN_PART * (cleaned.get("questions") or 1)
        if publication is not None and publication < least:
            message = _("ε must be between %(least)s and %(most)s; it is %(epsilon)s.")
            amounts = {"least": plain(least), "most": 20, "epsilon": plain(publication)}
            self.add_error("publication", message % amounts)

    @cached_property
    def scenarios(self) -> list[Scenario]:
        typed = self.cleaned_data
        kind, wanted = NUMBERS.get(typed["kind"], (typed["kind"], ""))
        least, most = MONTHS if kind == "month" else (typed["least"], typed["most"])
        question = PlannedQuestion.made_up(
            kind, choices=typed["choices"], least=least, most=most, wanted=wanted
        )
        many, terms = typed["questions"], pure(str(typed["publication"]))

        def noise(question: QuestionAtEpsilon) -> PublicationNoise:
            return noise_of(question, [question.content.loss] * (many - 1), terms)

        return [Scenario(question, noise, self.share, self.limits)] * many


class StudyForm(DialsForm):
    """The dials for one question of a study, and the weights of all."""

    question = forms.ChoiceField(label=gettext_lazy("The question I plan for"))

    def __init__(self, *args: Any, planned: PlannedStudy, **kwargs: Any) -> None:
        super().__init__(*args, limits=planned.limits, **kwargs)
        self.planned, self.sets = planned, planned.sets
        questions = planned.protected
        self.fields["question"].choices = [(each.name, each.label) for each in questions]  # type: ignore[attr-defined]
        for each in questions if len(questions) > 1 else []:
            self.fields[weight_of(each.name)] = forms.DecimalField(
                label=_("Weight of “%(question)s”") % {"question": each.label},
                min_value=Decimal("0.01"),
                max_value=100,
                max_digits=6,
            )

    @cached_property
    def scenarios(self) -> list[Scenario]:
        return [self.planned.scenario(each, self.share) for each in self.planned.protected]

    @property
    def scenario(self) -> Scenario:
        names = [each.name for each in self.planned.protected]
        return self.scenarios[names.index(self.cleaned_data["question"])]

    @property
    def weights(self) -> list[Decimal]:
        names = [weight_of(each.name) for each in self.planned.protected]
        return [self.cleaned_data.get(name) or Decimal(1) for name in names]


def weight_of(name: str) -> str:
    """Return the name of the field for a question's weight."""
    return f"weight_{name}"


class CompareForm(forms.Form):
    """Two groups whose shares are to be told apart."""

    one = forms.DecimalField(
        label=gettext_lazy("Share in one group, in percent"),
        min_value=0,
        max_value=100,
        max_digits=6,
    )
    other = forms.DecimalField(
        label=gettext_lazy("Share in the other, in percent"),
        min_value=0,
        max_value=100,
        max_digits=6,
    )
    power = forms.DecimalField(
        label=gettext_lazy("Chance to find the difference, in percent"),
        min_value=50,
        max_value=Decimal("99.9"),
        max_digits=6,
    )

    def clean(self) -> None:
        cleaned = self.cleaned_data
        if "one" in cleaned and cleaned["one"] == cleaned.get("other"):
            self.add_error(
                "other", _("The two shares must differ: equal ones cannot be told apart.")
            )


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
