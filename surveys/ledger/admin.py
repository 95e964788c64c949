"""Budgets and rows of the ledger in Django's admin: to be found and read, never changed by hand."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from surveys.admin import ReadOnly, Right
from surveys.ledger import selectors, terms
from surveys.ledger.fields import written
from surveys.ledger.models import Budget, Entry


@admin.register(Budget)
class BudgetAdmin(ReadOnly, admin.ModelAdmin):
    right = Right.SEE_BUDGETS
    list_display = ("name", "side", "cap_stated", "spent", "left", "limit", "end")
    list_filter = ("side",)
    search_fields = ("name",)
    ordering = ("name",)
    fields = readonly_fields = (
        *("name", "cap_stated", "spent", "left", "limit", "end"),
        *("side", "unit", "neighbours", "fixed_parts"),
    )

    def view_on_site(self, budget: Budget) -> str:
        return f"{reverse('limits:ledger')}?{urlencode({'q': budget.name})}"

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Read all accounts at once: each line of the list needs one."""
        changelist = super().get_changelist_instance(request)
        accounts = selectors.accounts(budget.pk for budget in changelist.result_list)
        for budget in changelist.result_list:
            budget.account = accounts[budget.pk]
        return changelist

    @admin.display(description=_("cap"))
    def cap_stated(self, budget: Budget) -> str:
        return terms.cap_of(budget)

    @admin.display(description=_("spent"))
    def spent(self, budget: Budget) -> str:
        account = account_of(budget)
        return f"{account.measure} {written(account.amount_spent)}"

    @admin.display(description=_("left"))
    def left(self, budget: Budget) -> str:
        account = account_of(budget)
        return f"{account.measure} {written(account.amount_left)}"

    @admin.display(description=_("weekly limit"))
    def limit(self, budget: Budget) -> str:
        return terms.limit_of(budget)

    @admin.display(description=_("end"))
    def end(self, budget: Budget) -> str:
        return terms.end_of(budget)


def account_of(budget: Budget) -> selectors.Account:
    return getattr(budget, "account", None) or selectors.account_of(budget)


@admin.register(Entry)
class EntryAdmin(ReadOnly, admin.ModelAdmin):
    right = Right.SEE_BUDGETS
    list_display = ("position", "at", "budget", "reason", "what", "epsilon", "rho", "who", "why")
    list_select_related = ("budget",)
    search_fields = ("budget__name", "reason", "what", "who", "why")
    ordering = ("-position",)

    def view_on_site(self, entry: Entry) -> str:
        return reverse("limits:row", args=[entry.pk])
