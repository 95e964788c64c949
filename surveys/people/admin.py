"""Accounts and memberships in Django's admin."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.db.models import QuerySet
from django.http import HttpRequest

from surveys.people.models import Membership, User

POWERS = ("is_superuser", "groups", "user_permissions")


@admin.register(User)
class PersonAdmin(UserAdmin):
    """An admin makes accounts; only a superuser makes, changes or sees superusers, or hands out powers."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        people: QuerySet[User] = super().get_queryset(request)
        return people if request.user.is_superuser else people.filter(is_superuser=False)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        fields = tuple(super().get_readonly_fields(request, obj))
        return fields if request.user.is_superuser else (*fields, *POWERS)


@admin.register(Membership)
class MembershipAdmin(admin.ModelAdmin):
    list_display = ("user", "study")
    autocomplete_fields = ("user", "study")
