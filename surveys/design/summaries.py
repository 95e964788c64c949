"""What lists say of a Plan without reading its document: a row that is written when it opens.

A wave's summary is of the study so far: what one record loses in all its waves, and whether any of
their answers are sent as given.
"""

from collections.abc import Sequence
from fractions import Fraction

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
    contents = [each.content for each in waves]
    return Summary.objects.create(
        plan=plan,
        title=plan.content.title,
        words=f"{plan.content.title} {plan.content.organisation}".casefold(),
        unit=plan.content.unit,
        changed=changed_in(contents),
        epsilon=int(epsilon_above(loss_of(contents)).scaleb(9)),
        smallest_batch=plan.content.publication.smallest_batch,
    )
