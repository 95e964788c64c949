"""Studies and panels in Django's admin: to be found and read. They are changed on the screens."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.translation import gettext_lazy as _

from surveys.admin import ReadOnly, Right
from surveys.design.models import Panel, Study
from surveys.design.selectors import standings


@admin.register(Study)
class StudyAdmin(ReadOnly, admin.ModelAdmin):
    right = Right.SEE_STUDIES
    list_display = ("title", "organisation", "wave", "state", "cap", "retires_on")
    list_select_related = ("panel",)
    search_fields = ("title", "organisation", "slug")
    exclude = ("given_why", "given_by")
    screens = {
        "drafting:build": _("Build"),
        "limits:study": _("Limits"),
        "drafting:launch": _("Launch"),
        "people:members": _("People"),
    }

    def get_fields(self, request: HttpRequest, obj: Study | None = None) -> list[Any]:
        return ["where_it_is_changed", "state", *super().get_fields(request, obj)]

    def get_readonly_fields(
        self, request: HttpRequest, obj: Study | None = None
    ) -> tuple[str, ...]:
        return ("where_it_is_changed", "state")

    def view_on_site(self, study: Study) -> str:
        return reverse("limits:study", args=[study.slug])

    @admin.display(description=_("where it is changed"))
    def where_it_is_changed(self, study: Study) -> str:
        links = ((reverse(name, args=[study.slug]), text) for name, text in self.screens.items())
        return format_html_join(" · ", '<a href="{}">{}</a>', links)

    @admin.display(description=_("state"))
    def state(self, study: Study) -> str:
        (standing,) = standings([study])
        return standing.state


@admin.register(Panel)
class PanelAdmin(ReadOnly, admin.ModelAdmin):
    right = Right.SEE_PANELS
    list_display = ("name", "slug", "cap", "local_cap")
    search_fields = ("name", "slug")

    def view_on_site(self, panel: Panel) -> str:
        return reverse("limits:panel", args=[panel.slug])
