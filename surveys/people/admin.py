"""Accounts and memberships in Django's admin."""

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

from surveys.people.models import Membership, User

admin.site.register(User, UserAdmin)


@admin.register(Membership)
class MembershipAdmin(admin.ModelAdmin):
    list_display = ("user", "study")
    autocomplete_fields = ("user", "study")
