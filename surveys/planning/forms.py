"""What is typed on the planner and before a rehearsal. Every form keeps it, and says at the field what is wrong."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dpengine.privacy import plain
from surveys.design.models import Question
from surveys.planning.dials import MOST_ANSWERS

FEWEST_ANSWERS = 10
SLIDES = {"n": (100, 10_000, 10), "width": (1, 15, 0.1), "epsilon": (0.1, 4, 0.01)}  # least, most, step of each slider
MOST_QUESTIONS = 50
LEAST_PART = Decimal("0.002")  # of one publication, for one question
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


class Whole(forms.IntegerField):
    """A whole number as people write it: 3,850 and 3 850 too."""

    def to_python(self, value: Any) -> int | None:
        if isinstance(value, str):
            value = value.translate(dict.fromkeys(map(ord, " ,'\u2019\u00a0\u202f"), None))
        return super().to_python(value)


class DialsForm(forms.Form):
    """The three dials, and which one follows."""

    n = Whole(
        label=gettext_lazy("Answers I expect"),
        min_value=FEWEST_ANSWERS,
        max_value=MOST_ANSWERS,
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
        self.limits = limits

    def clean_epsilon(self) -> Decimal:
        epsilon: Decimal = self.cleaned_data["epsilon"]
        least, most = self.limits
        if not least <= epsilon <= most:
            said = _("ε must be between %(least)s and %(most)s; it is %(epsilon)s.")
            raise ValidationError(said % {"least": plain(least), "most": plain(most), "epsilon": epsilon})
        return epsilon

    def clean(self) -> dict[str, Any]:
        """The dial that follows is worked out: what stands in it need not make sense."""
        cleaned = super().clean() or {}
        follower = str(cleaned.get("follows", ""))
        if follower in self.errors:
            del self.errors[follower]
            cleaned[follower] = None
        return cleaned


class FreeForm(DialsForm):
    """The dials for a question that nobody has written yet."""

    kind = forms.ChoiceField(label=gettext_lazy("The question asks for"), choices=KINDS)
    choices = Whole(label=gettext_lazy("Choices"), min_value=2, max_value=50)
    least = Whole(label=gettext_lazy("Least number"), min_value=-(2**31), max_value=2**31)
    most = Whole(label=gettext_lazy("Greatest number"), min_value=-(2**31), max_value=2**31)
    questions = Whole(
        label=gettext_lazy("Questions like it"),
        min_value=1,
        max_value=MOST_QUESTIONS,
        help_text=gettext_lazy("They share what one publication may cost."),
    )
    publication = forms.DecimalField(
        label=gettext_lazy("One publication costs, ε"),
        min_value=LEAST_PART,
        max_value=20,
        max_digits=12,
        decimal_places=9,
        help_text=gettext_lazy("For the chance that is added to totals."),
    )

    def clean(self) -> dict[str, Any]:
        """Refuse a publication that leaves a question next to nothing: all noise, and slow to add up."""
        cleaned = super().clean()
        publication = cleaned.get("publication")
        least = LEAST_PART * (cleaned.get("questions") or 1)
        if publication is not None and publication < least:
            said = _("ε must be between %(least)s and %(most)s; it is %(epsilon)s.")
            self.add_error("publication", said % {"least": plain(least), "most": 20, "epsilon": plain(publication)})
        return cleaned


class StudyForm(DialsForm):
    """The dials for one question of a study, and the weights of all."""

    question = forms.ChoiceField(label=gettext_lazy("The question I plan for"))

    def __init__(self, *args: Any, questions: Sequence[Question], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["question"].choices = [(each.name, each.label) for each in questions]  # type: ignore[attr-defined]
        for each in questions if len(questions) > 1 else []:
            self.fields[weight_of(each.name)] = forms.DecimalField(
                label=_("Weight of “%(question)s”") % {"question": each.label},
                min_value=Decimal("0.01"),
                max_value=100,
                max_digits=6,
            )

    def weight(self, name: str) -> Decimal:
        return self.cleaned_data.get(weight_of(name)) or Decimal(1)


def weight_of(name: str) -> str:
    """Return the name of the field for a question's weight."""
    return f"weight_{name}"


class CompareForm(forms.Form):
    """Two groups whose shares are to be told apart."""

    one = forms.DecimalField(
        label=gettext_lazy("Share in one group, in percent"), min_value=0, max_value=100, max_digits=6
    )
    other = forms.DecimalField(
        label=gettext_lazy("Share in the other, in percent"), min_value=0, max_value=100, max_digits=6
    )
    power = forms.DecimalField(
        label=gettext_lazy("Chance to find the difference, in percent"),
        min_value=50,
        max_value=Decimal("99.9"),
        max_digits=6,
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if "one" in cleaned and cleaned["one"] == cleaned.get("other"):
            self.add_error("other", _("The two shares must differ: equal ones cannot be told apart."))
        return cleaned
