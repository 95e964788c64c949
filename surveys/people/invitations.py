"""Links that set a password: made by an admin, good for one use and some days.

Nothing is kept: a link is signed, and holds a fingerprint of the password that was there when it
was made, and of the studies that the account owned. Setting one changes that, so the link is used
up, and so is every other one of that account; owning a study does too, for a link that was made
before would open its list.
"""

import datetime

from django.conf import settings
from django.core import signing
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _

from surveys.people.models import Role, User

SALT = "candor.people.invitation"


class NotOpen(Exception):
    """A link that does not open, and what to do."""

    def __init__(self, name: str, advice: str) -> None:
        super().__init__(name)
        self.name = name
        self.advice = advice


def path_for(user: User) -> str:
    """Return the address, on this site, of a new link for an account."""
    token = signing.dumps([user.pk, _fingerprint(user)], salt=SALT)
    return reverse("people:invitation-link", args=[token])


def holder_of(token: str) -> User:
    """Return whose password a link sets, or raise NotOpen with the reason."""
    try:
        key, fingerprint = signing.loads(
            token, salt=SALT, max_age=datetime.timedelta(days=settings.INVITATION_DAYS)
        )
    except signing.SignatureExpired:
        raise NotOpen(
            _("This link has expired"),
            _(
                "A link to set a password works for some days only. Ask the admin who sent it for "
                "a new one."
            ),
        ) from None
    except signing.BadSignature:
        raise NotOpen(
            _("This link is not complete"),
            _(
                "Part of it is missing or changed: copy it again, from its first letter to its "
                "last."
            ),
        ) from None
    user = User.objects.filter(pk=key, is_active=True).first()
    if user is None or not constant_time_compare(fingerprint, _fingerprint(user)):
        raise NotOpen(
            _("This link was used already"),
            _(
                "It sets a password once, and not any more once the account owns a study. If that "
                "was you, sign in. If it was not you, tell an admin now."
            ),
        )
    return user


def _fingerprint(user: User) -> str:
    owned = user.memberships.filter(role=Role.OWNER).order_by("study_id")
    keys = ",".join(str(key) for key in owned.values_list("study_id", flat=True))
    return salted_hmac(SALT, f"{user.password} {keys}", algorithm="sha256").hexdigest()[:32]
