"""Published numbers on a page: as text, and as intervals on a scale."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dpengine.estimates import Estimate, Variance
from surveys.charts.intervals import Interval
from surveys.charts.scales import Scale, percent
from surveys.dashboard.publications import key_of
from surveys.dashboard.tables import Row, Spread

register = template.Library()
register.filter("percent", percent)
register.filter("key", key_of)


@register.inclusion_tag("charts/interval.html")
def interval(number: Spread, scale: Scale) -> dict[str, object]:
    """Draw a number with its interval: in parts, where its noises can be told apart."""
    if number.value is None:
        return {"scale": scale, "row": None}
    if not isinstance(number, Estimate):
        number = Estimate(number.value, number.low, number.high, Variance(0.0, 0.0, 0.0))
    return {"scale": scale, "row": Interval.of(scale, number)}


@register.simple_tag
def estimate(row: Row, unit: str = "") -> SafeString:
    """Return an estimate as it is shown, with its value and its interval's ends for machines: empty
    where it has none.
    """
    parts = (row.number.value, row.number.low, row.number.high)
    return format_html(
        '<data class="estimate" value="{}" data-low="{}" data-high="{}"><b>{}{}</b></data>',
        *("" if part is None else f"{part}" for part in parts),
        row.value,
        unit,
    )
