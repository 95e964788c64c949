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
    Role.READER: RoleText(_("Viewer"), _("Reads the published numbers, and how collecting goes.")),
    Role.ANALYST: RoleText(_("Analyst"), _("Also makes queries, which use up the privacy budget.")),
    Role.EDITOR: RoleText(_("Editor"), _("Also plans, simulates and edits the draft.")),
    Role.OWNER: RoleText(
        _("Owner"), _("Also launches and closes it, and decides who may do what.")
    ),
}
ROLE_CHOICES = [(role.value, text.name) for role, text in ROLE_TEXTS.items()]


class Right(StrEnum):
    """What somebody may do: with a study, with the site, with another account."""

    READ = "read"
    ASK = "ask"
    EDIT = "edit"
    LAUNCH = "launch"
    SHARE = "share"  # decide who may do what: an owner, and no admin
    INVITE = "invite"  # see who is on its list: an owner, and no admin

    ENTER = "enter"  # Django's admin, which only shows
    SEE_HEALTH = "see health"
    SEE_STUDIES = "see all studies"
    MANAGE_STUDIES = "manage all studies"
    DELETE_DRAFTS = "delete drafts"
    SEE_PANELS = "see panels"
    ADD_PANELS = "add panels"
    MANAGE_PANELS = "manage panels"
    DELETE_PANELS = "delete panels"
    SEE_BUDGETS = "see budgets"
    MANAGE_BUDGETS = "manage budgets"
    SET_LIMITS = "set limits"
    SEE_ACCOUNTS = "see accounts"
    ADD_ACCOUNTS = "add accounts"
    GRANT = "grant"  # powers of admins

    LINK = "link"  # make a link that sets an account's password
    CLOSE = "close"  # an account, or open it again


RIGHTS = {
    Role.READER: {Right.READ},
    Role.ANALYST: {Right.READ, Right.ASK},
    Role.EDITOR: {Right.READ, Right.ASK, Right.EDIT},
    Role.OWNER: {
        *(Right.READ, Right.ASK, Right.EDIT, Right.LAUNCH, Right.SHARE, Right.INVITE),
    },
}
OF_SITE = {  # a right, and the permission that gives it
    Right.SEE_STUDIES: "design.view_study",
    Right.MANAGE_STUDIES: "design.change_study",
    Right.DELETE_DRAFTS: "design.delete_study",
    Right.SEE_PANELS: "design.view_panel",
    Right.ADD_PANELS: "design.add_panel",
    Right.MANAGE_PANELS: "design.change_panel",
    Right.DELETE_PANELS: "design.delete_panel",
    Right.SEE_BUDGETS: "ledger.view_budget",
    Right.MANAGE_BUDGETS: "ledger.change_budget",
    Right.SET_LIMITS: "design.set_limits",
    Right.SEE_ACCOUNTS: "people.view_user",
    Right.ADD_ACCOUNTS: "people.add_user",
    Right.LINK: "people.change_user",
    Right.CLOSE: "people.change_user",
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


class AuditRow(models.Model):
    """What was done with an account, or with who may do what in a study: for those it concerns.

    People stand here by their pseudonyms. The database refuses to change or delete a row, so
    nothing in it refers to a row that could go: `study_id` stays when a draft is deleted.
    """

    class What(models.TextChoices):
        SIGN_IN = "sign-in"
        ROLE = "role"
        OWNER = "owner"
        LEFT = "left"
        ACCOUNT = "account"
        LINK = "link"
        PASSWORD = "password"  # noqa: S105 (what happened)
        EMAIL = "email"
        FACTOR = "factor"
        CLOSED = "closed"
        OPENED = "opened"
        READ = "read"
        CODES = "codes"
        EXPORT = "export"

    at = models.DateTimeField()
    what = models.CharField(max_length=10)
    who = models.CharField(max_length=40, help_text="Who did it, by pseudonym.")
    whom = models.CharField(max_length=40, blank=True, help_text="Whose account or role it was.")
    study = models.ForeignKey(
        Study, on_delete=models.DO_NOTHING, null=True, related_name="+", db_constraint=False
    )
    role = models.CharField(max_length=10, blank=True)
    many = models.PositiveIntegerField(null=True, help_text="Codes, where some were made.")

    class Meta:
        db_table = "people_audit"
        ordering = ("-pk",)
        indexes = (
            models.Index(fields=("study", "-id"), name="people_audit_of_study"),
            models.Index(fields=("whom", "-id"), name="people_audit_of_account"),
        )


class Untold(models.Model):
    """A row of which nobody has been told by e-mail yet; it goes with the letter."""

    row = models.OneToOneField(
        AuditRow, on_delete=models.DO_NOTHING, primary_key=True, related_name="+"
    )
    former = models.EmailField(blank=True, help_text="The address that an account had before.")
