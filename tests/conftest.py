"""Fixtures: small studies, people who answer them, and the days on which they do."""

import datetime
from collections.abc import Callable, Iterator
from decimal import Decimal
from threading import BoundedSemaphore
from typing import Any

import hypothesis
import pytest
from django.db import connection
from msgspec import convert

from surveys import streams
from surveys.brakes import Brake
from surveys.demo.services import answer_as_browsers
from surveys.design import documents, services as design
from surveys.design.models import Plan, Study
from surveys.intake import door, posts
from surveys.intake.shelf import Shelf
from surveys.issuer import signing
from surveys.people import services as people
from surveys.plan.content import Invited
from tests import tickets
from tests.plans import sent_as_one

# an example may take long on a busy machine
hypothesis.settings.register_profile("house", deadline=None)
hypothesis.settings.load_profile("house")

NOW = datetime.datetime(2026, 5, 11, 12, tzinfo=datetime.UTC)
TODAY = NOW.date()

MORE: dict[str, Any] = {  # than a study with answers sent as given usually may have
    "given_cap": Decimal(20),
    "given_batch": 10,
    "given_why": "Nobody's answers: a test.",
    "given_by": "root",
}
STUDY: dict[str, Any] = {
    "slug": "exam-honesty",
    "title": "Exam honesty",
    "organisation": "Brightwater College",
    "purpose": "To learn how common copying is.",
    "contact": "asks@example.org",
    "cap": Decimal(2),
    "release_epsilon": Decimal(1),
    "smallest_batch": 10,
    "widest": 100,  # not what is asked here
    **MORE,
}
QUESTIONS: list[dict[str, Any]] = [
    {"name": "copied", "kind": "yes_no", "text": "Have you copied in an exam?", "label": "Copied"},
    {"name": "fair", "kind": "likert", "text": "Exams here are fair.", "label": "Exams are fair"},
    {
        "name": "often",
        "kind": "single",
        "text": "How often?",
        "label": "How often",
        "choices": "Never\nOnce\nOften",
        "may_decline": True,
    },
]


