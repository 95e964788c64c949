"""Losses and chances as pages show them."""

from django import template

from surveys.registry import privacy_loss

register = template.Library()
register.filter("epsilon", privacy_loss.shown)
register.filter("times", privacy_loss.times)
register.filter("chance", privacy_loss.small)
register.filter("chance_below", privacy_loss.small_below)
