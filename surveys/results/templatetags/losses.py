"""Losses and chances as pages show them."""

from collections.abc import Iterable

from django import template

from surveys.charts import scales
from surveys.results import privacy_loss
from surveys.results.presenters import StudyPresenter
from surveys.results.registered import RegisteredStudy

register = template.Library()
register.filter("epsilon", privacy_loss.shown)
register.filter("times", privacy_loss.times)
register.filter("chance", scales.chance_text)
register.filter("chance_below", scales.chance_text_below)


@register.filter
def with_words(records: Iterable[RegisteredStudy]) -> list[tuple[RegisteredStudy, StudyPresenter]]:
    """Return each study beside what pages say of it."""
    return [(record, StudyPresenter(record)) for record in records]
