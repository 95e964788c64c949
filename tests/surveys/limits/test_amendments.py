"""What may still change of an open study: by its owners, with a reason, and a row for each act."""

import datetime
from decimal import Decimal

import pytest

from surveys.design import models as design_models, services as design
from surveys.design.drafts import delete_draft, new_draft, rename_draft
from surveys.design.refusals import CannotOpen, Refused
from surveys.ledger import selectors as ledger
from surveys.ledger.models import Entry
from surveys.people.models import Role
from tests.conftest import known_as
from tests.surveys.limits.test_views import PAGE, WHY, member

ACTS = ("lower", "week", "retire")
TYPED = {"new": "1.5", "weekly": "0.5", "why": WHY, "sure": "on"}


@pytest.fixture
def owner(plan, client):
    client.force_login(member(plan.study, Role.OWNER))
    return client


def last_act():
    entry = Entry.objects.order_by("-position").first()
    return entry.what, entry.old, entry.new, entry.why, entry.who


def test_the_cap_can_be_lowered(owner, plan):
    page = owner.get(f"{PAGE}lower/").content.decode()
    assert "It can fall, not below what is spent, and never rise." in page
    assert owner.post(f"{PAGE}lower/", TYPED)["Location"] == PAGE
    plan.study.refresh_from_db()
    assert plan.study.cap == Decimal("1.5")
    assert last_act() == ("lowered the cap", "ε 2", "ε 1.5", WHY, "a-owner")


@pytest.mark.parametrize("new", ["2", "3", "0", "-1", "", "x"])
def test_the_cap_cannot_rise_or_stay(owner, plan, new):
    before = Entry.objects.count()
    answer = owner.post(f"{PAGE}lower/", {**TYPED, "new": new})
    assert answer.status_code == 422
    assert 'role="alert"' in answer.content.decode()
    assert Entry.objects.count() == before


def test_a_refusal_stands_beside_the_number_that_was_refused(owner):
    page = owner.post(f"{PAGE}lower/", {**TYPED, "new": "3"}).content.decode()
    assert 'id="id_new_error"' in page
    assert 'href="#id_new"' in page


def test_a_week_can_be_limited_and_freed_again(owner, plan):
    owner.post(f"{PAGE}week/", TYPED)
    assert ledger.account(plan.study.budget_id).budget.weekly == Decimal("0.5")
    assert "ε 0.5" in owner.get(PAGE).content.decode()
    owner.post(f"{PAGE}week/", {**TYPED, "weekly": ""})
    assert last_act()[:3] == ("set the weekly limit", "ε 0.5 in any seven days", "no limit")


def test_retiring_says_what_it_does_asks_twice_and_is_for_good(owner, plan):
    page = owner.get(f"{PAGE}retire/").content.decode()
    assert "Nothing is published ever again" in page
    assert owner.post(f"{PAGE}retire/", {"why": WHY}).status_code == 422
    plan.study.refresh_from_db()
    assert not plan.study.is_retired
    assert owner.post(f"{PAGE}retire/", TYPED).status_code == 302
    plan.study.refresh_from_db()
    assert plan.study.is_retired
    page = owner.get(PAGE, follow=True).content.decode()
    assert WHY in page
    assert "Lower the cap" not in page


@pytest.mark.parametrize("name", ACTS)
def test_every_act_asks_why(owner, name):
    before = Entry.objects.count()
    assert owner.post(f"{PAGE}{name}/", {**TYPED, "why": "  "}).status_code == 422
    assert Entry.objects.count() == before


@pytest.mark.parametrize("name", ACTS)
@pytest.mark.parametrize("role", [Role.READER, Role.ANALYST, Role.EDITOR])
def test_nobody_but_an_owner_or_an_admin_acts(client, plan, role, name):
    client.force_login(member(plan.study, role))
    before = Entry.objects.count()
    assert client.get(f"{PAGE}{name}/").status_code == 403
    assert client.post(f"{PAGE}{name}/", TYPED).status_code == 403
    assert Entry.objects.count() == before
    assert f'href="{PAGE}{name}/"' not in client.get(PAGE).content.decode()


@pytest.mark.parametrize("name", ACTS)
def test_an_admin_of_studies_acts_too(client, plan, admin_user, name):
    client.force_login(admin_user)
    assert client.post(f"{PAGE}{name}/", TYPED).status_code == 302
    assert last_act()[3:] == (WHY, "ada")


