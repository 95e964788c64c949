"""The planner's pages: shareable, refusing in place, saving only after a confirmation, only for
who may edit.
"""

from decimal import Decimal

import pytest

from dpengine.local.ways import Kind
from surveys.brakes import Places
from surveys.design import goal as planning
from surveys.design.site import set_site_limits
from surveys.ledger.models import Entry
from surveys.people import services as people
from surveys.people.models import Role
from tests.conftest import known_as

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


def test_strangers_plan_and_are_asked_to_sign_in_for_a_study(client, draft):
    assert client.get("/plan/").status_code == 200
    assert "csrftoken" not in client.cookies, "a stranger's page needs no cookie"
    for path in ("/studies/exam-honesty/plan/", "/studies/exam-honesty/rehearse/"):
        assert client.get(path).status_code == 302


def test_a_study_of_others_is_none(client, draft, outsider):
    client.force_login(outsider)
    for path in ("plan/", "rehearse/"):
        assert client.get(f"/studies/exam-honesty/{path}").status_code == 404
    assert client.post("/studies/exam-honesty/plan/save/").status_code == 404


def test_the_home_page_leads_to_the_planner(client):
    assert 'href="/plan/"' in words(client.get("/"))


def test_six_questions_and_four_points(client):
    said = words(client.get("/plan/?n=800&many=6&half=4"))
    assert "± 9.8 points for what matters most" in said
    assert 'is right at most <b class="num">89 times in 100</b>' in said
    assert "Each person is asked 2 of 6, sent as one answer with all of ε: ± 9.8. With" in said
    assert "With ε split over all it would be ± 21.0" in said
    assert "2 × yes or no (3 ×)" in said
    assert "± 4 is not reached: 800 people at this ε give ± 9.8 for what matters most" in said
    for half in ("13.8", "9.8", "6.9"):  # of 400, 800 and 1,600 people
        assert half in said


def test_every_number_of_the_sentence_is_a_width_of_what_matters_most(client):
    """Weights choose the way; they are in no ± that is shown."""
    plan = client.get(
        "/plan/?n=800&many=6&many=2&kind=yes_no&kind=single&weight=nice&weight=decisive"
    )
    plan = plan.context["plan"]
    widest = max(float(line.bars[1].half) for line in plan.lines if line.matters == "decisive")
    assert plan.half == f"{widest:.1f}"
    assert f"± {plan.half}. With ε split over all" in plan.why
    split = plan.outcome.proposal.kinds[Kind.SPLIT]
    assert f"it would be ± {plan.outcome.half(split):.1f}." in plan.why


def test_every_button_mends_what_it_stands_beside(client):
    refused = client.get("/plan/?n=800&many=6&half=8&asked=1").context["plan"]
    assert [mend.text for mend in refused.mends] == [
        "use ± 11.2",
        "1,553 people",
        "ask each person 2 of 6",
    ]
    for mend in refused.mends[:2]:
        assert not client.get(mend.address).context["plan"].refusal
    better = client.get(refused.mends[2].address).context["plan"]
    assert better.outcome.half() < refused.outcome.half()
    assert better.mends[-1].text == "ε 2.6: a guess right 94 times in 100"
    assert not client.get(better.mends[-1].address).context["plan"].refusal


def test_what_says_next_to_nothing_is_said_with_how_many_people_would_do(client):
    response = client.get("/plan/?n=40&many=6")
    assert response.context["plan"].is_wide
    assert "once, when it has closed and you have confirmed it" in words(response)
    (mend,) = response.context["plan"].narrower
    assert mend.text == "122 people"
    narrower = client.get(mend.address)
    assert not narrower.context["plan"].is_wide
    assert "once, when it has closed, if" in words(narrower)


@pytest.mark.parametrize("kind", ["single", "multiple", "likert", "number"])
def test_every_kind_can_be_planned(client, kind):
    said = words(client.get(f"/plan/?many=2&kind={kind}&choices=4&many=1&weight=decisive"))
    assert "points for what matters most" in said


