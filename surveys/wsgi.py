"""The WSGI application that granian serves. It refuses to start on unsafe settings."""

import os

from django.core.wsgi import get_wsgi_application

from surveys.checks import refuse_to_start_if_unsafe

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "surveys.settings")

application = get_wsgi_application()
refuse_to_start_if_unsafe()
