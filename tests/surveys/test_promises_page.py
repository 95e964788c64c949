"""The promises page names every script that a respondent's browser runs, and none that is not there."""

import re
from pathlib import Path

from django.conf import settings
from django.test import Client

SHIPPED = Path(settings.BASE_DIR) / "surveys" / "intake" / "static" / "intake"


def test_every_shipped_script_is_listed_and_every_listed_one_is_shipped(client: Client, db: None) -> None:
    page = client.get("/promises/").content.decode()
    listed = re.findall(r'href="[^"]*/intake/([^"/]+[.]js)"', page)
    assert set(listed) == {path.name for path in SHIPPED.glob("*.js")}
    assert len(listed) == len(set(listed))


def test_the_promises_hold_no_cookie(client: Client, db: None) -> None:
    assert not client.get("/promises/").cookies
