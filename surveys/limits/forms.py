"""Forms for limits: of a draft, of an open study, of the site. Each asks why, for the ledger."""

from decimal import Decimal
from typing import Any

from django import forms
from django.core.validators import DecimalValidator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dpengine.privacy import LARGEST_EPSILON, plain
from surveys.design import queries as design
from surveys.design import services
from surveys.design.models import LEAST_EPSILON, Delta, Question, SiteLimits, Study
from surveys.ledger.models import EpsilonField, RhoField
from surveys.limits.consequences import LARGEST_HOUSEHOLD, USUAL_HOUSEHOLD

GIVEN = ("given_cap", "given_batch")  # may be empty: as usual
PREFIX = "epsilon-"  # of a question's field, before the question's name
LONGEST_WHY = 500
SLIDER_MOST = 4  # where the slider's tones end; more can be typed
READ_BY_ALL = gettext_lazy("Everyone can read it in the ledger, with your pseudonym and the day.")
READ_BY_MEMBERS = gettext_lazy("Members of this study can read it, with your name and the day.")
NEEDED = gettext_lazy("This is needed.")
NUMBER = gettext_lazy("This must be a number.")
LENGTHS: dict[str, Any] = {
    "invalid": NUMBER,
    "max_digits": gettext_lazy("This number is too long."),
    "max_decimal_places": gettext_lazy("It can have %(max)s decimals at most."),
    "max_whole_digits": gettext_lazy("This number is too large."),
}
DAY = gettext_lazy("This must be a day, such as 2026-12-31.")


