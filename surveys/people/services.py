"""Make accounts, invite people, share studies."""

from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group
from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from surveys.design import selectors as design
from surveys.design.models import Study
from surveys.people.apps import ADMINS, SITE_ADMINS
from surveys.people.models import Membership, Role, User


class LastOwner(Exception):
    """A study that has an owner keeps one; the message is for people."""


def ensure_user(
    *, username: str, password: str | None, is_admin: bool = False, is_site_admin: bool = False
) -> User:
    """Return the account of this name, making it if it is new. An existing one keeps its
    password and its powers.
    """
    user = User.objects.filter(username=username).first()
    if user is None:
        user = User.objects.create_user(
            username=username, password=password, is_staff=is_admin or is_site_admin
        )
        if is_admin or is_site_admin:
            user.groups.add(Group.objects.get(name=SITE_ADMINS if is_site_admin else ADMINS))
    return user


def forget_factors(user: User) -> int:
    """Forget every second factor of an account, as after a lost phone; return how many there
    were.
    """
    return int(Authenticator.objects.filter(user=user).delete()[0])


def share(*, study: Study, user: User, role: Role = Role.READER) -> Membership:
    """Give somebody a role in a study. Sharing again changes nothing."""
    return Membership.objects.get_or_create(user=user, study=study, defaults={"role": role})[0]


@transaction.atomic
def change_role(*, study: Study, user: User, role: Role) -> Membership:
    """Give a member another role, unless that leaves a study without an owner."""
    member = _held(study, user)
    if role != Role.OWNER:
        _refuse_last_owner(member)
    member.role = role
    member.save(update_fields=["role"])
    return member


@transaction.atomic
def remove(*, study: Study, user: User) -> Role:
    """Take a study away from a member; return the role they had, so that it can be given back."""
    member = _held(study, user)
    _refuse_last_owner(member)
    member.delete()
    return Role(member.role)


def _held(study: Study, user: User) -> Membership:
    """Return a membership under a lock that all changes to this study's members wait for."""
    design.studies().select_for_update().get(pk=study.pk)
    return Membership.objects.get(study=study, user=user)


def _refuse_last_owner(member: Membership) -> None:
    others = Membership.objects.filter(study_id=member.study_id, role=Role.OWNER).exclude(
        pk=member.pk
    )
    if member.role == Role.OWNER and not others.exists():
        raise LastOwner(
            _("%(name)s is the only owner. Make somebody else an owner first.")
            % {"name": member.user}
        )


def end_other_sessions(*, user: User, kept: str | None) -> int:
    """Sign an account out everywhere but in the session of this key; return how many sessions
    ended.
    """
    ended = [key for key in sessions_of(user) if key != kept]
    Session.objects.filter(session_key__in=ended).delete()
    return len(ended)


def sessions_of(user: User) -> list[str]:
    """Return the keys of an account's sessions. Whose a session is stands sealed in it: all of
    them are read.
    """
    running = Session.objects.filter(expire_date__gt=timezone.now())
    return [
        session.session_key
        for session in running
        if session.get_decoded().get("_auth_user_id") == str(user.pk)
    ]
