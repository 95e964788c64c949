"""What a form's page says before the Plan is there: names, and words that depend on how many questions there are.

Plural forms are chosen here, by gettext, from the Plan that the browser will fetch. The browser counts again and
refuses a Plan that these words are not true of (form.js).
"""

import datetime
from math import ceil
from typing import Any

from django.urls import reverse
from django.utils.translation import get_language_info

from surveys.design import documents
from surveys.design import queries as design
from surveys.design.models import Plan
from surveys.intake import bundles

BEFORE, EACH = 45, 20  # seconds for the welcome, and for a question


def languages(content: dict[str, Any]) -> list[str]:
    """Return the languages that a Plan can be answered in, its own first."""
    return [content["language"], *sorted(content.get("translations", {}))]


def address(slug: str, language: str, content: dict[str, Any]) -> str:
    """Return where a study is answered in a language: its own needs none in the address."""
    if language == content["language"]:
        return reverse("form", args=[slug])
    return reverse("form", args=[slug, language])


def links(slug: str, content: dict[str, Any]) -> list[dict[str, str]]:
    """Return the address of every language, named in its own words."""
    return [
        {"code": code, "name": get_language_info(code)["name_local"], "address": address(slug, code, content)}
        for code in languages(content)
    ]


def words(plan: Plan, language: str, today: datetime.date) -> dict[str, Any]:
    """Return what the template of a form needs of its Plan."""
    content, questions = plan.content, plan.content["questions"]
    texts = {**content, **content.get("translations", {}).get(language, {})}
    protections = [question["protection"] for question in questions]
    skips = ["skips"] if any("asked_if" in question for question in questions) else []
    modules = {question["channel"]["kind"] for question in questions if "channel" in question} & bundles.RARE
    modules |= {"pictures" for question in questions if "picture" in question}
    modules |= {"given" for protection in protections if protection == documents.PUBLICATION}
    return {
        "slug": content["slug"],
        "title": texts["title"],
        "organisation": texts["organisation"],
        "language": language,
        "languages": links(content["slug"], content),
        "count": len(questions),
        "changed_count": protections.count(documents.DEVICE),
        "given_count": protections.count(documents.PUBLICATION),
        "device": documents.DEVICE in protections,
        "given": documents.PUBLICATION in protections,
        "minutes": max(2, ceil((BEFORE + EACH * len(questions)) / 60)),
        "conditional": bool(skips),
        "follow_ups": any("skipped" in question for question in questions),
        "script": f"{bundles.FOLDER}/{bundles.least(modules)}",
        "words": " ".join([*(f"{name}-{protections.count(name)}" for name in sorted(set(protections))), *skips]),
        "over": over(plan, today),
        "earlier": " ".join(design.earlier_digests(plan)),
    }


def over(plan: Plan, today: datetime.date) -> str:
    """Return why a Plan takes no more answers, "" if it does."""
    if plan.study.is_retired:
        return "retired"
    return "" if plan.takes_answers(today) else "closed"
