"""Strangers meet pseudonyms and no drafts; who works on a study sees names and its history."""

from decimal import Decimal
from html import unescape
from typing import Any

import pytest
from django.test import Client

from surveys.design import services as design
from surveys.design.drafts import new_draft, set_protections
from surveys.design.models import DraftChange, Plan, Study
from surveys.ledger import services as budgets
from surveys.ledger.models import Entry
from surveys.people import selectors, services as people
from surveys.people.models import Role, User
from surveys.releases import selectors as releases, services
from tests.html import one_line
from tests.surveys.releases.conftest import NOW, QUESTIONS, STUDY, answer, close

pytestmark = pytest.mark.django_db
NAME = "gwendolyn"
SHARES: dict[str, Any] = {"questions": ["copied"], "epsilon": "0.5"}


@pytest.fixture
def gwen() -> User:
    return people.ensure_user(username=NAME, password="a long password")


@pytest.fixture
def draft(gwen: User) -> Study:
    study = design.draft_study(study={**STUDY, "results": "public"}, questions=QUESTIONS)
    people.share(study=study, user=gwen, role=Role.OWNER)
    return study


@pytest.fixture
def plan(draft: Study, gwen: User) -> Plan:
    """A study that she drafted, opened, and asked from her own share."""
    by: dict[str, Any] = {"who": gwen.pseudonym, "now": NOW}
    change(draft, gwen)
    plan = design.open_study(why="A test.", study_id=draft.pk, **by)
    budgets.open_share(
        study_id=plan.study.budget_id or 0, holder=gwen.pseudonym, cap=1, why="hers", **by
    )
    answer(plan, 60)
    asked = services.ask_for(plan=plan, kind="shares", parameters=SHARES, **by)
    services.publish(request_id=asked.pk, now=NOW)
    services.ask_for(plan=plan, kind="shares", parameters={**SHARES, "epsilon": "0.25"}, **by)
    return plan


def change(draft: Study, user: User) -> None:
    epsilons = {"copied": Decimal("1.75")}
    set_protections(
        study_id=draft.pk, epsilons=epsilons, who=user.pseudonym, why="a secret try", now=NOW
    )


def pages(study: Study) -> list[str]:
    """Every public address that says something of a study or the ledger."""
    rows = [f"/ledger/{position}/" for position in Entry.objects.values_list("position", flat=True)]
    found = [f"/results/{study.slug}/", f"/results/{study.slug}/methods/", f"/s/{study.slug}/"]
    found += [
        f"/results/{study.slug}/releases/{each.number}/" for each in releases.publications_of(study)
    ]
    found += [f"/registry/{study.slug}{end}" for end in ("/", ".json", ".yaml")]
    found += [f"/api/v1/studies/{study.slug}/{end}" for end in ("plan", "releases", "published")]
    return [
        *found,
        *rows,
        "/",
        "/ledger/",
        "/ledger.json",
        "/ledger.csv",
        "/registry/",
        "/registry/ledger.json",
    ]


def read(client: Client, address: str) -> str:
    answer = client.get(address)
    return (b"".join(answer.streaming_content) if answer.streaming else answer.content).decode()


def test_no_public_page_has_a_login_name(client: Client, plan: Plan, gwen: User) -> None:
    every = {address: read(client, address) for address in pages(plan.study)}
    assert [address for address, text in every.items() if NAME in text] == []
    for address in (
        "/ledger/",
        "/registry/ledger.json",
        f"/registry/{plan.study.slug}/",
        f"/api/v1/studies/{plan.study.slug}/releases",
        f"/results/{plan.study.slug}/",
    ):
        assert gwen.pseudonym in every[address], address


def test_whoever_acts_on_a_page_is_written_down_by_pseudonym(
    client: Client, plan: Plan, gwen: User
) -> None:
    client.force_login(gwen)
    asked = {"weekly": "0.5", "why": "slowly"}
    assert client.post(f"/studies/{plan.study.slug}/limits/week/", asked).status_code == 302
    assert Entry.objects.latest("position").who == gwen.pseudonym


def test_whoever_shares_a_study_with_somebody_reads_their_name(
    client: Client, plan: Plan, gwen: User
) -> None:
    other = people.ensure_user(username="otto", password="a long password")
    client.force_login(other)
    assert NAME not in read(client, "/ledger/")
    people.share(study=plan.study, user=other)
    assert NAME in read(client, "/ledger/")
    assert NAME in read(client, f"/studies/{plan.study.slug}/")
    assert selectors.names_for(gwen) == {gwen.pseudonym: NAME}  # he has done nothing there
    assert selectors.names_for(gwen, plan.study.slug) == {
        gwen.pseudonym: NAME,
        other.pseudonym: "otto",
    }


def test_nobody_learns_whose_rows_are_whose_by_putting_somebody_in_a_study_of_their_own(
    client: Client, plan: Plan
) -> None:
    eve = people.ensure_user(username="eve", password="a long password")
    client.force_login(eve)
    texts = {
        "title": "Bait",
        "organisation": "Eve",
        "purpose": "To see.",
        "contact": "eve@example.org",
    }
    bait = new_draft(texts=texts)
    people.share(study=bait, user=eve, role=Role.OWNER)
    assert client.post("/studies/bait/people/", {"name": NAME, "role": "reader"}).status_code == 302
    for address in ("/ledger/", f"/registry/{plan.study.slug}/", f"/results/{plan.study.slug}/"):
        assert NAME not in read(client, address), address
    assert NAME in read(client, "/studies/bait/people/")


