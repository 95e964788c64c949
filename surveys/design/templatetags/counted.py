"""Whom and how many people numbers are about, on a page."""

from django import template
from django.utils.translation import gettext, ngettext

from surveys.design import wording
from surveys.design.models import Plan, Unit
from surveys.plan.content import PlanContent

register = template.Library()
register.filter("neighbours", wording.neighbours_of)
register.filter("of_person", wording.of_person)


@register.filter
def record(content: PlanContent) -> str:
    """Return what one record is."""
    return str(Unit(content.unit).label)


@register.filter
def whom(content: PlanContent) -> str:
    """Return what a publication's loss is about."""
    return wording.whom(content.unit)


@register.filter
def people(n: int, plan: Plan) -> str:
    return wording.people_of(n, plan.content)


@register.filter
def responses(n: int | None, plan: Plan) -> str:
    """Say how many responses a study has; None: nothing is told of it."""
    if n is None:
        return gettext("the number of responses is protected")
    return ngettext("%(n)s response", "%(n)s responses", n) % {"n": people(n, plan)}
