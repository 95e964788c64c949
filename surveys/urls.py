"""The doors of the house."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import TemplateView

urlpatterns = [
    path("", include("surveys.dashboard.urls")),
    path("", include("surveys.intake.urls")),
    path("", include("surveys.planning.urls")),
    path("", include("surveys.drafting.urls")),
    path("", include("surveys.limits.urls")),
    path("", include("surveys.people.urls")),
    path("", include("surveys.operations.urls")),
    path("i18n/", include("django.conf.urls.i18n")),
    path("api/v1/", include("surveys.api.urls")),
    path("registry/", include("surveys.registry.urls")),
    path("promises/", TemplateView.as_view(template_name="promises.html"), name="promises"),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
]
