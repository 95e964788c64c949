"""The Django admin as an admin uses it."""

import pytest

from surveys.design import services
from surveys.design.models import Plan, Study
from tests.conftest import TODAY

FORM = {
    "title": "Night shifts",
    "slug": "night-shifts",
    "organisation": "Norrvik Hospital",
    "purpose": "To plan rests.",
    "contact": "a@example.org",
    "unit": "respondent-in-study",
    "neighbours": "change-one",
    "cap": "1.5",
    "rule": "when-closed",
    "hours": "24",
    "release_epsilon": "0.5",
    "smallest_batch": "20",
    "results": "public",
    "closes_on": "",
    "questions-TOTAL_FORMS": "2",
    "questions-INITIAL_FORMS": "0",
    "questions-MIN_NUM_FORMS": "1",
    "questions-MAX_NUM_FORMS": "1000",
    "questions-0-position": "1",
    "questions-0-name": "asleep",
    "questions-0-kind": "yes_no",
    "questions-0-text": "Have you slept at work?",
    "questions-0-label": "Slept at work",
    "questions-0-epsilon": "0.75",
    "questions-1-position": "2",
    "questions-1-name": "rested",
    "questions-1-kind": "likert",
    "questions-1-text": "I feel rested.",
    "questions-1-label": "Feels rested",
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
    ids = {f"questions-{i}-id": question.pk for i, question in enumerate(study.questions.all())}
    return study, {"questions-INITIAL_FORMS": "2", "questions-0-study": study.pk, "questions-1-study": study.pk, **ids}


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
    assert all(word not in page for word in ("report", "receipt", "tall", "batch", "entr"))


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
    admin.post(f"/admin/design/study/{study.pk}/change/", {**FORM, **known, "questions-1-DELETE": "on"})
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
        services.open_study(study_id=study_id, today=TODAY)
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
