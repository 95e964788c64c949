"""Accounts and roles. The role of an admin is a group, made when the tables are."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate

ADMINS = "Study admins"
MANAGED = ("study", "question", "membership", "user")


class PeopleConfig(AppConfig):
    name = "surveys.people"
    label = "people"

    def ready(self) -> None:
        post_migrate.connect(make_role, dispatch_uid="candor.people.make_role")


def make_role(**kwargs: Any) -> None:
    """Give the group of admins its permissions: studies, questions, members and accounts; never reports or tallies."""
    from django.contrib.auth.models import Group, Permission

    group, _ = Group.objects.get_or_create(name=ADMINS)
    group.permissions.set(Permission.objects.filter(content_type__model__in=MANAGED))
