"""Forms for what touches ε: a study's or a panel's terms, and the ε of its questions."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from surveys.design import changes, queries, terms
from surveys.design.models import Question

LONGEST_WHY = 500
WHY_NEEDED = gettext_lazy("A term that touches ε has changed: say why. Who works on this draft can read it.")


class TermsForm(forms.ModelForm):
    """A form some fields of which touch ε: once saved, a change of those needs a reason."""

    terms: tuple[str, ...] = ()
    why = forms.CharField(
        label=gettext_lazy("Why"),
        required=False,
        max_length=LONGEST_WHY,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy(
            "Needed when something that touches ε changes, a question's protection too. "
            "Who works on this draft can read it."
        ),
    )

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if not self.instance._state.adding and set(self.terms) & set(self.changed_data) and not said_why(self.data):
            self.add_error("why", WHY_NEEDED)
        return cleaned


class StudyForm(TermsForm):
    terms = changes.STUDY_TERMS

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if {"given_cap", "given_batch"} & set(self.changed_data):
            self.instance.given_why = (self.data.get("why") or "").strip()
        return cleaned


class PanelForm(TermsForm):
    terms = changes.PANEL_TERMS


class WithinLimits(forms.BaseInlineFormSet):
    """The questions of a study: each ε within the site's limits, and a reason if the protection of one changes."""

    def clean(self) -> None:
        super().clean()
        kept = [form for form in self.forms if form.is_valid() and not self._goes(form)]
        for form in kept:
            self._refuse_outside(form)
        problems = terms.problems_of_given(self.instance, [form.instance for form in kept])
        if problems and not self.instance._state.adding:  # a new study is brought within them as it is saved
            raise forms.ValidationError(list(problems.values()))
        if not self.instance._state.adding and any(map(self._touches, self.forms)) and not said_why(self.data):
            raise forms.ValidationError(WHY_NEEDED)

    def _refuse_outside(self, form: Any) -> None:
        question = form.instance
        is_empty = question._state.adding and not form.has_changed()
        if is_empty or question.protection != Question.Protection.DEVICE:
            return
        if problem := terms.problem_of_epsilon(self.instance, question.epsilon, queries.site_limits()):
            form.add_error("epsilon" if "epsilon" in form.fields else None, problem)

    def _touches(self, form: Any) -> bool:
        """Tell whether a question is new, goes, or is protected otherwise."""
        if form.instance._state.adding:
            return bool(form.has_changed())
        return self._goes(form) or bool(set(changes.QUESTION_TERMS) & set(form.changed_data))

    def _goes(self, form: Any) -> bool:
        return bool(form.cleaned_data.get("DELETE")) if form.is_valid() else False


def said_why(data: Any) -> bool:
    return bool(data.get("why", "").strip())
