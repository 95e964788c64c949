"""The promises page names every script that a respondent's browser runs, and none that is not
there.
"""

import re
from pathlib import Path

from django.conf import settings
from django.test import Client

from tests.surveys.results.small import open_small

SHIPPED = Path(settings.BASE_DIR) / "surveys" / "intake" / "static" / "intake"


def test_every_shipped_script_is_listed_and_every_listed_one_is_shipped(
    client: Client, db: None
) -> None:
    page = client.get("/promises/").content.decode()
    listed = re.findall(r'href="[^"]*/intake/([^"/]+[.]js)"', page)
    assert set(listed) == {path.name for path in SHIPPED.glob("*.js")}
    assert len(listed) == len(set(listed))


def test_the_promises_hold_no_cookie(client: Client, db: None) -> None:
    assert not client.get("/promises/").cookies


def test_what_is_not_promised_is_told_and_can_be_reached_from_every_form(
    client: Client, db: None
) -> None:
    assert "smoking causes cancer" in client.get("/promises/").content.decode()
    plan = open_small()
    assert (
        'href="/promises/#not-protected"' in client.get(f"/s/{plan.study.slug}/").content.decode()
    )


def test_bounds_on_odds_say_for_whom_they_hold_and_that_a_delta_is_no_bound(
    client: Client, db: None
) -> None:
    page = client.get("/promises/").content.decode()
    assert "For someone who knows everyone else’s answers, the odds" in page
    assert "more than twice as much with a probability of at most 2δ" in page
