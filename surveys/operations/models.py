"""What the site notes about itself: that something was done, when, and whether it went well.
Nothing of respondents.
"""

import datetime

from django.db import models

from surveys.clock import OFF


class Event(models.Model):
    """A backup, a check of the ledger, or what was erased taken out of the database's log."""

    class Kind(models.TextChoices):
        BACKUP = "backup", "a backup"
        VERIFICATION = "verification", "a check of the ledger"
        FORGETTING = "forgetting", "what was erased taken out of the log"

    kind = models.CharField(max_length=20, choices=Kind)
    at = models.DateTimeField()
    went_well = models.BooleanField()
    said = models.CharField(max_length=500, blank=True)
    size = models.PositiveBigIntegerField(
        null=True, help_text="Bytes, of a backup; rows, of a check."
    )

    class Meta:
        ordering = ("-at",)

    @classmethod
    def done(cls, kind: str, now: datetime.datetime) -> "models.QuerySet[Event]":
        """Return those of a kind, the newest first; none that a clock ahead noted for later."""
        return cls.objects.filter(kind=kind, at__lte=now + OFF)


class Sign(models.Model):
    """When something was last seen: that the worker works, that the scheduler sends; or since
    when a sweep is owed.
    """

    name = models.CharField(max_length=30, primary_key=True)
    at = models.DateTimeField()


class Alarm(models.Model):
    """What is wrong now, since when, and whether a letter has said so."""

    name = models.CharField(max_length=60, primary_key=True)
    since = models.DateTimeField()
    told = models.BooleanField(default=False)
    tried = models.DateTimeField(null=True, help_text="Since when a process sends its letter.")


class Refusal(models.Model):
    """How many reports were turned away on a day, by reason: never what they held, nor of which
    study.
    """

    day = models.DateField()
    reason = models.CharField(max_length=20)
    count = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("-day", "reason")
        constraints = (
            models.UniqueConstraint(fields=("day", "reason"), name="one_count_per_day_and_reason"),
        )
