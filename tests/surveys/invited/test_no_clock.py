# ruff: noqa: F811 (fixtures of another room)
"""A list is no clock: around one ticket that is fetched, and one report that fills a group, nothing
moves for anybody, the study's owners and the site's admins included.

Everything that can be asked is asked before and after: pages, files, the API with its ETags, counts
for machines, and the issuer with a printed code of everybody on the list.
"""

import datetime
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from surveys.aggregation import services as aggregation
from surveys.intake.group import accept_all
from surveys.invited import services
from surveys.invited.models import Person
from surveys.issuer import tables, views
from surveys.operations import health, refusals
from surveys.people import services as people
from surveys.people.models import Role, User
from tests import tickets
from tests.conftest import NOW, known_as
from tests.strata import answer_of
from tests.surveys.intake.test_quotas import entries
from tests.surveys.invited.conftest import listed, study  # noqa: F401 (fixtures)
from tests.surveys.issuer.conftest import asked
from tests.surveys.people.test_doors import patterns
from tests.surveys.test_who_took_part import NEVER_ALIKE

DAY = datetime.timedelta(days=1)
OWN = ("mfa_", "account_")  # of the own account only: a secret, a challenge
# workbooks of questions, which hold when they were made; and the way out
UNLIKE = {"drafting:export", "drafting:example", "admin:logout", "admin:app_list"}
HEADERS = ("ETag", "Last-Modified", "Content-Length", "Cache-Control")
SAID: dict[str, Any] = {
    "kind": "shares",
    "language": "en",
    "suffix": "csv",
    "position": 1,
    "number": 1,
    "name": "copied",
    "change": "up",
    "act": "stop",
    "sha256": "0" * 64,
    "tag": "en",
    "receipt": "x",
    "token": "x",
    "object_id": 1,
    "content_type_id": 1,
    "app_label": "people",
    "pk": 1,
}


@pytest.fixture
def world(listed, settings, monkeypatch):
    """An open list that closes each stratum at two answers, and everybody who may look."""
    disk = shutil.disk_usage(settings.DATA_DIR.parent)  # others write there meanwhile
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: disk)
    monkeypatch.setattr(refusals, "waiting", refusals.Waiting())  # other tests count in it too
    monkeypatch.setattr(health, "ago", lambda moment, _now: f"at {moment.timestamp():.0f}")
    settings.METRICS_TOKEN = "a token of thirty-two characters!"
    type(listed).objects.filter(pk=listed.pk).update(stratum_closes_at=2)
    listed.refresh_from_db()
    plan = services.launch(study=listed, why="A test.", who="olga", now=NOW - DAY)
    owner = known_as("olga")
    people.share(study=listed, user=owner, role=Role.OWNER)
    token = {"Authorization": f"Bearer {settings.METRICS_TOKEN}"}
    clients = {"stranger": Client(headers=token), "owner": Client(), "superuser": Client()}
    clients["owner"].force_login(owner)
    clients["superuser"].force_login(User.objects.create_superuser("root", password=None))
    every = Person.objects.filter(study=listed)
    codes = codes_of(services.new_codes(plan, every, origin="", alone=True))
    emailed = codes_of(services.new_codes(plan, every.order_by("pk")[:2], origin=""))
    found = {"plan": plan, "owner": owner.pk, "clients": clients, "printed": codes}
    services.count_day(today=NOW.date())
    report(found)
    everything(found)  # that a list was read is written down once a day
    return {**found, "emailed": emailed}


def codes_of(coded: list[services.Coded]) -> list[str]:
    return [each.link.rpartition(".")[2] for each in coded]


def everything(world: dict[str, Any]) -> dict[str, str]:
    """Ask all that can be asked, and return what is answered."""
    found = dict(pages(world))
    for at, code in enumerate(world["printed"]):
        views.places = views.Places()
        answer = asked(Client(), "marks", {"plan": world["plan"].digest, "code": code})
        found[f"mark of person {at}"] = f"{answer.status_code} {answer.content.decode()}"
    return found


