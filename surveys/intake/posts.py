"""What is posted as a report, and how it is answered: the same words and bytes by the site's own
process for reports (`rsgi.py`) and by its pages (`views.py`).

A post is read as far as memory goes when it arrives, then answered in a group with others. Its
body is opened once; a study or a Plan that the shelf does not hold is looked for with the group.
"""

import datetime
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import NamedTuple

import structlog
from django.db import Error

from surveys.design import selectors as design
from surveys.design.models import Plan
from surveys.encryption import CannotOpen
from surveys.intake import group
from surveys.intake.door import slow_down
from surveys.intake.group import Acceptance, Entry
from surveys.intake.reports import Envelope, Refused, open_envelope, read_report
from surveys.intake.shelf import Plans, shelf

AGAIN = 5  # seconds after which a report that could not be stored may come again
log = structlog.get_logger(__name__)


class Verdict(NamedTuple):
    """An answer: its status and JSON, the field that was refused, and the seconds after which the
    same report may come again.
    """

    status: int
    body: bytes
    field: str = ""
    wait: int = 0


@dataclass(slots=True)
class Post:
    """A post whose head may come in; what was found in it so far."""

    slug: str
    came: datetime.datetime  # when all of it was here
    opened: Envelope | Refused
    read: Entry | Refused | None = None


def enter(slug: str, body: bytes | None) -> Post:
    """Return a post that `knock` has let in, read as far as memory goes; without a body, it is
    one that did not say how long it is.
    """
    post = Post(slug, datetime.datetime.now(datetime.UTC), _opened(body))
    if plan := _plan_of(post, shelf.plans):
        post.read = _read(post, plan)
    return post


def _opened(body: bytes | None) -> Envelope | Refused:
    if body is None:  # a body in chunks would be read as empty
        return Refused("body", "expected with a Content-Length", HTTPStatus.LENGTH_REQUIRED)
    try:
        return open_envelope(body)
    except Refused as refusal:
        return refusal


def _plan_of(post: Post, plans: Plans) -> Plan | None:
    """Return a post's Plan if it is among these."""
    return None if isinstance(post.opened, Refused) else plans.get((post.slug, post.opened.plan))


def _read(post: Post, plan: Plan | None) -> Entry | Refused:
    """Read a post of a study that is there, with its Plan if that is."""
    if isinstance(post.opened, Refused):
        return post.opened
    if plan is None:
        return Refused("plan", "no Plan of this study has this digest", HTTPStatus.CONFLICT)
    try:
        report = read_report(post.opened, plan)  # first: nobody without a ticket slows others down
        slow_down(plan)
        return Entry(plan, report, plan.day_of(post.came))
    except Refused as refusal:
        return refusal
    except Exception as error:  # of its Plan: the others of its group have other ones
        return _unstored(error)


def answer_all(posts: Sequence[Post]) -> list[Verdict]:
    """Store what may be stored, in one transaction, and return all answers, in their order."""
    unread = [post for post in posts if post.read is None]
    digests = {each.opened.plan for each in unread if isinstance(each.opened, Envelope)}
    try:
        plans = shelf.fetch(digests) if digests else {}
        studies = design.published_among({post.slug for post in unread}) if unread else set()
    except Error as error:
        return [refused(error)] * len(posts)
    read = [post.read or _found_in(plans, studies, post) for post in posts]
    outcomes = iter(group.accept_all([each for each in read if isinstance(each, Entry)]))
    return [_verdict(next(outcomes) if isinstance(each, Entry) else each) for each in read]


def _found_in(plans: Plans, studies: Collection[str], post: Post) -> Entry | Refused:
    """Read a post whose study and Plan were found, or are nowhere."""
    if post.slug not in studies:
        return Refused("slug", "no study with this name takes reports", HTTPStatus.NOT_FOUND)
    return _read(post, _plan_of(post, plans))


def _verdict(outcome: Acceptance | Refused | Error | CannotOpen) -> Verdict:
    if isinstance(outcome, Acceptance):
        day = outcome.accepted_on.isoformat()
        status = HTTPStatus.CREATED if outcome.is_new else HTTPStatus.OK
        said = f'{{"receipt": "{outcome.receipt}", "accepted_on": "{day}"}}'  # as JSON says it
        return Verdict(status, said.encode())
    return refused(outcome)


def refused(error: Exception) -> Verdict:
    """Name a field and a reason, never a value; of another error, that the same report may come
    again.
    """
    refusal = error if isinstance(error, Refused) else _unstored(error)
    said = json.dumps({"error": {"field": refusal.field, "message": str(refusal)}})
    return Verdict(refusal.status, said.encode(), refusal.field, refusal.wait)


def _unstored(error: Exception) -> Refused:
    """Ask for the same report again. A database's error may hold the row: its kind is logged; one
    of encryption names a variable, never a key.
    """
    why = {"why": str(error)} if isinstance(error, CannotOpen) else {}
    log.error("report not stored", kind=type(error).__name__, **why)
    expected = "the report could not be stored; send the same one again"
    return Refused("body", expected, HTTPStatus.SERVICE_UNAVAILABLE, wait=AGAIN)
