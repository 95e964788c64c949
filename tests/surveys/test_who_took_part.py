"""A study that protects whether somebody took part: no page tells how many did.

Two studies that differ in how many answered only, and whose noise is made to come out alike, must
look alike everywhere, to everybody, at every moment.
"""

import datetime
import io
import re
import zipfile
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from pyarrow import parquet

from dpengine.central.laplace import DiscreteLaplace
from dpengine.central.selection import Selection
from surveys.aggregation import services as sweeping
from surveys.demo import services as demo
from surveys.demo.kinds import made_up_people
from surveys.design import selectors as plans, services as design
from surveys.design.models import Plan
from surveys.ledger.models import Entry
from surveys.people import services as people
from surveys.people.models import Membership, Role, User
from surveys.releases import covered, selectors, services
from surveys.releases.models import Release
from tests.every_kind import EVERY, EVERY_QUESTIONS
from tests.surveys.people.test_doors import ELSEWHERE, EVERYONE, patterns

pytestmark = pytest.mark.django_db
NOW = datetime.datetime(2026, 5, 11, 12, tzinfo=datetime.UTC)
LATER = NOW + datetime.timedelta(days=1)
STUDY: dict[str, Any] = {
    **EVERY,
    "neighbours": "add-remove",
    "rule": "when-closed",
    "cap": Decimal(8),
    "release_epsilon": Decimal(4),
    "smallest_batch": 50,
    "widest": 100,
    "results": "public",
}
ASKED: list[tuple[str, dict[str, Any]]] = [
    ("crosstab", {"rows": "drowsy", "within": "boss", "epsilon": "0.5"}),
    ("most_common", {"question": "boss", "best": 1, "epsilon": "0.5"}),
]
RUN_ON = datetime.datetime.now(datetime.UTC).date()
DAYS_OF_THE_RUN = "|".join(
    f"{day:%Y-%m-%d|%d %b %Y|%d %b %y}" for day in (RUN_ON, RUN_ON + datetime.timedelta(days=1))
)
NEVER_ALIKE = re.compile(
    r'name="csrfmiddlewaretoken" value="[^"]*"|nonce="?[\w+/=-]*|[0-9a-f]{12,64}|"X-CSRFToken": "\w+"'
    r"|\d\d:\d\d(:\d\d[.\d]*)?(\+00:00|Z)?"
    r'|/people/\d+/|name="question" value="\d+"'  # numbers of PostgreSQL, which counts on
    rf"|{DAYS_OF_THE_RUN}"  # a midnight may come between two studies
)
COUNTED_ON = re.compile(r"(?<=/people)/\d+/|(?<=/researchers)/\d+/")


