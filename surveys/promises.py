"""The page of promises, and of what is not promised."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.views.decorators.http import require_safe

from surveys.intake.bundles import MODULES


@require_safe
def promises(request: HttpRequest) -> HttpResponse:
    """Show it, with every module of the form, as written."""
    names = sorted(path.name for path in MODULES.glob("*.js"))
    return render(request, "promises.html", {"modules": [(name, static(f"intake/{name}")) for name in names]})
