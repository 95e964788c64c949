"""Who may bring a report: a page of this site, or a program. No other page may have its visitors
send any.

A browser says by itself where a request comes from (`Sec-Fetch-Site`; older ones `Origin`), and no
script of a page can change that. It asks first before it sends JSON to another site (CORS), which
is never granted here, so JSON is all that is taken. A program sends no such headers, or what it
likes: it could send from its own machine anyway.
"""

from http import HTTPStatus

from django.http import HttpRequest

from surveys.brakes import brake
from surveys.design.models import Plan
from surveys.intake.reports import Refused

MEDIA_TYPE = "application/json"
OURS = ("same-origin", "none")  # none: no page at all asked for it


def knock(request: HttpRequest) -> None:
    """Refuse what another page sent, what is no JSON, and what is too much from one network;
    none of it is read.
    """
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if site is not None and site not in OURS:
        raise Refused(
            "Sec-Fetch-Site", "expected a page of this site, got another", HTTPStatus.FORBIDDEN
        )
    ours = f"{request.scheme}://{request.get_host()}"
    if site is None and origin is not None and origin.lower() != ours.lower():
        raise Refused("Origin", "expected a page of this site, got another", HTTPStatus.FORBIDDEN)
    if request.content_type != MEDIA_TYPE:
        raise Refused(
            "Content-Type",
            f"expected {MEDIA_TYPE}, got another one",
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        )
    if wait := brake.place(request):
        expected = "expected fewer reports at once from one network; send the same one again later"
        raise Refused("address", expected, HTTPStatus.TOO_MANY_REQUESTS, wait)


def slow_down(plan: Plan) -> None:
    """Have some come again later while a study gets more reports than usual: chance says who,
    nobody is kept out.
    """
    if wait := brake.study(plan.pk):
        expected = "many reports arrive just now; send the same one again later"
        raise Refused("study", expected, HTTPStatus.TOO_MANY_REQUESTS, wait)
