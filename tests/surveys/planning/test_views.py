"""The planner's pages: shareable, refusing in place, saving only after a confirmation, only for
who may edit.
"""

from decimal import Decimal

import pytest

from surveys.design import services as design
from surveys.ledger.models import Entry
from surveys.people import services as people
from surveys.people.models import Role
from tests.conftest import QUESTIONS, STUDY, known_as

pytestmark = pytest.mark.django_db
TURNED = {"HX-Request": "true"}


@pytest.fixture
def editor(draft):
    user = known_as("edda")
    people.share(study=draft, user=user, role=Role.EDITOR)
    return user


@pytest.fixture
def page(client, editor):
    client.force_login(editor)
    return client


def words(response):
    return " ".join(response.content.decode().replace("\u00a0", " ").split())


def test_strangers_are_asked_to_sign_in(client, draft):
    for path in ("/plan/", "/studies/exam-honesty/plan/", "/studies/exam-honesty/rehearse/"):
        assert client.get(path).status_code == 302


def test_anyone_signed_in_may_try_the_dials(client, outsider):
    client.force_login(outsider)
    said = words(client.get("/plan/?n=3850&width=4&follows=epsilon&publication=0.45&questions=2"))
    assert 'value="0.845"' in said
    assert "odds 70 : 30" in said


def test_a_study_of_others_is_none(client, draft, outsider):
    client.force_login(outsider)
    for path in ("plan/", "rehearse/"):
        assert client.get(f"/studies/exam-honesty/{path}").status_code == 404
    assert client.post("/studies/exam-honesty/plan/save/").status_code == 404


@pytest.mark.parametrize("kind", ["single", "multiple", "likert", "mean", "distribution", "month"])
def test_every_kind_can_be_planned(page, kind):
    said = words(page.get(f"/plan/?kind={kind}&follows=width&most=20"))
    assert ("As precise as" in said) is (kind != "distribution")
    unit = {"mean": "units", "month": "months"}.get(kind, "points")
    assert f"{unit} are made of" in said
    assumption = {
        "mean": "If 50% of the people gave the greatest number",
        "month": "If 50% of the people gave the greatest number",
        "distribution": "The share of people below the middle",
    }.get(kind, "If 50% of the people gave this answer")
    assert assumption in said


@pytest.mark.parametrize(
    ("kind", "choices", "epsilon", "heading", "own"),
    [
        ("yes_no", 2, "1", "Of 100 people who answer “yes”,", "send “yes”"),
        ("single", 4, "3", "Of 100 people who give one of 4 answers,", "send that answer"),
        ("single", 9, "1", "Each device sends 2 of 9 answers. Of 100 people,", "have their own"),
        ("multiple", 3, "1", "Each device sends one option, picked by chance. Of", "send “yes”"),
    ],
)
def test_respondents_are_promised_what_the_channel_does(page, kind, choices, epsilon, heading, own):
    dials = f"kind={kind}&choices={choices}&epsilon={epsilon}&follows=width"
    said = words(page.get(f"/plan/?{dials}"))
    assert heading in said
    assert own in said


def test_a_dial_that_is_turned_gets_the_page_and_an_address_that_holds_all_of_it(page):
    response = page.get("/plan/?n=3850&width=4&follows=epsilon", headers=TURNED)
    assert 'id="planner"' in words(response)
    assert "n=3850" in response["HX-Replace-Url"]


def test_what_stands_in_fields_that_are_not_shown_is_held(page):
    refused = words(page.get("/studies/exam-honesty/plan/?n=&one=35&weight_fair=3"))
    assert "The pictures come back" in refused
    assert '<input type="hidden" form="dials" name="one" value="35">' in refused
    assert '<input type="hidden" form="dials" name="weight_fair" value="3">' in refused
    assert 'form="dials" name="one" value="35"' in words(page.get("/plan/?kind=mean&one=35"))


@pytest.mark.parametrize(
    ("typed", "field", "told"),
    [
        ("n=abc", "n", "A number of answers is a whole number"),
        ("n=3", "n", "greater than or equal to 10"),
        ("epsilon=9&follows=width", "epsilon", "ε must be between"),
        ("width=", "width", "Say how many points"),
        ("width=2&n=100", "width", "at best, at ε 8.00, the greatest allowed here. ± 2 needs 2,4"),
        ("width=0.001&epsilon=0.01&follows=n", "width", "cannot be reached at this ε"),
    ],
)
def test_what_cannot_be_worked_out_says_so_at_its_field_and_keeps_what_was_typed(
    page, typed, field, told
):
    said = words(page.get(f"/plan/?{typed}"))
    assert told in said
    assert f'<a href="#{field}">' in said
    assert 'aria-invalid="true"' in said
    first = typed.split("&")[0].split("=")
    assert f'name="{first[0]}"' in said
    assert f'value="{first[1]}"' in said


def test_three_thousand_may_be_written_as_people_write_it(page):
    assert "3,850 answers, ±" in words(page.get("/plan/?n=3,850&follows=width"))


