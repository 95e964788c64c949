"""Links that set a password: made by an admin, good for one use and some days.

Nothing is kept: a link is signed, and holds a fingerprint of the password that was there when it was made. Setting one
changes that, so the link is used up, and so is every other one of that account.
"""

import datetime
from enum import StrEnum

from django.conf import settings
from django.core import signing
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac

from surveys.people.models import User

SALT = "candor.people.invitation"


class Problem(StrEnum):
    """Why a link does not open."""

    BROKEN = "broken"
    EXPIRED = "expired"
    USED = "used"


class NotOpen(Exception):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem


def path_for(user: User) -> str:
    """Return the address, on this site, of a new link for an account."""
    token = signing.dumps([user.pk, _fingerprint(user)], salt=SALT)
    return reverse("people:invitation-link", args=[token])


def holder_of(token: str) -> User:
    """Return whose password a link sets, or raise NotOpen with the reason."""
    try:
        key, fingerprint = signing.loads(token, salt=SALT, max_age=datetime.timedelta(days=settings.INVITATION_DAYS))
    except signing.SignatureExpired:
        raise NotOpen(Problem.EXPIRED) from None
    except signing.BadSignature:
        raise NotOpen(Problem.BROKEN) from None
    user = User.objects.filter(pk=key, is_active=True).first()
    if user is None or not constant_time_compare(fingerprint, _fingerprint(user)):
        raise NotOpen(Problem.USED)
    return user


def _fingerprint(user: User) -> str:
    return salted_hmac(SALT, user.password, algorithm="sha256").hexdigest()[:32]
