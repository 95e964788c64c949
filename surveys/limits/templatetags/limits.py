"""Look a thing up by a name that a template holds."""

from collections.abc import Mapping
from typing import Any

from django import template

register = template.Library()


@register.filter
def of(mapping: Mapping[str, Any], name: str) -> Any:
    return mapping.get(name) if mapping else None  # a study that is open has no fields
