"""Numbers that pages tell machines too: <data class="cap" value="2" data-in="ε">2.00</data>.

Whoever reads several pages of a study can so compare what they tell: `tests/walk` does.
"""

from typing import Any

from django import template
from django.utils.formats import localize
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def fact(kind: str, value: Any, measure: str = "") -> SafeString:
    """Return a number as pages show it, with its kind, and its value with a decimal point.
    `measure`: ε or ρ, of an amount.
    """
    of = format_html(' data-in="{}"', measure) if measure else ""
    text = localize(value)
    return format_html('<data class="{}" value="{}"{}>{}</data>', kind, f"{value}", of, text)


@register.simple_tag
def amount(kind: str, of: Any, name: str = "") -> SafeString:
    """Return a part of a statement of a budget, such as its cap, in the budget's measure."""
    return fact(kind, getattr(of, name or kind), of.measure)
