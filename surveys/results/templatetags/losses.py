"""Losses and chances as pages show them."""

from django import template

from surveys.charts import scales
from surveys.results import privacy_loss

register = template.Library()
register.filter("epsilon", privacy_loss.shown)
register.filter("times", privacy_loss.times)
register.filter("chance", scales.chance_text)
register.filter("chance_below", scales.chance_text_below)
