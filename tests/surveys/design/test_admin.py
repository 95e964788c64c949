"""The Django admin as an admin uses it."""

from decimal import Decimal

import pytest

from surveys.design import services
from surveys.design.models import DraftChange, Panel, Plan, Study
from surveys.ledger.models import Entry
from tests.conftest import NOW

FORM = {
    "title": "Night shifts",
    "slug": "night-shifts",
    "organisation": "Norrvik Hospital",
    "purpose": "To plan rests.",
    "contact": "a@example.org",
    "unit": "respondent-in-study",
    "neighbours": "change-one",
    "panel": "",
    "cap": "1.5",
    "cap_delta": "0",
    "rule": "when-closed",
    "hours": "24",
    "horizon": "52",
    "release_epsilon": "0.5",
    "smallest_batch": "20",
    "results": "public",
    "closes_on": "",
    "retires_on": "",
    "questions-TOTAL_FORMS": "2",
    "questions-INITIAL_FORMS": "0",
    "questions-MIN_NUM_FORMS": "1",
    "questions-MAX_NUM_FORMS": "1000",
    "questions-0-position": "1",
    "questions-0-name": "asleep",
    "questions-0-kind": "yes_no",
    "questions-0-text": "Have you slept at work?",
    "questions-0-label": "Slept at work",
    "questions-0-protection": "device",
    "questions-0-epsilon": "0.75",
    "questions-1-position": "2",
    "questions-1-name": "rested",
    "questions-1-kind": "likert",
    "questions-1-text": "I feel rested.",
    "questions-1-label": "Feels rested",
    "questions-1-protection": "device",
    "questions-1-epsilon": "1",
}


@pytest.fixture
def admin(client, admin_user):
    client.force_login(admin_user)
    return client


def add(admin, **changes):
    return admin.post("/admin/design/study/add/", {**FORM, **changes})


def act(admin, action, study):
    data = {"action": action, "_selected_action": [study.pk]}
    return admin.post("/admin/design/study/", data, follow=True)


def second_wave(admin):
    """Open, close and begin again; return the study, and what its form then sends besides FORM."""
    add(admin)
    study = Study.objects.get()
    for action in ("open_studies", "close_studies", "begin_waves"):
        act(admin, action, study)
    return study, known_questions(study)


def test_an_admin_drafts_opens_and_closes_a_study(admin):
    assert add(admin).status_code == 302
    study = Study.objects.get()
    assert "is open." in act(admin, "open_studies", study).content.decode()
    plan = Plan.objects.get()
    assert [q["kind"] for q in plan.content["questions"]] == ["yes_no", "likert"]
    assert plan.content["caps"] == {"central_epsilon": "1.5"}
    assert "is closed." in act(admin, "close_studies", study).content.decode()
    assert "is a draft again." in act(admin, "begin_waves", study).content.decode()


