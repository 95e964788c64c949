"""Numbers as people of this language write them."""

from decimal import Decimal

from django.utils.formats import number_format
from django.utils.translation import gettext as _

LONGEST = 12  # digits of a number that is said in full


def count(number: float) -> str:
    """Return a whole number."""
    return str(number_format(round(number), use_l10n=True, force_grouping=True))


def brief(number: int) -> str:
    """Return a whole number, of more digits than anybody reads how many it has."""
    if abs(number) < 10**LONGEST:
        return count(number)
    return _("a number of %(digits)s digits") % {"digits": len(str(abs(number)))}


def decimal_text(number: float, places: int) -> str:
    """Return a number rounded to so many places. (Django would cut it off.)"""
    return str(number_format(f"{number:.{places}f}", use_l10n=True, force_grouping=True))


def epsilon_text(epsilon: Decimal | float) -> str:
    """Return an ε with two places, three where it is small."""
    return decimal_text(float(epsilon), 2 if epsilon >= Decimal("0.1") else 3)
