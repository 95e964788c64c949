"""From a plan to a draft that can be launched: its questions are worded, all else is filled in."""

import re
from decimal import Decimal

import pytest

from surveys.design import documents
from surveys.design.models import DraftChange, Neighbours, Study, Unit
from surveys.design.readiness import Readiness
from surveys.people.models import Role
from tests.conftest import NOW
from tests.surveys.drafting.conftest import TEXTS

SIX = "/studies/new/?way=plan&n=800&epsilon=2&many=6"
MIXED = "/studies/new/?way=plan&n=60&epsilon=3&many=1&kind=single&choices=3&many=1&kind=number"
WORDS = {f"q{at}-text": f"Question {at}?" for at in range(1, 7)}


def test_a_plan_becomes_a_draft_that_can_be_launched(ada):
    assert ada.get(SIX).status_code == 200
    answer = ada.post(SIX, {**TEXTS, **WORDS, "way": "plan"})
    assert answer["Location"] == "/studies/exam-honesty/launch/"
    study = Study.objects.get()
    assert study.memberships.get().role == Role.OWNER
    assert (study.expected, study.asked, study.smallest_batch) == (800, 1, 100)
    assert (study.cap, study.release_epsilon, study.person) == (2, 2, 2)
    assert study.rule == "when-closed"
    assert {each.epsilon for each in study.questions.all()} == {Decimal(2)}
    assert [each.text for each in study.questions.all()] == list(WORDS.values())
    assert Readiness(study).problems(NOW) == []
    content = documents.compose(study)
    assert [block.questions for block in content.blocks] == [
        ["q1", "q2"],
        ["q3", "q4"],
        ["q5", "q6"],
    ]
    assert all(block.is_joint for block in content.blocks)
    assert [each.blocks for each in content.drawn] == [[0], [1], [2]]
    assert DraftChange.objects.filter(study=study, who="ada").exists()


def test_of_a_plan_in_which_people_may_decline_a_draft_has_one_answer_for_it(ada):
    ada.post(f"{SIX}&declines=yes", {**TEXTS, **WORDS, "way": "plan"})
    content = documents.compose(Study.objects.get())
    assert [block.decline for block in content.blocks] == [1, 1, 1]
    assert {block.channel_document["choices"] for block in content.blocks} == {5}
    for question in content.questions:
        assert question.choices == ["No", "Yes", "Prefer not to say"]


PLANNED = ((60, 1), (800, 2), (3000, 3))  # people and ε: how questions are sent hangs on ε alone
ROWS = ("many=6", "many=3&kind=yes_no&many=3&kind=single&choices=4")
LINK = re.compile(r'href="(/studies/exam-honesty/[^"#?]*)')


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize(("n", "epsilon"), PLANNED)
def test_every_page_of_whatever_the_planner_proposes_answers(ada, n, epsilon, rows):
    """Whichever way it proposes: asked of all, drawn, sent as one answer."""
    planned = f"/studies/new/?way=plan&n={n}&epsilon={epsilon}&{rows}"
    choices = {f"q{at}-choices": "A\nB\nC\nD" for at in (4, 5, 6)}
    first = ada.post(planned, {**TEXTS, **WORDS, **choices, "way": "plan"})["Location"]
    pages, seen = [first, "/studies/exam-honesty/limits/"], {}
    while pages:
        page = pages.pop()
        answer = ada.get(page)
        seen[page] = answer.status_code
        if answer.status_code == 200 and answer["Content-Type"].startswith("text/html"):
            pages += set(LINK.findall(answer.content.decode())) - seen.keys() - set(pages)
    assert len(seen) > 10
    assert {page: status for page, status in seen.items() if status >= 400} == {}


@pytest.mark.parametrize("unit", Unit.values)
@pytest.mark.parametrize("neighbours", Neighbours.values)
def test_limits_say_what_a_joint_answer_excludes_and_a_look_at_it_answers(ada, unit, neighbours):
    ada.post(SIX, {**TEXTS, **WORDS, "way": "plan"})
    limits = "/studies/exam-honesty/limits/"
    for asked, why in ((1, "everybody must be asked everything"), (None, "sent by itself")):
        Study.objects.update(asked=asked, is_planned=False)
        shown = {each.label: each for each in ada.get(limits).context["protections"]}
        hidden = shown[str(Neighbours.ADD_REMOVE.label)]
        assert (hidden.precision, why in hidden.problem) == (None, True)
        assert shown[str(Neighbours.CHANGE_ONE.label)].precision is not None
    typed = {"unit": unit, "neighbours": neighbours, "cap": "2", "release_epsilon": "2"}
    assert ada.post(limits, {**typed, "cap_delta": "0", "look": "1"}).status_code == 200


def test_what_only_some_kinds_have_is_asked_for_and_kept(ada):
    page = ada.get(MIXED).content.decode()
    assert page.count("<textarea") == 2  # why it is asked, and the choices
    typed = {
        "q1-text": "Which  one?",
        "q1-choices": "A\nB\nC",
        "q2-text": "How many?",
        "q2-least": "0",
        "q2-most": "20",
    }
    answer = ada.post(MIXED, {**TEXTS, **typed, "way": "plan"})
    assert answer.status_code == 302, answer.content.decode()
    first, second = Study.objects.get().questions.all()
    assert (first.text, first.choices.split(), first.kind) == ("Which one?", list("ABC"), "single")
    assert (second.least, second.most, second.kind) == (0, 20, "number")
    assert Study.objects.get().smallest_batch == 30


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ({"q1-text": ""}, "This field is required"),
        ({"q1-choices": ""}, "This field is required"),
        ({"q1-choices": "A"}, "q1-choices"),
        ({"q2-most": "-1"}, "q2-most"),
        ({"contact": "nobody"}, "valid email"),
    ],
)
def test_what_is_missing_stands_at_its_field_and_nothing_is_made(ada, typed, told):
    whole = {"q1-text": "Which?", "q1-choices": "A\nB", "q2-text": "How many?", "q2-least": "0"}
    answer = ada.post(MIXED, {**TEXTS, **whole, "q2-most": "9", "way": "plan", **typed})
    assert answer.status_code == 400
    assert told in answer.content.decode()
    assert not Study.objects.exists()


def test_a_plan_that_cannot_be_worked_out_goes_back_to_the_planner(ada):
    answer = ada.get("/studies/new/?way=plan&n=3&many=6")
    assert answer["Location"].startswith("/plan/?n=3&")
    assert ada.post("/studies/new/", {**TEXTS, "way": "plan"}).status_code == 400  # no words


def test_whoever_signs_in_on_the_way_finds_the_plan_again(client):
    answer = client.get(SIX)
    assert answer.status_code == 302
    assert "many%3D6" in answer["Location"]