def test_an_open_study_can_be_read_but_not_changed(admin):
    add(admin)
    study = Study.objects.get()
    act(admin, "open_studies", study)
    page = admin.get(f"/admin/design/study/{study.pk}/change/")
    assert Plan.objects.get().digest in page.content.decode()
    assert admin.post(f"/admin/design/study/{study.pk}/change/", {**FORM, "cap": "9"}).status_code == 403
    study.refresh_from_db()
    assert str(study.cap.normalize()) == "1.5"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"release_epsilon": "1.6"}, "at most the cap of 1.5; it is 1.6"),
        ({"questions-0-epsilon": "0"}, "greater than or equal to 0.01"),
        ({"release_epsilon": "0"}, "greater than or equal to 0.01"),
        ({"cap": "30"}, "less than or equal to 20"),
        ({"questions-1-choices": "one\ntw\u200bo\nthree"}, "visible characters"),
        ({"questions-0-epsilon": "-1"}, "greater than or equal to 0.01"),
        ({"questions-0-epsilon": "NaN"}, "Enter a number"),
        ({"questions-0-epsilon": "0.1234567891"}, "no more than 9 decimal places"),
        ({"questions-0-name": "Q 1"}, "Small letters"),
        ({"questions-1-choices": "one\none\nthree"}, "choices must differ"),
        ({"questions-1-choices": "one"}, "choices must be 3 to 11, one a line, got 1"),
        ({"smallest_batch": "1"}, "greater than or equal to 10"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_with_a_sentence_and_nothing_is_stored(admin, changes, message):
    response = add(admin, **changes)
    assert response.status_code == 200
    assert message in response.content.decode().replace("&#x27;", "'")
    assert not Study.objects.exists()


def test_a_researcher_is_not_let_in(client, researcher):
    client.force_login(researcher)
    assert client.get("/admin/design/study/").status_code == 302


def test_reports_and_tallies_are_not_in_the_admin(admin):
    page = admin.get("/admin/").content.decode().lower()
    assert all(word not in page for word in ("report", "receipt", "tall", "batch"))


def test_between_waves_the_address_and_the_cap_cannot_be_edited(admin):
    study, known = second_wave(admin)
    page = admin.post(
        f"/admin/design/study/{study.pk}/change/", {**FORM, **known, "cap": "9", "slug": "x", "title": "New"}
    )
    assert page.status_code == 302
    study.refresh_from_db()
    assert (study.title, study.slug, str(study.cap)) == ("New", "night-shifts", "1.5")


def test_a_new_wave_may_drop_a_question(admin):
    study, known = second_wave(admin)
    admin.post(
        f"/admin/design/study/{study.pk}/change/", {**FORM, **known, "questions-1-DELETE": "on", "why": "asked enough"}
    )
    assert [question.name for question in study.questions.all()] == ["asleep"]


def test_an_admin_cannot_make_a_superuser_of_anyone(admin, admin_user):
    page = admin.get(f"/admin/people/user/{admin_user.pk}/change/").content.decode()
    assert 'name="is_staff"' in page
    assert 'name="is_superuser"' not in page
    assert 'name="groups"' not in page
    assert 'name="user_permissions"' not in page


def test_a_form_filled_in_while_the_study_opened_says_so_and_saves_nothing(admin, monkeypatch):
    study, known = second_wave(admin)
    held = services.lock_draft

    def open_first(*, study_id):
        monkeypatch.setattr(services, "lock_draft", held)
        services.open_study(study_id=study_id, who="ada", now=NOW)
        return held(study_id=study_id)

    monkeypatch.setattr(services, "lock_draft", open_first)
    page = admin.post(f"/admin/design/study/{study.pk}/change/", {**FORM, **known, "title": "Late"}, follow=True)
    assert "is open already, or was" in page.content.decode()
    assert "Nothing was saved." in page.content.decode()
    study.refresh_from_db()
    assert study.title == "Night shifts"


@pytest.mark.django_db
def test_a_question_says_why_its_answers_are_changed_as_they_are(admin):
    add(admin)
    page = admin.get(f"/admin/design/study/{Study.objects.get().pk}/change/").text
    assert "Of 100 people" in page
    assert "Each device would keep the answer 68 times of 100 and turn it otherwise; at ε = 0.75" in page
    assert "Each device would name" in page
    assert "to be as precise." in page


def change(admin, study, **changes):
    return admin.post(f"/admin/design/study/{study.pk}/change/", {**FORM, **changes}, follow=True)


def known_questions(study):
    ids = {f"questions-{i}-id": question.pk for i, question in enumerate(study.questions.all())}
    return {"questions-INITIAL_FORMS": "2", "questions-0-study": study.pk, "questions-1-study": study.pk, **ids}


@pytest.mark.parametrize(
    ("changes", "what", "old", "new"),
    [
        ({"cap": "1.25"}, "cap for all publications, ε", "1.5", "1.25"),
        ({"rule": "every"}, "publish", "when-closed", "every"),
        ({"questions-0-epsilon": "0.5"}, "ε of asleep", "0.75, changed", "0.5, changed"),
        ({"questions-1-DELETE": "on"}, "ε of rested", "1, changed", "none"),
    ],
    ids=str,
)
def test_what_touches_epsilon_asks_why_and_is_kept_with_the_draft(admin, changes, what, old, new):
    add(admin)
    study = Study.objects.get()
    known = known_questions(study)
    page = change(admin, study, **known, **changes).content.decode()
    assert "A term that touches ε has changed: say why." in page
    assert not Entry.objects.exists()
    assert change(admin, study, **known, **changes, why="the board asked").redirect_chain
    row = DraftChange.objects.get()
    assert (row.what, row.who, row.why) == (what, "ada", "the board asked")
    assert not Entry.objects.exists()
    assert (row.old.startswith(old), row.new.startswith(new)) == (True, True)


def test_a_title_changes_without_a_reason_and_without_a_row(admin):
    add(admin)
    study = Study.objects.get()
    change(admin, study, **known_questions(study), title="Nights")
    study.refresh_from_db()
    assert study.title == "Nights"
    assert not Entry.objects.exists()


def test_limits_are_the_site_s_and_not_the_study_admin_s(admin, admin_user):
    add(admin, epsilon_floor="0.9", epsilon_ceiling="0.9")
    study = Study.objects.get()
    assert (study.epsilon_floor, study.epsilon_ceiling) == (Decimal("0.01"), 8)
    admin_user.is_superuser = True
    admin_user.save()
    known = known_questions(study)
    limits = {"epsilon_floor": "0.5", "epsilon_ceiling": "0.8", "why": "a policy"}
    page = change(admin, study, **known, **limits).content.decode()
    assert "ε must be between 0.5 and 0.8; it is 1." in page
    assert change(admin, study, **known, **limits, **{"questions-1-epsilon": "0.8"}).redirect_chain
    rows = {(row.what, row.old, row.new) for row in DraftChange.objects.all()}
    assert {("least ε of one answer", "0.01", "0.5"), ("greatest ε of one answer", "8", "0.8")} < rows


def opened(admin, **changes):
    add(admin, **changes)
    study = Study.objects.get()
    act(admin, "open_studies", study)
    study.refresh_from_db()
    return study


def test_a_study_is_retired_on_a_page_that_says_what_that_does_and_asks_why(admin):
    study = opened(admin)
    page = act(admin, "retire_study", study)
    url = f"/admin/design/study/{study.pk}/retire/"
    assert page.redirect_chain == [(url, 302)] or page.redirect_chain[-1][0].endswith(f"{study.pk}/retire/")
    assert "This cannot be undone." in page.content.decode()
    assert "This field is required." in admin.post(url, {"why": ""}).content.decode()
    done = admin.post(url, {"why": "the project ended"}, follow=True).content.decode()
    assert "is retired." in done
    assert "retired on" in done
    study.refresh_from_db()
    assert study.retired_because == "the project ended"
    again = admin.post(url, {"why": "again"}, follow=True).content.decode()
    assert "this cannot be done now. Nothing was changed." in again


def test_two_studies_are_not_retired_at_once(admin):
    study = opened(admin)
    add(admin, slug="other")
    data = {"action": "retire_study", "_selected_action": [s.pk for s in Study.objects.all()]}
    assert "choose one study at a time; 2 are chosen." in admin.post("/admin/design/study/", data, follow=True).text
    study.refresh_from_db()
    assert not study.is_retired


def test_a_cap_is_lowered_on_a_page_and_its_refusals_are_sentences(admin):
    study = opened(admin)
    url = f"/admin/design/study/{study.pk}/lower-cap/"
    assert "The new cap must be above 0 and below 1.5; it is 2." in admin.post(url, {"new": "2", "why": "x"}).text
    assert "has a lower cap." in admin.post(url, {"new": "1.2", "why": "less is enough"}, follow=True).text
    study.refresh_from_db()
    assert (study.cap, study.budget.epsilon) == (Decimal("1.2"), Decimal("1.2"))
    assert Entry.objects.last().why == "less is enough"


def test_a_week_is_limited_on_a_page(admin):
    study = opened(admin)
    url = f"/admin/design/study/{study.pk}/weekly-limit/"
    assert "has a new limit for a week." in admin.post(url, {"weekly": "0.5", "why": "slowly"}, follow=True).text
    assert "At most ε 0.5 in any seven days." in admin.get(f"/admin/design/study/{study.pk}/change/").text
    assert "has a new limit for a week." in admin.post(url, {"weekly": "", "why": "enough"}, follow=True).text
    study.budget.refresh_from_db()
    assert study.budget.weekly is None


def test_the_pages_of_acts_are_closed_to_researchers_and_to_drafts(admin, client, researcher):
    add(admin, slug="still-a-draft")
    draft = Study.objects.get(slug="still-a-draft")
    for name in ("retire", "lower-cap", "weekly-limit"):
        page = admin.get(f"/admin/design/study/{draft.pk}/{name}/", follow=True).text
        assert "this cannot be done now" in page
    client.force_login(researcher)
    assert client.get(f"/admin/design/study/{draft.pk}/retire/").status_code == 302


PANEL = {
    "name": "Class of 26",
    "slug": "class-of-26",
    "neighbours": "change-one",
    "cap": "4",
    "cap_delta": "0",
    "local_cap": "3",
}


def test_a_panel_is_made_edited_with_a_reason_and_then_only_lowered(admin):
    admin.post("/admin/design/panel/add/", PANEL)
    panel = Panel.objects.get()
    url = f"/admin/design/panel/{panel.pk}/"
    assert "say why" in admin.post(f"{url}change/", {**PANEL, "local_cap": "2.5"}).text
    admin.post(f"{url}change/", {**PANEL, "local_cap": "2.5", "why": "calmer"})
    assert DraftChange.objects.get().what == "cap for all answers of one person, ε"
    opened(admin, panel=str(panel.pk))
    admin.post(f"{url}change/", {**PANEL, "local_cap": "9", "name": "Of 26"})
    panel.refresh_from_db()
    assert (panel.name, panel.local_cap) == ("Of 26", Decimal("2.5"))
    assert (
        "has a lower cap for answers."
        in admin.post(f"{url}lower-answers-cap/", {"new": "2", "why": "x"}, follow=True).text
    )
    assert (
        "has a lower cap for publications."
        in admin.post(f"{url}lower-cap/", {"new": "3", "why": "x"}, follow=True).text
    )
    assert admin.get(f"{url}delete/").status_code == 403


def test_a_wave_that_its_panel_cannot_pay_says_so_in_the_admin(admin):
    panel = Panel.objects.create(slug="p", name="P", local_cap=Decimal("1.5"))
    add(admin, panel=str(panel.pk))
    said = act(admin, "open_studies", Study.objects.get()).text
    assert "Nothing was opened." in said
    assert "ε 1.5 is left" in said
