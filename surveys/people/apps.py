"""Accounts and roles. The two roles of admins are groups, made when the tables are."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate

ADMINS = "Study admins"
SITE_ADMINS = "Site admins"  # who sets the limits of the site too
MANAGED = ("study", "panel", "question", "translation", "picture")
# who is in a study its owners decide, and no admin writes another's e-mail or password
ACCOUNTS = ("view_user", "add_user", "change_user", "view_membership")
LEDGER = (
    "view_budget",
    "view_entry",
    "change_budget",
)  # to read it, and to lower and limit: rows are never changed
OF_THE_SITE = "set_limits"  # the site's admin sets what no study admin may pass


class PeopleConfig(AppConfig):
    name = "surveys.people"

    def ready(self) -> None:
        from surveys.people import audit, factors  # noqa: F401 (they listen)

        post_migrate.connect(
            make_room_for_attempts, dispatch_uid="candor.people.make_room_for_attempts"
        )
        post_migrate.connect(make_roles, dispatch_uid="candor.people.make_roles")


def make_room_for_attempts(**kwargs: Any) -> None:
    """Make the table in which attempts to sign in are counted. Django's cache has no migration
    of its own.
    """
    from django.core.management import call_command

    call_command("createcachetable", database=kwargs.get("using", "default"), verbosity=0)


def make_roles(**kwargs: Any) -> None:
    """Give both groups of admins their permissions: studies, questions and accounts; never reports
    or tallies, and not who owns a study.

    Site admins have one more: they set the limits that no study may pass.
    """
    from django.contrib.auth.models import Group, Permission

    managed = Permission.objects.filter(content_type__model__in=MANAGED)
    accounts = Permission.objects.filter(content_type__app_label="people", codename__in=ACCOUNTS)
    read = Permission.objects.filter(content_type__app_label="ledger", codename__in=LEDGER)
    for name, permissions in (
        (ADMINS, managed.exclude(codename=OF_THE_SITE)),
        (SITE_ADMINS, managed),
    ):
        Group.objects.get_or_create(name=name)[0].permissions.set([*permissions, *accounts, *read])
