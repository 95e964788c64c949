"""Browsers of people who may see the small study, and of one who may not."""

import pytest
from django.test import Client

from surveys.design.models import Plan
from surveys.people import services as people
from surveys.people.models import User
from tests.surveys.results.small import answer, open_small, publish


@pytest.fixture
def plan(db: None) -> Plan:
    return open_small()


@pytest.fixture
def published(plan: Plan) -> Plan:
    answer(plan)
    publish(plan)
    return plan


@pytest.fixture
def researcher(db: None) -> User:
    return people.ensure_user(username="member", password="a long enough password")


@pytest.fixture
def member(client: Client, researcher: User, plan: Plan) -> Client:
    """The browser of a researcher with whom the study is shared."""
    people.share(study=plan.study, user=researcher)
    client.force_login(researcher)
    return client


@pytest.fixture
def outsider(client: Client, researcher: User) -> Client:
    """The browser of a researcher with whom nothing is shared."""
    client.force_login(researcher)
    return client
