"""Design studies in Django's admin: edit a draft, open it, close it, begin the next wave."""

import datetime
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html

from surveys.design import documents, services
from surveys.design.models import Plan, Question, Study


class QuestionForm(forms.ModelForm):
    class Meta:
        model = Question
        fields = ("position", "name", "kind", "text", "label", "help", "choices", "may_decline", "epsilon")
        widgets = {"choices": forms.Textarea(attrs={"rows": 5})}


class DraftOnly:
    """Fields of an open or closed wave can be read, not changed."""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        study = obj if isinstance(obj, Study) else None
        return super().has_change_permission(request, obj) and (study is None or study.plan is None)  # type: ignore[misc]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        study = obj if isinstance(obj, Study) else None
        frozen = study is not None and study.plans.exists()
        return super().has_delete_permission(request, obj) and not frozen  # type: ignore[misc]


class QuestionInline(DraftOnly, admin.StackedInline):
    model = Question
    form = QuestionForm
    extra = 0
    min_num = 1
    readonly_fields = ("consequences",)
    fieldsets = (
        (None, {"fields": (("position", "name", "kind"), "text", "label", "help", "choices", "may_decline")}),
        ("Protection", {"fields": ("epsilon", "consequences")}),
    )

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_change_permission(request, obj)

    @admin.display(description="of 100 people")
    def consequences(self, question: Question) -> str:
        """Say what the ε of a saved question does, in odds."""
        if question._state.adding:
            return "Save to see what this ε does."
        channel = documents.channel_of(question)
        own = min(99, round(100 * float(channel.margins()[-1].truth)))
        loss = f"{own} send their own answer; e to the ε is {float(channel.loss):.4f}, never more than asked for."
        return f"{loss} {documents.reason_for_channel(question)}"


@admin.register(Study)
class StudyAdmin(DraftOnly, admin.ModelAdmin):
    list_display = ("title", "organisation", "wave", "state", "cap")
    search_fields = ("title", "organisation", "slug")
    prepopulated_fields = {"slug": ("title",)}
    inlines = (QuestionInline,)
    actions = ("open_studies", "close_studies", "begin_waves")
    readonly_fields = ("state", "link")
    fieldsets = (
        (None, {"fields": ("state", "link", "title", "slug", "organisation", "purpose", "contact")}),
        ("What is protected", {"fields": ("unit", "neighbours", "cap")}),
        ("Publication", {"fields": ("rule", "hours", "release_epsilon", "smallest_batch", "results", "closes_on")}),
    )

    def get_prepopulated_fields(self, request: HttpRequest, obj: Study | None = None) -> dict[str, Any]:
        return {"slug": ("title",)} if obj is None else {}

    def get_readonly_fields(self, request: HttpRequest, obj: Study | None = None) -> tuple[str, ...]:
        """Once a wave has opened, its link is out and its budget is open: their terms stay."""
        lasting = ("slug", "unit", "neighbours", "cap", "results") if obj is not None and obj.plans.exists() else ()
        return (*self.readonly_fields, *lasting)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show or take the form; if the study was opened while it was filled in, say so, with nothing saved."""
        try:
            return super().changeform_view(request, *args, **kwargs)
        except services.CannotOpen as error:
            messages.error(request, f"{error} Nothing was saved.")
            return redirect(request.path)

    def save_model(self, request: HttpRequest, obj: Study, form: Any, change: bool) -> None:
        """Save what was typed and nothing else, unless someone has opened the study meanwhile."""
        if not change:
            return super().save_model(request, obj, form, change)
        services.lock_draft(study_id=obj.pk)
        return obj.save(update_fields=form.changed_data)

    @admin.display(description="state")
    def state(self, study: Study) -> str:
        return state_of(study.plan) if study.pk else "draft"

    @admin.display(description="link for respondents")
    def link(self, study: Study) -> str:
        """Give the link with the Plan's digest, so that a browser refuses any other Plan."""
        plan = study.plan if study.pk else None
        if plan is None:
            return "The link is made when the study opens: it carries the fingerprint of what is asked."
        path = f"{study.get_absolute_url()}#{plan.digest}"
        return format_html('<a href="{}">{}</a>', path, path)

    @admin.action(description="Open: freeze the Plan and take answers", permissions=["change_any"])
    def open_studies(self, request: HttpRequest, studies: QuerySet[Study]) -> None:
        for study in studies:
            self._try(request, study, "is open.", lambda pk=study.pk: services.open_study(study_id=pk, today=_today()))

    @admin.action(description="Close: take no more answers", permissions=["change_any"])
    def close_studies(self, request: HttpRequest, studies: QuerySet[Study]) -> None:
        for study in studies:
            plan = study.plan
            if plan is None:
                messages.error(request, f"“{study}” is a draft: there is nothing to close.")
            else:
                self._try(
                    request, study, "is closed.", lambda pk=plan.pk: services.close_plan(plan_id=pk, today=_today())
                )

    @admin.action(description="Begin the next wave as a draft", permissions=["change_any"])
    def begin_waves(self, request: HttpRequest, studies: QuerySet[Study]) -> None:
        for study in studies:
            self._try(request, study, "is a draft again.", lambda pk=study.pk: services.begin_wave(study_id=pk))

    def has_change_any_permission(self, request: HttpRequest) -> bool:
        return self.has_change_permission(request)

    def _try(self, request: HttpRequest, study: Study, done: str, act: Any) -> None:
        try:
            act()
        except services.CannotOpen as error:
            messages.error(request, str(error))
        else:
            messages.success(request, f"“{study}” {done}")


def state_of(plan: Plan | None) -> str:
    if plan is None:
        return "draft"
    return "collecting" if plan.is_open else f"closed on {plan.closed_on}"


def _today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()
