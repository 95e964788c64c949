"""Settings of an issuer by itself (`manage.py issuer`): of a site's, what it needs, and no address
but its own. Its database may be a file of its own, also in production.
"""

from surveys.settings import *  # noqa: F403 (all that it shares)

ROOT_URLCONF = "surveys.issuer.urls"
INSTALLED_APPS = ["surveys.issuer", "surveys.apps.HallConfig"]
MIDDLEWARE = [
    "surveys.middleware.ClosedDoors",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
TEMPLATES: list[dict[str, object]] = []
HAS_SERVERS = False
ISSUER_URL = ""  # it is here
