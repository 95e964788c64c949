"""Design studies and panels in Django's admin: edit a draft, open it, close it, begin the next wave, retire it.

What touches ε asks why once a study is saved, and goes to the ledger with old, new, who and when.
"""

import datetime
from fractions import Fraction
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dpengine.local.subset import Subset
from dpengine.local.table import Table
from surveys.design import changes, documents, pages, services, wording
from surveys.design.forms import PanelForm, StudyForm, WithinLimits
from surveys.design.models import Panel, Question, Study
from surveys.design.queries import State, changes_of, standings

AS_GIVEN = gettext_lazy(
    "Every answer reaches this site as it was given: its ε on the way is infinite (the one above counts for nothing). "
    "The team’s server can read these answers, and so can whoever takes the database together with its key, "
    "or a court. They are kept encrypted and leave only in publications that chance has changed. Respondents are told "
    "so before they answer, with each such question and with their receipt, and the public registry says it too."
)


class QuestionForm(forms.ModelForm):
    class Meta:
        model = Question
        fields = (
            *("position", "name", "kind", "text", "label", "help", "choices", "may_decline"),
            *("least", "most", "unit", "protection", "epsilon"),
        )
        widgets = {"choices": forms.Textarea(attrs={"rows": 5})}


class DraftOnly:
    """Fields of an open or closed wave can be read, not changed."""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        study = obj if isinstance(obj, Study) else None
        is_draft = study is None or (study.plan is None and not study.is_retired)
        return super().has_change_permission(request, obj) and is_draft  # type: ignore[misc]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        study = obj if isinstance(obj, Study) else None
        frozen = study is not None and study.plans.exists()
        return super().has_delete_permission(request, obj) and not frozen  # type: ignore[misc]


class QuestionInline(DraftOnly, admin.StackedInline):
    model = Question
    form = QuestionForm
    formset = WithinLimits
    extra = 0
    min_num = 1
    readonly_fields = ("consequences",)
    fieldsets = (
        (None, {"fields": (("position", "name", "kind"), "text", "label", "help", "choices", "may_decline")}),
        (gettext_lazy("If the answer is a whole number"), {"fields": (("least", "most", "unit"),)}),
        (gettext_lazy("Protection"), {"fields": ("protection", "epsilon", "consequences")}),
    )

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_change_permission(request, obj)

    @admin.display(description=gettext_lazy("what this does"))
    def consequences(self, question: Question) -> str:
        """Say what the protection of a saved question does: in odds, or who can read what."""
        if question._state.adding:
            return _("Save to see what this does.")
        if question.protection == documents.PUBLICATION:
            return str(AS_GIVEN)
        channel = documents.channel_of(question)
        if not isinstance(channel, Table | Subset):
            return _loss_said(channel.loss)
        own = min(99, round(100 * float(channel.margins()[-1].truth)))
        sent = _("Of 100 people, %(own)d send their own answer.") % {"own": own}
        return f"{sent} {_loss_said(channel.loss)} {documents.reason_for_channel(question)}"


