"""The acts of an admin on a budget: each asks why, and is a row of the ledger."""

import datetime
from typing import Any, ClassVar

from django import forms
from django.contrib.auth import get_user_model
from django.db import transaction

from surveys.ledger import services
from surveys.ledger.fields import EpsilonField, RhoField
from surveys.ledger.models import Budget


class ActForm(forms.Form):
    """One act on one budget."""

    title: ClassVar[str]
    button: ClassVar[str]
    sentence: ClassVar[str]

    why = forms.CharField(max_length=500, help_text="Everyone can read it in the ledger, beside your user name.")

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
    title, button = "Lower the cap", "Lower the cap for good"
    sentence = "A cap can only fall, and not below what is spent."

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["cap"] = self.amount(label=f"New cap, {self.budget.measure}", help_text=f"It is {self.budget.cap}.")
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
    title, button = "Set the weekly limit", "Set the limit"
    sentence = "What does not fit into any seven days waits, although the cap would pay for it."

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["weekly"] = self.amount(
            label=f"At most in any seven days, {self.budget.measure}",
            initial=self.budget.weekly,
            required=False,
            help_text="Empty: no limit but the cap.",
        )
        self.order_fields(["weekly", "why"])

    def act(self, *, who: str, now: datetime.datetime) -> None:
        services.set_weekly_limit(budget_id=self.budget.pk, **self.cleaned_data, who=who, now=now)


class OpenForResearcher(ActForm):
    title, button = "Open a researcher’s budget", "Open this budget"
    sentence = "What this person asks for is charged to the study and to them, and has to fit under both caps."

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        people = get_user_model()._default_manager.filter(is_active=True)
        self.fields["researcher"] = forms.ModelChoiceField(people, to_field_name="username")
        self.fields["cap"] = self.amount(label=f"Cap, {self.budget.measure}", help_text="It can only fall later.")
        self.order_fields(["researcher", "cap", "why"])

    @classmethod
    def fits(cls, budget: Budget) -> bool:
        return super().fits(budget) and budget.name.startswith("study:")

    @transaction.atomic
    def act(self, *, who: str, now: datetime.datetime) -> None:
        """Open a budget on the study's own terms: only then do charges mean the same to both.

        The study's is held meanwhile: a charge to it is done before this one opens, or finds it.
        """
        (study,) = services.lock(self.budget.pk)
        cap = {"epsilon" if study.is_pure else "rho": self.cleaned_data["cap"], "delta": study.delta}
        services.open_budget(
            name=f"researcher:{self.cleaned_data['researcher'].get_username()}@{study.name}",
            unit=study.unit,
            neighbours=study.neighbours,
            fixed_parts=study.fixed_parts,
            **cap,
            why=self.cleaned_data["why"],
            who=who,
            now=now,
        )


class Retire(ActForm):
    title, button = "Retire the budget", "Retire it for good"
    sentence = "Nothing is charged to it ever after. This cannot be undone."

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
