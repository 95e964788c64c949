"""How often somebody may guess: by the name and the network that they guess from, and more slowly
from everywhere.

Whoever guesses wrongly from one network is stopped there, and nowhere else: nobody can lock an
account from afar. Many networks together are slowed: after so many wrong tries at a name in an
hour, chance says which ones are looked at. A passkey cannot be guessed and passes always. A name
that nobody has is treated like any other.

Counts are in the database, which workers share; their keys are kept as hashes, so it is no list of
who and from where.
"""

import datetime
from typing import Any

from allauth.core.internal.ratelimit import RateLimitUsage, consume
from django.conf import settings
from django.db import connection
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from surveys.brakes import one_in, place_of

HERE = "10/m/ip,5/5m/key"  # wrong tries from one network, at any name and at this one
# wrong tries at a name, from all networks, that are looked at without asking chance
EVERYWHERE = "100/h/key"
PASSWORDS = 10  # beyond that, one in so many is looked at
CODES = 100  # six digits are soon guessed; who gets as far as a code has the password already


def guess(request: HttpRequest, name: str, lucky: int) -> RateLimitUsage | str:
    """Count a try, which who turns out to be right takes back; or return why it is not looked
    at.
    """
    here = _counted(request, HERE, f"{name.lower()} from {place_of(request)}")
    if here is None:
        return "too_many_login_attempts"
    everywhere = _counted(request, EVERYWHERE, name.lower())
    if everywhere is None and not one_in(lucky):
        here.rollback()  # it was not looked at, so it may come again
        return "tried_elsewhere"
    return RateLimitUsage([*here.usage, *(everywhere.usage if everywhere else [])])


def forget_expired(now: datetime.datetime) -> None:
    """Delete what no longer counts: the cache itself does so beyond its greatest size only."""
    table = connection.ops.quote_name(str(settings.CACHES["default"]["LOCATION"]))
    until = connection.ops.adapt_datetimefield_value(now.replace(microsecond=0))
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {table} WHERE expires < %s", [until])  # noqa: S608 (a name)


def _counted(request: HttpRequest, rate: str, key: str) -> RateLimitUsage | None:
    usage: RateLimitUsage | None = consume(
        request, app="people", action=rate, config={rate: rate}, key=key
    )
    return usage


def hashed(key: str, prefix: str, version: Any) -> str:
    """Return the name under which a cache keeps a key, which may hold a machine's address or a
    person's name.
    """
    return salted_hmac(
        "candor.people.attempts", f"{prefix}:{version}:{key}", algorithm="sha256"
    ).hexdigest()