@admin.register(Study)
class StudyAdmin(DraftOnly, pages.WithActs, admin.ModelAdmin):
    form = StudyForm
    list_display = ("title", "organisation", "wave", "state", "cap", "retires_on")
    list_select_related = ("panel",)
    search_fields = ("title", "organisation", "slug")
    prepopulated_fields = {"slug": ("title",)}
    inlines = (QuestionInline,)
    acts = (pages.LOWER, pages.LIMIT, pages.RETIRE)
    actions = ("open_studies", "close_studies", "begin_waves", "lower_the_cap", "retire_study")
    readonly_fields = ("state", "link", "spent", "what_the_cap_means", "what_the_rule_means", "history")
    fieldsets = (
        (None, {"fields": ("state", "link", "title", "slug", "organisation", "purpose", "contact")}),
        (
            gettext_lazy("What is protected"),
            {
                "fields": ("unit", "neighbours", "panel", "cap", "cap_delta", "what_the_cap_means", "spent"),
                "description": gettext_lazy(
                    "What all publications together may ever give away about one person. "
                    "From the first opening on these stay; the cap alone can be lowered."
                ),
            },
        ),
        (
            gettext_lazy("Limits of one answer"),
            {
                "fields": (("epsilon_floor", "epsilon_ceiling"), ("given_cap", "given_batch")),
                "description": gettext_lazy(
                    "Between which ε each answer that is changed on the device must lie; and what a study may have of "
                    "which an answer is sent as given. Only the site's admin changes them."
                ),
            },
        ),
        (
            gettext_lazy("Publication"),
            {
                "fields": (
                    "rule",
                    "release_epsilon",
                    ("hours", "horizon"),
                    "what_the_rule_means",
                    "smallest_batch",
                    "results",
                )
            },
        ),
        (gettext_lazy("Days"), {"fields": ("closes_on", "retires_on")}),
        (gettext_lazy("The draft"), {"fields": ("history",)}),
    )
    why_fieldset = (gettext_lazy("Reason"), {"fields": ("why",)})
    lasting = ("slug", "unit", "neighbours", "panel", "cap", "cap_delta", "results")

    def get_fieldsets(self, request: HttpRequest, obj: Study | None = None) -> Any:
        """A new study has no terms yet that could change; one that cannot be edited asks for no reason."""
        editable = obj is not None and self.has_change_permission(request, obj)
        return (*self.fieldsets, self.why_fieldset) if editable else self.fieldsets

    def get_prepopulated_fields(self, request: HttpRequest, obj: Study | None = None) -> dict[str, Any]:
        return {"slug": ("title",)} if obj is None else {}

    def get_readonly_fields(self, request: HttpRequest, obj: Study | None = None) -> tuple[str, ...]:
        """Once a wave has opened, its link is out and its budget is open: their terms stay. Limits are the site's."""
        lasting = self.lasting if obj is not None and obj.plans.exists() else ()
        limits = () if request.user.has_perm("design.set_limits") else ("epsilon_floor", "epsilon_ceiling")
        given = () if obj is not None and not limits else ("given_cap", "given_batch")  # which need a reason
        return (*self.readonly_fields, *lasting, *limits, *given)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show or take the form; if the study was opened while it was filled in, say so, with nothing saved."""
        try:
            return super().changeform_view(request, *args, **kwargs)
        except pages.REFUSALS as refusal:
            messages.error(request, " ".join([str(refusal), _("Nothing was saved.")]))
            return redirect(request.path)

    def save_model(self, request: HttpRequest, obj: Study, form: Any, change: bool) -> None:
        """Save what was typed and nothing else, unless someone has opened the study meanwhile."""
        if not change:
            return super().save_model(request, obj, form, change)
        form.before = changes.terms_of(services.lock_draft(study_id=obj.pk))
        changed = [name for name in form.changed_data if name != "why"]
        if {"given_cap", "given_batch"} & set(changed):
            obj.given_by = pages.who(request)
            changed += ["given_why", "given_by"]
        return obj.save(update_fields=changed)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Save the questions, then write down which terms are no longer as they were."""
        super().save_related(request, form, formsets, change)
        if change:
            record_changes(request, form, Study.objects.get(pk=form.instance.pk))
        elif fitted := services.fit_given(study_id=form.instance.pk):
            names = ", ".join(f"{Study._meta.get_field(name).verbose_name}" for name in fitted)  # type: ignore[union-attr]
            messages.warning(
                request, _("Answers are sent as given, so these were changed: %(names)s.") % {"names": names}
            )

    @admin.display(description=gettext_lazy("state"))
    def state(self, study: Study) -> str:
        if not study.pk:
            return State.DRAFT
        return state_of(study)

    @admin.display(description=gettext_lazy("what is spent"))
    def spent(self, study: Study) -> str:
        return wording.spending(study.budget_id)

    @admin.display(description=gettext_lazy("what the cap means"))
    def what_the_cap_means(self, study: Study) -> str:
        return wording.cap_means(study) if study.pk else _("Save to see what this cap means in odds.")

    @admin.display(description=gettext_lazy("what the rule means"))
    def what_the_rule_means(self, study: Study) -> str:
        return wording.rule_means(study) if study.pk else _("Save to see what this rule costs.")

    @admin.display(description=gettext_lazy("changes of the draft"))
    def history(self, study: Study) -> str:
        return history_of(study)

    @admin.display(description=gettext_lazy("link for respondents"))
    def link(self, study: Study) -> str:
        """Give the link with the Plan's digest, so that a browser refuses any other Plan."""
        plan = study.plan if study.pk else None
        if plan is None:
            return _("The link is made when the study opens: it carries the fingerprint of what is asked.")
        path = f"{study.get_absolute_url()}#{plan.digest}"
        return format_html('<a href="{}">{}</a>', path, path)

    @admin.action(description=gettext_lazy("Open: freeze the Plan and take answers"), permissions=["change_any"])
    def open_studies(self, request: HttpRequest, studies: QuerySet[Study]) -> None:
        by: dict[str, Any] = {"who": pages.who(request), "now": _now()}
        for study in studies:
            self._try(
                request, study, _("“%(study)s” is open."), lambda pk=study.pk: services.open_study(study_id=pk, **by)
            )

    @admin.action(description=gettext_lazy("Close: take no more answers"), permissions=["change_any"])
    def close_studies(self, request: HttpRequest, studies: QuerySet[Study]) -> None:
        today = _now().date()
        for study in studies:
            plan = study.plan
            if plan is None:
                messages.error(request, _("“%(study)s” is a draft: there is nothing to close.") % {"study": study})
            else:
                self._try(
                    request,
                    study,
                    _("“%(study)s” is closed."),
                    lambda pk=plan.pk: services.close_plan(plan_id=pk, today=today),
                )

    @admin.action(description=gettext_lazy("Begin the next wave as a draft"), permissions=["change_any"])
    def begin_waves(self, request: HttpRequest, studies: QuerySet[Study]) -> None:
        for study in studies:
            self._try(
                request, study, _("“%(study)s” is a draft again."), lambda pk=study.pk: services.begin_wave(study_id=pk)
            )

    @admin.action(description=gettext_lazy("Lower the cap, with a reason"), permissions=["change_any"])
    def lower_the_cap(self, request: HttpRequest, studies: QuerySet[Study]) -> HttpResponse | None:
        return self._page_of_one(request, studies, pages.LOWER)

    @admin.action(description=gettext_lazy("Retire for good, with a reason"), permissions=["change_any"])
    def retire_study(self, request: HttpRequest, studies: QuerySet[Study]) -> HttpResponse | None:
        return self._page_of_one(request, studies, pages.RETIRE)

    def _page_of_one(self, request: HttpRequest, studies: QuerySet[Study], act: pages.Act) -> HttpResponse | None:
        if len(studies) == 1:
            return redirect(f"{studies[0].pk}/{act.name}/")
        said = _("%(act)s: choose one study at a time; %(count)d are chosen.")
        messages.error(request, said % {"act": act.title, "count": len(studies)})
        return None

    def has_change_any_permission(self, request: HttpRequest) -> bool:
        return self.has_change_permission(request)

    def _try(self, request: HttpRequest, study: Study, done: str, act: Any) -> None:
        try:
            act()
        except pages.REFUSALS as refusal:
            messages.error(request, str(refusal))
        else:
            messages.success(request, done % {"study": study})


