"""The registry's own document, for machines. Exact: fractions are pairs of decimal strings, amounts decimal strings."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpengine.privacy import epsilon_above, guess_at_most, plain
from surveys.design import documents
from surveys.design.models import Plan
from surveys.design.queries import Odds
from surveys.ledger.queries import Line
from surveys.registry.records import Asked, Record, questions_of
from surveys.releases.models import Release

FORMAT = "candor-registry/1"
NOT_PROTECTED = {
    "how-many": "how many people answered",
    "screen": "from who sees the screen, or holds the device with the page open: everything",
    "device": "from who controls the device or its browser: everything",
    "other-scripts": "from a site that sends other scripts than it publishes: everything",
    "order": "the order in which reports came, until they are sealed, and in backups made before",
    "false-reports": "the results, from people who send false reports or more than one",
}


def document(record: Record, releases: list[Release], link: Callable[[str], str]) -> dict[str, Any]:
    """Return everything on a study's page. `link` makes an address of a path."""
    content = record.content
    return {
        "format": FORMAT,
        "study": record.study.slug,
        "title": content["title"],
        "organisation": content["organisation"],
        "purpose": content["purpose"],
        "contact": content["contact"],
        "state": record.state,
        "results": content["results"],
        "unit": content["unit"],
        "neighbours": content["neighbours"],
        "local": {**_loss(record.loss), "worst_case_guess": _pair(guess_at_most(record.loss))},
        "central": {
            "cap": _amount(record.account.cap),
            "spent": _amount(record.account.spent),
            "left": _amount(record.account.left),
        },
        "readers": {"epsilon": _amount(record.reader_epsilon)},
        "waves": [_wave(plan) for plan in record.plans],
        "ledger": [_row(row) for row in record.statement.rows],
        "releases": [_release(release) for release in releases],
        "not_protected": NOT_PROTECTED,
        "links": {
            "form": link(f"/s/{record.study.slug}/") + f"#{record.plan.digest}",
            "plan": link(f"/api/v1/studies/{record.study.slug}/plan"),
            "releases": link(f"/api/v1/studies/{record.study.slug}/releases"),
        },
    }


def _wave(plan: Plan) -> dict[str, Any]:
    content = plan.content
    return {
        "wave": plan.wave,
        "plan": plan.digest,
        "opened_on": plan.opened_on.isoformat(),
        "closes_on": plan.closes_on and plan.closes_on.isoformat(),
        "closed_on": plan.closed_on and plan.closed_on.isoformat(),
        **_loss(documents.loss_of_plan(content)),
        "publication": content["publication"],
        "questions": [_question(asked) for asked in questions_of(plan)],
    }


def _question(asked: Asked) -> dict[str, Any]:
    question = asked.question
    return {
        **{name: question[name] for name in ("name", "kind", "label", "text", "protection", "choices", "channel")},
        **_loss(asked.loss),
        "odds": [_odds(odds) for odds in asked.odds],
    }


def _odds(odds: Odds) -> dict[str, Any]:
    """Chances, choice by choice: that a report holds it when it was given, when another was, and by luck alone."""
    return {"own": _pair(odds.own), "other": _pair(odds.other), "luck": _pair(odds.luck)}


def _row(row: Line) -> dict[str, Any]:
    entry = row.entry
    return {
        "row": entry.number,
        "day": entry.day.isoformat(),
        "epsilon": _amount(entry.epsilon),
        "total": _amount(row.exact_total),
        "what": entry.reason,
        "how": entry.mechanism,
        "statistic": entry.statistic,
    }


def _release(release: Release) -> dict[str, Any]:
    plan = release.request.plan
    return {
        "row": release.entry.number,
        "wave": plan.wave,
        "plan": plan.digest,
        "published_on": release.published_on.isoformat(),
        "answers": release.numbers["n"],
    }


def _loss(loss: Fraction) -> dict[str, Any]:
    """A loss e^ε exactly, and its ε rounded up."""
    return {"loss": _pair(loss), "epsilon": _amount(epsilon_above(loss))}


def _pair(fraction: Fraction) -> list[str]:
    return [str(part) for part in fraction.as_integer_ratio()]


def _amount(amount: Decimal) -> str:
    return str(plain(amount))
