"""A letter for each thing that begins to be wrong, and one when it is over; a line in the log for
either.

What is wrong is what `/health/` calls an alarm, and a cap that is nearly reached. A letter is sent
once by however many look at the same time; one that cannot be sent is tried again with the next
look, and one whose sender ended meanwhile after a while: it may then come twice. A worker looks
every few minutes; `manage.py watch`, from a timer, does so too where there is no worker. Where the
database cannot be written, a file of the data folder says that a letter about that went out.
"""

import datetime
import smtplib
import time

import structlog
from django.conf import settings
from django.core.mail import send_mail
from django.db import Error
from django.db.models import Q

from surveys.operations import database, health
from surveys.operations.models import Alarm

LONGEST = datetime.timedelta(minutes=15)  # that sending a letter takes, and much more
log = structlog.get_logger(__name__)


def watch(*, now: datetime.datetime) -> list[str]:
    """Tell what began and what is over since the last look; return what is wrong now."""
    told = settings.DATA_DIR / "database-alarm"
    try:
        wrong = _watch(now)
    except Error:
        line = next((check for check in database.checks() if check.missing), None)
        if line is None:
            raise
        if not told.exists():
            log.error("alarm", alarm=line.key, said=str(line.said))
            if _sent(line.name, f"{line.said}\n\n{line.to_do}"):
                told.touch()  # a full disk has room for an empty file
        return [line.key]
    if told.exists() and _sent("database: over", "database: it takes writes again."):
        told.unlink()
    return wrong


def _watch(now: datetime.datetime) -> list[str]:
    began = time.monotonic()
    known = list(Alarm.objects.values_list("pk", flat=True))  # others tell of what begins meanwhile
    wrong = {line.key: line for line in health.look(now) if line.is_told}

    def moment() -> datetime.datetime:
        """Return when a letter is begun: those before it may have taken long."""
        return now + datetime.timedelta(seconds=time.monotonic() - began)

    for key, line in wrong.items():
        _alarm, is_new = Alarm.objects.get_or_create(name=key, defaults={"since": now})
        if is_new:
            log.error("alarm", alarm=key, said=str(line.said))
        text = f"{line.said}\n\n{line.normal}\n{line.to_do}"
        if _is_anybody_named():
            _tell(key, line.name, text, moment(), told=True)
    for alarm in Alarm.objects.filter(pk__in=known).exclude(name__in=wrong):
        over = f"{alarm.name}: wrong since {alarm.since:%Y-%m-%d %H:%M} UTC, OK again."
        if alarm.told:
            _tell(alarm.name, f"{alarm.name}: over", over, moment(), told=False)
        if Alarm.objects.filter(_unclaimed(now), pk=alarm.pk, told=False).delete()[0]:
            log.info("alarm is over", alarm=alarm.name, since=alarm.since.isoformat())
    return list(wrong)


def _tell(key: str, about: str, text: str, now: datetime.datetime, *, told: bool) -> None:
    """Have a letter say that an alarm began, or is over, unless one has or another process is at
    it; what has not gone out stays to be told.
    """
    own = Alarm.objects.filter(name=key)
    if own.filter(_unclaimed(now), told=not told).update(tried=now):
        own.update(tried=None, told=told if _sent(about, text) else not told)


def _unclaimed(now: datetime.datetime) -> Q:
    return Q(tried=None) | Q(tried__lt=now - LONGEST) | Q(tried__gt=now + LONGEST)


def _is_anybody_named() -> bool:
    """Tell whether letters go to somebody; once they do, what is still wrong then is told."""
    return bool(settings.ALARMS_TO and settings.EMAIL_CONFIGURED)


def _sent(about: str, text: str) -> bool:
    """Send a letter, and tell whether that is done; where nobody is named, it is."""
    if not _is_anybody_named():
        return True
    site = settings.ALLOWED_HOSTS[0] if settings.ALLOWED_HOSTS else "Candor"
    try:
        send_mail(f"[{site}] {about}", text, None, settings.ALARMS_TO)
    except (OSError, smtplib.SMTPException, ValueError) as error:
        # ValueError: an address or a name in the settings that no header can hold
        log.error("letter not sent", kind=type(error).__name__)
        return False
    return True
