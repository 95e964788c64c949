"""Every address of the site, and for whom it opens. The table is the specification: an address that
is not in it fails, Django's admin and the pages of allauth included.

Who may not see a study finds nothing (404), who lacks a right is refused (403), and a stranger is
sent to sign in. What an address expects follows from one right; who holds which right stands here
once more, apart from the code (`HOLDERS`).
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.db import transaction
from django.test import Client
from django.urls import get_resolver, reverse
from django.urls.resolvers import URLResolver

from surveys import languages
from surveys.design import services as design
from surveys.design.models import Panel
from surveys.ledger import services as ledger
from surveys.people import services as people
from surveys.people.models import Membership, Right, Role, User
from surveys.releases import selectors as releases
from tests.conftest import NOW, QUESTIONS as DRAFTED, STUDY as DRAFT
from tests.surveys.results.small import answer, open_small, publish

OPEN, SIGN_IN, NONE, NO = "opens", "sign in", "nothing", "refused"
ELSEWHERE = ("admin:", "account_", "mfa_")  # not of this site: for tests of its own pages
MEMBERS = ("reader", "analyst", "editor", "owner")
ADMINS = ("admin", "site", "root")  # of studies, of the site, and a superuser
OWNERS_ONLY = {"owner"}  # what no admin does, and no superuser either
HOLDERS: dict[Right, set[str]] = {
    Right.READ: {*MEMBERS, *ADMINS},
    Right.ASK: {*MEMBERS[1:], *ADMINS},
    Right.EDIT: {*MEMBERS[2:], *ADMINS},
    Right.LAUNCH: {"owner", *ADMINS},
    Right.SHARE: OWNERS_ONLY,
    Right.INVITE: OWNERS_ONLY,
    Right.SET_LIMITS: {"site", "root"},
    Right.GRANT: {"site", "root"},
} | {
    right: set(ADMINS)
    for right in Right
    if right.name.startswith(("SEE_", "ADD_", "MANAGE_", "DELETE_", "ENTER", "LINK", "CLOSE"))
}
EVERYONE = {
    "home",
    "form",
    "picture",
    "receipts",
    "statement",
    "reports",
    "receipt",
    "plan",
    "frozen-plan",
    "set_language",
    "promises",
    "help",
    "robots",
    "security",
    "guide",
    "planning:free",
    "registry:list",
    "registry:ledger",
    "registry:ledger-index",
    "registry:ledger-segment",
    "registry:schema",
    "registry:study",
    "registry:json",
    "registry:yaml",
    "registry:words",
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
OF_ADMINS: dict[str, Right] = {
    "operations:health": Right.SEE_HEALTH,
    "limits:panels": Right.SEE_PANELS,
    "limits:new-panel": Right.ADD_PANELS,
    "limits:panel": Right.SEE_PANELS,
    "limits:amend-panel": Right.DELETE_PANELS,
    "people:accounts": Right.SEE_ACCOUNTS,
    "people:link": Right.LINK,
    "people:close": Right.CLOSE,
}
# Django's admin: who may not enter it is sent to sign in, whoever they are
IN_DJANGOS_ADMIN = {
    *("admin:index", "admin:app_list", "admin:jsi18n", "admin:view_on_site"),
    *("admin:autocomplete", "admin:password_change", "admin:password_change_done", "admin:"),
}
SHOWN_IN_DJANGOS_ADMIN = {"user", "membership", "budget", "entry", "study", "panel"}
SHOWS = ("changelist", "change", "history")
CHANGES = ("add", "delete")  # opened to nobody, and neither does a form at the others
# the pages of allauth, with tests of their own beside this one; they are about the own account
SIGNING_IN = {
    *("account_login", "account_signup", "account_inactive", "account_reset_password"),
    *("account_reset_password_done", "account_reset_password_from_key"),
    *("account_reset_password_from_key_done", "account_confirm_login_code", "mfa_authenticate"),
    *("mfa_login_webauthn", "account_logout", "admin:login", "admin:logout"),
    *("account_email", "account_email_verification_sent", "account_confirm_email"),
    *("mfa_index", "mfa_list_webauthn"),
}
OWN_ACCOUNT = {
    *("account_change_password", "account_set_password", "account_reauthenticate"),
    *("mfa_reauthenticate", "mfa_activate_totp", "mfa_deactivate_totp", "mfa_view_recovery_codes"),
    *("mfa_generate_recovery_codes", "mfa_download_recovery_codes", "mfa_add_webauthn"),
    *("mfa_reauthenticate_webauthn", "mfa_remove_webauthn", "mfa_edit_webauthn"),
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
    "drafting:declining": Right.EDIT,
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


def of_djangos_admin() -> dict[str, bool]:
    """Return the pages of models in Django's admin, and which of them show something."""
    rooms = {"user": "people", "membership": "people", "budget": "ledger", "entry": "ledger"}
    return {
        f"admin:{rooms.get(model, 'design')}_{model}_{act}": act in SHOWS
        for model in SHOWN_IN_DJANGOS_ADMIN
        for act in (*SHOWS, *CHANGES)
    }


def known() -> set[str]:
    of_people = EVERYONE | RESULTS | SIGNED_IN | set(OF_ADMINS) | OF_A_STUDYS_ADMINS
    in_admin = IN_DJANGOS_ADMIN | set(of_djangos_admin())
    return of_people | set(OF_A_STUDY) | FOR_MACHINES | in_admin | SIGNING_IN | OWN_ACCOUNT