@pytest.mark.parametrize(
    ("typed", "field", "told", "mend"),
    [
        ("n=abc", "n", "“How many people?”: A number of people is a whole number", "800 people"),
        ("n=", "n", "Say how many people", "800 people"),
        ("n=3", "n", "it must be 10 at least; it is 3.", "10 people"),
        ("epsilon=9", "epsilon", "it must be 4", "use ε 4"),
        ("epsilon=NaN", "epsilon", "ε is a number", "use ε 2"),
        ("epsilon=1e999999999", "epsilon", "How safe is one of them?", "use ε"),
        ("half=-4", "half", "it must be 0.1 at least; it is -4.", "use ± 0.1"),
        ("asked=0", "asked", "it must be 1 at least; it is 0.", "ask each person 1"),
        ("asked=7", "asked", "asked 7 questions: only 6 can be drawn.", "ask each person 6"),
        ("many=21", "many_1", "Row 1, “Questions”: it must be 20 at most; it is 21.", "make it 20"),
        (
            "n=10000001",
            "n",
            "“How many people?”: it must be 10,000,000 at most; it is 10,000,001.",
            "10,000,000 people",
        ),
        (
            f"n={'9' * 400}",
            "n",
            "“How many people?”: it must be 10,000,000 at most; it is a number of 400 digits.",
            "10,000,000 people",
        ),
        ("many=3&many=x", "many_2", "Row 2, “Questions”", "make it 1"),
        ("kind=poem", "kind_1", "poem is not one of the available choices", "yes or no"),
        ("kind=likert&choices=12", "choices_1", "It has 3 to 11 choices; got 12.", "make it 5"),
        ("weight=much", "weight_1", "much is not one of the available choices", "useful"),
        ("many=15&many=15", "many_1", "A plan can have 20 questions; this one has 30", "20 quest"),
        ("many=1&" * 9, "many_1", "There can be 8 rows of questions; this address has 9", "keep 8"),
        ("weight=nice", "", "something must be useful or decisive", "the first is useful"),
    ],
)
def test_what_cannot_be_worked_out_is_named_and_mended(client, typed, field, told, mend):
    response = client.get(f"/plan/?{typed}")
    assert response.status_code == 200
    (problem,) = response.context["problems"]
    assert told in problem.text
    assert problem.field == field
    assert mend in problem.mend.text
    mended = client.get(problem.mend.address)
    assert mended.context["problems"] == []
    assert mended.context["plan"] is not None


def test_what_was_typed_stays(client):
    said = words(client.get("/plan/?n=abc&many=3&kind=single&choices=7&half=4"))
    for typed in ('value="abc"', 'value="3"', 'value="7"', 'value="4"'):
        assert typed in said


def test_three_thousand_may_be_written_as_people_write_it(client):
    assert "± of 3,850" in words(client.get("/plan/?n=3,850"))


def test_a_field_that_is_changed_gets_the_page_and_an_address_that_holds_all_of_it(client):
    address = "/plan/?n=3850&epsilon=2.5&many=2&kind=single&choices=4&weight=decisive&many=1"
    response = client.get(address, headers=TURNED)
    assert 'id="planner"' in words(response)
    shared = response["HX-Replace-Url"]
    again = client.get(shared).context["plan"]
    assert again.outcome.goal == response.context["plan"].outcome.goal
    assert "csrf" not in shared


def test_a_stranger_s_network_is_asked_to_wait_and_who_is_signed_in_is_not(
    client, outsider, monkeypatch
):
    monkeypatch.setattr("surveys.planning.views.planner.AT_ONCE", 2)
    monkeypatch.setattr("surveys.planning.views.planner.strangers", Places())
    pages = [client.get("/plan/").status_code for _ in range(3)]
    assert pages == [200, 200, 429]
    refused = client.get("/plan/")
    assert int(refused["Retry-After"]) > 100
    assert "Too many plans at once" in words(refused)
    client.force_login(outsider)
    assert client.get("/plan/").status_code == 200


def test_the_same_plan_is_worked_out_once_and_once_with_declining(client):
    planning._compared.cache_clear()
    for n in (1100, 1200, 2000):
        client.get(f"/plan/?n={n}&many=7")
    assert planning._compared.cache_info().misses == 2


def test_the_plan_says_what_it_costs_that_people_may_decline_and_is_a_tap_from_it(client):
    """Of eight yes/no questions: two are sent as one of five answers, or of four."""
    address = "/plan/?n=1000&epsilon=2&many=8"
    answer = client.get(address)
    price = "With “Prefer not to say” it is ± 11.0, without it ± 10.1."
    assert "± 10.1 points for what matters most" in words(answer)
    assert price in words(answer)
    other = answer.context["plan"].other
    assert (other.text, "declines=yes" in other.address) == ("Offer it", True)
    declined = client.get(other.address)
    assert "± 11.0 points for what matters most" in words(declined)
    assert price in words(declined)
    back = declined.context["plan"].other
    assert back.text == "Remove it"
    assert "± 10.1 points for what matters most" in words(client.get(back.address))
    assert "Prefer not to say" not in words(client.get("/plan/?many=2&kind=number"))


