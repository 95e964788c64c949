"""Questions of a draft that are sent as one answer: what its Plan says, and what cannot be."""

import json
from decimal import Decimal
from fractions import Fraction

import pytest

from dpengine.local.joint import Joint
from surveys.design import combinations, documents, services
from surveys.design.drafts import (
    duplicate_question,
    new_draft,
    save_question,
    save_study,
    set_protections,
)
from surveys.design.models import Question, Study
from surveys.design.readiness import Readiness, consequence_of
from surveys.design.refusals import Refused
from surveys.design.services import CannotOpen
from surveys.design.together import send_apart, send_together
from surveys.limits import risk
from surveys.plan.content import canonical, read
from surveys.plan.drawing import sent_together
from surveys.plan.verification import verify
from surveys.planning.scenarios import PlannedStudy
from tests.conftest import NOW, TODAY

BY = {"who": "ada", "now": NOW}
TEXTS = {
    "title": "Honesty",
    "organisation": "Aldermoor",
    "purpose": "To try.",
    "contact": "a@example.org",
}


def asked(name, kind="yes_no", **parts):
    text = {"text": f"{name}?", "label": name.capitalize()}
    return {"name": name, "kind": kind, **text, **parts}


@pytest.fixture
def draft(db):
    """Five questions of which four can be joined, each sent by itself to begin with and asked of
    everybody; a person has ε 2.
    """
    study = new_draft(
        texts={**TEXTS, "expected": 1000},
        questions=[
            asked("smoked"),
            asked("drank", may_decline=True),
            asked("mood", "single", choices="Good\nFair\nBad\nAwful"),
            asked("agreed", "likert"),
            asked("age", "number", least=0, most=80),
        ],
    )
    study.questions.update(together="")
    study.asked = None
    return save_study(study=study, fields=["asked"], **BY)


def joined(draft, *names, **by):
    return send_together(study_id=draft.pk, names=names, **BY)


def problems_of(draft):
    return {each.question: each.text for each in Readiness(draft).problems(NOW)}


def test_a_plan_has_one_channel_for_all_of_them(draft):
    called = joined(draft, "smoked", "drank")
    content = documents.compose(draft)
    verify(content)
    share = draft.questions.first().epsilon
    joint = Joint.for_epsilon((2, 3), share)
    (block, *others) = content.blocks
    assert (block.name, block.questions, block.loss) == (called, ["smoked", "drank"], joint.loss)
    assert block.channel_document == joint.document()
    assert not any(each.is_joint for each in others)
    assert [each.blocks for each in content.drawn] == [[0, 1, 2, 3]], "everybody is asked all"
    assert content.question("smoked").own_loss is None
    assert set(content.reports) == {called, "mood", "agreed", "age"}


def test_their_one_answer_has_one_share_of_a_person_s_ε(draft):
    assert draft.questions.first().epsilon == Decimal("0.4")
    joined(draft, "smoked", "drank")
    assert {each.epsilon for each in draft.questions.all()} == {Decimal("0.5")}
    draft.refresh_from_db()
    draft.asked = 1
    save_study(study=draft, fields=["asked"], **BY)
    assert {each.epsilon for each in draft.questions.all()} == {Decimal(2)}
    content = documents.compose(draft)
    assert content.loss <= Fraction("7.389056099")
    send_apart(study_id=draft.pk, together="as_one_1", **BY)
    assert not any(each.is_joint for each in documents.compose(draft).blocks)


def test_pages_of_a_draft_say_what_is_sent(draft):
    joined(draft, "smoked", "drank")
    questions = list(draft.questions.all())
    found = risk.of_draft(draft, questions, household=1)
    content = documents.compose(draft)
    assert found.loss == content.loss
    assert found.loss_of_record == content.loss
    by_name = {each.name: each for each in found.questions}
    assert by_name["smoked"].question.sent_in == by_name["drank"].question.sent_in == "as_one_1"
    assert by_name["smoked"].loss == content.blocks[0].loss
    odd = consequence_of(questions[0]).odds[0]
    assert odd.choices == 6, "the odds are those of the combination"
    typed = [*questions]
    for each in typed:
        each.epsilon = Decimal(1)
    assert risk.loss_of_draft(draft, typed) > content.loss, "of those that are typed, not stored"


def test_what_needs_more_people_is_drawn_more_often(draft):
    draft.asked = 1
    save_study(study=draft, fields=["asked"], **BY)
    joined(draft, "smoked", "drank")
    content = documents.compose(draft)
    part = {name: content.part_asked([name]) for name in content.channels}
    need = {
        name: float(content.question(name).channel.variance(Fraction(1, k)))
        for name, k in (("mood", 4), ("agreed", 5))
    }
    assert float(part["agreed"] / part["mood"]) == pytest.approx(
        need["agreed"] / need["mood"], rel=0.01
    )
    draft.questions.filter(name="mood").update(matters="decisive")
    decisive = documents.compose(draft)
    odds = decisive.part_asked(["mood"]) / decisive.part_asked(["agreed"])
    assert float(odds) == pytest.approx(2 * need["mood"] / need["agreed"], rel=0.01)


