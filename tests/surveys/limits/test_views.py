"""The page of a study's limits: what it shows, what it saves, whom it refuses."""

from decimal import Decimal
from fractions import Fraction

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from dpengine.privacy import exponential_below, round_down
from surveys.design import documents, limit_changes, services as design
from surveys.design.drafts import new_draft
from surveys.design.models import DraftChange, Panel, Question, Study
from surveys.design.refusals import CannotOpen, Refused
from surveys.ledger.models import Entry
from surveys.people import services as people
from surveys.people.models import Role
from surveys.planning import selectors
from tests.conftest import NOW, draft_of_drawn, known_as
from tests.surveys.drafting.conftest import TEXTS

PAGE = "/studies/exam-honesty/limits/"
WHY = "A colleague asked for more."
DRAFT = {
    "cap": "2",
    "cap_delta": "0",
    "release_epsilon": "1",
    "retires_on": "",
    "household": "3",
    "unit": "respondent-in-study",
    "neighbours": "change-one",
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
    assert "A guess of 10 or 90 in 100 becomes at most 24 or 97." in page
    assert "The randomised answers of one response reveal ε 3.00 at most." in page
    assert "Households are hardly protected together" in page


def test_what_does_not_go_with_a_term_of_another_page_is_refused_at_what_was_changed(editor, draft):
    Study.objects.filter(pk=draft.pk).update(asked=1)
    answer = editor.post(PAGE, {**DRAFT, "neighbours": "add-remove"})
    assert answer.status_code == 422
    assert 'id="id_neighbours_error">Where it is hidden who takes part' in answer.content.decode()
    assert "“Texts and terms” says how many" in answer.content.decode()
    assert not DraftChange.objects.filter(study=draft).exists()


@pytest.fixture
def planned(db, client):
    questions = [{"kind": "yes_no", "text": f"Did {at}?", "label": f"Did {at}"} for at in range(6)]
    study = new_draft(texts={**TEXTS, "expected": 800}, questions=questions)
    client.force_login(member(study, Role.EDITOR))
    return study


def typed_on(page):
    shown = page.context["form"].initial.items()
    return {name: str(value) for name, value in shown if value is not None}


def test_to_look_at_limits_leaves_a_persons_epsilon_in_all_that_is_shown(client, planned):
    page = client.get(PAGE)
    assert page.context["study"].person == planned.person == 2
    found = selectors.prices(planned, planned.questions.all())
    assert [each.precision for each in page.context["prices"]] == [each.precision for each in found]


@pytest.mark.parametrize("looks_first", [False, True])
def test_a_planned_draft_asks_everybody_everything_where_taking_part_is_hidden(
    client, planned, looks_first
):
    page = client.get(PAGE)
    offered = {each.label: each for each in page.context["protections"]}
    hidden = offered["also whether somebody took part; how many did is shown with noise only"]
    assert not hidden.problem
    typed = {**typed_on(page), "neighbours": "add-remove", "why": WHY}
    if looks_first:
        page = client.post(PAGE, {**typed, "look": "1"})
        form = page.context["form"]
        typed |= {name: form[name].value() for name in typed if name.startswith("epsilon-")}
        halves = [each.precision.half for each in page.context["protections"] if each.is_chosen]
        assert halves == [hidden.precision.half] * 2
    assert client.post(PAGE, typed).status_code == 302
    planned.refresh_from_db()
    assert (planned.neighbours, planned.person, planned.asked) == ("add-remove", 2, None)
    asked = list(planned.questions.all())
    assert {each.together for each in asked} == {""}
    assert Decimal("1.99") < sum(each.epsilon for each in asked) <= 2
    assert design.open_study(study_id=planned.pk, who="ada", now=NOW).is_open


def test_the_error_at_the_expected_number_of_answers_is_shown(editor, draft):
    Study.objects.filter(pk=draft.pk).update(expected=1200)
    page = editor.get(PAGE).content.decode()
    assert "with 1200 responses" in page or "with 1,200 responses" in page
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
    assert page.count('hx-swap-oob="true"') == 3 + 6


def test_an_editor_chooses_whom_publications_protect_and_sees_what_each_costs(editor, draft):
    draft.expected = 1000
    draft.save()
    typed = {**DRAFT, "unit": "household-of-4", "neighbours": "add-remove"}
    looked = editor.post(PAGE, {**typed, "look": "1"})
    found = looked.context["protections"]
    assert [each.label for each in found if each.is_chosen] == [
        "a household of at most 4 people",
        "also whether somebody took part; how many did is shown with noise only",
    ]
    halves = [each.precision.half for each in found if each.precision]  # not of one answer
    assert halves[:5] == sorted(halves[:5])
    assert halves[-1] > halves[-2]
    assert "whether a household of at most 4 people took part" in looked.context["cap_means"]
    assert editor.post(PAGE, typed).status_code == 302
    draft.refresh_from_db()
    assert (draft.unit, draft.neighbours) == ("household-of-4", "add-remove")
    assert 'value="respondent-in-wave"' not in editor.get(PAGE).content.decode()
    with pytest.raises(Refused, match="Only an admin lets one person count anew"):
        decide(draft, new={"unit": "respondent-in-wave"})


def test_an_editor_protects_one_answer_and_reads_what_a_person_loses_then(editor, draft):
    draft.expected = 1000
    draft.save()
    looked = editor.post(PAGE, {**DRAFT, "unit": "answer-in-study", "look": "1"})
    (chosen,) = [each for each in looked.context["protections"] if each.is_chosen][:1]
    whole = looked.context["protections"][0]
    assert (chosen.label, whole.is_chosen) == (
        "one answer of a person, in all waves of the study",
        False,
    )
    parts = [each.precision.variance.publication for each in (chosen, whole)]
    assert parts[0] == 0 < parts[1]
    assert "sure of something about one answer of a person" in looked.context["cap_means"]
    page = " ".join(looked.content.decode().split())
    assert "The 3 answers of one person together can then lose up to ε 6" in page
    assert "a guess about all of them is right at most 99.8 times in 100" in page
    clash = editor.post(
        PAGE, {**DRAFT, "unit": "answer-in-study", "neighbours": "add-remove", "look": "1"}
    )
    assert [each.problem for each in clash.context["protections"] if each.is_chosen] == [
        "Whether somebody took part is more than one answer: protect a person or a household."
    ] * 2
    assert editor.post(PAGE, {**DRAFT, "unit": "answer-in-study"}).status_code == 302
    draft.refresh_from_db()
    assert draft.unit == "answer-in-study"


def test_what_cannot_be_protected_so_is_said_beside_it(editor, draft):
    answer = editor.post(PAGE, {**DRAFT, "unit": "household-of-2", "cap_delta": "0.000001"})
    assert answer.status_code == 422
    assert "A household needs a cap without a δ." in answer.content.decode()


def test_what_a_panel_does_not_protect_is_said_beside_it(editor, draft):
    draft.panel = Panel.objects.create(slug="people", name="People", neighbours="change-one")
    draft.expected = 1000
    draft.save()
    *_units, answers, taking_part = editor.get(PAGE).context["protections"]
    assert answers.problem == ""
    assert taking_part.problem == (
        "Neighbours must be those of the panel, change-one; it is add-remove."
    )


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
        ({"epsilon-copied": "9"}, "ε must be between 0.01 and 4; it is 9."),
        ({"epsilon-copied": "0.001"}, "ε must be between 0.01 and 4; it is 0.001."),
        ({"epsilon-copied": "-1"}, "ε must be between 0.01 and 4; it is -1."),
        ({"epsilon-copied": "lots"}, "This must be a number."),
        ({"epsilon-copied": "NaN"}, "This must be a number."),
        ({"epsilon-copied": ""}, "This is needed."),
        ({"cap": "9"}, "The cap must be at most the site’s limit of 8; it is 9."),
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
    assert "ε must be between 0.01 and 4; it is 9." in page


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
    assert draft.epsilon_ceiling == 4
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
    assert "needs the role of an editor" in page
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
    assert "Fixed since wave 1 opened" in page
    assert "Save these limits" not in page
    before = Entry.objects.count()
    client.post(PAGE, {**DRAFT, "epsilon-copied": "0.5"})
    assert Entry.objects.count() == before
    with pytest.raises(CannotOpen, match="is open already"):
        decide(plan.study, epsilons={"copied": Decimal("0.5")})


@pytest.mark.usefixtures("two_waves")
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
    assert "ε must be between 0.01 and 8; it is " in answer.content.decode()
    assert not Entry.objects.exists()


@pytest.mark.parametrize("name", ["cap", "release_epsilon"])
@pytest.mark.parametrize("how", [{}, {"look": "1"}])
def test_what_noise_out_of_all_proportion_would_take_is_refused_and_not_worked_out(
    editor, draft, name, how
):
    number = {"kind": "number", "wanted": "mean", "least": 0, "most": 9, "unit": "hours"}
    Question.objects.filter(study=draft, name="copied").update(**number)
    answer = editor.post(PAGE, {**DRAFT, name: "0.000000001", **how})
    assert answer.status_code == (200 if how else 422)
    assert "ε must be between 0.01 and" in answer.content.decode()


def test_a_persons_share_fills_in_every_question_and_saves_nothing(editor, draft):
    page = editor.get(PAGE).content.decode()
    assert 'name="person" value="3"' in page
    assert "is right at most 96 times in 100" in " ".join(page.split())
    answer = editor.post(PAGE, {**DRAFT, "person": "2", "share": "1", "why": ""})
    page = answer.content.decode()
    assert answer.status_code == 200
    assert page.count('value="0.666666666"') >= 3
    assert "is right at most 89 times in 100" in " ".join(page.split())
    assert "Shared equally" in page
    assert {question.epsilon for question in draft.questions.all()} == {1}
    assert not DraftChange.objects.exists()


def test_a_new_draft_s_person_is_shared_by_typing_it_alone(editor, draft):
    Study.objects.filter(pk=draft.pk).update(person=3)
    assert "until you set an ε of one of them by hand" in editor.get(PAGE).content.decode()
    assert editor.post(PAGE, {**DRAFT, "person": "1.5"}).status_code == 302
    study = Study.objects.get(pk=draft.pk)
    assert study.person == Decimal("1.5")
    assert {question.epsilon for question in study.questions.all()} == {Decimal("0.5")}
    by_hand = {f"epsilon-{name}": "0.5" for name in ("copied", "often")}
    answer = editor.post(PAGE, {**DRAFT, **by_hand, "person": "1.5", "epsilon-fair": "0.4"})
    assert answer.status_code == 302
    study.refresh_from_db()
    assert study.person is None
    assert study.questions.get(name="fair").epsilon == Decimal("0.4")


@pytest.mark.parametrize(("asked", "of"), [(None, 3), (1, 1), (2, 2)])
def test_what_was_shared_and_saved_is_what_a_person_gives_away_at_most(editor, draft, asked, of):
    Study.objects.filter(pk=draft.pk).update(asked=asked)
    form = editor.post(PAGE, {**DRAFT, "person": "1.5", "share": "1"}).context["form"]
    shared = {name: form[name].value() for name in DRAFT if name.startswith("epsilon-")}
    assert {Decimal(each) for each in shared.values()} == {round_down(Fraction(3, 2 * of))}
    assert editor.post(PAGE, {**DRAFT, **shared, "person": "1.5"}).status_code == 302
    loss = documents.compose(Study.objects.get(pk=draft.pk)).loss
    assert loss <= exponential_below(Decimal("1.5"))
    assert 'name="person" value="1.5"' in editor.get(PAGE).content.decode()


def test_a_condition_counts_with_what_it_follows(db, client, admin_user):
    study = draft_of_drawn()
    client.force_login(admin_user)
    page = f"/studies/{study.slug}/limits/"
    typed = {f"epsilon-{each.name}": "1" for each in study.questions.all()}
    form = client.post(page, {**DRAFT, **typed, "person": "3", "share": "1"}).context["form"]
    assert study.asked == 2  # blocks, of which one holds two questions
    shared = [each.value() for each in form if each.name.startswith("epsilon-")]
    assert shared.count("1") == len(form.on_device)


@pytest.mark.parametrize(
    ("person", "said"),
    [
        ("0.02", "Copied: ε must be between 0.01 and 4; it is 0.006666666. Nothing was shared."),
        ("0", "This must be above 0 and at most 8"),
        ("-1", "This must be above 0 and at most 8"),
        ("8.5", "This must be above 0 and at most 8"),
        ("", "This must be above 0 and at most 8"),
        ("much", "This must be a number."),
    ],
)
def test_a_share_that_cannot_be_is_refused_by_name_and_fills_in_nothing(
    editor, draft, person, said
):
    answer = editor.post(PAGE, {**DRAFT, "person": person, "share": "1", "why": ""})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert said in page
    assert answer.context["form"]["epsilon-fair"].value() == "1"
    assert {question.epsilon for question in draft.questions.all()} == {1}


@pytest.mark.parametrize("person", ["2", "2.999"])
def test_a_persons_lower_epsilon_is_not_saved_before_it_is_shared(editor, draft, person):
    answer = editor.post(PAGE, {**DRAFT, "person": person, "cap": "1.5"})
    assert answer.status_code == 422
    assert "The answers below give away ε 3 together." in answer.content.decode()
    assert Study.objects.get(pk=draft.pk).cap == 2
    higher = {**DRAFT, "person": "3", "epsilon-copied": "1.5"}  # the same as it was: not typed
    assert editor.post(PAGE, higher).status_code == 302
