"""The registry's own documents, for machines. Exact: fractions are pairs of decimal strings,
amounts decimal strings.

Their shape is in schemas/: a change that a reader could stumble over makes a new file and a new
number. In version 4, `row` is the position in the whole chain everywhere, a release has a `number`
of its own beside it, and what the chain vouches for is named.
"""

import datetime
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpengine.privacy import epsilon_above, round_up
from surveys.design.models import Plan
from surveys.guesses import Guess
from surveys.ledger import selectors as ledger
from surveys.ledger.selectors import Account, StatementLine, written
from surveys.plan.content import to_document
from surveys.releases import selectors as releases
from surveys.releases.numbers import Document
from surveys.releases.selectors import Publication
from surveys.results import scripts
from surveys.results.privacy_loss import USUAL_DELTA, Household, Loss, Shuffled
from surveys.results.registered import RegisteredQuestion, RegisteredStudy

FORMAT, LEDGER_FORMAT = "candor-registry/5", "candor-ledger/3"
INDEX_FORMAT, SEGMENT_FORMAT = "candor-ledger-index/1", "candor-ledger-segment/1"
SCHEMAS = {"study-5": FORMAT, "ledger-3": LEDGER_FORMAT}
ALWAYS = ("name", "kind", "label", "text", "protection", "choices")  # of a question
WHERE_USED = ("least", "most", "unit", "wanted", "bins", "asked_if", "group")
NOT_PROTECTED = {
    "how-many": "how many people answered",
    "screen": "from who sees the screen, or holds the device with the page open: everything",
    "device": "from who controls the device or its browser: everything",
    "other-scripts": "from a site that sends other scripts than it publishes: everything",
    "order": "the order in which reports came, until they are sealed, and in backups made before",
    "false-reports": "the results, from people who send false reports or more than one",
    "sent-as-given": "answers sent as given, from who runs the site, and from who has the database "
    "and its key: everything",
}
NAMED = {"ε": "epsilon", "ρ": "rho"}
HOW_TO_CHECK = (
    "A row's digest is the SHA-256 of the row without its digest, as JSON with sorted keys, no "
    "spaces and UTF-8. Every row holds the digest of the row before as `previous`; the first holds "
    "64 zeros. The head is the digest of the last row, the length how many rows there are. Keep "
    "both: they show a tail that is cut later."
)


def pair(fraction: Fraction) -> list[str]:
    return [str(part) for part in fraction.as_integer_ratio()]


def exact(amount: Decimal | None) -> str | None:
    """Return an amount as it is; null where there is none."""
    return None if amount is None else written(amount)


def rounded_up(value: Fraction, places: int = 18) -> str:
    return written(round_up(value, places))


def epsilon_of(loss: Fraction) -> str:
    """Return the ε of a loss e^ε, rounded up."""
    return written(epsilon_above(loss))


def plain_part(part: Any) -> dict[str, object]:
    """Return a part of a Plan as its bytes have it: keys in order."""
    return dict(sorted(to_document(part).items()))


def moment(at: datetime.datetime) -> str:
    return at.isoformat(timespec="seconds")


def document_of(record: RegisteredStudy, link: Callable[[str], str]) -> Document:
    """Return everything on a study's page; `link` makes an address of a path on this site."""
    content, study, slug = record.content, record.study, record.study.slug
    applies = {"how-many": content.n_is_public, "sent-as-given": bool(record.cleartext)}
    budget, (head, length) = record.account.budget.name, ledger.head()
    return {
        "format": FORMAT,
        "schema": link("/registry/schemas/study-5.json"),
        "as_of": moment(record.now),
        "study": slug,
        "title": content.title,
        "organisation": content.organisation,
        "purpose": content.purpose,
        "contact": content.contact,
        "results": content.results,
        "languages": list(content.languages),
        "unit": content.unit,
        "neighbours": content.neighbours,
        "model": record.model.value,
        "state": record.state,
        "answers": record.answers,
        "local": _local(record),
        "central": _central(record),
        "readers": _lost(record.readers),
        "burn": _burn(record),
        "households": [_household(household) for household in record.households],
        "at_risk": {
            "people": record.answers,
            "delta": rounded_up(record.cap.delta),
            "expected": pair(record.at_risk),
            "advised_delta": record.advised_delta and pair(record.advised_delta),
        },
        "shuffled": [_shuffled(batch) for batch in record.shuffled],
        "retirement": {
            "retires_on": study.retires_on,
            "retired_on": study.retired_on,
            "because": study.retired_because,
        },
        "waves": [_wave(plan) for plan in record.plans],
        "charges": [_charge(line) for line in record.statement.rows],
        "ledger": {
            "format": LEDGER_FORMAT,
            "head": head,
            "length": length,
            "budget": budget,
            "check": HOW_TO_CHECK,
            # up to the end that was read first: they belong together
            "rows": ledger.documents_about(budget, length),
        },
        "releases": [_publication(publication) for publication in record.published],
        "scripts": {"digest": scripts.digest(), "files": scripts.served()},
        "not_protected": {
            name: text for name, text in NOT_PROTECTED.items() if applies.get(name, True)
        },
        "links": {
            "form": link(f"/s/{slug}/") + f"#{record.plan.digest}",
            "page": link(f"/registry/{slug}/"),
            "deployment": link(f"/registry/{slug}.yaml"),
            "plan": link(f"/api/v1/studies/{slug}/plan"),
            "releases": link(f"/api/v1/studies/{slug}/releases"),
            "ledger": link("/registry/ledger.json"),
        },
    }


