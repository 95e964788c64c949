"""Budgets, and the chain of rows that says what became of them.

Rows are only ever added; the database itself refuses the rest (its migration). Each row holds the
digest of the one before and its own, over all its columns (chain.py), so that a changed or missing
row shows.
"""

import datetime
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from dpengine.accounting.concentrated import rho_of
from dpengine.accounting.filters import (
    Charge,
    ConcentratedFilter,
    EitherFilter,
    Filter,
    PureFilter,
)
from dpengine.contraction import Reading
from dpengine.privacy import Cost, Neighbours
from surveys.ledger import reads
from surveys.ledger.fields import AmountField, DeltaField, EpsilonField, MomentField, RhoField

__all__ = [
    "AmountField",
    "Budget",
    "Counts",
    "DeltaField",
    "Entry",
    "EpsilonField",
    "Head",
    "Kind",
    "RhoField",
    "Side",
    "Total",
]

DIGEST = 64  # hexadecimal digits of a SHA-256
LONGEST_READING = 100_000


class Side(models.TextChoices):
    """Who adds the chance that is paid for."""

    CENTRAL = "central", "what publications lose"
    LOCAL = "local", "what answers lose on the device"


class Counts(models.TextChoices):
    """Whose loss charges are."""

    ANSWERS = "answers", "what answers lose, through their devices’ chance"


class Kind(models.TextChoices):
    CHARGE = "charge", "a charge"
    ACT = "act", "an act of an admin"


