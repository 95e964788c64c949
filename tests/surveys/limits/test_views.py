"""The page of a study's limits: what it shows, what it saves, whom it refuses."""

from decimal import Decimal

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from surveys.design import limit_changes, services as design
from surveys.design.models import DraftChange, Question, Study
from surveys.design.refusals import CannotOpen, Refused
from surveys.ledger.models import Entry
from surveys.people import services as people
from surveys.people.models import Role
from tests.conftest import known_as

PAGE = "/studies/exam-honesty/limits/"
WHY = "A colleague asked for more."
DRAFT = {
    "cap": "2",
    "cap_delta": "0",
    "release_epsilon": "1",
    "retires_on": "",
    "household": "3",
    "epsilon-copied": "1",
    "epsilon-fair": "1",
    "epsilon-often": "1",
    "why": WHY,
}


def member(draft, role):
    user = known_as(f"a-{role}")
    people.share(study=draft, user=user, role=role)
    return user


@pytest.fixture
def editor(draft, client):
    user = member(draft, Role.EDITOR)
    client.force_login(user)
    return client


@pytest.fixture
def site_admin(admin_user):
    admin_user.user_permissions.add(Permission.objects.get(codename="set_limits"))
    return admin_user


def test_a_draft_shows_its_odds_its_guesses_and_what_one_person_loses_in_all(editor, draft):
    page = editor.get(PAGE).content.decode()
    assert "Of 100 people who answer “Yes”, 73 send “Yes” and 27 send “No”." in page
    assert "A guess of 10, 50 or 90 in 100 becomes at most 23.2, 73.2 or 96.1." in page
    assert "One person loses ε 3.00 in all: the sum over 3 questions." in page
    assert "Households are hardly protected together" in page


def test_the_error_at_the_expected_number_of_answers_is_shown(editor, draft):
    Study.objects.filter(pk=draft.pk).update(expected=1200)
    page = editor.get(PAGE).content.decode()
    assert "with 1200 answers" in page or "with 1,200 answers" in page
    assert "points" in page


def test_looking_changes_nothing(editor, draft):
    page = editor.post(
        PAGE, {**DRAFT, "epsilon-copied": "1.0986", "look": "1", "why": ""}
    ).content.decode()
    assert "75 send “Yes” and 25 send “No”" in page
    assert Question.objects.get(name="copied").epsilon == 1
    assert not Entry.objects.exists()


def test_while_somebody_types_only_the_consequences_are_sent(editor, draft):
    answer = editor.post(
        PAGE,
        {**DRAFT, "epsilon-copied": "2", "look": "1", "why": ""},
        headers={"HX-Request": "true"},
    )
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "88 send “Yes” and 12 send “No”" in page
    assert "<html" not in page
    assert page.count('hx-swap-oob="true"') == 3 + 4


def test_saving_writes_a_line_for_each_term_that_changed(editor, draft):
    answer = editor.post(PAGE, {**DRAFT, "epsilon-copied": "0.5", "cap": "1.5"})
    assert answer.status_code == 302
    draft.refresh_from_db()
    assert (draft.cap, draft.questions.get(name="copied").epsilon) == (
        Decimal("1.5"),
        Decimal("0.5"),
    )
    rows = [
        (line.what, line.old, line.new, line.why, line.who)
        for line in DraftChange.objects.order_by("pk")
    ]
    assert rows == [
        ("cap for all publications, ε", "2", "1.5", WHY, "a-editor"),
        ("ε of copied", "1, changed on the device", "0.5, changed on the device", WHY, "a-editor"),
    ]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"epsilon-copied": "9"}, "ε must be between 0.01 and 8; it is 9."),
        ({"epsilon-copied": "0.001"}, "ε must be between 0.01 and 8; it is 0.001."),
        ({"epsilon-copied": "-1"}, "ε must be between 0.01 and 8; it is -1."),
        ({"epsilon-copied": "lots"}, "This must be a number."),
        ({"epsilon-copied": "NaN"}, "This must be a number."),
        ({"epsilon-copied": ""}, "This is needed."),
        ({"cap": "9"}, "A cap must be at most 8 on this site; it is 9."),
        ({"cap": "0.5"}, "One publication must cost at most the cap of 0.5; it is 1."),
        ({"cap": "1e99"}, "This number is too long."),
        ({"retires_on": "soon"}, "This must be a day"),
        ({"why": " "}, "This is needed."),
        ({"cap_delta": "0.5"}, "Select a valid choice"),
    ],
    ids=str,
)
def test_what_cannot_be_is_said_beside_its_field_and_nothing_is_saved(editor, draft, typed, said):
    answer = editor.post(PAGE, {**DRAFT, "epsilon-fair": "0.9", **typed})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert said in page
    assert 'role="alert"' in page
    assert 'aria-invalid="true"' in page
    assert not Entry.objects.exists()
    assert draft.questions.get(name="fair").epsilon == 1
    assert 'value="0.9"' in page  # what was typed is kept


@pytest.mark.parametrize("how", [{}, {"look": "1"}])
def test_an_epsilon_that_cannot_be_gets_no_consequences_of_another_one(editor, draft, how):
    htmx = {"HTTP_HX_REQUEST": "true"} if how else {}
    page = editor.post(PAGE, {**DRAFT, "epsilon-copied": "9", **how}, **htmx).content.decode()
    said = page.split('id="said-copied"')[1].split("</div>")[0]
    assert "send “Yes”" not in said
    assert "ε must be between 0.01 and 8; it is 9." in page


