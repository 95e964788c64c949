"""Read what was published."""

from collections.abc import Iterable

from surveys.aggregation import queries as aggregation
from surveys.design.models import Plan, Study
from surveys.releases.models import Release


def releases_of(study: Study) -> list[Release]:
    """Return a study's releases, newest first."""
    found = Release.objects.filter(request__plan__study=study)
    return list(found.select_related("request__plan", "entry").order_by("-pk"))


def latest_releases(plans: Iterable[Plan]) -> dict[int, Release]:
    """Return the newest release of each Plan that has one, by Plan id."""
    found = Release.objects.filter(request__plan__in=plans).select_related("request", "entry").order_by("pk")
    return {release.request.plan_id: release for release in found}


def answers_so_far(plan: Plan) -> int:
    """Return how many reports came: the one public quantity of a change-one study."""
    return aggregation.received(plan)
