"""Budgets and their entries. Rows are only ever added; the database itself refuses the rest (migration 0002)."""

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models

from dpengine.privacy import plain

PLACES = 9  # decimals of an ε: amounts are exact multiples of 10⁻⁹


if TYPE_CHECKING:
    ExactField = models.Field[Decimal | int | str, Decimal]
else:
    ExactField = models.Field


class EpsilonField(ExactField):
    """An exact ε: a Decimal in Python, a whole number of billionths in the database.

    SQLite keeps decimals as binary floats, which cannot be compared with a cap. Rounding is the
    caller's choice, made once (up for charges, down for caps): an ε with more places is refused.
    """

    default_validators = [MinValueValidator(Decimal(0))]

    def get_internal_type(self) -> str:
        return "BigIntegerField"

    def from_db_value(self, value: int | None, *args: Any) -> Decimal | None:
        return None if value is None else plain(Decimal(value).scaleb(-PLACES))

    def to_python(self, value: Any) -> Decimal | None:
        return value if value is None or isinstance(value, Decimal) else Decimal(str(value))

    def get_prep_value(self, value: Any) -> int | None:
        if value is None:
            return None
        scaled = Decimal(value).scaleb(PLACES)
        if scaled != scaled.to_integral_value():
            raise ValidationError(f"an ε has at most {PLACES} decimals, got {value}")
        return int(scaled)

    def formfield(self, **kwargs: Any) -> Any:
        return super().formfield(
            **{"form_class": forms.DecimalField, "decimal_places": PLACES, "max_digits": 12, **kwargs}
        )

    def value_to_string(self, obj: models.Model) -> str:
        return str(self.value_from_object(obj))


class Budget(models.Model):
    """How much privacy may be lost in all: one central cap, for one unit and one kind of neighbours."""

    name = models.CharField(max_length=80, unique=True, help_text="Whose budget it is, such as study:health.")
    unit = models.CharField(max_length=40)
    neighbours = models.CharField(max_length=20)
    cap = EpsilonField()

    class Meta:
        constraints = (models.CheckConstraint(condition=models.Q(cap__gt=0), name="cap_above_zero"),)

    def __str__(self) -> str:
        return self.name


class Entry(models.Model):
    """One charge: what was spent, on what, how, when, and at whose wish."""

    budget = models.ForeignKey(Budget, on_delete=models.PROTECT, related_name="entries")
    number = models.PositiveIntegerField(help_text="1 for the first entry of its budget.")
    epsilon = EpsilonField()
    statistic = models.CharField(max_length=64, help_text="SHA-256 of the canonical request.")
    reason = models.CharField(max_length=200)
    mechanism = models.CharField(max_length=200)
    who = models.CharField(max_length=150)
    day = models.DateField()

    class Meta:
        ordering = ("budget_id", "number")
        constraints = (
            models.UniqueConstraint(fields=("budget", "number"), name="one_entry_per_number"),
            models.UniqueConstraint(fields=("budget", "statistic"), name="one_charge_per_statistic"),
            models.CheckConstraint(condition=models.Q(epsilon__gt=0), name="charge_above_zero"),
        )
        verbose_name_plural = "entries"

    def __str__(self) -> str:
        return f"{self.budget} #{self.number}"
