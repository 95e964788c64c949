"""Doors that commit at once at the edge of a limit: sound, and slightly more at most."""

import json
import subprocess
import sys

import pytest
from django.conf import settings

from tests.surveys.another_site import another_site
from tests.surveys.intake.filling import DOORS, GROUP, MOST

pytestmark = pytest.mark.django_db


def test_doors_at_once_take_a_group_each_too_many_at_most_and_nothing_is_lost(tmp_path):
    with another_site(tmp_path) as environment:
        run = subprocess.run(
            [sys.executable, "-m", "tests.surveys.intake.filling"],
            env={**environment, "DJANGO_SETTINGS_MODULE": "surveys.settings"},
            cwd=settings.BASE_DIR,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    found = json.loads(run.stdout.splitlines()[-1])
    assert not found["is_open"]
    assert MOST <= found["taken"] < MOST + DOORS * GROUP
    assert found["taken"] == found["receipts"] == found["sealed"]
