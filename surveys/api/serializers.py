"""What was published from a study, as the API serves it: amounts are decimal strings."""

from decimal import Decimal
from typing import Any

from dpengine.estimates import Variance
from surveys.people.selectors import public_name
from surveys.releases.covered import Cover, document_of
from surveys.releases.numbers import Document
from surveys.releases.selectors import Publication

HOW_TO_CHECK = (
    "The row of /registry/ledger.json at each `row` holds, as `published`, the SHA-256 of the "
    "document here as JSON with sorted keys, no spaces and UTF-8."
)


def publication_document(publication: Publication) -> Document:
    """Return a release or a series: its numbers with intervals, how they were made, what they cost.

    It ends in the numbers of a release, or in all steps of a series, oldest first.
    """
    request, entry, plan = publication.request, publication.entry, publication.request.plan
    return {
        "number": publication.number,
        "kind": request.kind,
        "title": publication.title,
        "asked_by": request.who if publication.is_by_rule else public_name(request.who),
        "parameters": publication.query.document(),
        "plan": plan.digest,
        "wave": plan.wave,
        "published_on": publication.published_on,
        "charge": {
            "epsilon": _text(entry.epsilon),
            "rho": _text(entry.rho),
            "delta": _text(entry.delta),
            "row": entry.position,
            "statistic": entry.statistic,
        },
        "method": {
            "name": entry.mechanism,
            "sensitivity": entry.sensitivity,
            "unit": plan.content.unit,
            "neighbours": plan.content.neighbours,
        },
        **_numbers_of(publication),
    }


def cover_document(cover: Cover) -> Document:
    """Return a document that the ledger vouches for, with the row that does."""
    return {"row": cover.row, "sha256": cover.sha256, "document": document_of(cover.drawn)}


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else str(amount)


def _numbers_of(publication: Publication) -> Document:
    if publication.release is not None:
        return _plain(publication.release.numbers)
    is_over = publication.series is not None and publication.series.is_over
    steps = [
        {
            "step": step.number,
            "question": step.question,
            "published_on": step.published_on,
            **_plain(step.numbers),
        }
        for step in publication.steps
    ]
    return {"is_over": is_over, "steps": steps}


def _plain(numbers: dict[str, object]) -> dict[str, object]:
    """Return published numbers; the words of their method under a name of their own."""
    document = {name: _with_variances(value) for name, value in numbers.items() if name != "method"}
    return {**document, "in_words": numbers.get("method", "")}


def _with_variances(value: Any) -> Any:
    """Return numbers with null for a variance that cannot be told apart: what was drawn long ago
    has 0 there.
    """
    if isinstance(value, list):
        return [_with_variances(item) for item in value]
    if not isinstance(value, dict):
        return value
    document = {name: _with_variances(item) for name, item in value.items()}
    return document | (
        {"variance": Variance.read(value["variance"]).document()} if value.get("variance") else {}
    )
