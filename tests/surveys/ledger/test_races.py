"""Many at once, and some killed on the way: no budget is overspent, and totals are what rows say."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from tests.surveys.another_site import another_site

pytestmark = pytest.mark.django_db


def test_no_budget_is_overspent_and_totals_are_what_rows_say(tmp_path: Path) -> None:
    with another_site(tmp_path) as environment:
        run = subprocess.run(
            [sys.executable, "-m", "tests.surveys.ledger.racing"],
            env={**environment, "DJANGO_SETTINGS_MODULE": "surveys.settings"},
            cwd=settings.BASE_DIR,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    found = json.loads(run.stdout.splitlines()[-1])
    assert found["faults"] == []
    assert found["heard"]["paid"] == found["counted"]["study:x"] == 18
    assert (found["left"], found["written"]) == ("0", found["counted"])
    assert found["counted"]["study:z"] == 20
    assert found["counted"]["study:y"] + found["heard"]["together refused"] == 64
