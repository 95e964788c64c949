"""Researchers' budgets within a study's: opened, lowered, limited, retired; by admins, on the
study's page.
"""

import datetime
from decimal import Decimal

import pytest
from django.contrib.auth.models import Permission

from surveys.design import services as design
from surveys.ledger import selectors, services
from surveys.ledger.models import Entry
from surveys.ledger.verification import faults
from surveys.people.models import Role
from tests.conftest import NOW, QUESTIONS, STUDY, known_as
from tests.surveys.ledger.small import rows
from tests.surveys.limits.test_views import PAGE, WHY, member

OPEN = f"{PAGE}researcher/"
TYPED = {"researcher": "mira", "cap": "0.5", "why": WHY}


@pytest.fixture
def admin(client, admin_user):
    client.force_login(admin_user)
    return client


@pytest.fixture
def study(plan, researcher):
    return plan.study


def opened(admin, study):
    admin.post(OPEN, TYPED)
    share = selectors.share_of("mira", study.budget_id)
    assert share is not None
    return share


def at(share, name):
    return f"{PAGE}researchers/{share.pk}/{name}/"


def test_a_researcher_s_budget_has_the_study_s_terms_and_is_listed(admin, study):
    assert "must fit under both caps" in admin.get(OPEN).content.decode()
    assert admin.post(OPEN, TYPED)["Location"] == PAGE
    share = selectors.share_of("mira", study.budget_id)
    assert share is not None
    assert (share.cap, share.unit, share.neighbours, share.side, share.name) == (
        Decimal("0.5"),
        study.budget.unit,
        study.budget.neighbours,
        study.budget.side,
        "researcher:mira@study:exam-honesty",
    )
    assert [(row.what, row.why, row.who) for row in rows(share.pk)] == [("opened", WHY, "ada")]
    page = admin.get(PAGE).content.decode()
    assert "Budgets of researchers" in page
    assert "ε 0 of 0.50 is used" in page or "ε 0.00 of 0.50 is used" in page
    assert faults() == []


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ({"researcher": "nobody"}, "Select a valid choice"),
        ({"cap": "0"}, "must be above 0"),
        ({"cap": "NaN"}, "This must be a number."),
        ({"why": "  "}, "This is needed."),
    ],
    ids=str,
)
def test_what_cannot_be_opened_is_refused(admin, study, typed, problem):
    before = Entry.objects.count()
    answer = admin.post(OPEN, {**TYPED, **typed})
    assert answer.status_code == 422
    assert problem in answer.content.decode()
    assert Entry.objects.count() == before


def test_one_person_has_one_budget_in_a_study(admin, study):
    opened(admin, study)
    before = Entry.objects.count()
    answer = admin.post(OPEN, {**TYPED, "cap": "1"})
    assert "has a budget for this study already" in answer.content.decode()
    assert Entry.objects.count() == before


def test_it_opens_while_the_study_s_is_held(admin, study, monkeypatch):
    """So that a charge to the study is either done before, or finds it and is charged to it too."""
    done, lock, make = [], services.lock, services.open_budget
    monkeypatch.setattr(services, "lock", lambda *ids: done.append(ids) or lock(*ids))
    monkeypatch.setattr(
        services, "open_budget", lambda **terms: done.append(terms["name"]) or make(**terms)
    )
    opened(admin, study)
    assert done == [(study.budget_id,), "researcher:mira@study:exam-honesty"]


def test_it_holds_by_either_where_the_study_does(admin, researcher):
    draft = design.draft_study(
        study={**STUDY, "slug": "rho", "cap_delta": "0.000001"}, questions=QUESTIONS
    )
    study = design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW).study
    assert "Cap, ε" in admin.get("/studies/rho/limits/researcher/").content.decode()
    admin.post("/studies/rho/limits/researcher/", {**TYPED, "cap": "0.5"})
    share = selectors.share_of("mira", study.budget_id)
    assert share is not None
    assert (share.pure_epsilon, share.delta) == (Decimal("0.5"), study.budget.delta)
    assert share.rho < study.budget.rho
    where = f"/studies/rho/limits/researchers/{share.pk}/lower/"
    assert "New cap, ε" in admin.get(where).content.decode()
    before = share.rho
    assert admin.post(where, {"cap": "0.4", "why": WHY}).status_code == 302
    share.refresh_from_db()
    assert share.pure_epsilon == Decimal("0.4")
    assert share.rho < before