@admin.register(Panel)
class PanelAdmin(pages.WithActs, admin.ModelAdmin):
    form = PanelForm
    list_display = ("name", "slug", "cap", "local_cap")
    search_fields = ("name", "slug")
    prepopulated_fields = {"slug": ("name",)}
    acts = (pages.PANEL_LOWER, pages.PANEL_LOWER_ANSWERS)
    readonly_fields = ("spent", "spent_on_answers", "what_the_cap_means", "what_the_answers_mean", "history")
    fieldsets = (
        (None, {"fields": ("name", "slug")}),
        (
            gettext_lazy("Publications of all its studies"),
            {"fields": ("neighbours", "cap", "cap_delta", "what_the_cap_means", "spent")},
        ),
        (
            gettext_lazy("Answers to all its studies"),
            {"fields": ("local_cap", "what_the_answers_mean", "spent_on_answers")},
        ),
        (gettext_lazy("The draft"), {"fields": ("history",)}),
    )
    why_fieldset = (gettext_lazy("Reason"), {"fields": ("why",)})
    lasting = ("slug", "neighbours", "cap", "cap_delta", "local_cap")

    def get_fieldsets(self, request: HttpRequest, obj: Panel | None = None) -> Any:
        editable = obj is not None and obj.central_budget_id is None
        return (*self.fieldsets, self.why_fieldset) if editable else self.fieldsets

    def get_prepopulated_fields(self, request: HttpRequest, obj: Panel | None = None) -> dict[str, Any]:
        return {"slug": ("name",)} if obj is None else {}

    def get_readonly_fields(self, request: HttpRequest, obj: Panel | None = None) -> tuple[str, ...]:
        """Once it has met a study its budgets are open: their terms stay."""
        lasting = self.lasting if obj is not None and obj.central_budget_id is not None else ()
        return (*self.readonly_fields, *lasting)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and (obj is None or obj.central_budget_id is None)

    def save_model(self, request: HttpRequest, obj: Panel, form: Any, change: bool) -> None:
        """Save what was typed and nothing else: a budget that was opened meanwhile keeps its panel."""
        if not change:
            return super().save_model(request, obj, form, change)
        form.before = changes.terms_of_panel(services.lock_panel(panel_id=obj.pk, editing=form.changed_data))
        obj.save(update_fields=[name for name in form.changed_data if name != "why"])
        return record_changes(request, form, Panel.objects.get(pk=obj.pk))

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().changeform_view(request, *args, **kwargs)
        except pages.REFUSALS as refusal:
            messages.error(request, " ".join([str(refusal), _("Nothing was saved.")]))
            return redirect(request.path)

    @admin.display(description=gettext_lazy("what is spent"))
    def spent(self, panel: Panel) -> str:
        return wording.spending(panel.central_budget_id)

    @admin.display(description=gettext_lazy("changes of the draft"))
    def history(self, panel: Panel) -> str:
        return history_of(panel)

    @admin.display(description=gettext_lazy("what is spent"))
    def spent_on_answers(self, panel: Panel) -> str:
        return wording.spending(panel.local_budget_id)

    @admin.display(description=gettext_lazy("what the cap means"))
    def what_the_cap_means(self, panel: Panel) -> str:
        return wording.cap_means(panel) if panel.pk else _("Save to see what this cap means in odds.")

    @admin.display(description=gettext_lazy("what the cap means"))
    def what_the_answers_mean(self, panel: Panel) -> str:
        return wording.panel_means(panel) if panel.pk else _("Save to see what this cap means in odds.")


