"""Published numbers on a page: as text, and as intervals on a scale."""

from django import template

from dpengine.estimates import Estimate, Variance
from surveys.charts.intervals import Interval
from surveys.charts.scales import Scale, percent
from surveys.dashboard.publications import key_of
from surveys.dashboard.tables import Spread

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
