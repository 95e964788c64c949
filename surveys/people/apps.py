"""Accounts and roles. The role of an admin is a group, made when the tables are."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate

ADMINS = "Study admins"
MANAGED = ("study", "panel", "question", "translation", "picture", "membership", "user")
LEDGER = ("view_budget", "view_entry", "change_budget")  # to read it, and to lower and limit: rows are never changed
OF_THE_SITE = "set_limits"  # the site's admin sets what no study admin may pass


class PeopleConfig(AppConfig):
    name = "surveys.people"
    label = "people"

    def ready(self) -> None:
        post_migrate.connect(make_role, dispatch_uid="candor.people.make_role")


def make_role(**kwargs: Any) -> None:
    """Give the group of admins its permissions: studies, questions, members and accounts; never reports or tallies."""
    from django.contrib.auth.models import Group, Permission

    group, _ = Group.objects.get_or_create(name=ADMINS)
    managed = Permission.objects.filter(content_type__model__in=MANAGED).exclude(codename=OF_THE_SITE)
    read = Permission.objects.filter(content_type__app_label="ledger", codename__in=LEDGER)
    group.permissions.set([*managed, *read])
