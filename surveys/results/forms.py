"""Forms of queries, in the words of this site and the reader's language."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from django.http import HttpRequest
from django.utils.translation import gettext as _, gettext_lazy

from surveys.design.models import Plan

AT_LEAST = gettext_lazy("It must be at least %(limit_value)s; it is %(show_value)s.")
AT_MOST = gettext_lazy("It must be at most %(limit_value)s; it is %(show_value)s.")


def speak_the_readers_language(form: forms.Form, plan: Plan) -> None:
    """Offer questions and answers as the reader's language calls them, where the Plan says how."""
    spoken_of: dict[str, str] = {}
    for question, spoken in zip(plan.content.questions, plan.spoken.questions, strict=True):
        spoken_of |= dict(zip(question.choices, spoken.choices, strict=True)) | {
            question.label: spoken.label
        }
    for field in form.fields.values():
        if isinstance(field, forms.ChoiceField):
            offered: Any = field.choices
            field.choices = [(value, spoken_of.get(str(label), label)) for value, label in offered]


def form_of(form_class: type[forms.Form], request: HttpRequest) -> forms.Form:
    """Return a form, bound if it was sent, that says what is wrong as the rest of the site does."""
    form = form_class(request.POST) if request.method == "POST" else form_class()
    _say_plainly(form)
    return form


def _say_plainly(form: forms.Form) -> None:
    for field in form.fields.values():
        field.error_messages |= {
            "required": _("This is needed."),
            "invalid": _("This must be a number."),
        }
        for validator in field.validators:
            if isinstance(validator, MinValueValidator | MaxValueValidator):
                validator.message = (
                    AT_LEAST if isinstance(validator, MinValueValidator) else AT_MOST
                )


def add_refusal(form: forms.Form, refusal: Exception) -> None:
    """Put a refusal beside the field it is about, or above all if there is none."""
    field = getattr(refusal, "field", None)
    text = str(getattr(refusal, "expected", refusal))
    form.add_error(field if field in form.fields else None, f"{text[:1].upper()}{text[1:]}.")


class PopulationForm(forms.Form):
    """The population's known shares of groups, in percent or in people; one without is left out."""

    ROUNDED = Decimal(1)  # by which printed shares may miss 100
    PEOPLE = 1000  # together; what adds up to less is read as percent
    MAX_GROUPS = 60

    def __init__(self, groups: Sequence[str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for place, name in enumerate(groups[: self.MAX_GROUPS]):
            self.fields[f"share{place}"] = forms.DecimalField(
                label=name,
                required=False,
                min_value=0,
                max_value=10**10,
                max_digits=16,
                widget=forms.NumberInput(attrs={"class": "input", "step": "any", "min": "0"}),
            )
        _say_plainly(self)

    @classmethod
    def is_sent(cls, data: Any) -> bool:
        return any(name.startswith("share") and value for name, value in data.items())

    def clean(self) -> dict[str, Any]:
        given = {name: share for name, share in self.cleaned_data.items() if share}
        total = sum(given.values(), Decimal(0))
        if not self.errors and len(given) < 2:
            self.add_error(None, _("Expected the shares of two groups or more."))
        elif not self.errors and total < self.PEOPLE and abs(total - 100) > self.ROUNDED:
            self.add_error(
                None,
                _(
                    "Expected shares that add up to 100 %%, or numbers of people, %(most)s or more "
                    "in all; they add up to %(total)s."
                )
                % {"most": self.PEOPLE, "total": f"{total:f}"},
            )
        return self.cleaned_data

    @property
    def population(self) -> dict[int, float]:
        """Return the shares of groups by their places, adding up to 1."""
        given = {
            int(name.removeprefix("share")): share
            for name, share in self.cleaned_data.items()
            if share
        }
        total = sum(given.values())
        return {place: float(share / total) for place, share in given.items()}
