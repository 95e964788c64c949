"""Write down what is done with accounts and roles, and tell those it concerns by e-mail.

A row stands or falls with the transaction of what it tells. Beside it stands, until a letter has
gone out, that somebody is still to be told: a worker that is killed tells them later, or twice.
"""

import datetime
import smtplib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import structlog
from allauth.account.signals import password_changed, password_reset, password_set
from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.core.mail import send_mail
from django.db.models import Q, QuerySet
from django.db.models.signals import post_save
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext as _

from surveys.design.models import Study
from surveys.people.models import ROLE_TEXTS, AuditRow, Membership, Role, Untold, User

CONSOLE = "the console"  # who acts by a command on the server
OF_ACCOUNT = (  # of co-owners they concern each owner of the same studies
    *(AuditRow.What.LINK, AuditRow.What.PASSWORD, AuditRow.What.EMAIL),
    *(AuditRow.What.FACTOR, AuditRow.What.CLOSED, AuditRow.What.OPENED),
)
SHOWN = 50  # rows on a page
AT_ONCE = 50  # rows told in one turn
log = structlog.get_logger(__name__)
What = AuditRow.What


def note(
    what: str,
    *,
    who: str,
    whom: User | None = None,
    study: Study | None = None,
    role: str = "",
    many: int | None = None,
    former: str = "",
) -> AuditRow:
    """Write a row, and that it is to be told. Who signs in is told on their own page only."""
    row = AuditRow.objects.create(
        at=timezone.now(),
        what=what,
        who=who,
        whom=whom.pseudonym if whom else "",
        study=study,
        role=role,
        many=many,
    )
    if what != What.SIGN_IN:
        Untold.objects.create(row=row, former=former)
    return row


def note_reading(*, study: Study, reader: User) -> None:
    """Write that somebody read a study's list, once a day: its next page is no other reading."""
    day = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    read = AuditRow.objects.filter(what=What.READ, study=study, who=reader.pseudonym, at__gte=day)
    if not read.exists():
        note(What.READ, who=reader.pseudonym, study=study)


@receiver(user_logged_in, dispatch_uid="candor.people.note_sign_in")
def note_sign_in(user: User, **_signal: object) -> None:
    note(What.SIGN_IN, who=user.pseudonym, whom=user)


@receiver(
    [password_changed, password_reset, password_set], dispatch_uid="candor.people.note_password"
)
def note_password(user: User, **_signal: object) -> None:
    note(What.PASSWORD, who=user.pseudonym, whom=user)


@contextmanager
def by_console() -> Iterator[None]:
    """Write down each account that is saved meanwhile: made on the server, or given a password."""

    def note_saved(instance: User, created: bool, **_signal: object) -> None:
        note(What.ACCOUNT if created else What.PASSWORD, who=CONSOLE, whom=instance)

    post_save.connect(note_saved, sender=User)
    try:
        yield
    finally:
        post_save.disconnect(note_saved, sender=User)


def rows_of_study(study: Study) -> QuerySet[AuditRow]:
    """Return what concerns a study's owners, newest first: its own rows, and what was done with the
    account of one of them.
    """
    owners = owners_of([study]).values("pseudonym")
    return AuditRow.objects.filter(Q(study=study) | Q(whom__in=owners, what__in=OF_ACCOUNT))


def owners_of(studies: Iterable[Study | int | None]) -> QuerySet[User]:
    own = Membership.objects.filter(study__in=[each for each in studies if each], role=Role.OWNER)
    return User.objects.filter(pk__in=own.values("user"))


# Letters


def tell() -> int:
    """Send the letters of some rows; return how many rows are told. Where no letters can be sent,
    the pages tell.
    """
    told = 0
    for untold in Untold.objects.select_related("row", "row__study").order_by("pk")[:AT_ONCE]:
        if settings.EMAIL_CONFIGURED and not _sent(untold):
            break  # the server cannot be reached: the next turn tries again
        told += Untold.objects.filter(pk=untold.pk).delete()[0]
    return told


def _sent(untold: Untold) -> bool:
    """Send a row to everybody it concerns but who did it; tell whether the server takes letters. An
    address that it refuses keeps nobody else from being told.
    """
    try:
        for address in sorted(addresses(untold)):
            try:
                send_mail(_subject(untold.row), _text(untold.row), None, [address])
            except (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError, ValueError) as error:
                log.warning("nobody was told", kind=type(error).__name__)
    except (OSError, smtplib.SMTPException) as error:
        log.error("letter not sent", kind=type(error).__name__)
        return False
    return True


def addresses(untold: Untold) -> set[str]:
    """Return where a row is told: to the owners of its study, or of those of the account; and to
    whose account it is, at the address that it had before.
    """
    row = untold.row
    people = owners_of([row.study_id])
    if row.whom and row.study_id is None:
        owned = Membership.objects.filter(user__pseudonym=row.whom, role=Role.OWNER)
        people = owners_of(owned.values_list("study_id", flat=True))
    people = User.objects.filter(Q(pk__in=people) | Q(pseudonym=row.whom))
    others = people.filter(is_active=True).exclude(pseudonym=row.who).exclude(email="")
    return {*others.values_list("email", flat=True), *filter(None, [untold.former])}


def _subject(row: AuditRow) -> str:
    about = row.study.title if row.study_id and row.study else _("your account on this site")
    told = {"what": sentence(row), "about": " ".join(about.split())}
    return _("Candor, %(about)s: %(what)s") % told


def _text(row: AuditRow) -> str:
    when = row.at.astimezone(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    where = _("The People page of the study lists it. Every owner can read it there.")
    if row.study_id is None:
        where = _("Your account page on this site lists it.")
    not_expected = _(
        "If you did not expect this: sign in, change your password, and ask the other owners and "
        "the people who run the site."
    )
    return "\n\n".join([sentence(row), when, where, not_expected]) + "\n"


def sentence(row: AuditRow, names: dict[str, str] | None = None) -> str:
    """Return a row as a sentence. `names` are those behind pseudonyms; all that are known here."""
    if names is None:
        asked = User.objects.filter(pseudonym__in=[row.who, row.whom])
        names = dict(asked.values_list("pseudonym", "username"))
    who, whom = names.get(row.who, row.who), names.get(row.whom, row.whom)
    own = row.who == row.whom
    sentences = {
        What.SIGN_IN: _("%(whom)s signed in."),
        What.ROLE: _("%(who)s gave %(whom)s the role “%(role)s”."),
        What.OWNER: _("%(who)s made %(whom)s an owner."),
        What.LEFT: _("%(who)s left.") if own else _("%(who)s took %(whom)s out of the study."),
        What.ACCOUNT: _("%(who)s made the account %(whom)s."),
        What.LINK: _("%(who)s made a link that sets the password of %(whom)s."),
        What.PASSWORD: _("%(whom)s set a new password.")
        if own
        else _("%(who)s set a new password for %(whom)s."),
        What.EMAIL: _("%(who)s changed the e-mail address of %(whom)s."),
        What.FACTOR: _("%(who)s changed a second factor of %(whom)s."),
        What.CLOSED: _("%(who)s closed the account %(whom)s."),
        What.OPENED: _("%(who)s opened the account %(whom)s again."),
        What.READ: _("%(who)s read the list of people."),
        What.CODES: _("%(who)s printed %(many)s codes."),
        What.EXPORT: _("%(who)s saved %(many)s codes as a file."),
    }
    role = ROLE_TEXTS[Role(row.role)].name if row.role else ""
    return sentences[What(row.what)] % {"who": who, "whom": whom, "role": role, "many": row.many}