@pytest.fixture(autouse=True)
def alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise that comes out as whatever makes the published numbers these, whatever is counted."""

    def release(self: DiscreteLaplace, counts: list[int]) -> list[int]:
        return [150] if len(counts) == 1 else [40 + place for place, _ in enumerate(counts)]

    monkeypatch.setattr(DiscreteLaplace, "release", release)
    monkeypatch.setattr(Selection, "release", lambda self, scores: [0])
    monkeypatch.setattr(covered, "new_salt", lambda: "0" * 32)


def opened(**changes: Any) -> Plan:
    return demo.ensure_study({**STUDY, **changes}, EVERY_QUESTIONS, NOW)[0]


def answer(plan: Plan, many: int) -> None:
    demo.answer_as_browsers(plan, made_up_people()[:many], NOW.date())


def close(plan: Plan) -> None:
    design.close_plan(plan_id=plan.pk, today=NOW.date())
    sweeping.sweep_all(today=NOW.date())


def pages(plan: Plan, users: dict[str, User | None]) -> Iterator[tuple[str, str]]:
    """Yield every page that opens, by who asks and its address."""
    found = selectors.publications_of(plan.study)
    member = Membership.objects.get(study=plan.study).user_id
    for name, takes in sorted(set(patterns()), key=lambda each: (each[0], sorted(each[1]))):
        if not name or name.startswith(ELSEWHERE) or name == "operations:health":
            continue
        said = {
            "slug": plan.study.slug,
            "digest": found[0].request.digest if found else "0" * 64,
            "kind": "shares",
            "key": member,
            "language": "en",
            "name": "retire" if name == "limits:act" else "drowsy",
            "change": "up",
            "act": "stop",
            "sha256": "0" * 64,
            "tag": "en",
            "receipt": "x",
            "token": "x",
        }
        for number in [each.number for each in found] if "number" in takes else [0]:
            for suffix in (
                ("csv", "json", "sav", "dta", "parquet", "xlsx") if "suffix" in takes else [""]
            ):
                for position in range(1, Entry.objects.count() + 1) if "position" in takes else [0]:
                    words = {**said, "number": number, "suffix": suffix, "position": position}
                    path = reverse(name, kwargs={key: words[key] for key in takes})
                    yield from shown(path, {"stranger": None} if name in EVERYONE else users)


def shown(path: str, users: dict[str, User | None]) -> Iterator[tuple[str, str]]:
    for who, user in users.items():
        client = Client()
        if user is not None:
            client.force_login(user)
        with transaction.atomic():
            answer = client.get(path)
            transaction.set_rollback(True)
        if answer.status_code != 200:
            continue
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[attr-defined]
        yield f"{who} {COUNTED_ON.sub('/#/', path)}", NEVER_ALIKE.sub("", text_of(path, body))


def text_of(path: str, body: bytes) -> str:
    """Return what a file says: of a workbook the sheets, of a table its rows and what is said of
    them, of others the bytes that are letters.
    """
    if path.endswith(".parquet"):
        table = parquet.read_table(io.BytesIO(body))
        return f"{table.schema.metadata}\n{table.to_pylist()}"
    if path.endswith(".xlsx"):
        with zipfile.ZipFile(io.BytesIO(body)) as book:
            sheets = [name for name in book.namelist() if name.startswith("xl/")]
            return "\n".join(book.read(name).decode() for name in sheets)
    return body.decode(errors="replace")


def story(many: int) -> dict[str, dict[str, str]]:
    """Return all pages at every moment of a study that so many people answer."""
    found = {}
    with transaction.atomic():
        plan = opened()
        owner = people.ensure_user(username="owner", password=None)
        people.share(study=plan.study, user=owner, role=Role.OWNER)
        admin = people.ensure_user(username="ada", password=None, is_admin=True)
        users = {"stranger": None, "admin": admin}

        def look(moment: str) -> None:
            found[moment] = dict(pages(plans.plans().get(pk=plan.pk), users))

        answer(plan, many // 2)
        sweeping.sweep_all(today=NOW.date())
        answer(plan, many - many // 2)
        look("open")
        close(plan)
        look("closed")
        services.publish_due(now=NOW)
        services.publish_due(now=NOW)
        for kind, parameters in ASKED:
            request = services.ask_for(
                plan=plans.plans().get(pk=plan.pk),
                kind=kind,
                parameters=parameters,
                who="owner",
                now=NOW,
            )
            services.try_to_publish(request_id=request.pk, now=NOW)
        look("published")
        design.retire(study_id=plan.study_id, because="asked to", who="ada", now=LATER)
        look("retired")
        assert Release.objects.filter(request__plan=plan).count() == 2 + len(ASKED)
        transaction.set_rollback(True)
    return found


def test_no_page_tells_how_many_took_part() -> None:
    one, other = story(137), story(211)
    assert [(moment, page) for moment, page in telling(one, other)] == []


def telling(
    one: dict[str, dict[str, str]], other: dict[str, dict[str, str]]
) -> Iterator[tuple[str, str]]:
    """Yield the pages that are not alike, or that say 137, with where."""
    for moment, found in one.items():
        assert found.keys() == other[moment].keys()
        assert len(found) > 50
        for page, text in found.items():
            lines = zip(text.splitlines(), other[moment][page].splitlines(), strict=False)
            if text != other[moment][page]:
                yield moment, f"{page}: {next((pair for pair in lines if pair[0] != pair[1]), '')}"
            elif said := re.search(r".{20}(?<![\d.])137(?![\d.]).{20}", text):
                yield moment, f"{page}: {said[0]}"
