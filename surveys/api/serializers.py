"""What was published from a study, as the API serves it: amounts are decimal strings."""

from typing import Any

from rest_framework.serializers import (
    CharField,
    DateField,
    IntegerField,
    JSONField,
    Serializer,
    SerializerMethodField,
)

from dpengine.estimates import Variance
from surveys.ledger.models import Entry
from surveys.people.selectors import public_name
from surveys.releases.covered import Cover, document_of
from surveys.releases.models import Step
from surveys.releases.selectors import Publication

HOW_TO_CHECK = (
    "The row of /registry/ledger.json at each `row` holds, as `published`, the SHA-256 of the "
    "document here as JSON with sorted keys, no spaces and UTF-8."
)


class ChargeSerializer(Serializer[Entry]):
    epsilon = CharField()
    rho = CharField()
    delta = CharField()
    row = IntegerField(source="position")
    statistic = CharField()


class MethodSerializer(Serializer[Publication]):
    name = CharField(source="entry.mechanism")
    sensitivity = CharField(source="entry.sensitivity")
    unit = CharField(source="request.plan.content.unit")
    neighbours = CharField(source="request.plan.content.neighbours")


class StepSerializer(Serializer[Step]):
    """One step of a series, with its numbers."""

    step = IntegerField(source="number")
    question = JSONField()
    published_on = DateField()

    def to_representation(self, instance: Step) -> dict[str, object]:
        return {**super().to_representation(instance), **_plain(instance.numbers)}


class PublicationSerializer(Serializer[Publication]):
    """A release or a series: its numbers with intervals, how they were made, and what they cost."""

    number = IntegerField()
    kind = CharField(source="request.kind")
    title = CharField()
    asked_by = SerializerMethodField()
    parameters = JSONField(source="query.document")
    plan = CharField(source="request.plan.digest")
    wave = IntegerField(source="request.plan.wave")
    published_on = DateField()
    charge = ChargeSerializer(source="entry")
    method = MethodSerializer(source="*")

    def get_asked_by(self, publication: Publication) -> str:
        who = publication.request.who
        return who if publication.is_by_rule else public_name(who)

    def to_representation(self, instance: Publication) -> dict[str, object]:
        """Add the numbers of a release, or all steps of a series, oldest first."""
        document = super().to_representation(instance)
        if instance.release is not None:
            return {**document, **_plain(instance.release.numbers)}
        is_over = instance.series is not None and instance.series.is_over
        steps = [StepSerializer(step).data for step in instance.steps]
        return {**document, "is_over": is_over, "steps": steps}


class CoverSerializer(Serializer[Cover]):
    """A document that the ledger vouches for, in the row that does."""

    row = IntegerField()
    sha256 = CharField()
    document = SerializerMethodField()

    def get_document(self, cover: Cover) -> dict[str, object]:
        return document_of(cover.drawn)


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
