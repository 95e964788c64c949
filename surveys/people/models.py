"""Accounts, roles and the rights that come with them. Respondents have none."""

from dataclasses import dataclass
from enum import StrEnum

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.crypto import get_random_string
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from surveys.design.models import Study
from surveys.messages import message

PSEUDONYM = message("person %(code)s").msgid  # what the ledger calls somebody


def new_pseudonym() -> str:
    """Return a name that tells nothing of whoever gets it."""
    return PSEUDONYM % {"code": get_random_string(12, "0123456789abcdef")}


class User(AbstractUser):
    """A researcher or, when `is_staff`, an admin. The public knows them by a pseudonym, which
    stays for good.
    """

    pseudonym = models.CharField(max_length=40, unique=True, default=new_pseudonym, editable=False)


class Role(models.TextChoices):
    """What somebody is in one study. Each may do what the one before may, and more."""

    READER = "reader", _("reads the numbers")
    ANALYST = "analyst", _("and asks for more, which uses the budget")
    EDITOR = "editor", _("and edits the draft")
    OWNER = "owner", _("and launches it, and decides who may do what")


@dataclass(frozen=True, slots=True)
class RoleText:
    """A role as pages name and explain it."""

    name: str | Promise
    meaning: str | Promise


ROLE_TEXTS = {
    Role.READER: RoleText(_("Reader"), _("Reads the published numbers, and how collecting goes.")),
    Role.ANALYST: RoleText(
        _("Analyst"), _("Also asks for more numbers, which uses the budget for good.")
    ),
    Role.EDITOR: RoleText(_("Editor"), _("Also plans, rehearses and edits the draft.")),
    Role.OWNER: RoleText(
        _("Owner"), _("Also launches and closes it, and decides who may do what.")
    ),
}
ROLE_CHOICES = [(role.value, text.name) for role, text in ROLE_TEXTS.items()]


class Right(StrEnum):
    """What a role lets somebody do with a study."""

    READ = "read"
    ASK = "ask"
    EDIT = "edit"
    LAUNCH = "launch"
    SHARE = "share"
    INVITE = "invite"  # see who is on its list: no admin may


RIGHTS = {
    Role.READER: {Right.READ},
    Role.ANALYST: {Right.READ, Right.ASK},
    Role.EDITOR: {Right.READ, Right.ASK, Right.EDIT},
    Role.OWNER: set(Right),
}


class Membership(models.Model):
    """Somebody's role in a study."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role, default=Role.READER)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("user", "study"), name="one_membership_per_study"),
        )

    def __str__(self) -> str:
        return f"{self.user}: {self.role} of {self.study}"