LONGEST = (  # files that one process is busy with for a minute or more
    "walk/test_defaults",
    "walk/test_array",
    "test_schedules",
    "test_who_took_part",
    "walk/test_insider",
    "test_audit",
    "operations/test_up",
    "test_checks",
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave tests marked for one engine to the run on that engine, and tests that open no database
    to the run on SQLite; `make test` runs both. The longest files come first, so that the other
    process does not wait for one of them at the end.
    """
    here = [item for item in items if concerns(item, connection.vendor)]
    here.sort(key=lambda item: not item.nodeid.partition(".py")[0].endswith(LONGEST))
    config.hook.pytest_deselected(items=list(set(items) - set(here)))
    items[:] = here


def concerns(item: pytest.Item, vendor: str) -> bool:
    if any(mark.args != (vendor,) for mark in item.iter_markers("engine")):
        return False
    if vendor == "sqlite" or "journeys" in item.path.parts or item.get_closest_marker("django_db"):
        return True
    fixtures = item._fixtureinfo.name2fixturedefs  # type: ignore[attr-defined]
    own = (each for (*_, each) in fixtures.values() if "pytest_django" not in each.func.__module__)
    by_hand = any("django_db_setup" in fixture.argnames for fixture in own)
    return by_hand or not {"db", "transactional_db"}.isdisjoint(fixtures)


@pytest.fixture(autouse=True)
def one_factor(settings: Any) -> None:
    """Let admins in by one factor, as in the demo, so that a test of something else need not
    show two; and quickly.
    """
    settings.ADMINS_NEED_SECOND_FACTOR = False
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def nobody_came_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let no test be slowed down by what another one sent: buckets are in the process's memory."""
    brake = Brake()
    monkeypatch.setattr(door, "brake", brake)
    monkeypatch.setattr(posts, "shelf", Shelf())  # of rows that another test's rollback took
    # here, who fetches a document and does not read it holds its place until memory is tidied
    monkeypatch.setattr(streams, "places", BoundedSemaphore(1_000))
    yield
    if brake.places.end:
        brake.places.end.cancel()


@pytest.fixture(autouse=True)
def keys_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let issuers take keys that are there already."""
    monkeypatch.setattr(signing, "new_key", tickets.issued())


@pytest.fixture
def now() -> datetime.datetime:
    return NOW


@pytest.fixture
def today() -> datetime.date:
    return TODAY


@pytest.fixture
def draft(db: None) -> Study:
    return design.draft_study(study=STUDY, questions=QUESTIONS)


@pytest.fixture
def two_waves(draft: Study) -> None:
    """Have the study plan two waves, by a key that stays on devices."""
    draft.waves, draft.draws = 2, "kept"
    draft.save()


@pytest.fixture
def plan(draft: Study) -> Plan:
    """An open study of three questions: a table, and two subsets."""
    return design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)


@pytest.fixture
def drawn(db: None) -> Plan:
    """An open study of five questions, one sent as given; each person is asked two of the others,
    of which two are drawn as one.
    """
    return design.open_study(why="A test.", study_id=draft_of_drawn().pk, who="ada", now=NOW)


@pytest.fixture
def joint(db: None, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """The same study; each person is asked two questions that are sent apart, or three that are
    sent as one answer, one of them a follow-up.
    """
    compose = documents.compose
    monkeypatch.setattr(
        documents,
        "compose",
        lambda study, *_, **__: sent_as_one(
            compose(study), ["copied", "caught", "late"], "2", "theft"
        ),
    )
    draft = draft_of_drawn(slug="joint", title="Joint")
    return design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)


@pytest.fixture
def invited(db: None) -> Plan:
    """A study of a list in two strata, open; `tests.tickets.keys(2)` are theirs."""
    return open_invited()


def open_invited(slug: str = "invited", at: int = 0) -> Plan:
    """Open a study of a list, whose strata have the keys of the tests from one on."""
    moduli = [key.modulus for key in tickets.keys(at + 2)[at:]]
    part = convert(tickets.invited(moduli), Invited)
    study = {**STUDY, "slug": slug, "title": slug, "is_invited": True}
    draft = design.draft_study(study=study, questions=QUESTIONS)
    return design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW, invited=part)


def draft_of_drawn(**changes: Any) -> Study:
    """Return the draft of that study."""
    followed = {
        "name": "caught",
        "kind": "yes_no",
        "text": "Were you caught?",
        "label": "Caught",
        "asked_if": "copied",
        "asked_if_answers": [1],
    }
    more = [
        followed,
        {"name": "late", "kind": "yes_no", "text": "Were you ever late?", "label": "Late"},
        {
            "name": "year",
            "kind": "single",
            "protection": "publication",
            "text": "Which year are you in?",
            "label": "Year",
            "choices": "First\nSecond\nThird",
        },
    ]
    study = {**STUDY, "slug": "drawn", "title": "Drawn", "asked": 2, **changes}
    return design.draft_study(study=study, questions=[*QUESTIONS, *more])


@pytest.fixture
def answered(plan: Plan) -> Callable[[int], Plan]:
    """Have so many people answer: a third of them yes, agreement and “once”."""

    def answer(people: int) -> Plan:
        truths = [{"copied": int(i % 3 == 0), "fair": i % 5, "often": i % 4} for i in range(people)]
        answer_as_browsers(plan, truths, TODAY)
        return plan

    return answer


def known_as(name: str, **powers: bool) -> Any:
    """Return an account whose pseudonym is its name, so that a test can say who acts in one
    word.
    """
    user = people.ensure_user(username=name, password="a long password", **powers)
    user.pseudonym = name
    user.save(update_fields=["pseudonym"])
    return user


@pytest.fixture
def researcher(draft: Study) -> Any:
    user = known_as("mira")
    people.share(study=draft, user=user)
    return user


@pytest.fixture
def outsider(db: None) -> Any:
    return known_as("otto")


@pytest.fixture
def admin_user(db: None) -> Any:
    return known_as("ada", is_admin=True)
