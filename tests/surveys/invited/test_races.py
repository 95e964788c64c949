"""Workers, owners and people who fetch, all at once, on both engines."""

import json
import subprocess
import sys
from typing import Any

import pytest
from django.conf import settings

from tests.surveys.another_site import another_site
from tests.surveys.invited.racing import FETCHES

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("races")
    with another_site(folder) as environment:
        run = subprocess.run(
            [sys.executable, "-m", "tests.surveys.invited.racing"],
            env={**environment, "DJANGO_SETTINGS_MODULE": "surveys.settings"},
            cwd=settings.BASE_DIR,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    return json.loads(run.stdout.splitlines()[-1])


def test_who_is_added_beside_a_launch_is_invited_once(found: Any) -> None:
    launch = found["launch"]
    assert launch["remarks"] == []
    assert launch["doubles"] == 15, "of two owners with the same file one adds it"
    assert launch["people"] == launch["invited"] == launch["codes"] == 150


def test_three_workers_beside_owners_write_to_nobody_twice(found: Any) -> None:
    letter = found["letter"]
    assert letter["wrong"] == []
    assert letter["most"] == 1
    assert letter["left out"] == 0


def test_whom_a_letter_went_to_is_not_written_at_the_person(found: Any) -> None:
    """Else who got a reminder, and so has no ticket, could be read from the list for good."""
    assert found["letter"]["left a mark"] == 0


def test_whom_owners_remove_meanwhile_has_no_code_and_stays_counted(found: Any) -> None:
    letter = found["letter"]
    assert letter["codes of removed"] == 0
    assert letter["stay counted"]
    assert letter["added"] == [0, 10], "of two owners with the same people one adds them"
    assert letter["people"] == 150 - 25 + 10


def test_who_is_removed_between_a_code_and_its_telling_is_not_invited_again(found: Any) -> None:
    assert found["removed between"] == 0


def test_fifty_who_fetch_by_one_code_get_one_ticket(found: Any) -> None:
    code = found["code"]
    assert code["tickets"] == code["fetched"] == 1
    assert code["of the same"] + code["refused"] == FETCHES
    assert 1 <= code["of the same"] <= 2