def test_nothing_is_saved_where_nothing_was_changed(editor, draft):
    assert "Everything is as it was" in editor.post(PAGE, DRAFT).content.decode()


def test_a_question_that_went_meanwhile_is_not_saved(editor, draft):
    draft.questions.filter(name="often").delete()
    answer = editor.post(PAGE, {**DRAFT, "epsilon-copied": "0.5"})
    assert answer.status_code == 302  # fields that are gone are nobody's
    with pytest.raises(Refused, match="no question “often”"):
        decide(draft, epsilons={"often": Decimal(1)})


def decide(study, **what):
    from tests.conftest import NOW

    known = {
        "epsilons": {},
        "new": {},
        "may_set_limits": False,
        "who": "ada",
        "why": "why",
        "now": NOW,
    }
    return limit_changes.decide(study_id=study.pk, **{**known, **what})


def test_floor_and_ceiling_are_the_sites_alone(editor, draft, client, site_admin):
    page = editor.get(PAGE).content.decode()
    assert 'name="epsilon_floor"' not in page
    editor.post(PAGE, {**DRAFT, "epsilon_ceiling": "20", "epsilon-copied": "0.5"})
    draft.refresh_from_db()
    assert draft.epsilon_ceiling == 8
    with pytest.raises(Refused, match="Only the site’s admin"):
        decide(draft, new={"epsilon_floor": Decimal("0.2")})
    client.force_login(site_admin)
    assert 'name="epsilon_floor"' in client.get(PAGE).content.decode()
    terms = {
        **DRAFT,
        "epsilon-copied": "0.5",
        "epsilon_floor": "0.2",
        "epsilon_ceiling": "1.1",
        "unit": "respondent-in-study",
    }
    assert client.post(PAGE, terms).status_code == 302
    draft.refresh_from_db()
    assert (draft.epsilon_floor, draft.epsilon_ceiling) == (Decimal("0.2"), Decimal("1.1"))


@pytest.mark.parametrize("role", [Role.READER, Role.ANALYST])
def test_who_may_only_read_sees_the_limits_and_cannot_change_them(client, draft, role):
    client.force_login(member(draft, role))
    page = client.get(PAGE).content.decode()
    assert "you need the role of an editor" in page
    assert "Save these limits" not in page
    assert client.post(PAGE, {**DRAFT, "epsilon-copied": "0.5"}).status_code == 403
    assert not Entry.objects.exists()


def test_a_study_that_is_not_shared_is_not_there(client, draft, outsider):
    client.force_login(outsider)
    assert client.get(PAGE).status_code == 404
    assert client.post(PAGE, DRAFT).status_code == 404
    assert client.post(f"{PAGE}retire/", {"why": WHY, "sure": "on"}).status_code == 404


def test_a_stranger_is_asked_to_sign_in(client, draft):
    for address in (PAGE, f"{PAGE}lower/", "/limits/", "/health/"):
        assert client.get(address)["Location"].startswith("/accounts/login/")


def test_an_open_study_keeps_its_terms(client, plan):
    client.force_login(member(plan.study, Role.OWNER))
    page = client.get(PAGE).content.decode()
    assert "They stay as they are" in page
    assert "Save these limits" not in page
    before = Entry.objects.count()
    client.post(PAGE, {**DRAFT, "epsilon-copied": "0.5"})
    assert Entry.objects.count() == before
    with pytest.raises(CannotOpen, match="is open already"):
        decide(plan.study, epsilons={"copied": Decimal("0.5")})


def test_a_next_wave_can_have_another_epsilon_but_not_another_cap(client, plan, today):
    design.close_plan(plan_id=plan.pk, today=today)
    study = design.begin_wave(study_id=plan.study_id)
    client.force_login(member(study, Role.EDITOR))
    assert 'name="cap"' not in client.get(PAGE).content.decode()
    assert client.post(PAGE, {**DRAFT, "epsilon-copied": "0.5"}).status_code == 302
    with pytest.raises(Refused, match="its cap can only be lowered"):
        decide(study, new={"cap": Decimal(1)})


@pytest.mark.parametrize("size", ["0", "6", "x", "³", "-1", "999999999999"])
def test_a_household_that_cannot_be_is_one_of_three(client, plan, size):
    client.force_login(member(plan.study, Role.READER))
    assert "a household of 3" in client.get(PAGE, {"household": size}).content.decode()


def test_a_household_of_one_is_not_warned_of(client, plan):
    client.force_login(member(plan.study, Role.READER))
    assert "a household of" not in client.get(PAGE, {"household": "1"}).content.decode()


def test_the_page_is_one_of_the_studys_steps(editor):
    page = editor.get(reverse("limits:study", args=["exam-honesty"])).content.decode()
    assert f'href="{PAGE}" aria-current="page"' in page


@pytest.mark.parametrize("name", ["cap", "release_epsilon"])
@pytest.mark.parametrize("amount", ["0", "-0", "-1"])
@pytest.mark.parametrize("how", [{}, {"look": "1"}])
def test_nothing_costs_nothing_and_less_than_nothing_is_refused(editor, draft, name, amount, how):
    answer = editor.post(PAGE, {**DRAFT, name: amount, **how})
    assert answer.status_code == (200 if how else 422)
    assert "must be above 0" in answer.content.decode()
    assert not Entry.objects.exists()
