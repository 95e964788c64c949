"""Budgets and the rows of the ledger in Django's admin: read by admins, changed by acts only, each with its reason."""

import datetime
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from surveys.acting import who
from surveys.ledger import queries, services, terms
from surveys.ledger.fields import written
from surveys.ledger.forms import ACTS, ActForm
from surveys.ledger.models import Budget, Entry
from surveys.ledger.queries import Account

ACT = "ledger.change_budget"  # the permission: never the right to change a row


class ReadOnly:
    """Nothing is added, changed or deleted by hand: the database would refuse most of it anyway."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class EntryText:
    """How rows read."""

    @admin.display(description=gettext_lazy("what"))
    def said(self, entry: Entry) -> str:
        if entry.kind == "charge":
            return f"{entry.reason} ({entry.mechanism})"
        change = f"{entry.old} → {entry.new}" if entry.old else entry.new
        return f"{entry.what}: {change}" if change else entry.what

    @admin.display(description=gettext_lazy("cost"))
    def cost(self, entry: Entry) -> str:
        if entry.kind != "charge":
            return ""
        if entry.budget is not None and entry.budget.is_pure:
            return f"ε\u00a0{written(entry.epsilon)}"
        delta = f", δ\u00a0{written(entry.delta)}" if entry.delta else ""
        return f"ρ\u00a0{written(entry.rho)}{delta}"

    @admin.display(description=gettext_lazy("when, UTC"))
    def when(self, entry: Entry) -> str:
        return f"{entry.at:%Y-%m-%d %H:%M}"


class RowsInline(ReadOnly, EntryText, admin.TabularInline):
    model = Entry
    verbose_name_plural = gettext_lazy("rows")
    fields = readonly_fields = ("position", "when", "said", "cost", "who", "why")
    ordering = ("-position",)
    extra = 0
    can_delete = False
    show_change_link = True


@admin.register(Budget)
class BudgetAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ("name", "side", "cap_said", "spent_said", "left_said", "limit", "end")
    list_filter = ("side",)
    search_fields = ("name",)
    ordering = ("name",)
    inlines = (RowsInline,)
    fieldsets = (
        (None, {"fields": ("name", "cap_said", "spent_said", "left_said", "limit", "end")}),
        (gettext_lazy("What it counts"), {"fields": ("side", "unit", "neighbours", "parts")}),
    )
    change_form_template = "ledger/budget.html"

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Read all accounts at once: each line of the list needs one."""
        changelist = super().get_changelist_instance(request)
        accounts = queries.accounts()
        for budget in changelist.result_list:
            budget.account = accounts[budget.pk]
        return changelist

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        budget = self.get_object(request, object_id)
        acts = self._acts(request, budget) if isinstance(budget, Budget) else {}
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), "acts": acts})

    def _acts(self, request: HttpRequest, budget: Budget) -> dict[str, str | Promise]:
        """Return the acts that this admin can do to this budget, by their address."""
        if not request.user.has_perm(ACT):
            return {}
        return {
            reverse("admin:ledger_act", args=[budget.pk, name]): form.title
            for name, form in ACTS.items()
            if form.fits(budget)
        }

    def get_urls(self) -> list[URLPattern]:
        act = self.admin_site.admin_view(self.act_view)
        return [path("<int:budget_id>/<slug:name>/act/", act, name="ledger_act"), *super().get_urls()]

    def act_view(self, request: HttpRequest, budget_id: int, name: str) -> HttpResponse:
        """Ask for what an act needs, and why; then do it, or say why not."""
        if not request.user.has_perm(ACT):
            raise PermissionDenied
        budget = get_object_or_404(Budget, pk=budget_id)
        kind = ACTS.get(name)
        if kind is None or not kind.fits(budget):
            raise Http404("no such act on this budget")
        form = kind(request.POST or None, budget=budget)
        if request.method == "POST" and form.is_valid() and self._done(request, form):
            return redirect("admin:ledger_budget_change", budget.pk)
        context = {**self.admin_site.each_context(request), "opts": self.opts, "title": kind.title}
        return TemplateResponse(request, "ledger/act.html", {**context, "form": form, "budget": budget})

    def _done(self, request: HttpRequest, form: ActForm) -> bool:
        try:
            form.act(who=who(request), now=datetime.datetime.now(datetime.UTC))
        except services.Refused as refusal:
            form.add_error(None, str(refusal))
            return False
        except IntegrityError:
            form.add_error(None, _("This person has a budget for this study already. Nothing was changed."))
            return False
        messages.success(request, _("%(act)s: done, and written in the ledger.") % {"act": form.title})
        return True

    @admin.display(description=gettext_lazy("parts"))
    def parts(self, budget: Budget) -> str:
        if budget.fixed_parts:
            return _("a person cannot move from one part of the people to another")
        return _("a person can move from one part of the people to another")

    @admin.display(description=gettext_lazy("cap"))
    def cap_said(self, budget: Budget) -> str:
        return terms.cap_of(budget)

    @admin.display(description=gettext_lazy("spent"))
    def spent_said(self, budget: Budget) -> str:
        return f"{budget.measure} {written(self._account(budget).amount_spent)}"

    @admin.display(description=gettext_lazy("left"))
    def left_said(self, budget: Budget) -> str:
        return f"{budget.measure} {written(self._account(budget).amount_left)}"

    @admin.display(description=gettext_lazy("weekly limit"))
    def limit(self, budget: Budget) -> str:
        return terms.limit_of(budget)

    @admin.display(description=gettext_lazy("end"))
    def end(self, budget: Budget) -> str:
        return terms.end_of(budget)

    def _account(self, budget: Budget) -> Account:
        found: Account = getattr(budget, "account", None) or queries.account(budget.pk)
        return found


@admin.register(Entry)
class EntryAdmin(ReadOnly, EntryText, admin.ModelAdmin):
    list_display = ("position", "when", "budget", "said", "cost", "who", "why")
    list_select_related = ("budget",)
    search_fields = ("budget__name", "reason", "what", "who", "why")
    ordering = ("-position",)
