"""The doors of the house."""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path
from django.views.generic import TemplateView

urlpatterns = [
    path("", include("surveys.dashboard.urls")),
    path("", include("surveys.intake.urls")),
    path("api/v1/", include("surveys.api.urls")),
    path("registry/", include("surveys.registry.urls")),
    path("promises/", TemplateView.as_view(template_name="promises.html"), name="promises"),
    path("accounts/login/", auth.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("accounts/logout/", auth.LogoutView.as_view(), name="logout"),
    path("admin/", admin.site.urls),
]
