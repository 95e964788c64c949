"""What is kept of a report: first its values, until the next sweep; for good, only that it came."""

from django.db import models

from surveys.design.models import Plan


class Receipt(models.Model):
    """An accepted report, known by hashes that nobody without its random id can turn into an answer.

    They catch retries and conflicts, and answer “was it accepted?”, long after the values are gone.
    """

    id_digest = models.CharField(max_length=64, primary_key=True, help_text="SHA-256 of the report's id.")
    content_digest = models.CharField(max_length=64, help_text="SHA-256 of the report's id and its values.")
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="+")
    day = models.DateField()

    def __str__(self) -> str:
        return self.id_digest[:8]


class OpenReport(models.Model):
    """The values of an accepted report, until a sweep moves them into a batch and deletes this row."""

    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="+")
    values = models.TextField(
        help_text="Canonical JSON: one value for each question changed by chance, in the Plan's order."
    )
    given = models.BinaryField(default=b"", help_text="The packed answers that were sent as given, encrypted.")

    def __str__(self) -> str:
        return "a report"
