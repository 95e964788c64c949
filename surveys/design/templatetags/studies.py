"""The pages of a study and the state it is in, in the same words on every page of it."""

import datetime
from dataclasses import dataclass
from typing import Any

from django import template
from django.utils.translation import gettext_lazy, pgettext_lazy

from surveys.design import days, waves, wording
from surveys.zones import UTC

register = template.Library()
register.filter("planned_waves", wording.waves_of)
STEPS = {  # by the last part of the address, in the order in which they are used
    "plan": pgettext_lazy("step", "Plan"),
    "build": gettext_lazy("Build"),
    "rehearse": gettext_lazy("Simulate"),
    "list": gettext_lazy("Invite"),
    "launch": gettext_lazy("Launch"),
    "collect": gettext_lazy("Collect"),
    "results": gettext_lazy("Results"),
    "limits": gettext_lazy("Limits"),
    "people": gettext_lazy("People"),
}


@dataclass(frozen=True, slots=True)
class Step:
    """One page of a study, and whether it is the present one."""

    name: str
    address: str
    is_here: bool


@register.inclusion_tag("studies/steps.html")
def steps(study: Any, here: str) -> dict[str, list[Step]]:
    """Show the way through a study's pages."""
    root = f"/studies/{study.slug}/"
    return {
        "steps": [
            Step(str(name), root if step == "results" else f"{root}{step}/", step == here)
            for step, name in STEPS.items()
            if step != "list" or study.is_invited
        ]
    }


@register.simple_tag
def has_next_wave(study: Any) -> bool:
    """Tell whether a wave after the newest one could publish anything."""
    return not waves.problem_of_next(study)


@register.filter
def last_day(plan: Any) -> str:
    """Tell the last day of a wave with its time zone."""
    return days.told(plan.closes_on, plan.zone)


@register.filter
def utc_day(day: datetime.date | None) -> str:
    """Tell a day that is one in UTC in every study."""
    return days.told(day, UTC)


@register.inclusion_tag("studies/badge.html")
def badge(study: Any, plan: Any = None) -> dict[str, Any]:
    """Show where a study stands, by its newest Plan."""
    return {"status": wording.StudyStatus.of(study, plan or study.plan)}


@register.inclusion_tag("icon.html")
def icon(name: str) -> dict[str, str]:
    """Draw one of the site's icons, for the eye only."""
    return {"name": name}
