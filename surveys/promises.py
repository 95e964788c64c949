"""The page of promises, and of what is not promised."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.http import require_safe

from surveys.intake import bundles


@require_safe
def promises(request: HttpRequest) -> HttpResponse:
    """Show it, with every module of the form as written, and where what runs is served."""
    names = sorted(path.name for path in bundles.MODULES.glob("*.js"))
    modules = [(name, static(f"intake/{name}")) for name in names]
    runs = static(f"{bundles.FOLDER}/plain.js")
    plan = request.build_absolute_uri(reverse("plan", args=["NAME"]))
    return render(request, "promises.html", {"modules": modules, "runs": runs, "plan": plan})
