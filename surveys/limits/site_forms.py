"""Forms for what holds beyond one study: the site's limits, and panels."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _, gettext_lazy

from surveys.design.models import Delta, Panel, SiteLimits
from surveys.limits.forms import Described, amount, shown, why


class SiteForm(Described):
    epsilon_floor = amount(
        gettext_lazy("Minimum ε of one answer"),
        gettext_lazy("Below it no study of any size learns anything."),
    )
    epsilon_ceiling = amount(
        gettext_lazy("Maximum ε of one answer"),
        gettext_lazy("Above it an answer is hardly protected."),
    )
    person_floor = amount(
        gettext_lazy("Minimum ε of one person"),
        gettext_lazy("All that they send, together."),
    )
    person_ceiling = amount(
        gettext_lazy("Maximum ε of one person"),
        gettext_lazy("At 2.9 a guess about a person can be right 95 times in 100."),
    )
    cap_ceiling = amount(
        gettext_lazy("Maximum cap for all releases of a study, ε"),
        gettext_lazy("What readers of the results may ever learn about one person."),
    )
    why = why()

    def __init__(self, *args: Any, limits: SiteLimits) -> None:
        super().__init__(*args)
        self.initial = {name: shown(getattr(limits, name, None)) for name in self.fields}


class PanelForm(Described):
    """A panel, whole until its budgets are open; its name always."""

    name = forms.CharField(
        label=gettext_lazy("Who they are"),
        max_length=120,
        help_text=gettext_lazy("Such as “Class of 2026”. Only admins of this site see it."),
    )
    slug = forms.SlugField(
        label=gettext_lazy("Name in the ledger"),
        max_length=60,
        help_text=gettext_lazy("Everyone can read it: panel:slug. Small letters, digits, hyphens."),
    )
    cap = amount(
        gettext_lazy("Cap for all releases, ε"),
        Panel._meta.get_field("cap").help_text,
        initial=4,
    )
    cap_delta = forms.ChoiceField(label=gettext_lazy("δ of the cap"), choices=Delta.choices)
    local_cap = amount(
        gettext_lazy("Cap for all answers of one person, ε"),
        Panel._meta.get_field("local_cap").help_text,
        initial=8,
    )
    why = why(
        gettext_lazy("Needed when a cap changes. Admins of this site can read it."), required=False
    )

    def __init__(self, *args: Any, panel: Panel | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if panel is None:
            del self.fields["why"]
            return
        if panel.central_budget_id is not None:
            self.fields = {"name": self.fields["name"]}
        self.initial = {name: shown(getattr(panel, name, None)) for name in self.fields}

    def clean_slug(self) -> str:
        if self.cleaned_data["slug"] == "new":
            raise forms.ValidationError(_("“new” is a page of this site; choose another."))
        return str(self.cleaned_data["slug"])

    @property
    def terms(self) -> dict[str, Any]:
        return {name: value for name, value in self.cleaned_data.items() if name != "why"}