class Described(forms.Form):
    """A form that ties hints and errors to their fields, and says what is wrong in our words."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.put_in_our_words()

    def put_in_our_words(self) -> None:
        for field in self.fields.values():
            invalid = DAY if isinstance(field, forms.DateField) else NUMBER
            field.error_messages |= {"required": NEEDED, "invalid": invalid}
            field.widget.attrs.setdefault("class", "input")
            for validator in field.validators:
                if isinstance(validator, DecimalValidator):
                    validator.messages = LENGTHS

    def tell(self, problems: dict[str, str]) -> None:
        """Put what a service refused beside its field, or above the form if it has none here."""
        for name, problem in problems.items():
            field = next((each for each in (name, PREFIX + name) if each in self.fields), None)
            self.add_error(field, problem)


def amount(label: Any, help_text: Any = "", **kwargs: Any) -> forms.DecimalField:
    """Return a field for an ε, to as many decimals as the ledger keeps."""
    widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
    places = {"decimal_places": EpsilonField.places, "max_digits": EpsilonField.places + EpsilonField.digits_before}
    return forms.DecimalField(label=label, help_text=help_text, widget=widget, **{**places, **kwargs})


def why(most: int = LONGEST_WHY, read_by: Any = READ_BY_ALL, **kwargs: Any) -> forms.CharField:
    return forms.CharField(
        label=gettext_lazy("Why"), max_length=most, help_text=read_by, widget=forms.Textarea(attrs={"rows": 2}),
        **kwargs,
    )  # fmt: skip


class DraftForm(Described):
    """The limits of a draft: one ε a question, and what holds for all of it."""

    cap = amount(
        gettext_lazy("Cap for all publications, ε"),
        gettext_lazy("Once it is reached, nothing is published again."),
    )
    cap_delta = forms.ChoiceField(label=gettext_lazy("δ of the cap"), choices=Delta.choices)
    release_epsilon = amount(
        gettext_lazy("Cost of one publication, ε"),
        gettext_lazy("The questions share it. A request may cost as much."),
    )
    retires_on = forms.DateField(
        label=gettext_lazy("Retire on"),
        required=False,
        help_text=gettext_lazy("From this day on nothing is published, and answers are erased."),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        input_formats=["%Y-%m-%d"],
    )
    epsilon_floor = amount(gettext_lazy("Least ε of one answer"), gettext_lazy("Below it, answers are wasted."))
    epsilon_ceiling = amount(
        gettext_lazy("Greatest ε of one answer"), gettext_lazy("Above it, answers are hardly protected.")
    )
    given_cap = amount(
        gettext_lazy("Greatest cap where answers are sent as given, ε"),
        gettext_lazy("Empty: the usual 1. More needs the reason below."),
        required=False,
    )
    given_batch = forms.IntegerField(
        label=gettext_lazy("Fewest answers to publish where they are sent as given"),
        required=False,
        help_text=gettext_lazy("Empty: the usual 50. Fewer needs the reason below."),
        widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}),
    )
    household = forms.TypedChoiceField(
        label=gettext_lazy("People in one household"), coerce=int, required=False, empty_value=None,
        choices=[(size, str(size)) for size in range(1, LARGEST_HOUSEHOLD + 1)],
        help_text=gettext_lazy("Only to see what it does. It is not saved."),
    )  # fmt: skip
    why = why(read_by=READ_BY_MEMBERS)

    def __init__(self, *args: Any, study: Study, may_set_limits: bool, **kwargs: Any) -> None:
        self.study, self.may_set_limits = study, may_set_limits
        self.questions = list(study.questions.all())
        self.limits = design.site_limits()
        super().__init__(*args, **kwargs)
        self._drop_what_stays()
        for question in self.device:
            self.fields[PREFIX + question.name] = amount(f"{question.label}: ε")
        self.initial = {**self._present(), **self.initial}
        self.put_in_our_words()

    @property
    def device(self) -> list[Question]:
        return [each for each in self.questions if each.protection == Question.Protection.DEVICE]

    def _drop_what_stays(self) -> None:
        if self.study.budget_id is not None:
            del self.fields["cap"], self.fields["cap_delta"]
        if not self.may_set_limits:
            del self.fields["epsilon_floor"], self.fields["epsilon_ceiling"]
        if not self.may_set_limits or len(self.device) == len(self.questions):
            del self.fields["given_cap"], self.fields["given_batch"]

    def _present(self) -> dict[str, Any]:
        found = {name: _shown(getattr(self.study, name)) for name in self.fields if hasattr(self.study, name)}
        epsilons = {PREFIX + question.name: _shown(question.epsilon) for question in self.device}
        return {**found, **epsilons, "household": USUAL_HOUSEHOLD}

    def clean(self) -> dict[str, Any]:
        """Say before anything is saved what the service would refuse too, under its locks."""
        cleaned: dict[str, Any] = super().clean() or {}
        self._refuse_nothing(cleaned)
        study = self.proposed()
        low, high = design.allowed_epsilon(study, self.limits)
        for question in self.device:
            epsilon = cleaned.get(PREFIX + question.name)
            if epsilon is not None and not low <= epsilon <= high:
                said = {"low": plain(low), "high": plain(high), "asked": plain(epsilon)}
                text = _("ε must be between %(low)s and %(high)s; it is %(asked)s.") % said
                self.add_error(PREFIX + question.name, text)
        if (cap := cleaned.get("cap")) is not None and cap > self.limits.cap_ceiling:
            said = {"most": plain(self.limits.cap_ceiling), "asked": plain(cap)}
            self.add_error("cap", _("A cap must be at most %(most)s on this site; it is %(asked)s.") % said)
        return cleaned

    def _refuse_nothing(self, cleaned: dict[str, Any]) -> None:
        """Refuse amounts of 0 and less before anything is worked out of them."""
        for name in ("cap", "release_epsilon"):
            amount = cleaned.get(name)
            if amount is not None and amount <= 0:
                said = {"name": self.fields[name].label, "amount": plain(amount)}
                self.add_error(name, _("%(name)s must be above 0; it is %(amount)s.") % said)

    # What was typed, as far as it can be read: to show what it would do

    @property
    def terms(self) -> dict[str, Any]:
        names = ("cap", "cap_delta", "release_epsilon", "retires_on", "epsilon_floor", "epsilon_ceiling", *GIVEN)
        return {name: self.cleaned_data[name] for name in names if name in self.cleaned_data}

    @property
    def epsilons(self) -> dict[str, Decimal]:
        found = {question.name: self.cleaned_data.get(PREFIX + question.name) for question in self.device}
        return {name: epsilon for name, epsilon in found.items() if epsilon is not None}

    def proposed(self) -> Study:
        """Return the draft with what was typed, not saved."""
        study = self.study
        for name, value in getattr(self, "cleaned_data", {}) and self.terms.items():
            if value is not None or name in ("retires_on", *GIVEN):
                setattr(study, name, value)
        return study

    def proposed_questions(self) -> list[Question]:
        typed = self.epsilons if hasattr(self, "cleaned_data") else {}
        for question in self.questions:
            epsilon = typed.get(question.name)
            if epsilon is not None and LEAST_EPSILON <= epsilon <= LARGEST_EPSILON:
                question.epsilon = epsilon
        return self.questions

    @property
    def household_shown(self) -> int:
        return getattr(self, "cleaned_data", {}).get("household") or USUAL_HOUSEHOLD


class LowerForm(Described):
    new = amount(gettext_lazy("The new cap, ε"))
    why = why()


class WeekForm(Described):
    weekly = amount(
        gettext_lazy("At most in any seven days"),
        gettext_lazy("Leave it empty for no limit but the cap."),
        required=False,
        decimal_places=RhoField.places,
        max_digits=RhoField.places + RhoField.digits_before,
    )
    why = why()


class RetireForm(Described):
    why = why(services.LONGEST_REASON)
    sure = forms.BooleanField(label=gettext_lazy("Erase the answers, for good"))


class SiteForm(Described):
    epsilon_floor = amount(
        gettext_lazy("Least ε of one answer"), gettext_lazy("Below it no study of any size learns anything.")
    )
    epsilon_ceiling = amount(
        gettext_lazy("Greatest ε of one answer"), gettext_lazy("Above it an answer is hardly protected.")
    )
    cap_ceiling = amount(
        gettext_lazy("Greatest cap for all publications of a study, ε"),
        gettext_lazy("What readers of the results may ever learn about one person."),
    )
    why = why()

    @classmethod
    def of(cls, limits: SiteLimits, *args: Any) -> "SiteForm":
        names = ("epsilon_floor", "epsilon_ceiling", "cap_ceiling")
        return cls(*args, initial={name: _shown(getattr(limits, name)) for name in names})


def _shown(value: Any) -> Any:
    return f"{plain(value):f}" if isinstance(value, Decimal) else value
