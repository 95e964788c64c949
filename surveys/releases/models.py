"""Requests, and the releases that answered them. A release is never changed or deleted (migration 0002)."""

from typing import Any

from django.db import models

from surveys.design.models import Plan
from surveys.ledger.models import Entry


class Request(models.Model):
    """What to publish: a canonical statistic on named, sealed batches, by a mechanism with its parameters."""

    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="requests")
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the canonical statistic.")
    statistic: Any = models.JSONField()
    requested_on = models.DateField()
    who = models.CharField(max_length=150)

    def __str__(self) -> str:
        return f"request {self.digest[:8]}"


class Release(models.Model):
    """Numbers drawn once, with everything derived from them, and the entry that paid for them."""

    request = models.OneToOneField(Request, on_delete=models.PROTECT, related_name="release")
    entry = models.OneToOneField(Entry, on_delete=models.PROTECT, related_name="+")
    numbers: Any = models.JSONField()
    published_on = models.DateField()
    published_at = models.DateTimeField(help_text="When: what the next of a series is counted from.")

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"release of {self.request}"
