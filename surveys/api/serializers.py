from typing import Any

from rest_framework import serializers

from surveys.releases.models import Release


class ReleaseSerializer(serializers.ModelSerializer):
    """A release: its numbers with intervals, how they were made, and what they cost."""

    plan = serializers.CharField(source="request.plan.digest")
    wave = serializers.IntegerField(source="request.plan.wave")
    charge = serializers.SerializerMethodField()
    method = serializers.SerializerMethodField()

    class Meta:
        model = Release
        fields = ("plan", "wave", "published_on", "charge", "method", "numbers")

    def get_charge(self, release: Release) -> dict[str, Any]:
        entry = release.entry
        return {"epsilon": str(entry.epsilon), "row": entry.number, "statistic": entry.statistic}

    def get_method(self, release: Release) -> dict[str, Any]:
        content = release.request.plan.content
        return {"name": release.entry.mechanism, "unit": content["unit"], "neighbours": content["neighbours"]}

    def to_representation(self, instance: Release) -> dict[str, Any]:
        data = super().to_representation(instance)
        return {**data, **data.pop("numbers")}
