"""Who may see which study, and who is in it."""

import re
from decimal import Decimal
from fractions import Fraction

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from dpengine.privacy import round_up
from surveys.design import selectors as design
from surveys.design.models import Results, Study
from surveys.ledger import selectors as ledger
from surveys.people.models import PSEUDONYM, RIGHTS, Membership, Right, Role, User

IS_PSEUDONYM = re.compile(PSEUDONYM % {"code": "[0-9a-f]+"})


def studies_of(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Study]:
    """Return the studies shared with a researcher; an admin sees all, a stranger none."""
    if not isinstance(user, User):
        return design.studies().none()
    if user.is_superuser or user.has_perm("design.view_study"):
        return design.studies()
    return design.studies().filter(memberships__user=user)


def may(user: AbstractBaseUser | AnonymousUser, right: Right, study: Study) -> bool:
    """Tell whether a user has a right in a study. Every room asks here, and nowhere else."""
    return right in _of_admin(user, study) or right in rights_of(user, study)


def rights_of(user: AbstractBaseUser | AnonymousUser, study: Study) -> set[Right]:
    """Return what a user may do with a study: by role, or as an admin."""
    if not isinstance(user, User) or not user.is_active:
        return set()
    rights = _of_admin(user, study)
    if membership := user.memberships.filter(study=study).first():
        rights |= RIGHTS[Role(membership.role)]
    return rights


def _of_admin(user: AbstractBaseUser | AnonymousUser, study: Study) -> set[Right]:
    """Return what a user may do with any study: no admin sees who is on a list, or makes themselves
    one who does.
    """
    if not isinstance(user, User) or not user.is_active:
        return set()
    rights = {Right.READ} if user.has_perm("design.view_study") else set()
    if user.has_perm("design.change_study"):
        rights |= set(Right) - {Right.READ, Right.INVITE}
        rights -= {Right.SHARE} if study.is_invited else set()
    return rights


def readable_study(slug: str, user: AbstractBaseUser | AnonymousUser) -> Study:
    """Return a study whose published numbers the user may read, or raise Http404 as if there
    were none.
    """
    plan = design.latest_plan(slug)
    if plan is None or (
        plan.content.results != Results.PUBLIC
        and not studies_of(user).filter(pk=plan.study_id).exists()
    ):
        raise Http404("no study of this name has opened")
    return plan.study


def members(study: Study) -> QuerySet[Membership]:
    """Return who is in a study, by name."""
    return Membership.objects.filter(study=study).select_related("user").order_by("user__username")


def names_for(user: AbstractBaseUser | AnonymousUser, slug: str = "") -> dict[str, str]:
    """Return the names behind the pseudonyms of whoever this user works with; of everybody, for an
    admin.

    On the pages of a study those are its members; anywhere else only who has acted in a study that
    both are in, for whoever owns a study can put anybody in it whose name they know, and would read
    in the ledger what that person did.
    """
    if not isinstance(user, User):
        return {}
    users = User.objects.all()
    if not (user.is_superuser or user.has_perm("people.view_user")):
        users = users.filter(Q(pk=user.pk) | _colleagues(user, slug))
    return dict(users.values_list("pseudonym", "username"))


def _colleagues(user: User, slug: str) -> Q:
    studies = list(studies_of(user))
    acted = ledger.who_acted(study.budget_id for study in studies) | design.who_edited(studies)
    together = Membership.objects.filter(study__in=studies).values("user")
    here = Membership.objects.filter(
        study__in=[study for study in studies if study.slug == slug]
    ).values("user")
    return Q(pk__in=here) | Q(pk__in=together, pseudonym__in=acted)


def public_name(actor: str) -> str:
    """Return who asked for something as strangers may read it: a pseudonym. Older requests have
    names instead.
    """
    return actor if IS_PSEUDONYM.fullmatch(actor) else _("a member of the team")


def used_by(study: Study) -> dict[str, Decimal]:
    """Return what each person has charged to a study's budget, by what rows call them: in its
    measure, rounded up.
    """
    if study.budget_id is None:
        return {}
    sign = ledger.account(study.budget_id).measure
    charges = ledger.spent_by_person(study.budget_id, sign)
    places = ledger.SHOWN_PLACES[sign]
    return {person: round_up(Fraction(amount), places) for person, amount in charges.items()}


def measure(study: Study) -> str:
    """Return the letter that a study's budget is counted in."""
    return "ε" if study.budget_id is None else ledger.account(study.budget_id).measure
