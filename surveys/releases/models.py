"""Requests and their releases, which are never changed or deleted."""

import json
from typing import Any

from django.db import models
from django.utils.functional import cached_property

from surveys.design.models import Plan
from surveys.encryption import open_sealed, seal
from surveys.ledger.models import Entry
from surveys.releases.numbers import Document, Numbers, NumbersField

ERASED = b"-"  # the state of a series that is over, once the files have lost it as well
SALT = "Hashed with the numbers: whoever may not read them cannot guess them from their digest."


class Request(models.Model):
    """What to publish: a canonical statistic on sealed batches, by a mechanism at a setting.

    Its words never change; `who` asked, and pays, stays once it is drawn. It waits for a worker
    from `confirmed_at` on, unless the ledger refused it: then `refused` says why, until somebody
    confirms it again.
    """

    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="requests")
    digest = models.CharField(
        max_length=64, unique=True, help_text="SHA-256 of the canonical statistic."
    )
    statistic: Any = models.JSONField()
    requested_on = models.DateField()
    who = models.CharField(max_length=150)
    confirmed_at = models.DateTimeField(help_text="When it was last asked for.")
    refused = models.CharField(
        max_length=500, blank=True, help_text="Why it could not be paid when it was last tried."
    )
    is_waiting = models.BooleanField(
        null=True, help_text="Confirmed, and neither drawn nor refused; empty once it is."
    )

    class Meta:
        ordering = ("pk",)
        indexes = (
            models.Index(
                fields=("confirmed_at",),
                condition=models.Q(is_waiting=True),
                name="requests_that_wait",
            ),
        )

    def __str__(self) -> str:
        return f"request {self.digest[:8]}"

    @property
    def kind(self) -> str:
        """Return what kind of statistic it asks for, such as "mean"."""
        return str(self.statistic["kind"])

    @property
    def parameters(self) -> Document:
        return dict(self.statistic["parameters"])


class Drawn(models.Model):
    """Numbers that were drawn once: a release, or a step of a series."""

    numbers: Any = NumbersField()
    salt = models.CharField(max_length=32, null=True, help_text=SALT)  # noqa: DJ001
    published_on = models.DateField()

    class Meta:
        abstract = True

    @cached_property
    def content(self) -> Numbers:
        """Return the numbers as values; `numbers` is the document that is hashed."""
        return Numbers.read(self.numbers)


class Release(Drawn):
    """Numbers drawn once, with everything derived from them, and the entry that paid for them."""

    request = models.OneToOneField(Request, on_delete=models.PROTECT, related_name="release")
    entry = models.OneToOneField(Entry, on_delete=models.PROTECT, related_name="+")
    published_at = models.DateTimeField(
        help_text="When: what the next of a series is counted from."
    )

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"release of {self.request}"


class Series(models.Model):
    """A mechanism that goes on after its first draw: paid for once, one step at a time.

    `state` is what the mechanism must remember between steps, noise and exact counts included:
    secret, and encrypted like the answers it comes from. It is erased when the series is over, and
    from the files soon after.
    """

    request = models.OneToOneField(Request, on_delete=models.PROTECT, related_name="series")
    entry = models.OneToOneField(Entry, on_delete=models.PROTECT, related_name="+")
    state = models.BinaryField(help_text="Encrypted.")
    steps = models.PositiveIntegerField(default=0)
    is_over = models.BooleanField(default=False)

    class Meta:
        verbose_name_plural = "series"
        indexes = (
            models.Index(
                fields=("request",), condition=models.Q(is_over=False), name="series_that_go_on"
            ),
        )

    def __str__(self) -> str:
        return f"series of {self.request}"

    @property
    def memory(self) -> Document:
        """What the mechanism remembers, opened."""
        memory: Document = json.loads(open_sealed(bytes(self.state), about=self._aad))
        return memory

    @memory.setter
    def memory(self, memory: Document) -> None:
        """Seal it; of a series that is over nothing is kept."""
        self.state = seal(json.dumps(memory).encode(), about=self._aad) if memory else b""

    @property
    def _aad(self) -> str:
        return f"series {self.request.digest}"


class Step(Drawn):
    """The numbers of one step of a series: drawn once, never changed."""

    series = models.ForeignKey(Series, on_delete=models.PROTECT, related_name="published")
    number = models.PositiveIntegerField(help_text="1 for the first step of its series.")
    question: Any = models.JSONField(
        null=True, help_text="What was asked at this step, if anything was."
    )
    published_at = models.DateTimeField()

    class Meta:
        ordering = ("series_id", "number")
        constraints = (
            models.UniqueConstraint(fields=("series", "number"), name="one_step_per_number"),
        )

    def __str__(self) -> str:
        return f"step {self.number} of {self.series}"

    @property
    def request(self) -> Request:
        return self.series.request

    @property
    def entry(self) -> Entry:
        return self.series.entry


class NotDue(models.Model):
    """What a Plan's rule found when it had nothing to publish: until that changes it is not asked
    again (agenda.py). It says nothing that the Plan, its tally and its releases do not.
    """

    plan = models.OneToOneField(
        Plan, on_delete=models.PROTECT, related_name="not_due", primary_key=True
    )
    sealed = models.PositiveIntegerField(help_text="Reports.")
    published = models.PositiveIntegerField(
        null=True,
        help_text="Reports that its last publication counted; empty: it is to count no more.",
    )
    was_open = models.BooleanField()
    until = models.DateTimeField(
        null=True, help_text="When time alone may make it due; empty: it does not."
    )

    class Meta:
        verbose_name_plural = "not due"

    def __str__(self) -> str:
        return f"{self.plan} is not due"
