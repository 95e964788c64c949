"""Columns that hold exactly what was said: amounts and moments as whole numbers.

SQLite keeps decimals as binary floats, which cannot be compared with a cap, and moments as text
that can be written in several ways. A whole number has one form on every engine, so that any change
of it is a change of what it says.
"""

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models

from dpengine.privacy import plain

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
MICROSECOND = datetime.timedelta(microseconds=1)

if TYPE_CHECKING:
    ExactField = models.Field[
        Decimal | int | str | None, Any
    ]  # Any: a Decimal, or None where the column is null
    TimeField = models.Field[datetime.datetime, datetime.datetime]
else:
    ExactField = TimeField = models.Field


class AmountField(ExactField):
    """An exact amount: a Decimal in Python, a whole number of its last place in the database.

    Rounding is the caller's choice, made once (up for charges, down for caps): an amount with more
    places is refused.
    """

    places: ClassVar[int]
    sign: ClassVar[str]
    digits_before: ClassVar[int]  # of the point, at most: what 64 bits hold

    default_validators = [MinValueValidator(Decimal(0))]

    def get_internal_type(self) -> str:
        return "BigIntegerField"

    def from_db_value(self, value: int | None, *args: Any) -> Decimal | None:
        return None if value is None else amount_of(value, self.places)

    def to_python(self, value: Any) -> Decimal | None:
        return value if value is None or isinstance(value, Decimal) else Decimal(str(value))

    def get_prep_value(self, value: Any) -> int | None:
        if value is None:
            return None
        scaled = (
            Fraction(Decimal(value)) * 10**self.places
        )  # exact: a Decimal's own arithmetic rounds to 28 digits
        if scaled.denominator != 1:
            raise ValidationError(f"{self.sign} has at most {self.places} decimals, got {value}")
        return int(scaled)

    def formfield(self, **kwargs: Any) -> Any:
        digits = self.places + self.digits_before
        return super().formfield(
            **{
                "form_class": forms.DecimalField,
                "decimal_places": self.places,
                "max_digits": digits,
                **kwargs,
            }
        )


class EpsilonField(AmountField):
    """An ε, in billionths."""

    places, sign, digits_before = 9, "an ε", 3


class RhoField(AmountField):
    """A ρ, in units of 10⁻¹²."""

    places, sign, digits_before = 12, "a ρ", 3


class DeltaField(AmountField):
    """A δ, in units of 10⁻¹⁸."""

    places, sign, digits_before = 18, "a δ", 1


class MomentField(TimeField):
    """A moment in UTC: microseconds since 1970 in the database."""

    def get_internal_type(self) -> str:
        return "BigIntegerField"

    def from_db_value(self, value: int | None, *args: Any) -> datetime.datetime | None:
        return None if value is None else moment_of(value)

    def get_prep_value(self, value: datetime.datetime | None) -> int | None:
        return None if value is None else (value - EPOCH) // MICROSECOND


def amount_of(whole: int, places: int) -> Decimal:
    """Return the amount that a whole number of its last place stands for."""
    return plain(Decimal(whole).scaleb(-places))


def written(amount: Decimal) -> str:
    """Return an amount without trailing zeros and without an exponent: 0.0000004, not 4E-7."""
    return f"{plain(amount):f}"


def moment_of(microseconds: int) -> datetime.datetime:
    return EPOCH + microseconds * MICROSECOND
