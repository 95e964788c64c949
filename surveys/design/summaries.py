"""What lists say of a Plan without reading its document: a row that is written when it opens.

A wave's summary is of the study so far: what one record loses in all its waves, and whether any of
their answers are sent as given.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dpengine.privacy import epsilon_above, loss_of_all
from surveys.design.models import Plan, Summary, Unit
from surveys.plan.content import PlanContent

Changed = Summary.Changed


def loss_of(waves: Sequence[PlanContent]) -> Fraction:
    """Return e^ε of one record whose answers are changed on the device, as far as they are, in all
    waves that it is in.
    """
    losses = [content.loss for content in waves]
    is_of_wave = waves[0].unit == Unit.RESPONDENT_IN_WAVE
    return max(losses) if is_of_wave else loss_of_all(losses)


def changed_in(waves: Sequence[PlanContent]) -> Changed:
    """Return which answers of these waves are changed on the device."""
    if not any(content.cleartext for content in waves):
        return Changed.ALL
    return Changed.SOME if loss_of(waves) > 1 else Changed.NONE


def summarise(plan: Plan) -> Summary:
    """Write down what lists say of a Plan that has just opened."""
    waves = Plan.objects.filter(study=plan.study_id, wave__lte=plan.wave).order_by("-wave")
    return Summary.objects.create(plan=plan, **read_off([each.content for each in waves]))


def read_off(waves: Sequence[PlanContent]) -> dict[str, Any]:
    """Return the columns of a summary, from these waves, the newest first."""
    newest = waves[0]
    return {
        "title": newest.title,
        "words": f"{newest.title} {newest.organisation}".casefold(),
        "unit": newest.unit,
        "changed": changed_in(waves),
        "epsilon": int(epsilon_above(loss_of(waves)).scaleb(9)),
        "smallest_batch": newest.publication.smallest_batch,
    }
