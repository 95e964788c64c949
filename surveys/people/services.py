"""Make accounts, invite people, share studies."""

import smtplib

import structlog
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import Group
from django.contrib.sessions.models import Session
from django.core.mail import send_mail
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from surveys.design import selectors as design
from surveys.design.models import Study
from surveys.ledger import services as ledger
from surveys.messages import message
from surveys.people.apps import ADMINS, SITE_ADMINS
from surveys.people.audit import CONSOLE as CONSOLE, note as note, note_reading as note_reading
from surveys.people.invitations import path_for
from surveys.people.models import AuditRow, Membership, Role, User

log = structlog.get_logger(__name__)
What = AuditRow.What
OWNERS = message("the study's owners")  # who did it, in public: never which of them
OWNER_ADDED = message("an owner was added")
WHY_OWNER_ADDED = message("Its owners know who. Owners see the list of people, if it has one.")


class LastOwner(Exception):
    """A study that has an owner keeps one; the message is for people."""


class NoPassword(Exception):
    """An account whose password nobody has set is anybody's who holds its link."""

    def __init__(self, user: User) -> None:
        text = _("%(name)s has not set a password yet. Make them an owner once they have.")
        super().__init__(text % {"name": user})


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


@transaction.atomic
def invite(
    *,
    username: str,
    email: str,
    by: User,
    is_admin: bool = False,
    is_site_admin: bool = False,
) -> User:
    """Make an account that has no password yet: a link sets it, and nobody else's hand."""
    powers = {"is_admin": is_admin, "is_site_admin": is_site_admin}
    user = ensure_user(username=username, password=None, **powers)
    User.objects.filter(pk=user.pk).update(email=email)
    user.email = email
    note(What.ACCOUNT, who=by.pseudonym, whom=user)
    return user


def make_link(*, user: User, by: str) -> str:
    """Return the address, on this site, of a new link that sets the password of an account, and
    write down who asked for it.
    """
    note(What.LINK, who=by, whom=user)
    return path_for(user)


def send_link(user: User, link: str) -> bool:
    """Send a link to the address of its account; tell whether that was done."""
    if not (settings.EMAIL_CONFIGURED and user.email):
        return False
    text = _(
        "An account was made for you: %(name)s. This link sets its password, once, within %(days)s "
        "days. Keep it to yourself."
    )
    told = text % {"name": user, "days": settings.INVITATION_DAYS}
    try:
        send_mail(_("Your account"), f"{told}\n\n{link}\n", None, [user.email])
    except (OSError, smtplib.SMTPException, ValueError) as error:
        log.error("letter not sent", kind=type(error).__name__)
        return False
    return True


@transaction.atomic
def set_password(*, user: User, password: str, email: str) -> None:
    """Set what whoever opened a link chose: the password, and where a lost one is mended."""
    change_email(user=user, email=email, by=user.pseudonym)
    user.set_password(password)
    user.save(update_fields=["password"])  # what an admin changed meanwhile stays
    note(What.PASSWORD, who=user.pseudonym, whom=user)


@transaction.atomic
def change_email(*, user: User, email: str, by: str) -> None:
    """Change where a lost password is mended; the address before is told."""
    former = User.objects.select_for_update().values_list("email", flat=True).get(pk=user.pk)
    if former != email:
        User.objects.filter(pk=user.pk).update(email=email)
        user.email = email
        note(What.EMAIL, who=by, whom=user, former=former)


@transaction.atomic
def set_open(*, user: User, is_open: bool, by: User) -> None:
    """Close an account, which signs it out everywhere, or open it again."""
    if User.objects.filter(pk=user.pk).exclude(is_active=is_open).update(is_active=is_open):
        note(What.OPENED if is_open else What.CLOSED, who=by.pseudonym, whom=user)


@transaction.atomic
def forget_factors(user: User, by: str = CONSOLE) -> int:
    """Forget every second factor of an account, as after a lost phone; return how many there
    were.
    """
    note(What.FACTOR, who=by, whom=user)
    return int(Authenticator.objects.filter(user=user).delete()[0])


@transaction.atomic
def share(*, study: Study, user: User, role: Role = Role.READER, by: str = "") -> Membership:
    """Give somebody a role in a study. Sharing again changes nothing. `by` is who decided it, and
    is written down; without one they begin the study, or a program does.
    """
    member, is_new = Membership.objects.get_or_create(
        user=user, study=study, defaults={"role": role}
    )
    if is_new and by:
        _note_role(member, by)
    return member


@transaction.atomic
def change_role(
    *, study: Study, user: User, role: Role, by: str, checked: bool = True
) -> Membership:
    """Give a member another role, unless that leaves a study without an owner. Nobody becomes one
    whose account has no password yet, but where it is made for that (`checked`).
    """
    member = _held(study, user)
    if role == member.role:
        return member
    if role != Role.OWNER:
        _refuse_last_owner(member)
    elif checked and not user.has_usable_password():
        raise NoPassword(user)
    member.role = role
    member.save(update_fields=["role"])
    _note_role(member, by)
    return member


def _note_role(member: Membership, by: str) -> None:
    """Write down who has which role now: with names for owners, and that there is one more owner,
    without a name, for everybody.
    """
    is_owner = member.role == Role.OWNER
    what = What.OWNER if is_owner else What.ROLE
    note(what, who=by, whom=member.user, study=member.study, role=member.role)
    if is_owner and member.study.budget_id is not None:
        ledger.record(
            who=OWNERS(),
            now=timezone.now(),
            what=OWNER_ADDED(),
            old="",
            new="",
            why=WHY_OWNER_ADDED(),
            budget_id=member.study.budget_id,
        )


@transaction.atomic
def remove(*, study: Study, user: User, by: str) -> Role:
    """Take a study away from a member; return the role they had, so that it can be given back."""
    member = _held(study, user)
    _refuse_last_owner(member)
    note(What.LEFT, who=by, whom=user, study=study, role=member.role)
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
            _("%(name)s is the only owner. Make another person an owner first.")
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
