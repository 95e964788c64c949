"""Accounts and memberships in Django's admin: to be found and read.

A password, an e-mail address or an owner that could be written here would open a study's list: a
person sets the first two, a study's owners decide the third (`surveys/people/selectors.py`, `may`).
"""

from django.contrib import admin
from django.urls import reverse

from surveys.admin import ReadOnly, Right
from surveys.people.models import Membership, User


@admin.register(User)
class PersonAdmin(ReadOnly, admin.ModelAdmin):
    right = Right.SEE_ACCOUNTS
    list_display = ("username", "first_name", "last_name", "is_active", "is_staff", "is_superuser")
    list_filter = ("is_active", "is_staff", "is_superuser", "groups")
    search_fields = ("username", "first_name", "last_name")
    ordering = ("username",)
    fields = (
        *("username", "first_name", "last_name", "is_active", "is_staff", "is_superuser"),
        *("groups", "last_login", "date_joined"),
    )

    def view_on_site(self, user: User) -> str:
        return reverse("people:accounts")


@admin.register(Membership)
class MembershipAdmin(ReadOnly, admin.ModelAdmin):
    right = Right.SEE_ACCOUNTS
    list_display = ("user", "study", "role")
    list_filter = ("role",)
    list_select_related = ("user", "study")
    ordering = ("study__title", "user__username")

    def view_on_site(self, member: Membership) -> str:
        return reverse("people:members", args=[member.study.slug])
