"""The acts of an admin on a budget: each asks why, and is a row of the ledger."""

import datetime
from typing import Any, ClassVar

from django import forms
from django.contrib.auth import get_user_model
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from surveys.ledger import services
from surveys.ledger.fields import EpsilonField, RhoField
from surveys.ledger.models import Budget


class ActForm(forms.Form):
    """One act on one budget."""

    title: ClassVar[str | Promise]
    button: ClassVar[str | Promise]
    sentence: ClassVar[str | Promise]

    why = forms.CharField(
        label=gettext_lazy("Why"),
        max_length=500,
        help_text=gettext_lazy("Everyone can read it in the ledger, beside your pseudonym."),
    )

    def __init__(self, *args: Any, budget: Budget, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.budget = budget
        self.order_fields([name for name in self.fields if name != "why"] + ["why"])

    @classmethod
    def fits(cls, budget: Budget) -> bool:
        """Tell whether it makes sense for this budget."""
        return budget.retired_on is None

    def act(self, *, who: str, now: datetime.datetime) -> None:
        raise NotImplementedError

    def amount(self, **kwargs: Any) -> Any:
        """Return a form field for an amount in the budget's own measure."""
        field = EpsilonField() if self.budget.is_pure else RhoField()
        return field.formfield(**kwargs)


class LowerCap(ActForm):
    title, button = gettext_lazy("Lower the cap"), gettext_lazy("Lower the cap for good")
    sentence = gettext_lazy("A cap can only fall, and not below what is spent.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        now = {"sign": self.budget.measure, "cap": self.budget.cap}
        label, help_text = _("New cap, %(sign)s") % now, _("It is %(cap)s.") % now
        self.fields["cap"] = self.amount(label=label, help_text=help_text)
        self.order_fields(["cap", "why"])

    @classmethod
    def fits(cls, budget: Budget) -> bool:
        """The caps of a study and of a panel stand in their own terms too, and are lowered there."""
        return super().fits(budget) and not budget.name.startswith(("study:", "panel:"))

    def act(self, *, who: str, now: datetime.datetime) -> None:
        measure = "epsilon" if self.budget.is_pure else "rho"
        cap = {measure: self.cleaned_data["cap"]}
        services.lower_cap(budget_id=self.budget.pk, **cap, why=self.cleaned_data["why"], who=who, now=now)


class WeeklyLimit(ActForm):
    title, button = gettext_lazy("Set the weekly limit"), gettext_lazy("Set the limit")
    sentence = gettext_lazy("What does not fit into any seven days waits, although the cap would pay for it.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["weekly"] = self.amount(
            label=_("At most in any seven days, %(sign)s") % {"sign": self.budget.measure},
            initial=self.budget.weekly,
            required=False,
            help_text=_("Empty: no limit but the cap."),
        )
        self.order_fields(["weekly", "why"])

    def act(self, *, who: str, now: datetime.datetime) -> None:
        services.set_weekly_limit(budget_id=self.budget.pk, **self.cleaned_data, who=who, now=now)


class OpenForResearcher(ActForm):
    title, button = gettext_lazy("Open a researcher’s budget"), gettext_lazy("Open this budget")
    sentence = gettext_lazy(
        "What this person asks for is charged to the study and to them, and has to fit under both caps."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        people = get_user_model()._default_manager.filter(is_active=True)
        self.fields["researcher"] = forms.ModelChoiceField(people, to_field_name="username", label=_("Researcher"))
        label = _("Cap, %(sign)s") % {"sign": self.budget.measure}
        self.fields["cap"] = self.amount(label=label, help_text=_("It can only fall later."))
        self.order_fields(["researcher", "cap", "why"])

    @classmethod
    def fits(cls, budget: Budget) -> bool:
        return super().fits(budget) and budget.name.startswith("study:")

    def act(self, *, who: str, now: datetime.datetime) -> None:
        data = self.cleaned_data
        holder = data["researcher"].pseudonym
        services.open_share(study_id=self.budget.pk, holder=holder, cap=data["cap"], why=data["why"], who=who, now=now)


class Retire(ActForm):
    title, button = gettext_lazy("Retire the budget"), gettext_lazy("Retire it for good")
    sentence = gettext_lazy("Nothing is charged to it ever after. This cannot be undone.")

    @classmethod
    def fits(cls, budget: Budget) -> bool:
        """The budget of a study ends with the study."""
        return super().fits(budget) and not budget.name.startswith(("study:", "panel:"))

    def act(self, *, who: str, now: datetime.datetime) -> None:
        services.retire_budget(budget_id=self.budget.pk, **self.cleaned_data, who=who, now=now)


ACTS: dict[str, type[ActForm]] = {
    "lower": LowerCap,
    "limit": WeeklyLimit,
    "researcher": OpenForResearcher,
    "retire": Retire,
}