def _lost(loss: Loss) -> Document:
    return {"epsilon": written(loss.epsilon), "delta": rounded_up(loss.delta)}


def _local(record: RegisteredStudy) -> Document:
    """Say what who sees every message learns. Numbers are of answers that the device changes."""
    return {
        "infinite": bool(record.cleartext),
        "sent_as_given": record.cleartext,
        "loss": pair(record.loss),
        "epsilon": epsilon_of(record.loss),
        "worst_case_guess": pair(Guess(50, record.loss).chance),
        "worst_case_odds": pair(record.loss),
    }


def _central(record: RegisteredStudy) -> Document:
    """Say what the budget of publications holds, and what that promises readers."""
    account, budget, compared = record.account, record.account.budget, record.compared
    return {
        "budget": budget.name,
        "measure": NAMED[account.measure],
        "cap": written(account.cap),
        "cap_delta": exact(budget.delta),
        "spent": written(account.amount_spent),
        "spent_delta": rounded_up(account.spent.delta if account.spent else Fraction(0)),
        "left": written(account.amount_left),
        "left_delta": rounded_up(account.left.delta),
        "fixed_parts": budget.fixed_parts,
        "promised": _lost(record.cap),
        "lost": _lost(record.spent),
        "accountants": {
            "delta": rounded_up(compared.delta),
            "basic": exact(compared.basic),
            "advanced": exact(compared.advanced),
            "optimal": exact(compared.optimal),
            "zcdp": exact(compared.concentrated),
            "renyi": exact(compared.renyi),
        },
        **({"or": _other_measure(account)} if budget.is_either else {}),
    }


def _other_measure(account: Account) -> Document:
    """Return the other measure of a cap that holds by either."""
    sign = "ρ" if account.measure == "ε" else "ε"
    left = account.left.rho if sign == "ρ" else account.left.epsilon
    return {
        "measure": NAMED[sign],
        "cap": written(account.budget.cap_in(sign)),
        "left": None if left is None else written(account.left_in(sign)),
    }


def _burn(record: RegisteredStudy) -> Document:
    weeks = record.burn.weeks
    return {
        "per_week": rounded_up(record.burn.per_week, 12),
        "weeks": [{"ends": moment(week.ends), "amount": written(week.amount)} for week in weeks],
        "days_left": record.days_left,
        "weekly_limit": exact(record.account.budget.weekly),
    }


def _household(household: Household) -> Document:
    return {
        "people": household.people,
        "local": household.local and _lost(household.local),
        "spent": _lost(household.spent),
        "promised": _lost(household.cap),
    }


def _shuffled(batch: Shuffled) -> Document:
    return {
        "wave": batch.wave,
        "reports": batch.reports,
        "delta": rounded_up(USUAL_DELTA),
        "questions": {name: written(epsilon) for name, epsilon in batch.questions},
        "together": written(batch.together),
    }


def _wave(plan: Plan) -> Document:
    content = plan.content
    return {
        "wave": plan.wave,
        "plan": plan.digest,
        "opened_on": plan.opened_on,
        "closes_on": plan.closes_on,
        "closed_on": plan.closed_on,
        "loss": pair(content.loss),
        "epsilon": epsilon_of(content.loss),
        "caps": plain_part(content.caps),
        "publication": plain_part(content.publication),
        "questions": [_question(question) for question in RegisteredQuestion.all_of(plan)],
    }


def _question(registered: RegisteredQuestion) -> Document:
    """Return a question's own parts, those that it has, and what one answer loses."""
    parts, question = to_document(registered.question), registered.question
    document = {name: parts[name] for name in (*ALWAYS, *WHERE_USED) if name in parts}
    if question.loss is None:
        return {**document, "infinite": True}
    return {
        **document,
        "infinite": False,
        "channel": question.channel_document or question.channel.document(),
        **({"sent_in": question.together.name} if question.together else {}),
        "loss": pair(question.loss),
        "epsilon": epsilon_of(question.loss),
        # the chances that a message holds a choice: when given, when another was, by luck alone
        "odds": [
            {"own": pair(odds.own), "other": pair(odds.other), "luck": pair(odds.luck)}
            for odds in registered.odds
        ],
    }


def _charge(line: StatementLine) -> Document:
    """Return one publication, in the budget's own measure, and exactly what it was charged."""
    entry = line.entry
    return {
        "row": entry.position,
        "day": entry.day,
        "amount": written(line.exact_amount),
        "total": written(line.exact_total),
        "epsilon": exact(entry.epsilon),
        "rho": written(entry.rho or Decimal(0)),
        "delta": written(entry.delta or Decimal(0)),
        "part": entry.part,
        "what": entry.reason,
        "how": entry.mechanism,
        "sensitivity": entry.sensitivity,
        "who": entry.who,
        "statistic": entry.statistic,
        "digest": entry.digest,
        "published": entry.published,
    }


def _publication(publication: Publication) -> Document:
    plan = publication.request.plan
    return {
        "number": publication.number,
        "row": publication.entry.position,
        "wave": plan.wave,
        "plan": plan.digest,
        "kind": publication.request.kind,
        "published_on": publication.published_on,
        "answers": getattr(publication.release, "answers", None),
        "steps": len(publication.steps) if publication.series else None,
        "vouched": [
            {"row": cover.row, "sha256": cover.sha256, "step": cover.step, "found": cover.is_found}
            for cover in releases.covers(publication)
        ],
    }
