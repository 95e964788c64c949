"""Who may bring a report: a page of this site, or a program. No other page may have its visitors
send any.

A browser says by itself where a request comes from (`Sec-Fetch-Site`; older ones `Origin`), and no
script of a page can change that. It asks first before it sends JSON to another site (CORS), which
is never granted here, so JSON is all that is taken. A program sends no such headers, or what it
likes: it could send from its own machine anyway.
"""

from http import HTTPStatus
from typing import NamedTuple

from surveys.brakes import brake
from surveys.design.models import Plan
from surveys.intake.reports import Refused

MEDIA_TYPE = "application/json"
OURS = ("same-origin", "none")  # none: no page at all asked for it


class Head(NamedTuple):
    """What a request says of itself before its body, and the network that it comes from."""

    site: str | None  # Sec-Fetch-Site
    origin: str | None
    ours: str  # the origin of this site, as the request calls it
    media_type: str  # small letters, without parameters
    place: str  # its network, "" if nobody knows


def knock(head: Head) -> None:
    """Refuse what another page sent, what is no JSON, and what is too much from one network;
    none of it is read.
    """
    if head.site is not None and head.site not in OURS:
        raise Refused(
            "Sec-Fetch-Site", "expected a page of this site, got another", HTTPStatus.FORBIDDEN
        )
    is_named = head.site is None and head.origin is not None
    if is_named and (head.origin or "").lower() != head.ours.lower():
        raise Refused("Origin", "expected a page of this site, got another", HTTPStatus.FORBIDDEN)
    if head.media_type != MEDIA_TYPE:
        raise Refused(
            "Content-Type",
            f"expected {MEDIA_TYPE}, got another one",
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        )
    if wait := brake.place(head.place):
        expected = "expected fewer reports at once from one network; send the same one again later"
        raise Refused("address", expected, HTTPStatus.TOO_MANY_REQUESTS, wait)


def slow_down(plan: Plan) -> None:
    """Have some come again later while a study gets more reports than usual: chance says who,
    nobody is kept out. Not where nobody may know how many come: whoever sends one report again and
    again would see by the first that waits how many others came.
    """
    if plan.content.is_counted_live and (wait := brake.study(plan.pk)):
        expected = "many reports arrive just now; send the same one again later"
        raise Refused("study", expected, HTTPStatus.TOO_MANY_REQUESTS, wait)
