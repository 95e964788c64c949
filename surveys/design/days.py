"""Days of a study, which begin and end at midnight in its time zone; and how they are told.

A zone decides when a wave begins and ends, which is the same for everybody. What is kept of a
person has days in UTC, in every study: two kinds of day for one answer would tell the hours between
them, and so a finer time than a day.

By hand    5 May 2026 in America/Los_Angeles ends at 07:00 UTC on 6 May, and the last day that an
           answer of that wave can have is 6 May; in Pacific/Auckland it ends at 12:00 UTC on 5 May.
"""

import datetime
from zoneinfo import ZoneInfo

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from surveys.zones import UTC

ONE = datetime.timedelta(days=1)
LAST = datetime.date.max - 2 * ONE  # on which a day can end in every zone
MOMENT = datetime.timedelta(microseconds=1)


def begins_at(day: datetime.date, zone: str | None) -> datetime.datetime:
    """Return the moment in UTC at which a day begins in a zone; None is UTC."""
    midnight = datetime.datetime.combine(day, datetime.time(), ZoneInfo(zone or UTC))
    return midnight.astimezone(datetime.UTC)


def ends_at(day: datetime.date, zone: str | None) -> datetime.datetime:
    """Return the moment in UTC at which a day has ended in a zone."""
    return begins_at(min(day, LAST) + ONE, zone)


def last_in_utc(day: datetime.date, zone: str | None) -> datetime.date:
    """Return the last day in UTC of which a part is within a day of a zone."""
    return (ends_at(day, zone) - MOMENT).date()


def first_in_utc(day: datetime.date, zone: str | None) -> datetime.date:
    """Return the first day in UTC of which a part is within a day of a zone."""
    return begins_at(day, zone).date()


def day_in(zone: str | None, now: datetime.datetime) -> datetime.date:
    """Return which day it is in a zone."""
    return now.astimezone(ZoneInfo(zone or UTC)).date()


def told(day: datetime.date | None, zone: str | None) -> str:
    """Tell a day with its time zone, in the language that is spoken now; no day is nothing."""
    if day is None:
        return ""
    parts = {"day": date_format(day, "DATE_FORMAT"), "zone": named(zone)}
    return _("%(day)s (%(zone)s)") % parts


def named(zone: str | None) -> str:
    """Name a time zone by its place."""
    if not zone or zone == UTC:
        return UTC
    return _("%(place)s time") % {"place": zone.rpartition("/")[2].replace("_", " ")}
