"""Show what is stored in English to readers of any language."""

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from surveys.releases import words

register = template.Library()


@register.filter
def told(text: Any) -> str:
    """Say a stored text in the reader's language, if it is one of this site's own; somebody's own words stay."""
    return words.told(str(text)) if text else ""


@register.filter
def stored(text: Any) -> str | SafeString:
    """Say a stored text of this site's own in the reader's language; one that cannot be is marked as English."""
    if words.is_foreign(said := str(text or "")):
        return format_html('<span lang="en">{}</span>', said)
    return words.told(said)
