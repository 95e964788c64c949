"""Collect: how a wave stands, its link, QR code and poster, and texts to invite people with.

How many answered is shown as it is where that is public. Where whether somebody took part is
protected, nothing is shown before the wave has closed, and then the noisy number, as published.
"""

import datetime

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from surveys.charts.scales import position
from surveys.design import days, selectors as design
from surveys.design.models import Plan
from surveys.languages import speaking
from surveys.people import selectors as people
from surveys.people.models import Right
from surveys.planning import selectors as planning
from surveys.results.access import study_page, with_plan
from surveys.results.invitations import FormLink, form_links, invitations
from surveys.results.progress import WaveProgress


@with_plan
@require_safe
def collect(request: HttpRequest, plan: Plan, *, shared: bool) -> HttpResponse:
    """Show how collecting goes, and what to invite people with."""
    links = form_links(request, plan)
    link = next((each for each in links if each.code == request.GET.get("language")), links[0])
    with speaking(link.code):
        last = days.told(plan.closes_on, plan.zone)
        texts = invitations(link.texts, link.address, last)
    progress, expected = WaveProgress.of(plan), plan.study.expected
    least = progress.terms.smallest_batch
    most, now = max(progress.answers, least, expected or 0), timezone.now()
    return study_page(
        request,
        "collect",
        plan,
        shared=shared,
        progress=progress,
        answers=progress.told,
        days_left=days_left(plan, now),
        is_asked=plan.is_open and not plan.is_over(now) and not plan.study.is_retired,
        links=links,
        link=link,
        invitations=texts,
        may_launch=people.may(request.user, Right.LAUNCH, plan.study),
        may_invite=people.may(request.user, Right.INVITE, plan.study),
        answers_width=position(progress.answers / most),
        least_at=position(least / most),
        expected=expected,
        outlook=planning.outlook(plan.content, expected),
        expected_at=position(expected / most) if expected else "",
    )


def days_left(plan: Plan, now: datetime.datetime) -> int | None:
    """Return how many days a wave still takes answers, with today; None without an end."""
    is_over = not (plan.takes_answers(now) or plan.is_early(now))
    if is_over or plan.closes_on is None:
        return None
    return (plan.closes_on - days.day_in(plan.zone, now)).days + 1


@with_plan
@require_safe
def code(request: HttpRequest, plan: Plan, *, shared: bool, language: str) -> HttpResponse:
    """Give the QR code of the link as a picture of its own, to put on a flyer."""
    context = {"code": _link(request, plan, language).qr}
    response = render(request, "results/code.svg", context, content_type="image/svg+xml")
    response["Content-Disposition"] = f'attachment; filename="{plan.study.slug}-{language}.svg"'
    return response


@with_plan
@require_safe
def poster(request: HttpRequest, plan: Plan, *, shared: bool, language: str) -> HttpResponse:
    """Show one sheet of A4 to print, in one of the study's languages."""
    link, questions = _link(request, plan, language), plan.content.questions
    device = [question for question in questions if not question.is_cleartext]
    with_odds = [(each, design.odds_of(each)) for each in device if not each.together]
    with speaking(language):
        context = {
            "study": plan.study,
            "plan": plan,
            "link": link,
            # the first question whose odds fit on a poster, with its first answer's
            "odds": next(((question, odds[0]) for question, odds in with_odds if odds), None),
            "device": bool(device),
            "given": any(question.is_cleartext for question in questions),
            "address": link.address.partition("#")[0],
            "mark": plan.digest[:16],
        }
        return render(request, "results/poster.html", context)


def _link(request: HttpRequest, plan: Plan, language: str) -> FormLink:
    for link in form_links(request, plan):
        if link.code == language:
            return link
    raise Http404("the study is not asked in this language")
