"""The doors of the house."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path
from django.urls.converters import IntConverter
from django.views.decorators.csrf import csrf_exempt
from django.views.i18n import set_language

from surveys import guides, well_known
from surveys.promises import promises

# No column holds more digits: a longer number is nothing's, in the addresses of others' packages
# too.
IntConverter.regex = "[0-9]{1,18}"
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign] # one door, with both factors

urlpatterns = [
    path("", include("surveys.drafting.urls")),  # first: studies/new/ is no study's name
    path("", include("surveys.invited.urls")),
    path("", include("surveys.results.urls")),
    path("", include("surveys.intake.urls")),
    path("", include("surveys.issuer.urls")),
    path("", include("surveys.planning.urls")),
    path("", include("surveys.limits.urls")),
    path("", include("surveys.people.urls")),
    path("", include("surveys.operations.urls")),
    # Nothing but this browser's language changes: no token, so that a stranger's page needs no
    # cookie.
    path("language/", csrf_exempt(set_language), name="set_language"),
    path("api/v1/", include("surveys.api.urls")),
    path("promises/", promises, name="promises"),
    path("robots.txt", well_known.robots, name="robots"),
    path(".well-known/security.txt", well_known.security, name="security"),
    path("help/", guides.read, name="help"),
    path("help/<slug:name>/", guides.read, name="guide"),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
]
