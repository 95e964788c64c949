"""The registry's own documents, for machines. Exact: fractions are pairs of decimal strings, amounts decimal strings.

Their shape is in schemas/: a change that a reader could stumble over makes a new file and a new number. In version 4,
`row` is the position in the whole chain everywhere, a release has a `number` of its own beside it, and what the chain
vouches for is named.
"""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpengine.privacy import epsilon_above, guess_at_most, plain, round_up
from surveys.design import documents
from surveys.design.models import Plan
from surveys.design.queries import Odds
from surveys.ledger import queries as ledger
from surveys.ledger.queries import Line
from surveys.registry import scripts
from surveys.registry.losses import USUAL_DELTA, Household, Loss, Shuffled
from surveys.registry.records import Asked, Record, questions_of
from surveys.releases import queries as releases
from surveys.releases.queries import Publication

FORMAT, LEDGER_FORMAT = "candor-registry/4", "candor-ledger/2"
SCHEMAS = {"study-4": FORMAT, "ledger-2": LEDGER_FORMAT}
WHERE_USED = ("least", "most", "unit", "wanted", "bins", "asked_if", "group")  # of a question, absent where not used
NOT_PROTECTED = {
    "how-many": "how many people answered",
    "screen": "from who sees the screen, or holds the device with the page open: everything",
    "device": "from who controls the device or its browser: everything",
    "other-scripts": "from a site that sends other scripts than it publishes: everything",
    "order": "the order in which reports came, until they are sealed, and in backups made before",
    "false-reports": "the results, from people who send false reports or more than one",
}
GIVEN = "answers sent as given, from who runs the site, and from who has the database and its key: everything"
HOW_TO_CHECK = (
    "A row's digest is the SHA-256 of the row without its digest, as JSON with sorted keys, no spaces and UTF-8. "
    "Every row holds the digest of the row before as `previous`; the first holds 64 zeros. The head is the digest of "
    "the last row, the length how many rows there are. Keep both: they show a tail that is cut later."
)


def document(record: Record, published: list[Publication], link: Callable[[str], str]) -> dict[str, Any]:
    """Return everything on a study's page. `link` makes an address of a path."""
    content = record.content
    return {
        "format": FORMAT,
        "schema": link("/registry/schemas/study-4.json"),
        "as_of": record.now.isoformat(timespec="seconds"),
        "study": record.study.slug,
        **{name: content[name] for name in ("title", "organisation", "purpose", "contact", "results")},
        "languages": [content.get("language", "en"), *sorted(content.get("translations", {}))],
        **{name: content[name] for name in ("unit", "neighbours")},
        "model": record.model.value,
        "state": record.state,
        "answers": record.answers,
        "local": _local(record),
        "central": _central(record),
        "readers": _loss_of(record.readers),
        "burn": _burn(record),
        "households": [_household(household) for household in record.households],
        "at_risk": _at_risk(record),
        "shuffled": [_shuffled(batch) for batch in record.shuffled],
        "retirement": _retirement(record),
        "waves": [_wave(plan) for plan in record.plans],
        "charges": [_charge(line) for line in record.rows],
        "ledger": ledger_document(record.account.budget.name),
        "releases": [_publication(each) for each in published],
        "scripts": {"digest": scripts.digest(), "files": [_script(script) for script in scripts.served()]},
        "not_protected": NOT_PROTECTED | ({"sent-as-given": GIVEN} if record.given else {}),
        "links": _links(record, link),
    }


def ledger_document(budget: str | None = None) -> dict[str, Any]:
    """Return the chain of the whole site, or its rows about one budget, with the end of the whole chain.

    The end is read first: rows that are added meanwhile are left out, so that rows and end belong together.
    """
    head, length = ledger.head()
    rows = [row for row in ledger.chain(budget) if row["position"] <= length]
    about = {} if budget is None else {"budget": budget}
    return {"format": LEDGER_FORMAT, "head": head, "length": length, **about, "check": HOW_TO_CHECK, "rows": rows}


def _local(record: Record) -> dict[str, Any]:
    """What who sees every report learns. Loss and guess are of the answers that the device changes."""
    guess = guess_at_most(record.loss)
    return {
        "infinite": bool(record.given),
        "sent_as_given": record.given,
        **_loss(record.loss),
        "worst_case_guess": _pair(guess),
        "worst_case_odds": _pair(record.loss),
    }


def _central(record: Record) -> dict[str, Any]:
    account, budget, found = record.account, record.account.budget, record.compared
    named = {
        "basic": found.basic, "advanced": found.advanced, "optimal": found.optimal,
        "zcdp": found.concentrated, "renyi": found.renyi,
    }  # fmt: skip
    return {
        "budget": budget.name,
        "measure": "epsilon" if budget.is_pure else "rho",
        "cap": _amount(account.cap),
        "cap_delta": _amount(budget.delta),
        "spent": _amount(account.amount_spent),
        "spent_delta": _exact(account.spent.delta if account.spent else Fraction(0), 18),
        "left": _amount(account.amount_left),
        "left_delta": _exact(account.left.delta, 18),
        "fixed_parts": budget.fixed_parts,
        "promised": _loss_of(record.cap),
        "lost": _loss_of(record.spent),
        "accountants": {
            "delta": _exact(found.delta, 18),
            **{name: epsilon if epsilon is None else _amount(epsilon) for name, epsilon in named.items()},
        },
    }


