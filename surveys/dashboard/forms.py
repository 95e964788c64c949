"""Forms of queries, in the words of this site and the reader's language."""

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
    return form


def add_refusal(form: forms.Form, refusal: Exception) -> None:
    """Put a refusal beside the field it is about, or above all if there is none."""
    field = getattr(refusal, "field", None)
    text = str(getattr(refusal, "expected", refusal))
    form.add_error(field if field in form.fields else None, f"{text[:1].upper()}{text[1:]}.")
