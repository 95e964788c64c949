"""Show what is stored in English to readers of any language."""

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from surveys.messages import is_foreign, translate

register = template.Library()


@register.filter
def told(text: Any) -> str:
    """Say a stored text of this site's own in the reader's language; anybody else's stays."""
    return translate(text) if text else ""


@register.filter
def stored(text: Any) -> str | SafeString:
    """Say the same; a text that can only be shown in English is marked as English."""
    if text and is_foreign(text):
        return format_html('<span lang="en">{}</span>', text)
    return told(text)
