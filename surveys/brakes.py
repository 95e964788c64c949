"""Brakes on floods: whose a request is, as far as its network goes, and how many of them come at
once.

What is counted is in this process's memory alone, and each process counts for itself. An address is
never held: its bucket is named by an HMAC under a random key that is written nowhere and replaced
every hour, with all buckets.

A whole IPv4 address is one place: a /24 would mix strangers. Of IPv6 the first 56 bits are, what
one household gets: with /64 it would have 256 places. A campus behind one address shares its
bucket, so that must hold a class or two.
"""

import hmac
import ipaddress
import os
import threading
import time
from collections import OrderedDict

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port

from dpengine.randomness import below

HOUR = 3600.0  # seconds that a key lives
FILLS = 600.0  # seconds in which an empty bucket is full again
MAX_BUCKETS = 50_000  # buckets, in 16 MB; of more, those not used for longest are forgotten
JITTER = 30  # seconds: or all that were refused at once would come again at once


def place_of(request: HttpRequest) -> str:
    """Return the network that a request comes from; "" if nobody knows."""
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "")
    return network_of(request.META.get("REMOTE_ADDR", ""), forwarded)


def network_of(remote: str, forwarded: str) -> str:
    """Return the network of the address that the last trusted hop saw, "" if it saw none: the
    socket's, or where a proxy of ours stands in front the last one that was forwarded.
    """
    seen = forwarded.rpartition(",")[2] if settings.ALLAUTH_TRUSTED_PROXY_COUNT else ""
    told = (seen or remote).strip()
    domain, port = split_domain_port(told)
    try:
        address = ipaddress.ip_address(domain.strip("[]") if port else told)
    except ValueError:  # a socket without an address
        return ""
    address = getattr(address, "ipv4_mapped", None) or address
    if address.version == 4:
        return f"{address}/32"
    length = settings.ALLAUTH_RATE_LIMIT_IPV6_PREFIX
    return str(ipaddress.ip_network((address, length), strict=False))


def one_in(many: int) -> bool:
    """Let chance pass one in so many."""
    return below(many) == 0


class Buckets:
    """Buckets of tokens, each full at first and filling up again; the time is the caller's."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.left: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    def take(self, name: bytes, size: int, now: float) -> float:
        """Take a token and return 0, or return the seconds until there is one."""
        with self.lock:
            tokens, since = self.left.pop(name, (float(size), now))
            tokens = min(float(size), tokens + (now - since) * size / FILLS)
            taken = tokens >= 1
            self.left[name] = (tokens - taken, now)
            if len(self.left) > MAX_BUCKETS:
                self.left.popitem(last=False)
            return 0.0 if taken else (1 - tokens) * FILLS / size


class Places:
    """Buckets by network, under names that nobody can turn back once the hour is over."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kept: tuple[bytes, Buckets, float] | None = None  # key, buckets, and when they began
        self.end: threading.Timer | None = None

    def take(self, place: str, size: int, now: float) -> float:
        with self.lock:
            if self.kept is None or now - self.kept[2] >= HOUR:
                self.kept = os.urandom(32), Buckets(), now
                if self.end:
                    self.end.cancel()
                # key and counts go when the hour is over although nobody comes any more
                self.end = threading.Timer(HOUR, self.forget, [self.kept])
                self.end.daemon = True
                self.end.start()
            key, buckets, _ = self.kept
        # `hmac.digest` would let go of the interpreter's lock, and wait for it
        name = hmac.new(key, place.encode(), "sha256").digest()
        return buckets.take(name, size, now)

    def wait(self, place: str, size: int) -> int:
        """Return 0, or the seconds for which this network should wait; 0 if nobody knows which."""
        return later(self.take(place, size, time.monotonic())) if place else 0

    def forget(self, kept: tuple[bytes, Buckets, float] | None) -> None:
        """Drop key and counts, unless the next hour's have taken their place."""
        with self.lock:
            if self.kept is kept:
                self.kept = None


class Brake:
    """What slows reports down: by network, and by study."""

    SHARE = 5  # studies take as many times what one network may send before they are slowed down
    # of a study that is slowed down, one report in so many is taken all the same: nobody can close
    # it
    LOOKED_AT = 4

    def __init__(self) -> None:
        self.places, self.studies = Places(), Buckets()

    def place(self, place: str) -> int:
        """Return 0, or the seconds for which this network should wait."""
        return self.places.wait(place, settings.REPORTS_AT_ONCE)

    def study(self, key: int) -> int:
        """Return 0, or the seconds for which whoever reports to this study should wait."""
        size = self.SHARE * settings.REPORTS_AT_ONCE
        wait = self.studies.take(str(key).encode(), size, time.monotonic())
        return 0 if wait and one_in(self.LOOKED_AT) else later(wait)


def later(wait: float) -> int:
    """Return whole seconds to wait, some more by chance; 0 stays 0."""
    return int(wait) + 1 + below(JITTER) if wait else 0


brake = Brake()