def _burn(record: Record) -> dict[str, Any]:
    weekly = record.account.budget.weekly
    return {
        "per_week": _exact(record.burn.per_week, 12),
        "weeks": [{"ends": week.ends.isoformat(timespec="seconds"), "amount": _amount(week.amount)}
                  for week in record.burn.weeks],
        "days_left": record.days_left,
        "weekly_limit": None if weekly is None else _amount(weekly),
    }  # fmt: skip


def _household(household: Household) -> dict[str, Any]:
    return {
        "people": household.people,
        "local": None if household.local is None else _loss_of(household.local),
        "spent": _loss_of(household.spent),
        "promised": _loss_of(household.cap),
    }


def _at_risk(record: Record) -> dict[str, Any]:
    advised = record.advised_delta
    return {
        "people": record.answers,
        "delta": _exact(record.cap.delta, 18),
        "expected": _pair(record.at_risk),
        "advised_delta": None if advised is None else _pair(advised),
    }


def _shuffled(batch: Shuffled) -> dict[str, Any]:
    return {
        "wave": batch.wave,
        "reports": batch.reports,
        "delta": _exact(USUAL_DELTA, 18),
        "questions": {name: _amount(epsilon) for name, epsilon in batch.questions},
        "together": _amount(batch.together),
    }


def _retirement(record: Record) -> dict[str, Any]:
    study = record.study
    return {
        "retires_on": study.retires_on and study.retires_on.isoformat(),
        "retired_on": study.retired_on and study.retired_on.isoformat(),
        "because": study.retired_because,
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
        "caps": content["caps"],
        "publication": content["publication"],
        "questions": [_question(asked) for asked in questions_of(plan)],
    }


def _question(asked: Asked) -> dict[str, Any]:
    question = asked.question
    said: dict[str, Any] = {name: question[name] for name in ("name", "kind", "label", "text", "protection", "choices")}
    said |= {name: question[name] for name in WHERE_USED if name in question}
    if asked.loss is None:
        return {**said, "infinite": True}
    odds = [_odds(odds) for odds in asked.odds]
    return {**said, "infinite": False, "channel": question["channel"], **_loss(asked.loss), "odds": odds}


def _odds(odds: Odds) -> dict[str, Any]:
    """Chances, choice by choice: that a report holds it when it was given, when another was, and by luck alone."""
    return {"own": _pair(odds.own), "other": _pair(odds.other), "luck": _pair(odds.luck)}


def _charge(line: Line) -> dict[str, Any]:
    """One publication, in the budget's own measure, and exactly what it was charged."""
    entry = line.entry
    return {
        "row": entry.position,
        "day": entry.day.isoformat(),
        "amount": _amount(line.exact_amount),
        "total": _amount(line.exact_total),
        "epsilon": None if entry.epsilon is None else _amount(entry.epsilon),
        "rho": _amount(entry.rho or Decimal(0)),
        "delta": _amount(entry.delta or Decimal(0)),
        "part": entry.part,
        "what": entry.reason,
        "how": entry.mechanism,
        "sensitivity": entry.sensitivity,
        "who": entry.who,
        "statistic": entry.statistic,
        "digest": entry.digest,
        "published": entry.published,
    }


def _publication(published: Publication) -> dict[str, Any]:
    plan = published.request.plan
    return {
        "number": published.number,
        "row": published.entry.position,
        "wave": plan.wave,
        "plan": plan.digest,
        "kind": published.request.kind,
        "published_on": published.published_on.isoformat(),
        "answers": published.release.numbers["n"] if published.release else None,
        "steps": len(published.steps) if published.series else None,
        "vouched": [
            {"row": cover.row, "sha256": cover.sha256, "step": cover.step, "found": cover.is_found}
            for cover in releases.covers(published)
        ],
    }


def _script(script: scripts.Script) -> dict[str, Any]:
    return {"name": script.name, "path": script.path, "sha256": script.sha256}


def _links(record: Record, link: Callable[[str], str]) -> dict[str, str]:
    slug = record.study.slug
    return {
        "form": link(f"/s/{slug}/") + f"#{record.plan.digest}",
        "page": link(f"/registry/{slug}/"),
        "deployment": link(f"/registry/{slug}.yaml"),
        "plan": link(f"/api/v1/studies/{slug}/plan"),
        "releases": link(f"/api/v1/studies/{slug}/releases"),
        "ledger": link("/registry/ledger.json"),
    }


def _loss(loss: Fraction) -> dict[str, Any]:
    """A loss e^ε exactly, and its ε rounded up."""
    return {"loss": _pair(loss), "epsilon": _amount(epsilon_above(loss))}


def _loss_of(loss: Loss) -> dict[str, str]:
    return {"epsilon": _amount(loss.epsilon), "delta": _exact(loss.delta, 18)}


def _pair(fraction: Fraction) -> list[str]:
    return [str(part) for part in fraction.as_integer_ratio()]


def _amount(amount: Decimal) -> str:
    return f"{plain(amount):f}"


def _exact(amount: Fraction, places: int) -> str:
    return _amount(round_up(amount, places))
