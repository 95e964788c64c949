"""What Django's admin shows, and to whom: `may` is asked here as everywhere. It changes nothing."""

from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest
from django.shortcuts import redirect

from surveys.people.models import Right as Right
from surveys.people.selectors import may


class ReadOnly:
    """Nothing is added, changed or deleted here: studies, budgets and accounts have screens for
    that. Who may see it has a right on the site; Django's own permissions are not asked.
    """

    right: ClassVar[Right]
    list_filter: ClassVar[Any] = ()

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may(request.user, Right.ENTER) and may(request.user, self.right)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def _is_nobodys(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_add_permission = has_change_permission = has_delete_permission = _is_nobodys

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Refuse a filter that no list offers: one could be asked for a password's hash, a sign at
        a time.
        """
        return any(lookup == name or lookup.startswith(f"{name}__") for name in self.list_filter)


class Site(admin.AdminSite):
    """Django's admin, for whoever may enter it. What other packages would change here (groups,
    e-mail addresses, second factors) is not shown at all.
    """

    def has_permission(self, request: HttpRequest) -> bool:
        return may(request.user, Right.ENTER)

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        if admin_class is not None and issubclass(admin_class, ReadOnly):
            super().register(model_or_iterable, admin_class, **options)

    def password_change(self, request: HttpRequest, extra_context: Any = None) -> Any:
        return redirect("account_change_password")