def test_its_cap_is_lowered_and_never_raised(admin, study):
    share = opened(admin, study)
    assert admin.post(at(share, "lower"), {"cap": "0.4", "why": WHY})["Location"] == PAGE
    answer = admin.post(at(share, "lower"), {"cap": "0.45", "why": WHY})
    assert "A cap can only fall: that of ε is 0.4; 0.45 was asked for" in answer.content.decode()
    assert selectors.account(share.pk).cap == Decimal("0.4")
    row = rows(share.pk)[-1]
    assert (row.what, row.old, row.new, row.why, row.who) == (
        "lowered the cap",
        "ε 0.5",
        "ε 0.4",
        WHY,
        "ada",
    )


def test_its_week_is_limited_and_freed_again(admin, study):
    share = opened(admin, study)
    admin.post(at(share, "week"), {"weekly": "0.1", "why": WHY})
    assert 'value="0.1"' in admin.get(at(share, "week")).content.decode()
    admin.post(at(share, "week"), {"weekly": "", "why": WHY})
    assert [(row.what, row.new) for row in rows(share.pk)[1:]] == [
        ("set the weekly limit", "ε 0.1 in any seven days"),
        ("set the weekly limit", "no limit"),
    ]


def test_it_is_retired_for_good(admin, study):
    share = opened(admin, study)
    before = datetime.datetime.now(datetime.UTC).date()
    assert admin.post(at(share, "retire"), {"why": WHY}).status_code == 302
    share.refresh_from_db()
    assert before <= share.retired_on <= datetime.datetime.now(datetime.UTC).date()
    page = admin.get(PAGE).content.decode()
    assert "Ended on" in page
    assert at(share, "lower") not in page
    answer = admin.post(at(share, "lower"), {"cap": "0.1", "why": WHY}, follow=True)
    assert "his cannot be done now" in answer.content.decode()


def test_a_page_offers_what_fits(admin, study):
    share = opened(admin, study)
    page = admin.get(PAGE).content.decode()
    for name in ("lower", "week", "retire"):
        assert at(share, name) in page
    assert admin.get(at(share, "nonsense")).status_code == 404
    assert admin.get(f"{PAGE}researchers/999/lower/").status_code == 404


def test_another_study_s_page_does_not_reach_it(admin, study):
    share = opened(admin, study)
    other = design.draft_study(study={**STUDY, "slug": "other"}, questions=QUESTIONS)
    design.open_study(why="A test.", study_id=other.pk, who="ada", now=NOW)
    for own in (share.pk, study.budget_id):
        assert admin.get(f"/studies/other/limits/researchers/{own}/lower/").status_code == 404


@pytest.mark.parametrize("role", list(Role))
def test_members_neither_see_it_nor_open_or_change_one(client, admin_user, study, role):
    client.force_login(admin_user)
    share = opened(client, study)
    client.force_login(member(study, role))
    before = Entry.objects.count()
    assert "Budgets of researchers" not in client.get(PAGE).content.decode()
    assert client.post(OPEN, TYPED).status_code == 403
    for name in ("lower", "week", "retire"):
        assert client.get(at(share, name)).status_code == 403
        assert client.post(at(share, name), {"cap": "0.1", "why": WHY}).status_code == 403
    assert Entry.objects.count() == before


def test_who_may_only_read_budgets_does_not_act(client, study):
    user = known_as("rita")
    wanted = ("view_budget", "view_study")
    user.user_permissions.set(Permission.objects.filter(codename__in=wanted))
    client.force_login(user)
    assert OPEN not in client.get(PAGE).content.decode()
    assert client.post(OPEN, TYPED).status_code == 403


def test_a_draft_has_no_budget_to_share(admin, draft):
    answer = admin.post(OPEN, TYPED, follow=True)
    assert "his cannot be done now" in answer.content.decode()
    assert not Entry.objects.exists()
