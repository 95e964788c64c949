"""Days of a study, which begin and end at midnight in its time zone; and how they are told.

A zone decides when a wave begins and ends, which is the same for everybody. What is kept of a
person has days in UTC, in every study: two kinds of day for one answer would tell the hours between
them, and so a finer time than a day. A part of a day in UTC at either end of a wave would tell the
same: what comes in it has the wave's first or last day (`Plan.day_of`).

By hand    5 May 2026 in America/Los_Angeles ends at 07:00 UTC on 6 May: an answer of those seven
           hours has 5 May. In Pacific/Auckland it begins at 12:00 UTC on 4 May, and an answer of
           that afternoon has 5 May.
"""

import datetime
from zoneinfo import ZoneInfo

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from surveys.zones import UTC

ONE = datetime.timedelta(days=1)
FIRST = datetime.date.min + ONE  # on which a day can begin in every zone
LAST = datetime.date.max - 2 * ONE  # on which one can end


def begins_at(day: datetime.date, zone: str | None) -> datetime.datetime:
    """Return the moment in UTC at which a day begins in a zone; None is UTC."""
    midnight = datetime.datetime.combine(max(day, FIRST), datetime.time(), ZoneInfo(zone or UTC))
    return midnight.astimezone(datetime.UTC)


def ends_at(day: datetime.date, zone: str | None) -> datetime.datetime:
    """Return the moment in UTC at which a day has ended in a zone."""
    return begins_at(min(day, LAST) + ONE, zone)


def day_in(zone: str | None, now: datetime.datetime) -> datetime.date:
    """Return which day it is in a zone."""
    return now.astimezone(ZoneInfo(zone or UTC)).date()


def told(day: datetime.date | None, zone: str | None) -> str:
    """Tell a day with its time zone, in the language that is spoken now; no day is nothing."""
    if day is None:
        return ""
    return _("%(day)s (%(zone)s)") % {"day": date_format(day, "DATE_FORMAT"), "zone": named(zone)}


def named(zone: str | None) -> str:
    """Name a time zone by its place."""
    if not zone or zone == UTC:
        return UTC
    return _("%(place)s time") % {"place": zone.rpartition("/")[2].replace("_", " ")}
