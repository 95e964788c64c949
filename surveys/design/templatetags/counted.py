"""How many people numbers are about, on a page."""

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from surveys.design.models import Plan
from surveys.design.wording import neighbours_of
from surveys.plan.content import PlanContent

register = template.Library()


@register.filter
def neighbours(content: PlanContent) -> str:
    """Return what two neighbouring sets of answers differ in."""
    return neighbours_of(content)


@register.filter
def people(n: int, plan: Plan) -> str:
    """Return how many there are: “about” so many where that is published with noise only."""
    said = intcomma(n)
    return said if plan.content.n_is_public else _("about %(n)s") % {"n": said}
