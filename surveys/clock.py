"""Whether the clock can be trusted with what cannot be undone: to publish, close, retire or delete
by date.

A worker notes the database's time every half minute. A clock that differs from the database's is
wrong. One that jumped since the last note may be; or the site was switched off, and after two hours
of steady running it goes on by itself.
"""

import datetime

import structlog
from django.apps import apps
from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

OFF = datetime.timedelta(minutes=2)  # that two clocks may differ by
JUMP = datetime.timedelta(hours=25)
BREAK = datetime.timedelta(minutes=10)  # that still counts as steady running
STEADY = datetime.timedelta(hours=2)
SEEN, SINCE = "clock", "clock runs steadily"  # signs: noted last; since when, after a jump
log = structlog.get_logger(__name__)


class Look:
    """One look at both clocks and at what was noted last."""

    def __init__(self) -> None:
        signs = apps.get_model("operations", "Sign")._default_manager
        noted = signs.filter(name__in=(SEEN, SINCE)).values_list("name", "at", Now())
        self.signs = {name: at for name, at, _now in noted}
        self.here, self.there = moments(next((now for *_sign, now in noted), None))
        self.off = self.here - self.there
        since, seen = self.signs.get(SINCE), self.signs.get(SEEN, self.there)
        self.has_jumped = not -OFF <= self.there - seen <= (BREAK if since else JUMP)
        self.is_new = since is not None and self.there - since < STEADY

    def doubt(self) -> str:
        """Return why this clock decides nothing now, in the reader's language; empty: it does."""
        if abs(self.off) > OFF:
            return _(
                "This server’s clock and the database’s differ by %(minutes)s minutes. Until they "
                "agree, nothing is published, and nothing is closed, ended or deleted by date."
            ) % {"minutes": f"{abs(self.off) / datetime.timedelta(minutes=1):,.0f}"}
        if self.has_jumped or self.is_new:
            return _(
                "This server’s clock jumped, or the site was switched off for "
                "more than 25 hours. Until it has run for two hours without a "
                "break, nothing is published, and nothing is closed, ended or "
                "deleted by date. People who run this site can end the wait: "
                "manage.py clock --is-right."
            )
        return ""


def moments(there: datetime.datetime | None) -> tuple[datetime.datetime, datetime.datetime]:
    """Return this process's time and the database's: its own where nothing was noted yet."""
    here = datetime.datetime.now(datetime.UTC)
    return here, there or here


def doubt() -> str:
    """Return why nothing may be done now that cannot be undone; empty: it may."""
    return Look().doubt()


@transaction.atomic
def note(*, is_right: bool = False) -> None:
    """Note the time, and since when it runs steadily if it jumped, unless a person says that it
    `is_right`.
    """
    signs, look = apps.get_model("operations", "Sign")._default_manager, Look()
    if look.has_jumped and not is_right:
        signs.update_or_create(name=SINCE, defaults={"at": look.there})
        log.error("the clock jumped", was=look.signs[SEEN].isoformat(), now=look.there.isoformat())
    elif is_right or not look.is_new:
        signs.filter(name=SINCE).delete()
    signs.update_or_create(name=SEEN, defaults={"at": look.there})