def test_every_address_of_the_site_is_in_the_table():
    names = {name for name, _ in patterns() if name}
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
    found["users"]["site"] = people.ensure_user(username="sita", password=None, is_site_admin=True)
    found["users"]["root"] = User.objects.create_superuser("root", password=None)
    found["newcomer"] = people.ensure_user(username="noor", password=None)
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
    if name in ("people:link", "people:close"):
        said["key"] = world["newcomer"].pk
    if name.startswith(("admin:", "mfa_")):
        said |= {"object_id": _pk(name, world), "pk": 1, "app_label": "people"}
        said |= {"content_type_id": 1}
    if name == "registry:words":
        said |= {"tag": "en", "sha256": languages.ours()["en"].sha256}
    if name == "frozen-plan":
        said["digest"] = world["plan"].digest
    takes = min((taken for full, taken in patterns() if full == name), key=len)
    return reverse(name, kwargs={key: said[key] for key in takes})


def _pk(name: str, world: dict[str, Any]) -> int:
    """Return the key of a row that is there, of what a page of Django's admin is about."""
    plan = world["plan"]
    found = {
        "user": world["users"]["owner"].pk,
        "membership": world["users"]["owner"].memberships.first().pk,
        "budget": plan.study.budget_id,
        "entry": 1,
        "study": plan.study_id,
        "panel": world["panel"].pk,
    }
    return next((key for model, key in found.items() if f"_{model}_" in name), 1)


def outcome(user: Any, path: str, method: str) -> str:
    """Knock, say what happened, and leave everything as it was."""
    client = Client(raise_request_exception=True)
    with transaction.atomic():
        if user is not None:
            client.force_login(user)
        answer = getattr(client, method)(path)
        transaction.set_rollback(True)
    if answer.status_code == 302 and answer.url.startswith(("/accounts/login/", "/admin/login/")):
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
        return OPEN if who in HOLDERS[OF_ADMINS[name]] else NO
    if who == "outsider":
        return NONE
    right = Right.MANAGE_BUDGETS if name in OF_A_STUDYS_ADMINS else OF_A_STUDY[name]
    return OPEN if who in HOLDERS[right] else NO


def methods(name: str, path: str, world: dict[str, Any]) -> list[str]:
    """Return how this address may be called: what is answered with 405, or leads back to a page
    (303), is no door.
    """
    client = Client()
    client.force_login(world["users"]["owner" if name in OF_A_STUDY else "root"])
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


def test_djangos_admin_shows_to_admins_and_changes_nothing_for_anybody(world):
    """Neither a superuser: who owns a study, an e-mail and a password have doors of their own."""
    found = []
    for name, shows in of_djangos_admin().items():
        path = address(name, world)
        for method in ("get", "post"):
            before = stored()
            for who, user in world["users"].items():
                right = SIGN_IN if who not in HOLDERS[Right.ENTER] else (OPEN if shows else NO)
                got = outcome(user, path, method)
                is_form = method == "post" and name.endswith("_change")
                if got != (NO if is_form and right == OPEN else right):
                    found.append(f"{method} {path} as {who}: expected {right}, {got}")
            assert stored() == before
    assert found == []


def stored() -> list[Any]:
    users = User.objects.order_by("pk").values_list("pk", "email", "password", "is_active")
    return [*users, *Membership.objects.order_by("pk").values_list("user", "study", "role")]


def test_django_s_admin_shows_only_what_the_table_names(world):
    names = {f"{model._meta.model_name}" for model in admin.site._registry}
    assert names == SHOWN_IN_DJANGOS_ADMIN


@pytest.mark.parametrize("who", ["admin", "site", "root"])
def test_no_action_of_djangos_admin_is_left(world, who):
    for name in of_djangos_admin():
        if name.endswith("_changelist"):
            client = Client()
            client.force_login(world["users"][who])
            actions = client.get(reverse(name)).context["action_form"]
            assert actions is None, name


def test_the_own_account_asks_everybody_to_sign_in_and_nobody_else_s_is_found(world):
    for name in OWN_ACCOUNT:
        for method in ("get", "post"):
            assert outcome(None, address(name, world), method) in (SIGN_IN, NONE), name


def test_only_one_module_asks_what_an_account_may():
    """A door that asks Django itself would not be in the table of rights."""
    house = Path(__file__).parent.parent.parent.parent
    asks = re.compile(
        r"has_perm\(|\.is_superuser\b|\.is_staff\b|permission_required|user_passes_test"
    )
    found = {
        str(path.relative_to(house))
        for top in ("surveys", "templates")
        for path in (house / top).rglob("*.*")
        if path.suffix in (".py", ".html") and asks.search(path.read_text())
    }
    shown = {"templates/admin/base_site.html"} & found
    assert found - shown == {"surveys/people/selectors.py"}


def test_what_is_for_everyone_asks_nobody_to_sign_in(world):
    found = {name: outcome(None, address(name, world), "get") for name in EVERYONE}
    assert {name for name, got in found.items() if got not in (OPEN, NONE)} == set()


def test_results_for_members_are_nothing_to_others(world):
    for name in RESULTS:
        path = address(name, world)
        got = {who: outcome(user, path, "get") for who, user in world["users"].items()}
        assert {got["stranger"], got["outsider"]} <= {NONE, SIGN_IN}, name
        assert {got[who] for who in (*MEMBERS, *ADMINS)} == {OPEN}, name


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