def _loss_said(loss: Fraction) -> str:
    return _("e to the ε is %(loss)s, never more than asked for.") % {"loss": f"{float(loss):.4f}"}


def record_changes(request: HttpRequest, form: Any, saved: Study | Panel) -> None:
    why = form.cleaned_data.get("why", "")
    services.record_changes(of=saved, before=form.before, who=pages.who(request), why=why, now=_now())


def history_of(owner: Study | Panel) -> str:
    """Say what was changed of a draft, newest first: whoever may see it may know."""
    lines = ((each.at.date(), each.who, each, each.why) for each in changes_of(owner)) if owner.pk else ()
    return format_html_join(mark_safe("<br>"), "{}, {}: {} ({})", lines)


def state_of(study: Study) -> str:
    """Say how a study stands: its newest wave, or the day on which it ended."""
    (standing,) = standings([study])
    if standing.state is State.RETIRED:
        retired = {"day": wording.day_said(study.retired_on), "why": study.retired_because}
        return _("retired on %(day)s: %(why)s") % retired
    if standing.plan is None or standing.plan.wave < study.wave:
        return State.DRAFT
    if standing.plan.is_open:
        return State.COLLECTING
    return _("closed on %(day)s") % {"day": wording.day_said(standing.plan.closed_on)}


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
