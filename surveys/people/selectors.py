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
from surveys.design.services import RULE
from surveys.ledger import selectors as ledger
from surveys.people.models import OF_SITE, PSEUDONYM, RIGHTS, Membership, Right, Role, User

IS_PSEUDONYM = re.compile(PSEUDONYM % {"code": "[0-9a-f]+"})


Person = AbstractBaseUser | AnonymousUser
OF_ADMINS = {Right.READ, Right.ASK, Right.EDIT, Right.LAUNCH}  # with any study, its list apart


def studies_of(user: Person) -> QuerySet[Study]:
    """Return the studies shared with a researcher; an admin sees all, a stranger none."""
    if not isinstance(user, User):
        return design.studies().none()
    if may(user, Right.SEE_STUDIES):
        return design.studies()
    return design.studies().filter(memberships__user=user)


def may(person: Person, right: Right, subject: Study | User | None = None) -> bool:
    """Tell whether somebody has a right: in a study, over an account, or on the site.

    Every door asks here, Django's admin too, and nowhere else. No admin decides who owns a study,
    sees its list, or gets into an owner's account; nor does a superuser, by any page.
    """
    if not isinstance(person, User) or not person.is_active:
        return False
    if isinstance(subject, Study):
        if right in OF_SITE:
            return may(person, right)
        return right in _of_admin(person) or right in rights_of(person, subject)
    if isinstance(subject, User):
        return _may_with_account(person, right, subject)
    if right in (Right.ENTER, Right.SEE_HEALTH):
        return person.is_staff or person.is_superuser
    if right is Right.GRANT:
        return person.is_superuser or may(person, Right.SET_LIMITS)
    return right in OF_SITE and person.has_perm(OF_SITE[right])


def _may_with_account(person: User, right: Right, account: User) -> bool:
    """Tell whether somebody has a right over another's account: over no more powerful one. A link
    would be a way in, so nobody makes one for an owner's: who owns a study uses their own e-mail,
    or asks another owner.
    """
    if right in (Right.LINK, Right.CLOSE) and (
        person == account or account.get_all_permissions() - person.get_all_permissions()
    ):
        return False
    if right is Right.LINK:
        return account.is_active and not owns(account) and may(person, right)
    if account.is_superuser and not person.is_superuser:
        return False
    return may(person, right)


def owns(account: User) -> bool:
    return account.memberships.filter(role=Role.OWNER).exists()


def any_account() -> bool:
    """Tell whether somebody can sign in, or has once been able to."""
    return any(user.has_usable_password() for user in User.objects.all())


def power_of(account: User) -> str:
    """Return what an account is on this site, as pages say it."""
    if account.is_superuser:
        return _("Superuser")
    if may(account, Right.SET_LIMITS):
        return _("Site admin")
    return _("Study admin") if may(account, Right.MANAGE_STUDIES) else _("Researcher")


def rights_of(user: Person, study: Study) -> set[Right]:
    """Return what a user may do with a study: by role, or as an admin."""
    if not isinstance(user, User) or not user.is_active:
        return set()
    rights = _of_admin(user)
    if membership := user.memberships.filter(study=study).first():
        rights |= RIGHTS[Role(membership.role)]
    return rights


def _of_admin(user: User) -> set[Right]:
    """Return what somebody may do with any study: no admin sees a list, or decides who owns one."""
    rights = {Right.READ} if may(user, Right.SEE_STUDIES) else set()
    return rights | OF_ADMINS if may(user, Right.MANAGE_STUDIES) else rights


def readable_study(slug: str, user: Person) -> Study:
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


def names_for(user: Person, slug: str = "") -> dict[str, str]:
    """Return the names behind the pseudonyms of whoever this user works with; of everybody, for an
    admin.

    On the pages of a study those are its members; anywhere else only who has acted in a study that
    both are in, for whoever owns a study can put anybody in it whose name they know, and would read
    in the ledger what that person did.
    """
    if not isinstance(user, User):
        return {}
    users = User.objects.all()
    if not may(user, Right.SEE_ACCOUNTS):
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
    """Return who did something as strangers may read it: a pseudonym, or the study's rule. Older
    requests have names instead.
    """
    is_public = actor == RULE or IS_PSEUDONYM.fullmatch(actor)
    return actor if is_public else _("a member of the team")


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
