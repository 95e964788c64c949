"""Accounts and memberships in Django's admin."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from surveys.people.models import Membership, User

LIMITS = "set_limits"  # the permission to set floors and ceilings of ε
POWERS = ("is_superuser", "groups", "user_permissions")


@admin.register(User)
class PersonAdmin(UserAdmin):
    """An admin makes accounts; only a superuser makes, changes or sees superusers, or hands out powers.

    Who sets the site's limits is out of reach of admins who do not: a password they could set is a power they would
    have. A name stays once given: budgets and ledger rows are found by it.
    """

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        people: QuerySet[User] = super().get_queryset(request)
        if request.user.is_superuser:
            return people
        people = people.filter(is_superuser=False)
        if request.user.has_perm("design.set_limits"):
            return people
        own = Q(user_permissions__codename=LIMITS) | Q(groups__permissions__codename=LIMITS)
        return people.exclude(pk__in=User.objects.filter(own).values("pk"))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        named = ("username",) if obj is not None else ()
        powers = () if request.user.is_superuser else POWERS
        return (*super().get_readonly_fields(request, obj), *named, *powers)


@admin.register(Membership)
class MembershipAdmin(admin.ModelAdmin):
    list_display = ("user", "study", "role")
    list_filter = ("role",)
    autocomplete_fields = ("user", "study")
