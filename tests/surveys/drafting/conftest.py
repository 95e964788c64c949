"""A researcher without any study, and one with a small draft."""

import json

import pytest
from django.test import Client

from surveys import languages, workbook_reader
from surveys.design.drafts import new_draft
from surveys.people import services as people
from surveys.people.models import Role
from tests.conftest import known_as

TEXTS = {
    "title": "Exam honesty",
    "organisation": "Brightwater College",
    "purpose": "To learn how common copying is.",
    "contact": "asks@example.org",
    "language": "en",
}
COPIED = {
    "name": "copied",
    "kind": "yes_no",
    "text": "Have you copied in an exam?",
    "label": "Copied",
}
OFTEN = {
    "name": "often",
    "kind": "single",
    "text": "How often?",
    "label": "How often",
    "choices": "Once\nTwice\nMore",
}
FAIR = {"name": "fair", "kind": "likert", "text": "Exams here are fair.", "label": "Fair"}


def client_of(username, role=None, study=None):
    user = known_as(username)
    if role is not None:
        people.share(study=study, user=user, role=role)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture(autouse=True)
def two_languages(monkeypatch):
    """Let two languages come with the site, whatever others do."""
    two = {tag: languages.ours()[tag] for tag in ("en", "zh-hans")}
    monkeypatch.setattr(languages, "ours", lambda: two)


@pytest.fixture(autouse=True)
def read_here(monkeypatch):
    """Read workbooks in this process: that each is read in one of its own is for
    tests/surveys/test_workbook_reader.py, and takes a third of a second.
    """

    def run(raw, asked, _seconds):
        return workbook_reader.written(raw, json.loads(asked))

    monkeypatch.setattr(workbook_reader, "_run", run)


@pytest.fixture
def ada(db):
    return client_of("ada")


@pytest.fixture
def draft(db):
    """A draft whose questions have an ε of their own."""
    questions = [{**each, "epsilon": 1} for each in (COPIED, OFTEN, FAIR)]
    return new_draft(texts=TEXTS, questions=questions)


@pytest.fixture
def owner(draft):
    return client_of("olga", Role.OWNER, draft)


@pytest.fixture
def editor(draft):
    return client_of("eva", Role.EDITOR, draft)
