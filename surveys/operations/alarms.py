"""A letter for each thing that begins to be wrong, and one when it is over; a line in the log for
either.

What is wrong is what `/health/` calls an alarm, and a cap that is nearly reached. A letter is sent
once by however many look at the same time; one that cannot be sent is tried again with the next
look. A worker looks every few minutes; `manage.py watch`, from a timer, does so too where there is
no worker.
"""

import datetime
import smtplib

import structlog
from django.conf import settings
from django.core.mail import send_mail

from surveys.operations import health
from surveys.operations.models import Alarm

log = structlog.get_logger(__name__)


def watch(*, now: datetime.datetime) -> list[str]:
    """Tell what began and what is over since the last look; return what is wrong now."""
    wrong = {line.key: line for line in health.lines(now) if line.is_told}
    for key, line in wrong.items():
        _alarm, is_new = Alarm.objects.get_or_create(name=key, defaults={"since": now})
        if is_new:
            log.error("alarm", alarm=key, said=str(line.said))
        own = Alarm.objects.filter(name=key)
        if own.filter(told=False).update(told=True) and not _sent(
            line.name, f"{line.said}\n\n{line.normal}\n{line.todo}"
        ):
            own.update(told=False)
    for alarm in Alarm.objects.exclude(name__in=wrong):
        if Alarm.objects.filter(pk=alarm.pk).delete()[0]:
            log.info("alarm is over", alarm=alarm.name, since=alarm.since.isoformat())
            over = f"{alarm.name}: wrong since {alarm.since:%Y-%m-%d %H:%M} UTC, and well again."
            if alarm.told and not _sent(f"{alarm.name}: over", over):
                alarm.save(force_insert=True)
    return list(wrong)


def _sent(about: str, text: str) -> bool:
    """Send a letter, and tell whether that is done; where nobody is named, it is."""
    if not settings.ALARMS_TO or not settings.EMAIL_CONFIGURED:
        return True
    site = settings.ALLOWED_HOSTS[0] if settings.ALLOWED_HOSTS else "Candor"
    try:
        send_mail(f"[{site}] {about}", text, None, settings.ALARMS_TO)
    except (OSError, smtplib.SMTPException) as error:
        log.error("letter not sent", kind=type(error).__name__)
        return False
    return True
