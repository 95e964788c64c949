"""What is kept of a report: first its values, until the next sweep; for good, only that it came.

On PostgreSQL both tables of receipts are in 16 parts by the first digit of the digest
(`receipt_tables.py`), and open reports in a table a Plan (`report_tables.py`).
No table here has a foreign key in the database: a Plan is never deleted,
and these tables are written anew by what erases.
"""

from typing import Any

from django.db import models

from surveys.design.models import Plan
from surveys.sealed_keys import SealedKey


def _plan(**options: Any) -> Any:
    return models.ForeignKey(
        Plan, on_delete=models.PROTECT, related_name="+", db_constraint=False, **options
    )


class AnyReceipt(models.Model):
    """An accepted report, known by hashes that nobody without its random id can turn into an
    answer.

    They catch retries and conflicts, and answer “was it accepted?”, long after the values are gone.
    """

    id_digest = models.BinaryField(
        max_length=32, primary_key=True, help_text="SHA-256 of the report's id."
    )
    content_digest = models.BinaryField(
        max_length=32,
        help_text="HMAC-SHA-256 of its id and values, under a key that goes when the study "
        "retires.",
    )
    plan = _plan(db_index=False)
    day = models.DateField()

    class Meta:
        abstract = True


class Receipt(AnyReceipt):
    """A receipt of today: this table has them in the order in which they came, so it keeps none
    overnight.
    """


class Settled(AnyReceipt):
    """A receipt of an earlier day, written with all others of that day at once, in the order of
    their digests.
    """


class DigestKey(SealedKey):
    """What keys the content digests of a Plan's receipts, encrypted; destroyed when the study
    retires.
    """

    plan = models.OneToOneField(
        Plan, on_delete=models.PROTECT, related_name="+", primary_key=True, db_constraint=False
    )
    opens = "receipts"

    @property
    def about(self) -> str:
        return f"key of the receipts of plan {self.plan.digest}"


class OpenReport(models.Model):
    """The values of an accepted report until a sweep; `report_tables.py` says where they stand."""

    plan = _plan(db_index=False)
    values = models.TextField(
        help_text="Canonical JSON: one value for each question changed by chance, in the Plan's "
        "order."
    )
    given = models.BinaryField(
        default=b"", help_text="The packed answers that were sent as given, encrypted."
    )
    stratum = models.PositiveSmallIntegerField(
        null=True, help_text="By its place in the Plan; empty where reports are not told apart."
    )


class Counted(models.Model):
    """How many reports of a Plan with a list had been accepted at the last midnight, by stratum:
    what closes it. The report that fills a stratum would show when it came, were it closed at once.
    """

    plan = _plan(db_index=False)
    stratum = models.PositiveSmallIntegerField(default=0, help_text="0 where there are none.")
    reports = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("plan", "stratum"), name="intake_counted_once"),
        )


class Sealed(models.Model):
    """How many reports of a Plan sweeps have taken, by stratum: of Plans with strata, and of those
    that close once so many have come.
    """

    plan = _plan(db_index=False)
    stratum = models.PositiveSmallIntegerField(default=0, help_text="0 where there are none.")
    reports = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("plan", "stratum"), name="intake_sealed_once"),
        )


class News(models.Model):
    """That a report of a Plan came, or that it closed, since a sweep looked: written by triggers.

    Not one row a Plan: doors would wait for one another at it, or a sweep take it away from a
    report that is not there yet.
    """

    plan = _plan(db_index=False)


class Unswept(models.Model):
    """How many reports of a retired study were erased before a sweep: with those that are sealed,
    how many were accepted.
    """

    plan = models.OneToOneField(
        Plan, on_delete=models.PROTECT, related_name="+", primary_key=True, db_constraint=False
    )
    reports = models.PositiveBigIntegerField(default=0)
