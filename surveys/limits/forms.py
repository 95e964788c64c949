"""Forms for limits: of drafts, open studies, panels, researchers and the site. Each asks why."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib.auth import get_user_model
from django.core.validators import DecimalValidator
from django.forms.renderers import TemplatesSetting
from django.utils.translation import gettext as _, gettext_lazy

from dpengine.privacy import LARGEST_EPSILON, epsilon_above, plain
from surveys.design import selectors as design, services, sharing, terms
from surveys.design.models import (
    MIN_EPSILON,
    Delta,
    DraftChange,
    Neighbours,
    Question,
    Study,
    Unit,
)
from surveys.design.questions import unfit
from surveys.design.refusals import NotDecided, Refused
from surveys.guesses import USUAL_HOUSEHOLD, even_guess_within
from surveys.ledger import services as ledger
from surveys.ledger.models import AmountField, Budget, EpsilonField, RhoField
from surveys.limits.risk import MAX_HOUSEHOLD, loss_of_draft

PERSON_PLACES = 2  # of a person's ε as it is shown, rounded up
MOST_OF_A_PERSON = 8  # which the verifier allows
NOTHING_SHARED = gettext_lazy("Nothing was shared.")
PREFIX = "epsilon-"  # of a question's field, before the question's name
LASTING = ("neighbours", "unit", "cap_delta", "cap")  # terms that others depend on
REFUSALS = (Refused, ledger.Refused)  # their texts are for people
MAY_BE_EMPTY = ("person", "retires_on", "given_cap", "given_batch", "panel")
SURE = "limits/sure.html"
MAX_WHY: int = DraftChange._meta.get_field("why").max_length or 0
READ_BY_ALL = gettext_lazy("Everyone can read it in the ledger, with your pseudonym and the day.")
READ_BY_MEMBERS = gettext_lazy("Members of this study can read it, with your name and the day.")
NUMBER = gettext_lazy("This must be a number.")
LENGTHS: dict[str, Any] = {
    "invalid": NUMBER,
    "max_digits": gettext_lazy("This number is too long."),
    "max_decimal_places": gettext_lazy("It can have %(max)s decimals at most."),
    "max_whole_digits": gettext_lazy("This number is too large."),
}
DAY = gettext_lazy("This must be a day, such as 2026-12-31.")


class Renderer(TemplatesSetting):
    field_template_name = "field.html"


class Described(forms.Form):
    """A form that ties hints and errors to their fields, and says what is wrong in our words."""

    default_renderer = Renderer

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.put_in_our_words()

    def put_in_our_words(self) -> None:
        for field in self.fields.values():
            field.error_messages["required"] = gettext_lazy("This is needed.")
            if isinstance(field, forms.DateField):
                field.error_messages["invalid"] = DAY
            elif isinstance(field, forms.IntegerField):  # of which a DecimalField is one
                field.error_messages["invalid"] = NUMBER
            field.widget.attrs.setdefault("class", "input")
            for validator in field.validators:
                if isinstance(validator, DecimalValidator):
                    validator.messages = LENGTHS

    @contextmanager
    def refusals(self, beside: str | None = None) -> Iterator[None]:
        """Put what a service refuses beside its field, or above the form if it has none here."""
        try:
            yield
        except NotDecided as refusal:
            for name, problem in refusal.problems.items():
                # a field of another page: what was changed here made it wrong
                here = (
                    name,
                    PREFIX + name,
                    *(each for each in LASTING if each in self.changed_data),
                )
                names = [known for known in here if known in self.fields]
                self.add_error(names[0] if names else None, problem)
        except REFUSALS as refusal:
            self.add_error(beside, str(refusal))


def amount(
    label: Any, help_text: Any = "", measure: type[AmountField] = EpsilonField, **kwargs: Any
) -> forms.DecimalField:
    """Return a field for an ε or a ρ, to as many decimals as the ledger keeps."""
    return forms.DecimalField(
        label=label,
        help_text=help_text,
        widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
        decimal_places=measure.places,
        max_digits=measure.places + measure.digits_before,
        **kwargs,
    )


def why(read_by: Any = READ_BY_ALL, max_length: int = MAX_WHY, **kwargs: Any) -> forms.CharField:
    return forms.CharField(
        label=gettext_lazy("Why"),
        max_length=max_length,
        help_text=read_by,
        widget=forms.Textarea(attrs={"rows": 2}),
        **kwargs,
    )


class DraftForm(Described):
    """The limits of a draft: a person's ε and its share for each question, and what holds for all.

    A person's ε is kept as long as it is shared equally; else what is shown is what the questions
    give away together.
    """

    person = amount(
        gettext_lazy("One person, all together: ε"),
        gettext_lazy("Saved are the ε of the answers below, which share it."),
        required=False,
    )
    cap = amount(
        gettext_lazy("Cap for all releases, ε"),
        gettext_lazy("Once it is reached, nothing is published again."),
    )
    cap_delta = forms.ChoiceField(label=gettext_lazy("δ of the cap"), choices=Delta.choices)
    release_epsilon = amount(
        gettext_lazy("Privacy loss of one release, ε"),
        gettext_lazy("The questions share it. A request may cost as much."),
    )
    retires_on = forms.DateField(
        label=gettext_lazy("End on"),
        required=False,
        help_text=gettext_lazy(
            "From midnight (UTC) of this day on nothing is published, and answers are deleted."
        ),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        input_formats=["%Y-%m-%d"],
    )
    epsilon_floor = amount(
        gettext_lazy("Minimum ε of one answer"), gettext_lazy("Below it, answers are wasted.")
    )
    epsilon_ceiling = amount(
        gettext_lazy("Maximum ε of one answer"),
        gettext_lazy("Above it, answers are hardly protected."),
    )
    unit = forms.ChoiceField(
        label=gettext_lazy("What do releases protect?"),
        choices=Unit.choices,
        help_text=gettext_lazy(
            "The cap holds for all of it. A household is charged for each of its people."
        ),
    )
    neighbours = forms.ChoiceField(
        label=gettext_lazy("What of them?"),
        choices=Neighbours.choices,
        help_text=gettext_lazy(
            "If taking part is protected too, nothing shows how many answer before the end, and "
            "devices’ own chance makes nothing free."
        ),
    )
    panel = forms.ModelChoiceField(
        design.panels(),
        label=gettext_lazy("Panel"),
        required=False,
        empty_label=gettext_lazy("none: these people meet no other study"),
        help_text=gettext_lazy("For people invited to several studies: its caps hold too."),
    )
    given_cap = amount(
        gettext_lazy("Maximum cap where answers are not randomised, ε"),
        gettext_lazy("Empty: the usual 1. More needs the reason below."),
        required=False,
    )
    given_batch = forms.IntegerField(
        label=gettext_lazy("Minimum responses to publish where answers are not randomised"),
        required=False,
        help_text=gettext_lazy("Empty: the usual 50. Fewer needs the reason below."),
        widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}),
    )
    household = forms.TypedChoiceField(
        label=gettext_lazy("People in one household"),
        coerce=int,
        required=False,
        empty_value=None,
        choices=[(size, str(size)) for size in range(1, MAX_HOUSEHOLD + 1)],
        help_text=gettext_lazy("Only to see what it does. It is not saved."),
    )
    why = why(read_by=READ_BY_MEMBERS)

    def __init__(
        self,
        *args: Any,
        study: Study,
        may_set_limits: bool,
        may_choose_panel: bool,
        **kwargs: Any,
    ) -> None:
        self.study = study
        self.questions = list(study.questions.all())
        self.on_device = [
            question
            for question in self.questions
            if question.protection == Question.Protection.DEVICE
        ]
        self.was_shared = study.person is not None
        self.saved = {question.name: question.epsilon for question in self.on_device}
        self.limits = design.site_limits()
        self.cleaned_data: dict[str, Any] = {}
        super().__init__(*args, **kwargs)
        has_opened = study.budget_id is not None
        is_all_on_device = len(self.on_device) == len(self.questions)
        for names, stays in (
            (("cap", "cap_delta"), has_opened),
            (("unit", "neighbours"), has_opened),
            (("panel",), has_opened or not may_choose_panel),
            (("epsilon_floor", "epsilon_ceiling"), not may_set_limits),
            (("given_cap", "given_batch"), not may_set_limits or is_all_on_device),
        ):
            for name in names if stays else ():
                del self.fields[name]
        of_admins = Unit.RESPONDENT_IN_WAVE
        if "unit" in self.fields and not may_choose_panel and study.unit != of_admins:
            offered = [each for each in Unit.choices if each[0] != of_admins]
            self.fields["unit"].choices = offered  # type: ignore[attr-defined]
        present = {name: shown(getattr(study, name, None)) for name in self.fields}
        if self.on_device:
            loss = loss_of_draft(study, self.questions)
            if self.was_shared:
                self.fields["person"].help_text = _(
                    "The answers below share it equally, and those that you add will too, until "
                    "you set an ε of one of them by hand."
                )
            present["person"] = plain(study.person or epsilon_above(loss, PERSON_PLACES))
        else:
            del self.fields["person"]
        for question in self.on_device:
            name = PREFIX + question.name
            self.fields[name] = amount(f"{question.label}: ε")
            present[name] = shown(question.epsilon)
        self.initial = {**present, "household": USUAL_HOUSEHOLD, **self.initial}
        self.put_in_our_words()

    def clean(self) -> dict[str, Any]:
        """Say before anything is saved what the service would refuse too, under its locks."""
        cleaned = super().clean() or {}
        for name in ("cap", "release_epsilon"):  # before anything is worked out of them
            value = cleaned.get(name)
            if value is not None and value < MIN_EPSILON:  # its noise is out of all proportion
                text = _("ε must be between %(least)s and %(most)s; it is %(epsilon)s.")
                bounds = {"least": plain(MIN_EPSILON), "most": plain(self.limits.cap_ceiling)}
                self.add_error(name, text % {**bounds, "epsilon": plain(value)})
        study = self._with_typed_terms()
        for question in self.on_device:
            name = PREFIX + question.name
            epsilon = cleaned.get(name)
            if epsilon is not None:
                self._refuse(name, terms.problem_of_epsilon(study, epsilon, self.limits))
        is_decided = not {"look", "share"} & self.data.keys()
        if self.is_to_be_shared:
            self.share()
        elif is_decided and "person" in self.changed_data and cleaned.get("person") is not None:
            loss = loss_of_draft(*self.proposed())
            if epsilon_above(loss) > cleaned["person"]:
                text = _(
                    "The answers below give away ε %(found)s together. Share ε %(asked)s among "
                    "them first, or lower them one by one."
                )
                found = epsilon_above(loss, PERSON_PLACES)
                parts = {"found": plain(found), "asked": plain(cleaned["person"])}
                self.add_error("person", text % parts)
        if cleaned.get("cap") is not None:
            self._refuse("cap", terms.problem_of_cap(study, self.limits))
        return cleaned

    def _refuse(self, field: str, problem: str) -> None:
        if problem:
            self.add_error(field, problem)

    def share(self) -> None:
        """Put its part of a person's ε in every question's field, to be looked at and saved; or say
        what is wrong, and leave them all as they were.
        """
        typed = {PREFIX + question.name for question in self.on_device}
        if not typed or "person" in self.errors:
            return
        person = self.cleaned_data.get("person")
        if person is None or not 0 < person <= MOST_OF_A_PERSON:
            text = _("This must be above 0 and at most 8, or browsers refuse it.")
            self.add_error("person", f"{text} {NOTHING_SHARED}")
            return
        study = self._with_typed_terms()
        parts = sharing.spent_of(person, study, self.questions).epsilons
        for question in self.on_device:
            asked_so = copy(question)
            asked_so.epsilon = part = parts[question.name]
            problem = terms.problem_of_epsilon(study, part, self.limits) or unfit(asked_so)
            if problem:
                self.add_error("person", f"{question.label}: {problem} {NOTHING_SHARED}")
                return
        filled = {PREFIX + name: part for name, part in parts.items()}
        was = {name: self.data[name] for name in self.data}
        self.data = {**was, **{name: shown(part) for name, part in filled.items()}}
        self.cleaned_data.update(filled)
        for name in typed:
            self.errors.pop(name, None)

    @property
    def person_guess(self) -> str:
        """Return how often of 100 a guess about a person is right at most, at the ε shown."""
        person: Decimal = self.cleaned_data.get("person") or self.initial["person"]
        return even_guess_within(min(max(person, Decimal(0)), LARGEST_EPSILON))

    # What was typed, as far as it can be read: to show what it would do

    @property
    def terms(self) -> dict[str, Any]:
        """Return the study's own terms."""
        if not self.is_bound or "person" not in self.fields:
            return self._typed
        return {
            **self._typed,
            "person": self.cleaned_data.get("person") if self.is_shared else None,
        }

    @property
    def _typed(self) -> dict[str, Any]:
        """Return the terms that follow from no other."""
        return {
            name: value
            for name, value in self.cleaned_data.items()
            if name not in ("household", "person", "why") and not name.startswith(PREFIX)
        }

    @property
    def is_to_be_shared(self) -> bool:
        """Tell whether what was typed moves the shares of a person's ε, and no share was typed."""
        is_moved = not {"person", "neighbours"}.isdisjoint(self.changed_data)
        return self.was_shared and is_moved and self.epsilons == self.saved

    @property
    def is_shared(self) -> bool:
        """Tell whether every question's ε is its share of the person's: since before, or because it
        was shared now.
        """
        person, parts = self.cleaned_data.get("person"), self.epsilons
        if person is None or len(parts) < len(self.on_device):
            return False
        is_as_it_was = "person" not in self.changed_data and parts == self.saved
        if not self.was_shared and is_as_it_was:
            return False
        return parts == sharing.spent_of(person, self._with_typed_terms(), self.questions).epsilons

    @property
    def epsilons(self) -> dict[str, Decimal]:
        names = {question.name: PREFIX + question.name for question in self.on_device}
        return {
            name: self.cleaned_data[typed]
            for name, typed in names.items()
            if self.cleaned_data.get(typed) is not None
        }

    def proposed(self) -> tuple[Study, list[Question]]:
        """Return the draft and its questions with what was typed, and what follows from it, not
        saved.
        """
        study = self._with_typed_terms()
        study.person = self.terms.get("person", study.person)
        for question in self.questions:
            epsilon = self.epsilons.get(question.name)
            if epsilon is not None and MIN_EPSILON <= epsilon <= LARGEST_EPSILON:
                question.epsilon = epsilon
        if self.is_bound:
            sharing.spend(study, self.questions)
        return study, self.questions

    def _with_typed_terms(self) -> Study:
        study = copy(self.study)
        for name, value in self._typed.items():
            if value is not None or name in MAY_BE_EMPTY:
                setattr(study, name, value)
        return study