def test_a_draft_s_plan_leads_to_where_declining_is_changed(page):
    answer = page.get("/studies/exam-honesty/plan/")
    assert "With “Prefer not to say” it is ± " in words(answer)
    assert answer.context["plan"].other.address == "/studies/exam-honesty/build/#declining"


# A study's


def test_the_draft_comes_with_its_own_questions(page):
    said = words(page.get("/studies/exam-honesty/plan/"))
    assert "Exams are fair" in said
    assert "Each person is asked" in said
    assert "Save this plan in the draft" in said


def test_what_matters_more_is_more_precise_where_all_is_asked(page):
    address = "/studies/exam-honesty/plan/?asked=3&fair-weight={}"
    useful, decisive = (
        page.get(address.format(weight)).context["plan"].planned.epsilons
        for weight in ("useful", "decisive")
    )
    assert decisive[1] > useful[1]
    assert decisive[0] < useful[0]


def test_a_weight_that_is_none_is_named_and_mended(page):
    response = page.get("/studies/exam-honesty/plan/?fair-weight=much")
    (problem,) = response.context["problems"]
    assert problem.text.startswith("Exams are fair, “Matters”: ")
    assert page.get(problem.mend.address).context["problems"] == []


def test_a_question_that_cannot_be_asked_yet_is_named(page, draft):
    draft.questions.filter(name="often").update(choices="Only one")
    response = page.get("/studies/exam-honesty/plan/")
    (problem,) = response.context["problems"]
    assert problem.mend.address == "/studies/exam-honesty/build/questions/often/"
    assert page.get(problem.mend.address).status_code == 200


def test_a_draft_without_questions_says_what_to_do(page, draft):
    draft.questions.all().delete()
    for path in ("plan/", "rehearse/"):
        said = words(page.get(f"/studies/exam-honesty/{path}"))
        assert "has no questions" in said
        assert "/studies/exam-honesty/build/" in said


def test_nothing_is_saved_before_it_is_confirmed(page, draft):
    said = words(page.post("/studies/exam-honesty/plan/save/", {"n": "2500", "epsilon": "2"}))
    assert "Save this plan in the draft?" in said
    draft.refresh_from_db()
    assert draft.expected is None
    assert not Entry.objects.exists()


def test_what_is_confirmed_is_saved(page, draft):
    typed = {"n": "2500", "epsilon": "2", "asked": "2", "confirmed": "1"}
    response = page.post("/studies/exam-honesty/plan/save/", typed)
    assert response.status_code == 302, words(response)
    draft.refresh_from_db()
    assert (draft.expected, draft.asked, draft.cap, draft.release_epsilon) == (2500, 2, 2, 2)
    assert draft.smallest_batch == 100
    assert {each.epsilon for each in draft.questions.all()} == {Decimal(1)}
    assert draft.person == 2, "shared anew as questions come and go"
    assert "Saved in the draft" in words(page.get(response["Location"]))


def test_where_some_matter_more_each_keeps_an_epsilon_of_its_own(page, draft):
    typed = {"n": "2500", "epsilon": "2", "asked": "3", "fair-weight": "decisive", "confirmed": "1"}
    page.post("/studies/exam-honesty/plan/save/", typed)
    draft.refresh_from_db()
    assert (draft.person, draft.asked) == (None, None)
    copied, fair, often = (
        draft.questions.get(name=name).epsilon for name in ("copied", "fair", "often")
    )
    assert fair > copied == often
    assert copied + fair + often <= 2


def test_no_person_is_planned_beyond_what_the_site_lets_one_give_away(page, draft, now):
    limits = {"person_floor": Decimal(1), "person_ceiling": Decimal(3)}
    set_site_limits(**limits, who="root", why="a rule", now=now)
    for typed, told in (("3.1", "3 at most; it is 3.1"), ("0.9", "1 at least; it is 0.9")):
        (problem,) = page.get(f"/plan/?epsilon={typed}").context["problems"]
        assert told in problem.text
        assert page.get(problem.mend.address).context["plan"]


@pytest.mark.parametrize("typed", [{"epsilon": "9"}, {"epsilon": "a lot"}, {"n": "none"}])
def test_what_cannot_be_saved_is_not(page, draft, typed):
    sent = {"n": "2500", "epsilon": "2", "confirmed": "1", **typed}
    response = page.post("/studies/exam-honesty/plan/save/", sent)
    assert response.status_code == 422
    assert "Nothing was saved" in words(response)
    draft.refresh_from_db()
    assert draft.expected is None