def test_the_draft_comes_with_its_own_questions(page):
    said = words(page.get("/studies/exam-honesty/plan/"))
    assert "Exams are fair" in said
    assert "shared by 3 questions equally" in said
    assert "Save this plan in the draft" in said
    assert "Chance picks 1 of 3 questions for each person" in said


def test_weights_share_out_the_odds(page):
    said = words(page.get("/studies/exam-honesty/plan/?question=copied&epsilon=1&weight_fair=2"))
    assert 'name="epsilon_fair" value="2"' in said
    assert 'name="epsilon_copied" value="1"' in said


def test_a_draft_without_questions_says_what_to_do(page, draft):
    draft.questions.all().delete()
    for path in ("plan/", "rehearse/"):
        said = words(page.get(f"/studies/exam-honesty/{path}"))
        assert "has no questions" in said
        assert "/studies/exam-honesty/build/" in said


def test_nothing_is_saved_before_it_is_confirmed(page, draft):
    typed = {"n": "2500", "epsilon_copied": "0.8"}
    said = words(page.post("/studies/exam-honesty/plan/save/", typed))
    assert "Save this plan in the draft?" in said
    draft.refresh_from_db()
    assert draft.expected is None
    assert not Entry.objects.exists()


def test_what_is_confirmed_is_saved(page, draft):
    typed = {"n": "2500", "epsilon_copied": "0.8", "confirmed": "1"}
    response = page.post("/studies/exam-honesty/plan/save/", typed)
    assert response.status_code == 302, words(response)
    draft.refresh_from_db()
    assert draft.expected == 2500
    assert draft.questions.get(name="copied").epsilon == Decimal("0.8")
    assert draft.questions.get(name="fair").epsilon == 1
    assert "Saved in the draft" in words(page.get(response["Location"]))


@pytest.mark.parametrize(
    "typed", [{"epsilon_copied": "9"}, {"epsilon_copied": "a lot"}, {"n": "none"}]
)
def test_what_cannot_be_saved_is_not(page, draft, typed):
    response = page.post(
        "/studies/exam-honesty/plan/save/", {"n": "2500", "confirmed": "1", **typed}
    )
    assert response.status_code == 422
    assert "Nothing was saved" in words(response)
    assert draft.questions.get(name="copied").epsilon == 1


def test_a_reader_may_look_and_not_save(client, researcher):
    client.force_login(researcher)
    assert "needs the right to edit" in words(client.get("/studies/exam-honesty/plan/"))
    assert (
        client.post("/studies/exam-honesty/plan/save/", {"n": "2500", "confirmed": "1"}).status_code
        == 403
    )


def test_a_launched_study_is_planned_for_its_next_wave_only(page, plan):
    assert "its odds are fixed" in words(page.get("/studies/exam-honesty/plan/"))
    response = page.post(
        "/studies/exam-honesty/plan/save/", {"n": "2500", "epsilon_copied": "0.8", "confirmed": "1"}
    )
    assert response.status_code == 422


def test_a_study_whose_answers_are_all_sent_as_given_has_no_odds_to_choose(page, draft):
    draft.questions.update(protection="publication")
    assert "No answer of this study is changed on the device" in words(
        page.get("/studies/exam-honesty/plan/")
    )


# Rehearsing


SHARES = {
    "share_copied_0": "60",
    "share_copied_1": "40",
    **{f"share_fair_{place}": "20" for place in range(5)},
    **{f"share_often_{place}": "25" for place in range(4)},
}


def rehearse(page, **typed):
    return page.post(
        "/studies/exam-honesty/rehearse/", {"people": "80", "runs": "20", **SHARES, **typed}
    )


def test_without_scripts_one_page_takes_all_of_it(page, draft):
    said = words(rehearse(page))
    assert "of the 95% intervals hold what was assumed, in 20 rehearsals" in said
    assert "80 invented respondents, 3 questions, 20 times" in said
    assert "changed on the device" in said
    assert "Invented numbers. Nobody answered this." in said
    assert "holds 40.0%" in said or "misses 40.0%" in said


def test_with_scripts_it_goes_on_step_by_step_from_where_it_was(page, draft, monkeypatch):
    monkeypatch.setattr("surveys.planning.views.rehearsal.STEP_SECONDS", 0.0)
    headers = {"HX-Request": "true", "HX-Target": "rehearsed"}
    first = page.post(
        "/studies/exam-honesty/rehearse/", {"people": "80", "runs": "20", **SHARES}, headers=headers
    )
    assert 'max="20" value="1"' in words(first)
    state = first.context["state"]
    second = page.post(
        "/studies/exam-honesty/rehearse/",
        {"people": "80", "runs": "20", **SHARES, "state": state},
        headers=headers,
    )
    assert 'max="20" value="2"' in words(second)
    other = page.post(
        "/studies/exam-honesty/rehearse/",
        {"people": "90", "runs": "20", **SHARES, "state": state},
        headers=headers,
    )
    assert 'max="20" value="1"' in words(other), "steps of other people do not add up with these"
    forged = page.post(
        "/studies/exam-honesty/rehearse/",
        {"people": "80", "runs": "20", **SHARES, "state": state[:-3]},
        headers=headers,
    )
    assert 'max="20" value="1"' in words(forged)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ({"share_copied_0": "61"}, "must add up to 100; they add up to 101."),
        (
            {"people": "20000", "runs": "1000"},
            "answers to draw, at most 6,000,000 at once: repeat it 100 times or less.",
        ),
        ({"people": "7"}, "greater than or equal to 50"),
    ],
)
def test_a_rehearsal_that_cannot_be_is_refused_at_its_field(page, draft, typed, told):
    said = words(rehearse(page, **typed))
    assert told in said
    assert f'value="{next(iter(typed.values()))}"' in said
    assert "What came of it" not in said


