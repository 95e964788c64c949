"""Numbers as the planner writes them."""

from django import template

from surveys.planning.wording import count, decimal_text

register = template.Library()
register.filter("count", count)
register.filter("decimal", decimal_text)
register.filter("epsilon")


@register.filter
def percent(share: float) -> str:
    return decimal_text(100 * share, 1)