@pytest.mark.parametrize("name", ACTS)
def test_a_draft_has_no_acts(client, draft, name):
    client.force_login(member(draft, Role.OWNER))
    answer = client.post(f"{PAGE}{name}/", TYPED, follow=True)
    assert "This cannot be done now" in answer.content.decode()
    assert not Entry.objects.exists()


def test_an_act_that_is_none_is_not_found(owner):
    assert owner.get(f"{PAGE}raise/").status_code == 404


def test_a_role_that_was_taken_away_is_gone_at_once(owner, plan):
    people_of = plan.study.memberships
    people_of.all().delete()
    assert owner.post(f"{PAGE}lower/", TYPED).status_code == 404


def test_days_left_and_the_week_are_shown(owner, plan, now):
    today = datetime.datetime.now(datetime.UTC).date()
    type(plan.study).objects.filter(pk=plan.study_id).update(
        retires_on=today + datetime.timedelta(days=30)
    )
    page = owner.get(PAGE).content.decode()
    assert "30 days" in page
    assert "no budget is being used" in page


def test_of_a_closed_study_it_is_not_said_how_long_the_rest_lasts(owner, plan):
    design.close_plan(plan_id=plan.pk, today=datetime.datetime.now(datetime.UTC).date())
    page = owner.get(PAGE).content.decode()
    assert "closed: only what is asked for costs" in page
    assert "no budget is being used" not in page


def test_sharing_is_not_needed_of_who_may_see_all(client, plan, db):
    boss = known_as("boss", is_admin=True)
    client.force_login(boss)
    assert client.get(PAGE).status_code == 200


def test_an_admin_deletes_a_draft_and_its_owner_does_not(client, draft, admin_user):
    client.force_login(member(draft, Role.OWNER))
    assert f"{PAGE}delete/" not in client.get(PAGE).content.decode()
    assert client.post(f"{PAGE}delete/", {"sure": "on"}).status_code == 403
    client.force_login(admin_user)
    assert 'href="delete/"' in client.get(PAGE).content.decode()
    assert client.post(f"{PAGE}delete/", {}).status_code == 422
    assert design_models.Study.objects.exists()
    assert client.post(f"{PAGE}delete/", {"sure": "on"})["Location"] == "/studies/"
    assert not design_models.Study.objects.exists()


@pytest.mark.usefixtures("two_waves")
def test_a_study_that_has_opened_is_not_deleted(client, plan, admin_user, today):
    client.force_login(admin_user)
    client.post(f"{PAGE}delete/", {"sure": "on"})
    with pytest.raises(CannotOpen, match="is open already"):
        delete_draft(study_id=plan.study_id)
    design.close_plan(plan_id=plan.pk, today=today)
    design.begin_wave(study_id=plan.study_id)
    with pytest.raises(Refused, match="has opened before: it stays"):
        delete_draft(study_id=plan.study_id)


def test_an_admin_changes_the_link_of_a_draft(client, draft, admin_user):
    client.force_login(admin_user)
    assert "/s/exam-honesty/" in client.get(f"{PAGE}address/").content.decode()
    moved = client.post(f"{PAGE}address/", {"slug": "exams"})
    assert moved["Location"] == "/studies/exams/limits/"
    draft.refresh_from_db()
    assert draft.slug == "exams"


@pytest.mark.parametrize("slug", ["ledger", "no slug", "", "taken"])
def test_a_link_that_cannot_be_is_refused_beside_its_field(client, draft, admin_user, slug):
    new_draft(
        texts={"title": "Taken", "organisation": "O", "purpose": "P", "contact": "a@example.org"}
    )
    client.force_login(admin_user)
    answer = client.post(f"{PAGE}address/", {"slug": slug})
    assert answer.status_code == 422
    assert 'id="id_slug_error"' in answer.content.decode()
    draft.refresh_from_db()
    assert draft.slug == "exam-honesty"


@pytest.mark.usefixtures("two_waves")
def test_a_link_that_is_out_stays_and_an_owner_changes_none(client, plan, today, admin_user):
    design.close_plan(plan_id=plan.pk, today=today)
    design.begin_wave(study_id=plan.study_id)
    client.force_login(admin_user)
    answer = client.post(f"{PAGE}address/", {"slug": "exams"}, follow=True)
    assert "This cannot be done now" in answer.content.decode()
    with pytest.raises(Refused, match="its link is out"):
        rename_draft(study_id=plan.study_id, slug="exams")
    client.force_login(member(plan.study, Role.OWNER))
    assert client.post(f"{PAGE}address/", {"slug": "exams"}).status_code == 403