class Budget(models.Model):
    """How much privacy one unit may lose in all, for one kind of neighbours: ε, or (ρ, δ), or
    either of them (`pure_epsilon` beside ρ and δ).
    """

    name = models.CharField(
        max_length=255, unique=True, help_text="Whose budget it is, such as study:health."
    )
    side = models.CharField(max_length=10, choices=Side, default=Side.CENTRAL)
    unit = models.CharField(max_length=40)
    neighbours = models.CharField(max_length=20)
    fixed_parts = models.BooleanField(
        default=False, help_text="No neighbour can move a person to another part."
    )
    counts = models.CharField(  # noqa: DJ001
        max_length=20,
        choices=Counts,
        blank=True,
        null=True,
        help_text="Whose loss charges are; empty in older budgets: what reports lose.",
    )
    epsilon = EpsilonField(blank=True, null=True, help_text="The cap on Σε, of a pure budget.")
    rho = RhoField(blank=True, null=True, help_text="The cap on Σρ, of a concentrated budget.")
    delta = DeltaField(default=0, help_text="The cap on Σδ, of a concentrated budget.")
    pure_epsilon = EpsilonField(
        blank=True,
        null=True,
        help_text="The cap on Σε that is enough too, of a concentrated budget; empty in older "
        "ones.",
    )
    weekly = RhoField(
        blank=True, null=True, help_text="What any seven days may cost, in ε or ρ as the cap is."
    )
    retired_on = models.DateField(blank=True, null=True)
    within = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        blank=True,
        null=True,
        related_name="shares",
        help_text="The budget that is charged too: of the study that this is a share of.",
    )
    holder = models.CharField(  # noqa: DJ001
        max_length=150, blank=True, null=True, help_text="Whose share it is, by pseudonym."
    )

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(epsilon__gt=0, rho=None, delta=0)
                | Q(epsilon=None, rho__gt=0, delta__gte=0),
                name="budget_is_pure_or_concentrated",
            ),
            models.CheckConstraint(
                condition=Q(weekly=None) | Q(weekly__gt=0), name="weekly_limit_above_zero"
            ),
            models.UniqueConstraint(
                fields=("within", "holder"),
                condition=Q(holder__isnull=False),
                name="one_share_per_person",
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def is_pure(self) -> bool:
        return self.epsilon is not None

    @property
    def counts_answers(self) -> bool:
        """Tell whether charges are what answers lose, and not what reports lose."""
        return self.counts == Counts.ANSWERS

    @property
    def is_either(self) -> bool:
        """Tell whether a charge that fits in ε, or in ρ and δ, is admitted."""
        return self.pure_epsilon is not None

    @property
    def measure(self) -> str:
        """Return the sign in which the cap is said."""
        return "ε" if self.is_pure or self.is_either else "ρ"

    @property
    def cap(self) -> Decimal:
        """Return the cap in the budget's own measure."""
        return self.cap_in(self.measure)

    def cap_in(self, measure: str) -> Decimal:
        """Return the cap in ε, or in ρ."""
        epsilon: Decimal = self.epsilon if self.is_pure else self.pure_epsilon
        rho: Decimal = self.rho
        return epsilon if measure == "ε" else rho

    @property
    def filter(self) -> Filter:
        """Return what decides whether one more charge can be paid."""
        return self.filter_to(self.cap)

    def filter_to(self, cap: Decimal) -> Filter:
        """Return the filter of a budget with these terms and another cap."""
        amount, delta = Fraction(cap), Fraction(self.delta)
        terms = Neighbours(self.neighbours), self.fixed_parts
        if self.is_pure:
            return PureFilter(amount, *terms)
        if self.is_either:
            return EitherFilter(Fraction(self.rho_at(cap)), delta, *terms, epsilon=amount)
        return ConcentratedFilter(amount, delta, *terms)

    def rho_at(self, epsilon: Decimal) -> Decimal:
        """Return the ρ that keeps ε at a δ as large as that of mechanisms; never a larger one."""
        if epsilon == self.pure_epsilon and self.rho is not None:
            return Decimal(self.rho)
        rho = rho_of(Fraction(epsilon), Fraction(self.delta))
        return rho if self.rho is None else min(Decimal(self.rho), rho)


class Charges(models.Manager["Entry"]):
    """The rows that cost something."""

    def get_queryset(self) -> models.QuerySet["Entry"]:
        return super().get_queryset().filter(kind=Kind.CHARGE)


class Entry(models.Model):
    """One row: a charge to a budget, or an act that touches what may be lost. Public: when, why, by
    which pseudonym.

    `published` vouches for numbers; `reads` says what a charge is of, where it is what answers
    lose: then its amounts are what it adds to what they lost before, which can be nothing. Both
    were added later: rows without them are hashed as they were before (chain.py).
    """

    position = models.PositiveBigIntegerField(
        primary_key=True, help_text="1 for the first row of the site."
    )
    kind = models.CharField(max_length=10, choices=Kind)
    budget = models.ForeignKey(
        Budget, on_delete=models.PROTECT, blank=True, null=True, related_name="entries"
    )
    number = models.PositiveIntegerField(
        blank=True, null=True, help_text="1 for the first row of its budget."
    )
    epsilon = EpsilonField(blank=True, null=True)
    rho = RhoField(blank=True, null=True)
    delta = DeltaField(blank=True, null=True)
    statistic = models.CharField(  # noqa: DJ001
        max_length=DIGEST, blank=True, null=True, help_text="SHA-256 of the request."
    )
    reason = models.CharField(max_length=200, blank=True, help_text="What was paid for.")
    mechanism = models.CharField(max_length=200, blank=True)
    sensitivity = models.CharField(max_length=200, blank=True)
    part = models.CharField(
        max_length=200, blank=True, help_text="Which part of the people; empty for everyone."
    )
    what = models.CharField(max_length=120, blank=True, help_text="What was done, in an act.")
    old = models.CharField(max_length=500, blank=True)
    new = models.CharField(max_length=500, blank=True)
    why = models.CharField(max_length=500, blank=True)
    published = models.CharField(  # noqa: DJ001
        max_length=DIGEST, blank=True, null=True, help_text="SHA-256 of what came of it."
    )
    reads = models.CharField(  # noqa: DJ001
        max_length=LONGEST_READING,
        blank=True,
        null=True,
        help_text="Which reports it read, through what noise, where answers’ losses count.",
    )
    who = models.CharField(
        max_length=150, help_text="A person’s pseudonym, or what acted by itself."
    )
    at = MomentField(help_text="When, in UTC.")
    previous = models.CharField(max_length=DIGEST, help_text="The digest of the row before.")
    digest = models.CharField(max_length=DIGEST, unique=True, help_text="SHA-256 of the row.")

    objects = models.Manager()
    charges = Charges()

    class Meta:
        ordering = ("position",)
        constraints = (
            models.UniqueConstraint(fields=("budget", "number"), name="one_entry_per_number"),
            models.UniqueConstraint(
                fields=("budget", "statistic"), name="one_charge_per_statistic"
            ),
            models.CheckConstraint(
                condition=Q(kind=Kind.ACT, epsilon=None, rho=None, delta=None, statistic=None)
                | Q(
                    kind=Kind.CHARGE,
                    budget__isnull=False,
                    statistic__isnull=False,
                    rho__gte=0,
                    delta__gte=0,
                ),
                name="charges_have_a_cost",
            ),
            models.CheckConstraint(
                condition=Q(epsilon=None) | Q(epsilon__gt=0) | Q(reads__isnull=False),
                name="charge_above_zero",
            ),
        )
        indexes = (
            models.Index(fields=("budget", "kind", "at"), name="charges_of_a_time"),
            models.Index(fields=("who",), name="rows_by_who"),
        )
        verbose_name = _("row of the ledger")
        verbose_name_plural = _("rows of the ledger")

    def __str__(self) -> str:
        return f"row {self.position}"

    @property
    def day(self) -> datetime.date:
        return self.at.date()

    @property
    def cost(self) -> Cost:
        """Return what a charge cost, as it was rounded and written."""
        epsilon = None if self.epsilon is None else Fraction(self.epsilon)
        return Cost(rho=Fraction(self.rho), delta=Fraction(self.delta), epsilon=epsilon)

    @cached_property
    def reading(self) -> Reading:
        """Return what it read. ValueError if it does not say."""
        return reads.from_text(self.reads or "")

    @property
    def again(self) -> Cost:
        """Return what the same charge made again would ask for."""
        return replace(self.cost, reading=self.reading) if self.reads else self.cost

    @property
    def charge(self) -> Charge:
        return Charge(self.part, self.cost)


class Total(models.Model):
    """What the charges to a budget add up to: written with each of them, under the budget's lock,
    and before it: the database refuses a charge that its total does not count.

    The rows stay the truth: verification adds them up anew, and names a total that says otherwise.
    """

    budget = models.OneToOneField(
        Budget, on_delete=models.PROTECT, primary_key=True, related_name="total"
    )
    charges = models.PositiveIntegerField(help_text="How many.")
    number = models.PositiveIntegerField(help_text="Of the last charge, among the budget’s rows.")
    position = models.PositiveBigIntegerField(help_text="Of the last charge, in the chain.")
    first_at = MomentField(help_text="When the first charge was, in UTC.")
    parts = models.TextField(help_text="JSON: sums for each part of the people (totals.py).")
    reads = models.TextField(
        blank=True, help_text="JSON: all that charges read, added up, where answers’ losses count."
    )

    def __str__(self) -> str:
        return f"{self.charges} charges"

    @property
    def columns(self) -> dict[str, Any]:
        """Return them as the database holds them."""
        fields = self._meta.concrete_fields
        return {field.name: field.get_prep_value(getattr(self, field.attname)) for field in fields}


class Head(models.Model):
    """The end of the chain, one row, which every writer holds until its transaction ends."""

    length = models.PositiveBigIntegerField(default=0)
    digest = models.CharField(max_length=DIGEST)

    class Meta:
        verbose_name = _("head of the chain")

    def __str__(self) -> str:
        return f"{self.length} rows"
