"""The version stands in one place, and pages and doctor tell it."""

import datetime

from django.test import Client

from dpengine import __version__
from surveys.operations import doctor


def test_pages_and_doctor_tell_the_version(db, client: Client):
    assert __version__ in client.get("/").content.decode()
    found = doctor.look(now=datetime.datetime.now(datetime.UTC), url=None)
    assert [line.said for line in found if line.name == "version"] == [__version__]
