"""Every address of the site, and for whom it opens. The table is the specification: an address that
is not in it fails.

Who may not see a study finds nothing (404), who lacks a right is refused (403), and a stranger is
sent to sign in.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import get_resolver, reverse
from django.urls.resolvers import URLResolver

from surveys.design import services as design
from surveys.design.models import Panel
from surveys.ledger import services as ledger
from surveys.people import services as people
from surveys.people.models import Right, Role
from surveys.releases import selectors as releases
from tests.conftest import NOW, QUESTIONS as DRAFTED, STUDY as DRAFT
from tests.surveys.dashboard.small import answer, open_small, publish

OPEN, SIGN_IN, NONE, NO = "opens", "sign in", "nothing", "refused"
ELSEWHERE = ("admin:", "account_", "mfa_")  # Django's admin and allauth have tests of their own
MEMBERS = ("reader", "analyst", "editor", "owner", "admin")
LEAST = {Right.READ: 0, Right.ASK: 1, Right.EDIT: 2, Right.LAUNCH: 3, Right.SHARE: 3}
EVERYONE = {
    "home",
    "form",
    "picture",
    "receipts",
    "statement",
    "reports",
    "verdicts",
    "receipt",
    "plan",
    "frozen-plan",
    "set_language",
    "promises",
    "planning:free",
    "registry:list",
    "registry:ledger",
    "registry:ledger-index",
    "registry:ledger-segment",
    "registry:schema",
    "registry:study",
    "registry:json",
    "registry:yaml",
    "operations:live",
    "invited:stop",
    "people:invitation",
    "people:invitation-link",
    "limits:ledger",
    "limits:ledger-csv",
    "limits:ledger-json",
    "limits:row",
}
# for programs: tests/surveys/operations/test_metrics.py and test_ready.py, and
# tests/surveys/issuer, say what opens them
FOR_MACHINES = {
    "operations:metrics",
    "operations:ready",
    "issuer:tickets",
    "issuer:marks",
    "issuer:verbs",
}
# of a study whose results are for its members: as if there were none, for everyone else
RESULTS = {
    "dashboard:results",
    "dashboard:public-over-time",
    "dashboard:public-compare",
    "dashboard:public-methods",
    "dashboard:public-export",
    "dashboard:public-release",
    "dashboard:public-release-file",
    "releases",
    "published",
}
SIGNED_IN = {
    "dashboard:studies",
    "people:account",
    "people:second-factor",
    "people:end-sessions",
    "drafting:new",
    "drafting:example",
    "limits:site",
}
OF_ADMINS = {
    "operations:health",
    "limits:panels",
    "limits:new-panel",
    "limits:panel",
    "limits:amend-panel",
}
# refused to its members, and nothing to anyone else
OF_A_STUDYS_ADMINS = {"limits:share"}
# for all who are signed in; its form is for who sets the site's limits: nobody here does
TO_READ = {"limits:site"}
# they name a language, or a letter: nothing, where it is not there
NAMING = {"drafting:add-language", "drafting:drop-language", "invited:act", "invited:write"}
OF_A_STUDY: dict[str, Right] = {
    "dashboard:study": Right.READ,
    "dashboard:collect": Right.READ,
    "dashboard:code": Right.READ,
    "dashboard:poster": Right.READ,
    "dashboard:over-time": Right.READ,
    "dashboard:compare": Right.READ,
    "dashboard:methods": Right.READ,
    "dashboard:export": Right.READ,
    "dashboard:asked": Right.READ,
    "dashboard:release": Right.READ,
    "dashboard:release-file": Right.READ,
    "dashboard:ask": Right.ASK,
    "dashboard:ask-kind": Right.ASK,
    "dashboard:publish-anyway": Right.ASK,
    "planning:study": Right.READ,
    "planning:save": Right.EDIT,
    "planning:rehearse": Right.READ,
    "limits:study": Right.READ,
    "limits:act": Right.LAUNCH,
    "people:members": Right.READ,
    "people:member-back": Right.SHARE,
    "people:member-role": Right.SHARE,
    "people:member-remove": Right.SHARE,
    "invited:list": Right.INVITE,
    "invited:add": Right.INVITE,
    "invited:remove": Right.INVITE,
    "invited:again": Right.INVITE,
    "invited:lost": Right.INVITE,
    "invited:returned": Right.INVITE,
    "invited:erase": Right.INVITE,
    "invited:letters": Right.INVITE,
    "invited:write": Right.INVITE,
    "invited:act": Right.INVITE,
    "invited:paper": Right.INVITE,
    "drafting:build": Right.EDIT,
    "drafting:texts": Right.EDIT,
    "drafting:add": Right.EDIT,
    "drafting:add-templates": Right.EDIT,
    "drafting:odds": Right.EDIT,
    "drafting:order": Right.EDIT,
    "drafting:together": Right.EDIT,
    "drafting:undo": Right.EDIT,
    "drafting:import": Right.EDIT,
    "drafting:export": Right.READ,
    "drafting:question": Right.EDIT,
    "drafting:change": Right.EDIT,
    "drafting:add-language": Right.EDIT,
    "drafting:translate": Right.EDIT,
    "drafting:drop-language": Right.EDIT,
    "drafting:preview": Right.READ,
    "drafting:preview-plan": Right.READ,
    "drafting:launch": Right.READ,
    "drafting:close": Right.LAUNCH,
    "drafting:next": Right.LAUNCH,
}
OF_A_DRAFT = {"planning:save", "planning:rehearse"} | {
    name for name in OF_A_STUDY if name.startswith("drafting:")
} - {
    "drafting:close",
    "drafting:next",
}


def patterns(
    resolver: Any = None, spaces: str = "", taken: frozenset[str] = frozenset()
) -> Iterator[Any]:
    """Yield every address of the site by its full name, with the names of what it takes."""
    for each in (resolver or get_resolver()).url_patterns:
        takes = taken | frozenset(each.pattern.converters)
        if isinstance(each, URLResolver):
            yield from patterns(
                each, f"{spaces}{each.namespace}:" if each.namespace else spaces, takes
            )
        else:
            yield f"{spaces}{each.name or ''}", takes


def known() -> set[str]:
    of_people = EVERYONE | RESULTS | SIGNED_IN | OF_ADMINS | OF_A_STUDYS_ADMINS | set(OF_A_STUDY)
    return of_people | FOR_MACHINES


def test_every_address_of_the_site_is_in_the_table():
    names = {name for name, _ in patterns() if name and not name.startswith(ELSEWHERE)}
    assert names - known() == set(), "say here for whom it opens"
    assert known() - names == set(), "these are gone"


@pytest.fixture
def world(db: None) -> dict[str, Any]:
    """An open study that has published, a draft, and somebody of every kind."""
    plan = open_small(smallest_batch=12)
    answer(plan, 12)
    publish(plan)
    draft = design.draft_study(study=DRAFT, questions=DRAFTED)
    found: dict[str, Any] = {"plan": plan, "draft": draft, "users": {"stranger": None}}
    found["users"]["outsider"] = people.ensure_user(username="outsider", password=None)
    for role in Role:
        user = found["users"][role.value] = people.ensure_user(username=role.value, password=None)
        people.share(study=plan.study, user=user, role=role)
        people.share(study=draft, user=user, role=role)
    found["users"]["admin"] = people.ensure_user(username="ada", password=None, is_admin=True)
    found["panel"] = Panel.objects.create(slug="class-of-26", name="Class of 26")
    found["share"] = ledger.open_share(
        study_id=plan.study.budget_id, holder="mira", cap=1, who="ada", now=NOW, why="a test"
    )
    found["release"] = releases.publications_of(plan.study)[0]
    return found


def address(name: str, world: dict[str, Any]) -> str:
    """Return an address that leads somewhere: of the draft or the open study, with what else it
    takes.
    """
    draft = name in OF_A_DRAFT
    question = "copied" if draft else "moon"
    said = {
        "slug": world["draft"].slug if draft else world["plan"].study.slug,
        "number": world["release"].number,
        "digest": world["release"].request.digest
        if hasattr(world["release"].request, "digest")
        else "0" * 64,
        "kind": "shares",
        "key": world["users"]["reader"].pk,
        "suffix": "csv",
        "position": 1,
        "language": "en",
        "name": "retire" if name == "limits:act" else question,
        "change": "up",
        "act": "stop",
        "sha256": "0" * 64,
        "receipt": "x",
        "token": "x",
    }
    if name in ("limits:panel", "limits:amend-panel"):
        said |= {"slug": world["panel"].slug, "name": "delete"}
    if name == "limits:share":
        said |= {"key": world["share"].pk, "name": "retire"}
    if name in ("drafting:translate", "drafting:drop-language"):
        said["language"] = "zh-hans"
    if name == "frozen-plan":
        said["digest"] = world["plan"].digest
    takes = min((taken for full, taken in patterns() if full == name), key=len)
    return reverse(name, kwargs={key: said[key] for key in takes})


def outcome(user: Any, path: str, method: str) -> str:
    """Knock, say what happened, and leave everything as it was."""
    client = Client(raise_request_exception=True)
    with transaction.atomic():
        if user is not None:
            client.force_login(user)
        answer = getattr(client, method)(path)
        transaction.set_rollback(True)
    if answer.status_code == 302 and answer.url.startswith("/accounts/login/"):
        return SIGN_IN
    return {404: NONE, 403: NO, 401: NO}.get(
        answer.status_code, OPEN if answer.status_code < 500 else "broken"
    )


def expected(name: str, who: str) -> str:
    if name in SIGNED_IN:
        return SIGN_IN if who == "stranger" else OPEN
    if who == "stranger":
        return SIGN_IN
    if name in OF_ADMINS:
        return OPEN if who == "admin" else NO
    if who == "outsider":
        return NONE
    if name in OF_A_STUDYS_ADMINS:
        return OPEN if who == "admin" else NO
    if OF_A_STUDY[name] is Right.INVITE:  # no admin sees who is on a list
        return OPEN if who == "owner" else NO
    return OPEN if MEMBERS.index(who) >= LEAST[OF_A_STUDY[name]] else NO


def methods(name: str, path: str, world: dict[str, Any]) -> list[str]:
    """Return how this address may be called: what is answered with 405, or leads back to a page
    (303), is no door.
    """
    client = Client()
    client.force_login(world["users"]["admin"])
    found = []
    for method in ("get", "post"):
        with transaction.atomic():
            if getattr(client, method)(path).status_code not in (303, 405):
                found.append(method)
            transaction.set_rollback(True)
    return found


PRIVATE = sorted({*OF_A_STUDY, *SIGNED_IN, *OF_ADMINS, *OF_A_STUDYS_ADMINS})


def surprises(name: str, world: dict[str, Any]) -> Iterator[str]:
    """Yield where an address answers otherwise than the table says."""
    path = address(name, world)
    for method in methods(name, path, world):
        for who, user in world["users"].items():
            right, got = expected(name, who), outcome(user, path, method)
            if right == OPEN and got in allowed(name, method):
                continue
            if got != right:
                yield f"{method} {path} as {who}: expected {right}, {got}"


def allowed(name: str, method: str) -> set[str]:
    """Return how else an address may answer to whom it opens: what all of a study read may hold
    a form for some.
    """
    if name in NAMING:
        return {NONE}
    if method == "post" and (name in TO_READ or OF_A_STUDY.get(name) is Right.READ):
        return {NO}
    return set()


def test_every_door_opens_for_whom_the_table_says_by_a_link_and_by_a_form(world):
    """All in one, since the world takes longer to make than to walk."""
    assert [surprise for name in PRIVATE for surprise in surprises(name, world)] == []


def test_what_is_for_everyone_asks_nobody_to_sign_in(world):
    found = {name: outcome(None, address(name, world), "get") for name in EVERYONE}
    assert {name for name, got in found.items() if got not in (OPEN, NONE)} == set()


def test_results_for_members_are_nothing_to_others(world):
    for name in RESULTS:
        path = address(name, world)
        got = {who: outcome(user, path, "get") for who, user in world["users"].items()}
        assert {got["stranger"], got["outsider"]} <= {NONE, SIGN_IN}, name
        assert {got[who] for who in MEMBERS} == {OPEN}, name


@pytest.mark.parametrize(
    "address", ["/", "/registry/", "/studies/new/", "/accounts/password/change/", "/nowhere/"]
)
def test_no_cache_keeps_what_was_made_for_somebody(
    client: Client, researcher: Any, address: str
) -> None:
    client.force_login(researcher)
    assert {"no-store", "private"} <= set(client.get(address)["Cache-Control"].split(", "))


def test_no_cache_keeps_members_numbers_or_their_names(client: Client, researcher: Any) -> None:
    with transaction.atomic():
        study = open_small(slug="members-only", results="members").study
    people.share(study=study, user=researcher)
    client.force_login(researcher)
    for address in (
        "results/members-only/",
        "results/members-only/export.csv",
        "studies/members-only/people/",
    ):
        assert "no-store" in client.get(f"/{address}")["Cache-Control"]


def test_what_is_public_may_be_kept_from_strangers_pages(client: Client, db: None) -> None:
    assert "no-store" not in client.get("/promises/").get("Cache-Control", "")