def test_a_reader_may_look_and_not_save(client, researcher):
    client.force_login(researcher)
    assert "ask its owner for the role of an editor" in words(
        client.get("/studies/exam-honesty/plan/")
    )
    assert (
        client.post("/studies/exam-honesty/plan/save/", {"n": "2500", "confirmed": "1"}).status_code
        == 403
    )


def test_a_launched_study_is_planned_for_its_next_wave_only(page, plan):
    assert "its odds are fixed" in words(page.get("/studies/exam-honesty/plan/"))
    response = page.post(
        "/studies/exam-honesty/plan/save/", {"n": "2500", "epsilon": "2", "confirmed": "1"}
    )
    assert response.status_code == 422


def test_where_taking_part_is_hidden_everybody_is_asked_everything(page, draft):
    type(draft).objects.filter(pk=draft.pk).update(neighbours="add-remove")
    plan = page.get("/studies/exam-honesty/plan/?epsilon=2").context["plan"]
    assert plan.outcome.asked is None
    assert not plan.planned.adds_no_noise


def test_a_study_whose_answers_are_all_sent_as_given_has_no_odds_to_choose(page, draft):
    draft.questions.update(protection="publication")
    assert "This study randomises no answer" in words(page.get("/studies/exam-honesty/plan/"))


def test_a_study_with_an_answer_sent_as_given_keeps_its_cap(page, draft):
    draft.questions.filter(name="fair").update(protection="publication")
    response = page.get("/studies/exam-honesty/plan/?epsilon=2")
    assert "cap" not in response.context["plan"].planned.fields
    assert "The noise of releases comes on top" in words(response)


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


def test_without_scripts_a_button_asks_for_what_one_page_did_not_take(page, draft, monkeypatch):
    monkeypatch.setattr("surveys.planning.views.rehearsal.LONG_STEP_SECONDS", 0.0)
    first = rehearse(page)
    assert 'max="20" value="1"' in words(first)
    assert '<noscript><p class="actions"><button class="button">Go on<' in words(first)
    assert "<title>" in words(first)
    assert 'value="2"' in words(rehearse(page, state=first.context["state"]))


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true", "HX-Target": "rehearsed"}])
def test_a_rehearsal_that_takes_too_long_is_given_up(page, draft, monkeypatch, headers):
    monkeypatch.setattr("surveys.planning.views.rehearsal.MOST_SECONDS", 0.0)
    typed = {"people": "80", "runs": "20", **SHARES}
    answer = page.post("/studies/exam-honesty/rehearse/", typed, headers=headers)
    said = words(answer)
    assert '<a href="#id_people">' in said
    assert "So many people take too long with these questions. Choose fewer." in said
    assert "Result of the simulation" not in said
    # the page that is there is changed, not put into itself
    assert answer.headers.get("HX-Retarget") == ("main" if headers else None)
    assert answer.headers.get("HX-Reselect") == ("main" if headers else None)


def test_a_draft_whose_questions_went_during_a_rehearsal_says_so_on_the_page(page, draft):
    draft.questions.all().delete()
    headers = {"HX-Request": "true", "HX-Target": "rehearsed"}
    answer = page.post("/studies/exam-honesty/rehearse/", {}, headers=headers)
    assert "Nothing to simulate yet" in words(answer)
    assert answer.headers["HX-Reselect"] == answer.headers["HX-Retarget"] == "main"


def test_without_scripts_one_page_takes_all_of_it(page, draft):
    said = words(rehearse(page))
    assert "of the 95% intervals contain the assumed value, in 20 simulations" in said
    assert "80 synthetic respondents, 3 questions, 20 times" in said
    assert "randomised on the device" in said
    assert "Invented numbers: these are not results." in said
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
    assert "Result of the simulation" not in said


def test_a_draft_that_makes_no_plan_says_why(page, draft):
    draft.questions.filter(name="often").update(choices="Only one")
    assert "This draft makes no plan yet" in words(page.get("/studies/exam-honesty/rehearse/"))


def test_a_launched_study_rehearses_the_plan_that_is_frozen(page, plan):
    said = words(rehearse(page))
    assert "Open" in said
    assert "Result of the simulation" in said


def test_a_draft_that_no_browser_would_send_is_not_rehearsed_and_says_so_in_words(page, draft):
    draft.questions.update(epsilon=Decimal("3.9"))
    said = words(page.get("/studies/exam-honesty/rehearse/"))
    assert "browsers refuse more than 8" in said
    assert "to 1 for all questions" not in said


def test_a_rehearsal_begins_with_as_many_people_as_are_expected(page, draft):
    type(draft).objects.filter(pk=draft.pk).update(expected=640)
    said = words(page.get("/studies/exam-honesty/rehearse/"))
    assert 'name="people" value="640"' in said