class AmendForm(Described):
    """A form for one amendment of a budget."""

    def __init__(self, *args: Any, budget: Budget | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if budget is not None:
            self.fields = {**self.measured(budget), **self.fields}
            self.put_in_our_words()

    def measured(self, budget: Budget) -> dict[str, forms.Field]:
        """Return the fields that depend on the budget: amounts in its own measure."""
        return {}


class WhyForm(AmendForm):
    why = why()


class LowerForm(WhyForm):
    """A lower cap of a study or a panel, in the ε that its draft was written in."""

    new = amount(gettext_lazy("The new cap, ε"))
    field_order = ("new", "why")


class LowerShareForm(WhyForm):
    def measured(self, budget: Budget) -> dict[str, forms.Field]:
        label = _("New cap, %(sign)s") % {"sign": budget.measure}
        present = _("It is %(cap)s.") % {"cap": budget.cap}
        return {"cap": amount(label, present, measure_of(budget))}


class WeekForm(WhyForm):
    def measured(self, budget: Budget) -> dict[str, forms.Field]:
        weekly = amount(
            _("At most in any seven days, %(sign)s") % {"sign": budget.measure},
            gettext_lazy("Leave it empty for no limit but the cap."),
            measure_of(budget),
            required=False,
            initial=shown(budget.weekly),
        )
        return {"weekly": weekly}


class ShareForm(WhyForm):
    def measured(self, budget: Budget) -> dict[str, forms.Field]:
        people = get_user_model()._default_manager.filter(is_active=True).order_by("username")
        return {
            "researcher": forms.ModelChoiceField(
                people, to_field_name="username", label=_("Researcher")
            ),
            "cap": amount(
                _("Cap, %(sign)s") % {"sign": budget.measure},
                _("It can only fall later."),
                measure_of(budget),
            ),
        }


class RetireForm(AmendForm):
    why = why(max_length=services.MAX_REASON)
    sure = forms.BooleanField(
        label=gettext_lazy("Delete the answers permanently"), template_name=SURE
    )


class AddressForm(AmendForm):
    slug = forms.SlugField(label=gettext_lazy("The last part of the link: /s/slug/"), max_length=60)


class DeleteForm(AmendForm):
    sure = forms.BooleanField(label=gettext_lazy("Delete it permanently"), template_name=SURE)


def measure_of(budget: Budget) -> type[AmountField]:
    return EpsilonField if budget.measure == "ε" else RhoField


def shown(value: Any) -> Any:
    return f"{plain(value):f}" if isinstance(value, Decimal) else value
