"""What a form's page says before the Plan is there: names, and words that depend on how many
questions there are.

Plural forms are chosen here, by gettext, from the Plan that the browser will fetch. The browser
counts again and refuses a Plan that these words are not true of (form.js).
"""

import datetime
import re
from math import ceil
from typing import Any

from django.conf import settings
from django.urls import reverse

from dpengine.local.one_of import OneOf
from surveys import languages
from surveys.design import days, selectors as design
from surveys.design.models import Plan
from surveys.intake import bundles, selectors
from surveys.plan.content import PlanContent
from surveys.plan.kinds import DEVICE, PUBLICATION

# Words of ours that are to be read: on the welcome, before sending and after; and about a question.
# tests/journeys/test_form.py counts what a person sees.
WORDS, WORDS_EACH = 300, 40
WORDS_A_MINUTE, ANSWERS_A_MINUTE = 200, 12
CHINESE = re.compile(r"[\u3400-\u9fff]")  # two characters are read like a word


def address(slug: str, language: str, content: PlanContent) -> str:
    """Return where a study is answered in a language: its own needs none in the address."""
    if language == content.language:
        return reverse("form", args=[slug])
    return reverse("form", args=[slug, language])


def links(slug: str, content: PlanContent, here: str = "") -> list[dict[str, str | bool]]:
    """Return the address of every language, named in its own words, and which one is `here`."""
    return [
        {
            "code": code,
            "name": languages.name(code),
            "address": address(slug, code, content),
            "here": code == here,
        }
        for code in spoken(content)
    ]


def spoken(content: PlanContent) -> list[str]:
    """Return the languages that a form is shown in: those of which all words are there, the Plan's
    own if none is.
    """
    whole = [tag for tag in content.languages if languages.words_of(tag)]
    return whole or [content.language]


def page_context(plan: Plan, language: str, now: datetime.datetime) -> dict[str, Any]:
    """Return what the template of a form needs of its Plan."""
    content, questions = plan.content, plan.content.questions
    spoken = content.spoken(language)
    protections = [question.protection for question in questions]
    skips = ["skips"] if content.passes_over else []
    modules = {question.channel.kind for question in questions}
    modules |= {question.wanted for question in questions}
    modules |= {"pictures" for question in questions if question.picture}
    channels = [question.channel for question in questions]
    ticks = {channel.together for channel in channels if isinstance(channel, OneOf)}
    drawn = ["drawn"] if content.drawn else []
    modules |= {*drawn, *(["invited"] if content.invited else [])}
    is_more = content.wave < content.waves
    device = max(map(len, content.sets))  # questions that a person is asked, at most
    count = device + protections.count(PUBLICATION)
    return {
        "slug": content.slug,
        "title": spoken.title,
        "organisation": spoken.organisation,
        "language": language,
        "dir": languages.direction(language),
        "told_in": languages.words_of(language) or languages.ours()[languages.SOURCE],
        "languages": links(content.slug, content, here=language),
        "count": count,
        "changed_count": device,
        "drawn": content.draws_questions,
        "together": content.joint_names,
        "given_count": protections.count(PUBLICATION),
        "device": DEVICE in protections,
        "given": PUBLICATION in protections,
        "minutes": minutes(spoken, count),
        "one_of": 1 in ticks,
        "some_of": bool(ticks - {1}),
        "conditional": bool(skips),
        "not_asked": any(question.asked_if for question in questions),
        "declines": any(block.decline for block in content.blocks),
        "invited": content.invited,
        "issuer": settings.ISSUER_URL,
        "by_stratum": plan.stratum_closes_at is not None,
        "full": " ".join(map(str, selectors.full_strata(plan))) if content.invited else "",
        "follow_ups": any(question.skipped for question in questions),
        "script": f"{bundles.FOLDER}/{bundles.least(modules & bundles.RARE)}",
        "words": " ".join(
            [
                *(f"{name}-{protections.count(name)}" for name in sorted(set(protections))),
                *skips,
                *drawn,
                *([f"{content.draws}-{content.wave}-of-{content.waves}"] if content.draws else []),
            ]
        ),
        "wave": content.wave,
        "waves": content.waves,
        "draws": content.draws,
        "makes_key": content.keeps_key and device > 0 and is_more,
        # of a key to the end, and always where the Plan does not say what is planned
        "says_later": device > 0 and (is_more or content.keeps_key or not content.draws),
        "over": over(plan, now),
        "begins_on": days.told(plan.begins_on, plan.zone),
        "earlier": " ".join(design.earlier_digests(plan)),
    }


def minutes(spoken: PlanContent, count: int) -> int:
    """Return how many minutes it takes to read all that is to be read and to answer `count` of the
    questions, as long as they are on average.
    """
    asked = [" ".join((each.text, each.help, *each.choices)) for each in spoken.questions]
    own = sum(map(words, asked)) / len(asked) + WORDS_EACH
    read = WORDS + words(f"{spoken.title} {spoken.purpose}") + count * own
    return ceil(read / WORDS_A_MINUTE + count / ANSWERS_A_MINUTE)


def words(text: str) -> float:
    """Return how many words a text has to read."""
    chinese = len(CHINESE.findall(text))
    return chinese / 2 + len(CHINESE.sub(" ", text).split())


def over(plan: Plan, now: datetime.datetime) -> str:
    """Return why a Plan takes no more answers, "" if it does."""
    if plan.study.is_retired:
        return "retired"
    if plan.is_open and plan.is_early(now):
        return "early"
    return "" if plan.takes_answers(now) else "closed"
