"""Batches and tallies. Neither is ever shown, and neither is in the admin."""

from typing import Any

from django.db import models

from surveys.design.models import Plan


class Batch(models.Model):
    """One sweep's reports: shuffled, packed into a column a question, sealed. No order, no ids,
    no time but the day.
    """

    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="+")
    number = models.PositiveIntegerField(help_text="1 for the first batch of its Plan.")
    size = models.PositiveIntegerField(help_text="Reports.")
    columns = models.BinaryField(
        help_text="The packed columns of what was changed by chance, one after the other, in the "
        "Plan's order."
    )
    given = models.BinaryField(
        default=b"", help_text="The packed columns of what was sent as given, encrypted."
    )
    strata: Any = models.JSONField(
        null=True,
        help_text="How many of its reports are of each stratum of the Plan; empty where they are "
        "not told apart.",
    )
    sealed_on = models.DateField()

    class Meta:
        ordering = ("plan_id", "number")
        constraints = (
            models.UniqueConstraint(fields=("plan", "number"), name="one_batch_per_number"),
        )


class Tally(models.Model):
    """Exact counts of all sealed reports of a Plan, of what was changed by chance only:
    {question: [count, …]}.
    """

    plan = models.OneToOneField(Plan, on_delete=models.PROTECT, related_name="+", primary_key=True)
    reports = models.PositiveIntegerField(default=0)
    batches = models.PositiveIntegerField(default=0)
    counts: Any = models.JSONField(default=dict)


class Settling(models.Model):
    """The last day on whose morning tables were written anew: the one row there is."""

    day = models.DateField()
