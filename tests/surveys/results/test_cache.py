"""Public pages are written once a minute for all strangers, and anew for who is signed in."""

import pytest

from surveys.design import services
from surveys.results import cache
from tests.conftest import NOW, TODAY, known_as

STUDY = "/registry/exam-honesty/"


@pytest.fixture(autouse=True)
def cached(settings):
    settings.PAGES_CACHED = True
    cache.pages.clear()


@pytest.fixture
def plan(draft):
    return services.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)


def test_strangers_get_the_page_of_this_minute_and_who_is_signed_in_a_new_one(plan, client):
    first, as_listed = client.get(STUDY).content, client.get("/registry/").content
    services.close_plan(plan_id=plan.pk, today=TODAY)
    assert client.get(STUDY).content == first
    assert client.get("/registry/").content == as_listed
    client.force_login(known_as("mira"))
    assert b"mira" in (own := client.get(STUDY).content)
    assert b"Closed" in own
    client.logout()
    assert client.get(STUDY).content == first
    cache.pages.clear()  # as a minute does
    assert client.get(STUDY).content != first


def test_another_language_address_or_search_is_another_page(plan, client):
    pages = {
        client.get(address, headers={"Accept-Language": language}).content
        for address in ("/registry/", "/registry/?q=nothing", STUDY)
        for language in ("en", "zh-hans")
    }
    assert len(pages) == 6


def test_what_is_not_there_is_looked_for_again(client, draft, request):
    assert client.get(STUDY).status_code == 404
    request.getfixturevalue("plan")
    assert client.get(STUDY).status_code == 200
