"""Released numbers as lines of a file: one an option, each with its interval, its variance and the mechanism behind it.

Never a report: a line is a published number. Shares are in percent and their variances in squared points, as the pages
show them; `estimate` is unbiased and may be below 0, `projected` is what adds up to 100.
"""

import datetime
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dpengine.estimates import Variance
from surveys.dashboard.facts import epsilon_of
from surveys.design import documents
from surveys.design import queries as design
from surveys.releases.models import Release, Step
from surveys.releases.queries import Publication

MONTHS = 12
PARTS = ("sampling", "device", "publication")
LABELS = {  # of the columns, for people
    "study": gettext_lazy("Study, the last part of its address"),
    "wave": gettext_lazy("Wave"),
    "release": gettext_lazy("Release: its number in the study"),
    "step": gettext_lazy("Refresh of a series that was paid for at once"),
    "published_on": gettext_lazy("Day of publication"),
    "kind": gettext_lazy("Kind of statistic"),
    "table": gettext_lazy("Table"),
    "question": gettext_lazy("Question, its name in the plan"),
    "choice": gettext_lazy("Choice, its number in the plan, from 0"),
    "label": gettext_lazy("Choice, in words"),
    "estimate": gettext_lazy("Estimate, unbiased: it may be below 0 or above 100"),
    "low": gettext_lazy("Lower end of the 95 percent interval"),
    "high": gettext_lazy("Upper end of the 95 percent interval"),
    "standard_error": gettext_lazy("Standard error"),
    "unit": gettext_lazy("Unit of the estimate"),
    "variance_sampling": gettext_lazy("Variance from sampling, in squared units"),
    "variance_device": gettext_lazy("Variance from changes on devices, in squared units"),
    "variance_publication": gettext_lazy("Variance from publication noise, in squared units"),
    "note": gettext_lazy("What cannot be told apart"),
    "noisy_count": gettext_lazy(
        "Count of reports, with publication noise; of options to tick, those that say yes less those that say no"
    ),
    "projected": gettext_lazy("Nearest shares that add up to 100, for display"),
    "n": gettext_lazy("Answers counted, a public quantity"),
    "plain_answers": gettext_lazy("As precise as so many plain answers"),
    "protection": gettext_lazy("Protection of the answer: device, or publication only"),
    "local_epsilon": gettext_lazy("Local ε of one answer"),
    "odds_own": gettext_lazy("Chance that a report holds the choice when it was the answer"),
    "odds_other": gettext_lazy("Chance that a report holds the choice when it was not the answer"),
    "mechanism": gettext_lazy("Publication noise"),
    "sensitivity": gettext_lazy("Sensitivity of what got noise"),
    "charge_epsilon": gettext_lazy("ε charged for the whole release"),
    "charge_rho": gettext_lazy("ρ charged for the whole release"),
    "neighbours": gettext_lazy("Neighbouring data sets"),
    "privacy_unit": gettext_lazy("What one record is"),
    "plan": gettext_lazy("SHA-256 of the plan"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One published number."""

    study: str
    wave: int
    release: int
    step: int | None
    published_on: datetime.date
    kind: str
    table: str
    question: str
    choice: int | None
    label: str
    estimate: float | None
    low: float | None
    high: float | None
    standard_error: float | None
    unit: str
    variance_sampling: float | None
    variance_device: float | None
    variance_publication: float | None
    note: str
    noisy_count: int | None
    projected: float | None
    n: int
    plain_answers: int | None
    protection: str
    local_epsilon: float | None
    odds_own: float | None
    odds_other: float | None
    mechanism: str
    sensitivity: str
    charge_epsilon: str
    charge_rho: str
    neighbours: str
    privacy_unit: str
    plan: str


COLUMNS = tuple(field.name for field in fields(Line))


def lines_of(publications: Iterable[Publication]) -> list[Line]:
    """Return every number of these publications, in their order; of a series, all its steps."""
    found: list[Line] = []
    for publication in publications:
        made: list[Release | Step] = [publication.release] if publication.release else list(publication.steps)
        for each in made:
            found += _lines(publication, each)
    return found


def _lines(publication: Publication, made: Release | Step) -> Iterator[Line]:
    shared = _shared(publication, made)
    named = {question["name"]: question for question in publication.request.plan.content["questions"]}
    for found in made.numbers.get("questions", ()):
        for line in _of_question(named[found["name"]], found):
            yield Line(**shared, **line)
    for table in () if "questions" in made.numbers else made.numbers["tables"]:
        for row in table["rows"]:
            yield Line(**shared, **_of_row(table, row))


def _shared(publication: Publication, made: Release | Step) -> dict[str, Any]:
    plan, entry = publication.request.plan, publication.entry
    return {
        "study": plan.study.slug,
        "wave": plan.wave,
        "release": publication.number,
        "step": made.number if isinstance(made, Step) else None,
        "published_on": made.published_on,
        "kind": publication.request.kind,
        "n": int(made.numbers["n"]),
        "mechanism": entry.mechanism,
        "sensitivity": entry.sensitivity,
        "charge_epsilon": "" if entry.epsilon is None else str(entry.epsilon),
        "charge_rho": str(entry.rho),
        "neighbours": plan.content["neighbours"],
        "privacy_unit": plan.content["unit"],
        "plan": plan.digest,
    }


def _of_question(question: dict[str, Any], found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return a question's lines: of each choice; or its mean; or its ranges, its quartiles and its mean."""
    shared = {
        **dict.fromkeys(COLUMNS_OF_CHOICES),
        "table": question["label"],
        "question": question["name"],
        "plain_answers": found["as_precise_as"],
        "protection": question["protection"],
        "local_epsilon": epsilon_of(question["loss"]) if question["protection"] == "device" else None,
    }
    odds = design.odds_of(question) if question["protection"] == "device" else []
    is_month = bool(found.get("is_month"))
    for choice in found.get("choices", ()):
        yield {**shared, **_share(choice), **_choice(choice, odds)}
    for place, part in enumerate(found.get("ranges", ())):
        ends = {end: documents.said_month(part[end]) if is_month else part[end] for end in ("least", "most")}
        yield {**shared, **_share(part), "choice": place, "label": _("%(least)s to %(most)s") % ends}
    measured = [(_("%(part)s%% are at most this") % part, part) for part in found.get("quartiles", ())]
    measured += [(_("mean"), found["mean"])] if "mean" in found else []
    for label, part in measured:
        yield {**shared, **(_month(part, label) if is_month else _plain(part, label, found))}


def _plain(part: dict[str, Any], label: str, found: dict[str, Any]) -> dict[str, Any]:
    return {**_value(part, 1), "label": label, "unit": part.get("unit") or found.get("unit", "")}


def _month(part: dict[str, Any], label: str) -> dict[str, Any]:
    """Return a month as a year, 2022.75 for October 2022, and in words: nobody reads months since year 0."""
    words = {"what": label, "month": documents.said_month(part["estimate"])}
    return {**_value(part, 1 / MONTHS), "label": _("%(what)s: %(month)s") % words, "unit": "year"}


def _share(part: dict[str, Any]) -> dict[str, Any]:
    return {**_value(part, 100), "unit": "percent"}


def _value(part: dict[str, Any], times: float) -> dict[str, Any]:
    low, high = part["interval"]
    error, variance = part.get("standard_error"), part.get("variance")
    split = Variance.read(variance) if variance else None
    parts = split.document() if split else dict.fromkeys(PARTS)
    return {
        "estimate": times * part["estimate"],
        "low": times * low,
        "high": times * high,
        "standard_error": None if error is None else times * error,
        **{f"variance_{name}": None if size is None else times**2 * size for name, size in parts.items()},
        "note": _not_told(split) if split and not split.is_told_apart else "",
    }


def _not_told(split: Variance) -> str:
    """Say where the part of sampling is, which is empty: not 0, but hidden by the chance beside it."""
    if split.device:
        return _("sampling cannot be told apart from changes on devices: both are in variance_device")
    return _("sampling cannot be told apart from publication noise: both are in variance_publication")


def _choice(choice: dict[str, Any], odds: list[design.Odds]) -> dict[str, Any]:
    own = odds[choice["index"]] if len(odds) > choice["index"] else None
    return {
        "choice": choice["index"],
        "label": choice["choice"],
        "noisy_count": choice["noisy_count"],
        "projected": 100 * choice["projected"],
        "odds_own": float(own.own) if own else None,
        "odds_other": float(own.other) if own else None,
    }


def _of_row(table: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    return {
        **dict.fromkeys(COLUMNS_OF_CHOICES),
        "table": table["caption"],
        "question": "",
        "label": _worded(row),
        "estimate": _number(row["value"]),
        "low": _number(row.get("low")),
        "high": _number(row.get("high")),
        "standard_error": _number(row.get("standard_error")),
        "unit": row.get("unit") or "",
        "note": "",
        "protection": "",
    }


COLUMNS_OF_CHOICES = (
    "choice",
    *(f"variance_{part}" for part in PARTS),
    "noisy_count",
    "projected",
    "plain_answers",
    "local_epsilon",
    "odds_own",
    "odds_other",
)


def _worded(row: dict[str, Any]) -> str:
    """Return a row's words: with its value, where that is a word and no number."""
    value = row["value"]
    return f"{row['label']}: {value}" if value is not None and _number(value) is None else str(row["label"])


def _number(value: Any) -> float | None:
    """Return a number, or none where a release says in words that there is none."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_number else None
