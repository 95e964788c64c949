"""Accounts and memberships in Django's admin."""

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from surveys.people.invitations import path_for
from surveys.people.models import ROLE_CHOICES, Membership, User

LIMITS = "set_limits"  # the permission to set floors and ceilings of ε
POWERS = ("is_superuser", "groups", "user_permissions")


@admin.register(User)
class PersonAdmin(UserAdmin):
    """An admin makes accounts; only a superuser makes, changes or sees superusers, or hands out
    powers.

    Who sets the site's limits is out of reach of admins who do not: a password they could set is a
    power they would have. A name stays once given: older rows of the ledger hold it.
    """

    actions = ("make_links",)

    @admin.action(description=_("Make a link that sets a password"))
    def make_links(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """Show a link for each account. Who may not change an account cannot make one: it would
        be a way in.
        """
        if not self.has_change_permission(request):
            raise PermissionDenied
        for user in queryset.filter(is_active=True):
            link = request.build_absolute_uri(path_for(user))
            said = _("For %(name)s, once, within %(days)s days: %(link)s")
            self.message_user(
                request, said % {"name": user, "days": settings.INVITATION_DAYS, "link": link}
            )

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
        named = (
            ("username", "last_login", "date_joined") if obj is not None else ()
        )  # the site writes the days
        powers = () if request.user.is_superuser else POWERS
        return (*super().get_readonly_fields(request, obj), *named, *powers)


@admin.register(Membership)
class MembershipAdmin(admin.ModelAdmin):
    list_display = ("user", "study", "role")
    list_filter = ("role",)
    autocomplete_fields = ("user", "study")

    def formfield_for_choice_field(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer roles by their names, as the page of a study's people does."""
        return super().formfield_for_choice_field(
            db_field, request, **{**kwargs, "choices": ROLE_CHOICES}
        )