def test_a_name_from_before_there_were_pseudonyms_is_not_on_public_results(
    client: Client, plan: Plan
) -> None:
    asked = services.ask_for(
        plan=plan, kind="shares", parameters={**SHARES, "epsilon": "0.125"}, who=NAME, now=NOW
    )
    made = services.publish(request_id=asked.pk, now=NOW)
    of_study = (
        f"/results/{plan.study.slug}/",
        f"/results/{plan.study.slug}/releases/{made.entry.number}/",
    )
    for address in (*of_study, f"/api/v1/studies/{plan.study.slug}/releases"):
        assert NAME not in read(client, address), address
        assert "a member of the team" in read(client, address), address


def test_the_rule_of_a_study_is_called_so_in_public(client: Client, plan: Plan) -> None:
    asked = services.ask_for(
        plan=plan,
        kind="shares",
        parameters={**SHARES, "epsilon": "0.125"},
        who=releases.SCHEDULE,
        now=NOW,
    )
    services.publish(request_id=asked.pk, now=NOW)
    for address in (f"/results/{plan.study.slug}/", f"/registry/{plan.study.slug}/"):
        assert releases.SCHEDULE in unescape(read(client, address)), address


def test_who_is_renamed_keeps_their_share_of_a_budget(plan: Plan, gwen: User) -> None:
    User.objects.filter(pk=gwen.pk).update(username="gwen")
    assert len(releases.budgets_of(plan, User.objects.get(pk=gwen.pk).pseudonym)) == 2
    # somebody else, later, by the old name
    people.ensure_user(username=NAME, password="a long password")
    assert len(releases.budgets_of(plan, User.objects.get(username=NAME).pseudonym)) == 1
    assert len(releases.budgets_of(plan, NAME)) == 1


def test_one_number_names_a_row_everywhere(client: Client, plan: Plan, gwen: User) -> None:
    # its rows come between
    design.open_study(
        why="A test.",
        study_id=design.draft_study(study={**STUDY, "slug": "b"}, questions=QUESTIONS[:1]).pk,
        who=gwen.pseudonym,
        now=NOW,
    )
    asked = services.ask_for(
        plan=plan, kind="shares", parameters={**SHARES, "epsilon": "0.125"}, who="x", now=NOW
    )
    entry = services.publish(request_id=asked.pk, now=NOW).entry
    assert entry.position != entry.number
    results, link = f"/results/{plan.study.slug}/", f'href="/ledger/{entry.position}/"'
    for address in (results, f"{results}releases/{entry.number}/", f"/registry/{plan.study.slug}/"):
        assert link in read(client, address), address
    assert f"row {entry.position} of the ledger" in read(client, results)
    first = client.get(f"/api/v1/studies/{plan.study.slug}/releases").json()["releases"][0]
    assert (first["number"], first["charge"]["row"]) == (entry.number, entry.position)
    shown = client.get(f"/registry/{plan.study.slug}.json").json()
    assert shown["charges"][0]["row"] == shown["releases"][0]["row"] == entry.position
    assert "its row" not in read(client, f"/ledger/{entry.position}/")


def test_the_newest_numbers_of_a_rule_name_the_row_by_that_number_too(
    client: Client, draft: Study
) -> None:
    design.open_study(why="A test.", study_id=draft.pk, who="x", now=NOW)  # its rows come before
    terms: dict[str, Any] = {**STUDY, "slug": "b", "results": "public", "rule": "when-closed"}
    study = design.draft_study(study=terms, questions=QUESTIONS)
    plan = close(answered(design.open_study(why="A test.", study_id=study.pk, who="x", now=NOW)))
    services.publish_due(now=NOW)
    (made,) = releases.publications_of(plan.study)
    assert made.entry.position != made.number
    page = one_line(read(client, "/results/b/"))
    assert f'href="/ledger/{made.entry.position}/">Row {made.entry.position} of the ledger' in page
    # and in the table of what it cost
    assert page.count(f'href="/ledger/{made.entry.position}/"') == 2
    assert f"row {made.entry.position} of the ledger</a>" in read(client, "/results/b/methods/")


def answered(plan: Plan) -> Plan:
    answer(plan, 60)
    return plan


# Drafts


def test_what_is_edited_in_a_draft_reaches_no_stranger(
    client: Client, draft: Study, gwen: User
) -> None:
    change(draft, gwen)
    assert not Entry.objects.exists()
    for address in pages(draft):
        answer = client.get(address)
        assert answer.status_code in (200, 404), address
        assert draft.title not in read(client, address) or answer.status_code == 404, address
        for secret in ("1.75", "a secret try", draft.slug):
            assert secret not in read(client, address).replace(address, ""), (address, secret)
    assert client.get(f"/studies/{draft.slug}/limits/").status_code == 302
    client.force_login(people.ensure_user(username="otto", password="a long password"))
    assert client.get(f"/studies/{draft.slug}/limits/").status_code == 404


def test_members_read_a_drafts_history_and_it_goes_with_the_draft(
    client: Client, draft: Study, gwen: User
) -> None:
    change(draft, gwen)
    client.force_login(gwen)
    page = read(client, f"/studies/{draft.slug}/limits/")
    assert "a secret try" in page
    assert NAME in page
    draft.delete()
    assert not DraftChange.objects.exists()


def test_a_launch_is_one_row_with_the_terms_and_nothing_of_the_way_there(plan: Plan) -> None:
    rows = Entry.objects.filter(what__startswith="opened wave")
    assert [row.new.split("; ", 1)[1] for row in rows] == [
        "one person's answers: ε 1.75 and answers sent as given; publication: on-request, ε 1; "
        "all publications: ε 2; one answer: ε 0.01 to 4"
    ]
    assert not Entry.objects.filter(why="a secret try").exists()
