"""What Django's admin only shows."""

from typing import Any

from django.http import HttpRequest


class ReadOnly:
    """Nothing is added, changed or deleted here: studies and budgets have screens for that."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