def pages(world: dict[str, Any]) -> Iterator[tuple[str, str]]:
    plan = world["plan"]
    said = SAID | {"slug": plan.study.slug, "digest": plan.digest, "key": world["owner"]}
    addresses = sorted(
        {
            reverse(name, kwargs={key: said[key] for key in takes})
            for name, takes in set(patterns())
            if name and not name.endswith(":") and not name.startswith(OWN) and name not in UNLIKE
        }
    )
    for who, client in world["clients"].items():
        for path in addresses:
            answer = client.get(path)
            body = b"".join(answer.streaming_content) if answer.streaming else answer.content
            told = [f"{head}: {answer.headers.get(head, '')}" for head in HEADERS]
            text = NEVER_ALIKE.sub("", body.decode(errors="replace"))
            yield (
                f"{who}: {path}",
                f"{answer.status_code}\n{told if who == 'stranger' else ''}\n{text}",
            )


def moved(before: dict[str, str], after: dict[str, str]) -> list[str]:
    assert before.keys() == after.keys()
    assert len(before) > 400
    return [page for page, text in before.items() if after[page] != text]


def fetch(world: dict[str, Any], code: str) -> None:
    invited = world["plan"].content.invited
    own = tickets.blind(invited.strata[0].key, world["plan"].digest)
    said = {"plan": world["plan"].digest, "stratum": 0, "code": code}
    answer = asked(Client(), "tickets", {**said, "blinded": tickets.b64(own.blinded)})
    assert answer.status_code == 200, answer.content


def report(world: dict[str, Any], many: int = 1) -> None:
    answer_of(world["plan"], 0, [{"copied": 1}] * many, NOW.date())


def mark(world: dict[str, Any], code: str) -> dict[str, bool]:
    views.places = views.Places()
    return asked(Client(), "marks", {"plan": world["plan"].digest, "code": code}).json()


def test_a_fetch_and_a_report_that_fills_a_group_move_nothing_until_midnight(world):
    plan, printed = world["plan"], world["printed"]
    before = everything(world)
    fetch(world, world["emailed"][0])
    fetch(world, printed[1])
    report(world)  # the second, which fills the first stratum
    assert moved(before, everything(world)) == []
    assert mark(world, world["emailed"][0]) == {"fetched": True, "alone": False}  # its own holder
    assert mark(world, world["emailed"][1]) == {"fetched": True, "alone": False}  # in their place
    report(world)  # the door takes what comes on that day
    tomorrow = NOW.date() + DAY
    services.count_day(today=tomorrow)
    tables.settle(tomorrow)
    after = everything(world)
    assert 'data-full="0"' in after[f"stranger: /s/{plan.study.slug}/"]
    assert mark(world, printed[0]) == {"fetched": False, "alone": True}  # by another code
    assert mark(world, printed[1]) == {"fetched": True, "alone": True}
    (outcome,) = accept_all(entries(plan, 1, start=900, stratum=0))
    assert outcome.field == "ticket"
    assert aggregation.sweep_all(today=tomorrow) >= 0
    assert type(plan).objects.get(pk=plan.pk).is_open  # the other strata are asked on


def test_an_address_that_an_owner_changed_gets_codes_that_answer_for_themselves(world):
    """Else an owner marks everybody's letters as returned, and has a code of each sent to them."""
    plan = world["plan"]
    first = Person.objects.filter(study=plan.study).order_by("pk")[:1]
    services.note_returned(study=plan.study, addresses=["p0.arts@example.org"])
    services.write_again(
        study_id=plan.study_id, reference=first[0].reference, address="olga@example.org"
    )
    (own,) = codes_of(services.new_codes(plan, first, origin=""))
    fetch(world, world["emailed"][0])
    assert mark(world, own) == {"fetched": False, "alone": True}
