"""The door for reports, by itself: what granian serves by its interface RSGI, beside the pages of
`surveys/wsgi.py`. It refuses to start on unsafe settings.
"""

import os

import django
from django.core.checks import Tags

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "surveys.settings")
django.setup()

from surveys.checks import refuse_to_start_if_unsafe  # noqa: E402 (first the settings)
from surveys.intake.rsgi import Door  # noqa: E402
from surveys.operations.refusals import count  # noqa: E402

refuse_to_start_if_unsafe(Tags.security)  # others would load every page
app = Door(note=count)