def test_a_later_wave_keeps_the_weights_of_the_same_sets(draft):
    draft.asked, draft.waves = 1, 2
    save_study(study=draft, fields=["asked", "waves"], **BY)
    plan = services.open_study(study_id=draft.pk, **BY)
    services.close_plan(plan_id=plan.pk, today=TODAY)
    services.begin_wave(study_id=draft.pk)
    draft.refresh_from_db()
    draft.questions.filter(name="mood").update(matters="decisive")
    again = documents.compose(draft)
    assert again.drawn == plan.content.drawn, "or every device would draw anew"
    draft.asked = 2
    assert documents.compose(draft).drawn != plan.content.drawn


def test_a_question_leaves_one_answer_for_another_and_none_is_left_alone(draft):
    first = joined(draft, "smoked", "drank")
    second = joined(draft, "drank", "mood")
    named = dict(draft.questions.values_list("name", "together"))
    assert first != second
    assert named == {"smoked": "", "drank": second, "mood": second, "agreed": "", "age": ""}
    copied = duplicate_question(study_id=draft.pk, name="drank", **BY)
    assert copied.together == "", "a copy is sent by itself"


def test_an_ε_that_is_set_by_hand_is_that_of_the_whole_answer(draft):
    joined(draft, "smoked", "drank")
    question = draft.questions.get(name="drank")
    question.epsilon = Decimal("1.5")
    save_question(question=question, **BY)
    assert draft.questions.get(name="smoked").epsilon == Decimal("1.5")
    assert problems_of(draft) == {}


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("smoked",), "Choose two questions or more"),
        ((), "Choose two questions or more"),
        (("smoked", "gone"), "changed meanwhile"),
        (("smoked", "age"), "“Age” is not a question of one choice"),
    ],
)
def test_what_cannot_be_sent_as_one_is_refused_and_nothing_changes(draft, names, told):
    with pytest.raises(Refused, match=told):
        joined(draft, *names)
    assert set(draft.questions.values_list("together", flat=True)) == {""}


def of_together(draft, **parts):
    """Join two questions, then change what they are behind the page's back."""
    joined(draft, "smoked", "mood")
    Study.objects.filter(pk=draft.pk).update(cap=1, release_epsilon=1)  # as some of these need
    for name, fields in parts.items():
        draft.questions.filter(name=name).update(**fields)


@pytest.mark.parametrize(
    ("parts", "name", "told"),
    [
        ({"mood": {"together": ""}}, "smoked", "but has none"),
        ({"mood": {"kind": "multiple"}}, "mood", "“Mood” is not a question of one choice"),
        ({"mood": {"protection": "publication"}}, "mood", "“Mood” is not randomised"),
        ({"mood": {"epsilon": Decimal(3)}}, "mood", "one answer, which has one ε"),
        (
            {"mood": {"choices": "\n".join(f"c{at}" for at in range(600))}},
            "smoked",
            "“Smoked”, “Mood” have 1,200 combinations of answers: at most 1,024",
        ),
        (
            {"agreed": {"asked_if": "mood", "asked_if_answers": [1]}},
            "agreed",
            "“Agreed” follows from “Mood”: both must be sent in the same answer",
        ),
        (
            {"smoked": {"together": "age"}, "mood": {"together": "age"}},
            "smoked",
            "“age” is a question’s key",
        ),
    ],
)
def test_what_no_plan_can_hold_is_named_before_a_launch_and_refused_by_it(draft, parts, name, told):
    of_together(draft, **parts)
    assert told in problems_of(draft).get(name, "")
    with pytest.raises(CannotOpen, match=told[:30]):
        services.open_study(study_id=draft.pk, why="A test.", **BY)
    assert not draft.plans.exists()


def test_what_stays_together_is_drawn_as_one_and_sent_apart(draft):
    draft.questions.filter(name__in=("drank", "agreed")).update(drawn_in="evening")
    Study.objects.filter(pk=draft.pk).update(asked=1)
    study = Study.objects.get(pk=draft.pk)
    content = documents.compose(study)
    verify(content)
    held = [block.questions for block in content.blocks]
    assert held == [["smoked"], ["drank", "agreed"], ["mood"], ["age"]]
    assert not any(block.is_joint for block in content.blocks)
    assert [each.blocks for each in content.drawn] == [[0], [1], [2], [3]]
    both = content.question("drank").loss * content.question("agreed").loss
    assert content.loss == both, "what one person gives away at most"
    assert PlannedStudy(study).kept == [(1, 3)], "the plan keeps them so"


