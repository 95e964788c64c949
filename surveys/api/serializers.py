from typing import Any

from rest_framework import serializers

from dpengine.estimates import Variance
from surveys.people.queries import public_name
from surveys.releases import queries as releases
from surveys.releases.queries import Cover, Publication, asked_of

HOW_TO_CHECK = (
    "The row of /registry/ledger.json at each `row` holds, as `published`, the SHA-256 of the document here as JSON "
    "with sorted keys, no spaces and UTF-8."
)


class PublicationSerializer(serializers.Serializer[Publication]):
    """A release or a series: its numbers with intervals, how they were made, and what they cost."""

    def to_representation(self, instance: Publication) -> dict[str, Any]:
        request, content = instance.request, instance.request.plan.content
        return {
            "number": instance.number,
            "kind": request.kind,
            "title": instance.title,
            "asked_by": request.who if instance.is_by_rule else public_name(request.who),
            "parameters": asked_of(request).document(),
            "plan": request.plan.digest,
            "wave": request.plan.wave,
            "published_on": instance.published_on.isoformat(),
            "charge": _charge(instance),
            "method": {
                "name": instance.entry.mechanism,
                "sensitivity": instance.entry.sensitivity,
                "unit": content["unit"],
                "neighbours": content["neighbours"],
            },
            **_numbers(instance),
        }


def _charge(publication: Publication) -> dict[str, Any]:
    entry = publication.entry
    return {
        "epsilon": None if entry.epsilon is None else str(entry.epsilon),
        "rho": str(entry.rho),
        "delta": str(entry.delta),
        "row": entry.position,
        "statistic": entry.statistic,
    }


def _numbers(publication: Publication) -> dict[str, Any]:
    """Return the numbers of a release, or all steps of a series, oldest first."""
    if publication.release is not None:
        return _plain(publication.release.numbers)
    steps = [
        {
            "step": step.number,
            "question": step.question,
            "published_on": step.published_on.isoformat(),
            **_plain(step.numbers),
        }
        for step in publication.steps
    ]
    return {"is_over": bool(publication.series and publication.series.is_over), "steps": steps}


def _plain(numbers: dict[str, Any]) -> dict[str, Any]:
    """Return published numbers; the words of their method under a name of their own."""
    kept = {name: _told(value) for name, value in numbers.items() if name != "method"}
    return {**kept, "in_words": numbers.get("method", "")}


def _told(value: Any) -> Any:
    """Return numbers with null for a variance that cannot be told apart: what was drawn long ago has 0 there."""
    if isinstance(value, list):
        return [_told(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {name: _told(each) for name, each in value.items()}
    return found | ({"variance": Variance.read(value["variance"]).document()} if value.get("variance") else {})


def published(cover: Cover) -> dict[str, Any]:
    """Return a document that the ledger vouches for, in the row that does."""
    return {"row": cover.row, "sha256": cover.sha256, "document": releases.document_of(cover.made)}
