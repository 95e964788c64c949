"""Collect: how a wave stands, its link as words, as a picture and as a poster, and texts to invite people with.

How many answered is shown as it is under change-one, where it is public. Under add-remove only a charged, noisy count
could be shown; `counted` is the one place that decides.
"""

import datetime
from dataclasses import dataclass
from typing import Any

import qrcode
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import get_language_info
from django.views.decorators.http import require_safe

from surveys.dashboard.invitations import Invitation, invitations
from surveys.dashboard.progress import Progress, standing_of
from surveys.dashboard.readers import with_plan
from surveys.design import queries as design
from surveys.design.models import Neighbours, Plan
from surveys.design.queries import Odds
from surveys.people import queries as people
from surveys.people.models import Right

QUIET = 4  # modules of white around a QR code: without them readers do not find it


def counted(plan: Plan, answers: int) -> int | None:
    """Return how many answers a page may show: the exact number where it is public, else none before it is charged."""
    return answers if plan.content["neighbours"] == Neighbours.CHANGE_ONE else None


@dataclass(frozen=True, slots=True)
class Code:
    """A QR code as one path of unit squares."""

    path: str
    size: int

    @classmethod
    def of(cls, text: str) -> "Code":
        found = qrcode.QRCode(error_correction=qrcode.constants.ERROR_CORRECT_M, border=QUIET)
        found.add_data(text)
        found.make(fit=True)
        matrix = found.get_matrix()
        return cls(" ".join(_runs(matrix)), len(matrix))


def _runs(matrix: list[list[bool]]) -> list[str]:
    """Return the dark modules, neighbours in a row joined, as pieces of an SVG path."""
    found = []
    for y, row in enumerate(matrix):
        start = None
        for x, dark in enumerate([*row, False]):
            if dark and start is None:
                start = x
            elif not dark and start is not None:
                found.append(f"M{start} {y}h{x - start}v1h{start - x}z")
                start = None
    return found


@dataclass(frozen=True, slots=True)
class Way:
    """The way to the form in one language."""

    code: str
    name: str
    link: str
    texts: dict[str, Any]

    @property
    def qr(self) -> Code:
        return Code.of(self.link)


def ways_of(request: HttpRequest, plan: Plan) -> list[Way]:
    """Return the links of a study, the language it was written in first. Each ends with the Plan's fingerprint."""
    content = plan.content
    own = content.get("language", "en")
    spoken = {own: {}, **content.get("translations", {})}
    found = {code: {**content, **texts, "questions": content["questions"]} for code, texts in spoken.items()}
    return [
        Way(
            code=code,
            name=get_language_info(code)["name_local"],
            link=request.build_absolute_uri(_address(plan, code, own)) + f"#{plan.digest}",
            texts=texts,
        )
        for code, texts in found.items()
    ]


def _address(plan: Plan, code: str, own: str) -> str:
    slug = plan.study.slug
    return reverse("form", args=[slug]) if code == own else reverse("form", args=[slug, code])


@require_safe
@with_plan
def collect(request: HttpRequest, plan: Plan, *, shared: bool) -> HttpResponse:
    """Show how collecting goes, and what to invite people with."""
    ways = ways_of(request, plan)
    way = next((each for each in ways if each.code == request.GET.get("language")), ways[0])
    progress = standing_of(plan)
    context: dict[str, Any] = {
        "study": plan.study,
        "plan": plan,
        "progress": progress,
        "answers": counted(plan, progress.answers),
        "days_left": days_left(plan, datetime.datetime.now(datetime.UTC).date()),
        "ways": ways,
        "way": way,
        "invitations": _invitations(way, plan),
        "may_launch": people.may(request.user, Right.LAUNCH, plan.study),
        **_filled(progress),
    }
    return render(request, "dashboard/collect.html", context)


def _filled(progress: Progress) -> dict[str, Any]:
    """Return how far a wave is towards its first numbers, and towards the answers it was planned for."""
    expected = progress.plan.study.expected
    most = max(progress.answers, progress.smallest_batch, expected or 0)
    return {
        "answers_width": f"{100 * progress.answers / most:.2f}%",
        "least_at": f"{100 * progress.smallest_batch / most:.2f}%",
        "expected": expected,
        "expected_at": f"{100 * expected / most:.2f}%" if expected else "",
        "is_enough": progress.answers >= progress.smallest_batch,
    }


def days_left(plan: Plan, today: datetime.date) -> int | None:
    """Return how many days a wave still takes answers, today included; none if it is over or has no last day."""
    if not plan.takes_answers(today) or plan.closes_on is None:
        return None
    return (plan.closes_on - today).days + 1


def _invitations(way: Way, plan: Plan) -> list[Invitation]:
    with translation.override(way.code):
        return invitations(way.texts, way.link, plan.closes_on)


@require_safe
@with_plan
def code(request: HttpRequest, plan: Plan, *, shared: bool, language: str) -> HttpResponse:
    """Give the QR code of the link as a picture of its own, to put on a flyer."""
    response = render(
        request, "dashboard/code.svg", {"code": _way(request, plan, language).qr}, content_type="image/svg+xml"
    )
    response["Content-Disposition"] = f'attachment; filename="{plan.study.slug}-{language}.svg"'
    return response


@require_safe
@with_plan
def poster(request: HttpRequest, plan: Plan, *, shared: bool, language: str) -> HttpResponse:
    """Show one sheet of A4 to print, in one of the study's languages."""
    way = _way(request, plan, language)
    with translation.override(language):
        context = {
            "study": plan.study,
            "plan": plan,
            "way": way,
            "odds": _first_odds(plan),
            "device": any(question["protection"] == "device" for question in plan.content["questions"]),
            "given": any(question["protection"] != "device" for question in plan.content["questions"]),
            "address": way.link.partition("#")[0],
            "mark": plan.digest[:16],
        }
        return render(request, "dashboard/poster.html", context)


def _way(request: HttpRequest, plan: Plan, language: str) -> Way:
    for way in ways_of(request, plan):
        if way.code == language:
            return way
    raise Http404("the study is not asked in this language")


def _first_odds(plan: Plan) -> tuple[dict[str, Any], Odds] | None:
    """Return the first question whose odds fit on a poster, with its first answer's odds."""
    for question in plan.content["questions"]:
        if question["protection"] == "device" and (odds := design.odds_of(question)):
            return question, odds[0]
    return None
