"""Roles and links, in words."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from surveys.people.invitations import Problem
from surveys.people.models import Role


@dataclass(frozen=True, slots=True)
class Words:
    name: str | Promise
    says: str | Promise


ROLES = {
    Role.READER: Words(_("Reader"), _("Reads the published numbers, and how collecting goes.")),
    Role.ANALYST: Words(_("Analyst"), _("Also asks for more numbers, which uses the budget for good.")),
    Role.EDITOR: Words(_("Editor"), _("Also plans, rehearses and edits the draft.")),
    Role.OWNER: Words(_("Owner"), _("Also launches and closes it, and decides who may do what.")),
}
ROLE_CHOICES = [(role.value, words.name) for role, words in ROLES.items()]
PROBLEMS = {
    Problem.BROKEN: Words(
        _("This link is not complete"),
        _("Part of it is missing or changed: copy it again, from its first letter to its last."),
    ),
    Problem.EXPIRED: Words(
        _("This link has expired"),
        _("A link to set a password works for some days only. Ask the admin who sent it for a new one."),
    ),
    Problem.USED: Words(
        _("This link was used already"),
        _("It sets a password once. If that was you, sign in. If it was not you, tell an admin now."),
    ),
}
