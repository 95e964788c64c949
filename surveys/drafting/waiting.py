"""What keeps a draft from opening: what is wrong with it, and with the list that it asks."""

from surveys.design.models import Study
from surveys.design.readiness import Problem, Readiness
from surveys.drafting.access import today
from surveys.invited import selectors as lists


def problems_of(study: Study, readiness: Readiness) -> list[Problem]:
    """Return all that can be told now: while a list is not fit, nothing of the terms can."""
    found = readiness.problems(today())
    if waits_for_list := lists.problems(study):
        return waits_for_list + [each for each in found if each.question or each.language]
    return found