def test_a_draft_that_makes_no_plan_says_why(page, draft):
    draft.questions.filter(name="often").update(choices="Only one")
    assert "This draft makes no plan yet" in words(page.get("/studies/exam-honesty/rehearse/"))


def test_a_launched_study_rehearses_the_plan_that_is_frozen(page, plan):
    said = words(rehearse(page))
    assert "Collecting" in said
    assert "What came of it" in said


def test_the_questions_of_a_study_keep_their_names_when_another_is_chosen(page):
    design.draft_study(study={**STUDY, "slug": "another"}, questions=QUESTIONS)
    address = (
        "/studies/exam-honesty/plan/?question=fair&of=copied&epsilon=&width=&follows=width&n=900"
    )
    response = page.get(address, headers=TURNED)
    assert "question=fair" in response["HX-Replace-Url"]
    assert "epsilon=1&follows=width" in response["HX-Replace-Url"]
    # before the other's came
    typed = page.get(address.replace("epsilon=", "epsilon=0.7"), headers=TURNED)
    assert "epsilon=0.7" in typed["HX-Replace-Url"]
    empty = page.get("/studies/exam-honesty/plan/?question=fair&of=fair&epsilon=&follows=width")
    assert 'id="epsilon_errors"><p class="error"' in words(empty)


def test_what_no_browser_would_send_is_said_and_not_saved(page, draft):
    said = words(page.get("/studies/exam-honesty/plan/?epsilon=7.9&follows=width"))
    assert "browsers refuse a study in which one person gives away more than ε 8" in said
    assert "disabled>Save this plan in the draft" in said
    asked = {f"epsilon_{each.name}": "7.9" for each in draft.questions.all()}
    refused = page.post("/studies/exam-honesty/plan/save/", {"n": "800", "confirmed": "1", **asked})
    assert refused.status_code == 422
    assert "browsers refuse" in words(refused)
    assert draft.questions.first().epsilon != Decimal("7.9")


def test_before_it_is_saved_a_plan_says_its_odds_and_what_one_person_gives_away(page, draft):
    asked = {f"epsilon_{each.name}": "1" for each in draft.questions.all()}
    said = words(page.post("/studies/exam-honesty/plan/save/", {"n": "800", **asked}))
    assert "73 : 27" in said
    assert "One person gives away ε" in said


def test_a_draft_that_no_browser_would_send_is_not_rehearsed_and_says_so_in_words(page, draft):
    draft.questions.update(epsilon=Decimal("7.9"))
    said = words(page.get("/studies/exam-honesty/rehearse/"))
    assert "browsers refuse more than 8" in said
    assert "to 1 for all questions" not in said


def test_a_rehearsal_begins_with_as_many_people_as_are_expected(page, draft):
    type(draft).objects.filter(pk=draft.pk).update(expected=640)
    said = words(page.get("/studies/exam-honesty/rehearse/"))
    assert 'name="people" value="640"' in said


@pytest.mark.parametrize(
    "typed", ["NaN", "-NaN", "sNaN", "Infinity", "1e999999999", "-1e400", "0.00000000001"]
)
@pytest.mark.parametrize("confirmed", [{}, {"confirmed": "1"}])
def test_what_is_no_amount_is_refused_and_not_shown_back_as_one(page, draft, typed, confirmed):
    response = page.post(
        "/studies/exam-honesty/plan/save/", {"n": "2500", "epsilon_copied": typed, **confirmed}
    )
    assert response.status_code == 422
    assert "ε of “Copied” is no number." in words(response)


def test_a_level_above_a_thousand_is_written_out(page):
    said = words(page.get("/plan/?n=1000&epsilon=0.02&follows=width&questions=60"))
    assert "e+" not in said


def test_a_curve_is_not_drawn_flat_where_it_leaves_the_picture(page):
    planner = page.get("/plan/?n=800&epsilon=3&follows=width").context["planner"]
    path = planner.pictures[0].clips[0]
    heights = [
        float(point.split(",")[1])
        for point in path.removeprefix("M0,1L").removesuffix("L1,1Z").split()
    ]
    assert heights.count(0.0) <= 1


@pytest.mark.parametrize(("publication", "questions"), [("0.001", "1"), ("0.09", "50")])
def test_a_publication_that_leaves_a_question_next_to_nothing_is_refused_at_once(
    page, publication, questions
):
    said = words(
        page.get(
            f"/plan/?kind=mean&most=9999&n=9999999&publication={publication}&questions={questions}"
        )
    )
    assert ("0.002" if questions == "1" else "between 0.1 and 20") in said
