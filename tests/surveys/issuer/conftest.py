"""An open Plan of two strata, its people, and whoever fetches tickets as a browser does."""

import json
import os
from typing import Any, NamedTuple

import pytest

from surveys.issuer import services, views
from surveys.plan.content import digest
from tests import tickets
from tests.plans import whole

PEOPLE = 3  # of each stratum


class Person(NamedTuple):
    reference: str
    stratum: int
    code: str

    @property
    def row(self) -> tuple[str, int, bytes]:
        return self.reference, self.stratum, tickets.code_digest(self.code)


class Listed(NamedTuple):
    """An open Plan, its moduli, and its people."""

    plan: str
    moduli: list[str]
    people: list[Person]
    document: bytes


def person(stratum: int = 0) -> Person:
    return Person(os.urandom(16).hex(), stratum, tickets.new_code())


def opened(people: int = PEOPLE, strata: int = 2) -> Listed:
    moduli = services.make_keys(strata)
    document = whole(invited=tickets.invited(moduli), title=os.urandom(4).hex())
    services.open_plan(document.encode())
    plan = digest(document)
    own = [person(at) for at in range(strata) for _ in range(people)]
    services.invite(plan, [each.row for each in own])
    return Listed(plan, moduli, own, document.encode())


@pytest.fixture
def listed(db: None) -> Listed:
    return opened()


@pytest.fixture(autouse=True)
def nobody_asked_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "places", views.Places())


def asked(client: Any, what: str, content: Any, **headers: Any) -> Any:
    raw = content if isinstance(content, bytes) else json.dumps(content)
    return client.post(f"/issuer/{what}", raw, content_type="application/json", headers=headers)


def fetch(client: Any, listed: Listed, who: Person, own: tickets.Blinded, **changes: Any) -> Any:
    said = {
        "plan": listed.plan,
        "stratum": who.stratum,
        "code": who.code,
        "blinded": tickets.b64(own.blinded),
    }
    return asked(client, "tickets", said | changes)


def blinded(listed: Listed, who: Person) -> tickets.Blinded:
    return tickets.blind(listed.moduli[who.stratum], listed.plan)