def test_what_stays_together_is_sent_in_one_answer_or_each_by_itself(draft):
    joined(draft, "smoked", "drank")
    draft.questions.filter(name__in=("drank", "agreed")).update(drawn_in="evening")
    told = "“Agreed” stays together with “Drank”: both must be sent in the same answer"
    assert told in problems_of(draft)["agreed"]
    with pytest.raises(CannotOpen, match="stays together"):
        services.open_study(study_id=draft.pk, why="A test.", **BY)
    draft.questions.filter(name="agreed").update(drawn_in="")
    draft.questions.filter(name="smoked").update(drawn_in="evening")
    verify(documents.compose(Study.objects.get(pk=draft.pk)))


def test_what_follows_may_be_sent_in_the_same_answer(draft):
    draft.questions.filter(name="drank").update(asked_if="smoked", asked_if_answers=[1])
    with pytest.raises(Refused, match="“Drank” follows from “Smoked”"):
        joined(draft, "drank", "mood")
    joined(draft, "smoked", "drank")
    content = documents.compose(draft)
    verify(content)
    assert content.question("drank").together.joint.questions == (2, 4)


def test_where_taking_part_is_hidden_nothing_is_sent_as_one(draft):
    joined(draft, "smoked", "mood")
    draft.neighbours = "add-remove"
    ((_field, said),) = combinations.of_questions(draft, draft.questions.all())
    assert "Where it is hidden who takes part" in said


def test_all_nice_to_have_is_refused(draft):
    draft.questions.update(matters="nice")
    assert "All questions are nice to have" in problems_of(draft)[""]


def test_a_plan_of_questions_that_changed_meanwhile_is_not_saved(draft):
    ways = {
        "smoked": {"together": "as_one_1", "matters": "useful"},
        "age": {"together": "as_one_1", "matters": "useful"},
    }
    with pytest.raises(Refused, match="“Age” is not a question of one choice"):
        set_protections(study_id=draft.pk, epsilons={}, ways=ways, why="planned", **BY)
    assert not Question.objects.exclude(together="").exists()


def test_its_document_names_what_is_sent_as_one(draft):
    called = joined(draft, "smoked", "agreed")
    plan = services.open_study(study_id=draft.pk, **BY)

    assert sent_together(json.loads(plan.document)) == {"smoked": called, "agreed": called}


def test_where_each_can_be_declined_declining_is_one_answer_of_all(draft):
    """With a follow-up, whose “Does not apply” stands after it."""
    draft.questions.filter(name__in=("smoked", "drank")).update(may_decline=True)
    draft.questions.filter(name="drank").update(asked_if="smoked", asked_if_answers=[1])
    joined(draft, "smoked", "drank")
    content = documents.compose(draft)
    verify(content)
    block = content.blocks[0]
    joint = content.question("drank").together.joint
    assert (block.decline, joint.questions, joint.declining) == (1, (2, 3), (2, 2))
    assert block.channel_document == Joint.for_epsilon((2, 3), Decimal("0.5"), (2, 2)).document()
    assert block.channel_document["choices"] == 7
    assert content.question("smoked").choices == ["No", "Yes", "Prefer not to say"]
    assert content.question("drank").choices[2:] == ["Prefer not to say", "Does not apply"]
    declined = {"smoked": 2, "drank": 3}, {"smoked": 1, "drank": 2}, {"smoked": 2, "drank": 2}
    assert {joint.encode(tuple(each.values())) for each in declined} == {6}
    assert joint.encode((1, 3)) == 5
    assert read(canonical(content)) == content
    assert b'"decline":1,"loss"' in canonical(content).encode()
    draft.questions.filter(name="smoked").update(may_decline=False)
    content = documents.compose(Study.objects.get(pk=draft.pk))
    verify(content)
    assert content.blocks[0].decline == 0, "where one cannot be declined, it is one of its choices"
    assert '"decline":0' not in canonical(content).split('"drawn"')[0].split('"blocks"')[1]
    assert content.blocks[0].channel_document["choices"] == 2 * 4


def test_ten_questions_with_one_answer_to_decline_are_too_many(draft):
    more = [Question(study=draft, **asked(f"more{at}")) for at in range(10)]
    Question.objects.bulk_create(more)
    names = [each.name for each in more]
    assert joined(draft, *names)
    send_apart(study_id=draft.pk, together="as_one_1", **BY)
    draft.questions.filter(name__in=names).update(may_decline=True)
    with pytest.raises(Refused, match="have 1,025 combinations of answers: at most 1,024"):
        joined(draft, *names)
