"""Published numbers on a page: in words, and as intervals on a scale."""

from collections.abc import Sequence
from typing import Any

from django import template
from django.utils.translation import gettext as _

from dpengine.estimates import Estimate, Variance
from surveys.charts.intervals import Interval
from surveys.charts.scales import Scale
from surveys.results.tables import WithInterval

register = template.Library()


@register.inclusion_tag("charts/interval.html")
def interval(number: WithInterval, scale: Scale) -> dict[str, object]:
    """Draw a number with its interval: in parts, where its noises can be told apart."""
    if number.value is None:
        return {"scale": scale, "row": None}
    if not isinstance(number, Estimate):
        number = Estimate(number.value, number.low, number.high, Variance(0.0, 0.0, 0.0))
    return {"scale": scale, "row": Interval.of(scale, number)}


@register.inclusion_tag("results/columns.html")
def columns(
    rows: Sequence[Any],
    caption: str,
    look: str = "slim",
    empty: str = "",
    is_read: bool = False,
    **heads: str,
) -> dict[str, object]:
    """Show rows in words: under each head what they have by that name, as `part__of_it` too.

    A column without a head is left out, and one that is empty in every row if no word is given for
    an `empty` cell. `is_read`: the caption is for all, not only for those who listen.
    """
    variables = [
        (head, template.Variable(f"row.{name.replace('__', '.')}"))
        for name, head in heads.items()
        if head
    ]
    cells = [
        (head, [variable.resolve({"row": row}) for row in rows]) for head, variable in variables
    ]
    cells = [(head, column) for head, column in cells if empty or any(column)]
    return {
        "caption": caption,
        "look": look,
        "is_stacked": "cards" in look,  # on a phone
        "empty": empty or _("none"),
        "is_read": is_read,
        "heads": [head for head, _column in cells],
        "lines": [[(head, column[at]) for head, column in cells] for at in range(len(rows))],
    }
