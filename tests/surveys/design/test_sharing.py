"""One person's ε: who shares it, who takes it apart, and what the site allows of it."""

from decimal import Decimal
from fractions import Fraction

import pytest

from dpengine.local.ways import Kind
from dpengine.privacy import exponential_below
from surveys.design import documents, selectors, services, sharing
from surveys.design.drafts import (
    add_questions,
    delete_question,
    duplicate_question,
    new_draft,
    restore_question,
    save_question,
    save_study,
    set_protections,
)
from surveys.design.goal import Goal, Outcome, Topic
from surveys.design.limit_changes import decide
from surveys.design.models import DraftChange, Question, Study
from surveys.design.readiness import Readiness
from surveys.design.refusals import CannotOpen, NotDecided
from surveys.design.site import set_site_limits
from surveys.design.together import send_apart, send_together
from surveys.drafting.forms import QuestionForm
from tests.conftest import NOW, QUESTIONS
from tests.surveys.design.test_drafts import TEXTS

BY = {"who": "ada", "now": NOW}
MORE = {"kind": "yes_no", "text": "Did you?", "label": "Did"}
GIVEN = {**MORE, "name": "given", "protection": "publication"}


def asked_all(study):
    """Ask everybody everything, as somebody sets it by hand: then a person's ε is shared equally."""
    study.asked = None
    save_study(study=study, fields=["asked"], **BY)
    return study


@pytest.fixture
def draft(db):
    return asked_all(new_draft(texts=TEXTS, questions=QUESTIONS))


def shares(study):
    return {each.name: each.epsilon for each in study.questions.all()}


def of_each(study, epsilon, count):
    part = Decimal(epsilon)
    assert shares(study) == dict.fromkeys(shares(study), part)
    assert len(shares(study)) == count
    loss = documents.compose(Study.objects.get(pk=study.pk)).loss
    assert loss <= exponential_below(Study.objects.get(pk=study.pk).person)


def test_a_new_study_s_questions_share_a_person_s_epsilon_of_2_however_many_they_are(draft):
    of_each(draft, "0.666666666", 3)
    add_questions(study_id=draft.pk, questions=[MORE], **BY)
    of_each(draft, "0.5", 4)
    gone = delete_question(study_id=draft.pk, name="copied", **BY)
    of_each(draft, "0.666666666", 3)
    duplicate_question(study_id=draft.pk, name="fair", **BY)
    restore_question(study_id=draft.pk, fields=gone, **BY)
    of_each(draft, "0.4", 5)
    draft.refresh_from_db()
    draft.asked = 2
    save_study(study=draft, fields=["asked"], **BY)
    of_each(draft, "1", 5)


def test_what_is_sent_as_given_has_no_share(draft):
    add_questions(study_id=draft.pk, questions=[GIVEN], **BY)
    assert shares(draft)["copied"] == Decimal("0.666666666")


def test_publications_may_say_as_much_and_need_no_noise(draft):
    study = Study.objects.get(pk=draft.pk)
    assert (study.person, study.cap, study.release_epsilon) == (2, 2, 2)
    content = documents.compose(study)
    part = Fraction(content.publication.epsilon) / len(content.questions)
    for each in content.questions:
        assert each.loss <= exponential_below(Decimal(part.numerator) / part.denominator)


def test_an_epsilon_set_by_hand_is_kept_and_so_are_all_others_from_then_on(draft):
    question = draft.questions.get(name="copied")
    question.epsilon = Decimal("0.5")
    save_question(question=question, **BY)
    third = Decimal("0.666666666")
    assert shares(draft) == {"copied": Decimal("0.5"), "fair": third, "often": third}
    add_questions(study_id=draft.pk, questions=[MORE], **BY)
    assert shares(draft)["q4"] == 1
    assert shares(draft)["fair"] == third
    said = DraftChange.objects.filter(what="ε of copied").latest("pk")
    assert (said.old, said.new) == (
        "an equal share, changed on the device",
        "0.5, changed on the device",
    )


@pytest.mark.parametrize(
    "act",
    [
        lambda study: set_protections(
            study_id=study.pk, epsilons={"fair": Decimal(1)}, why="planned", **BY
        ),
        lambda study: add_questions(study_id=study.pk, questions=[{**MORE, "epsilon": "1"}], **BY),
        lambda study: decide(
            study_id=study.pk,
            epsilons={"fair": Decimal(1)},
            new={},
            may_set_limits=False,
            why="?",
            **BY,
        ),
    ],
)
def test_who_sets_one_by_hand_shares_no_more(draft, act):
    act(draft)
    assert Study.objects.get(pk=draft.pk).person is None


def test_a_question_that_is_only_renamed_or_reworded_keeps_its_share(draft):
    question = draft.questions.get(name="copied")
    question.name, question.text = "cheated", "Have you cheated?"
    save_question(question=question, **BY)
    of_each(draft, "0.666666666", 3)
    new = Question(study=draft, **MORE, name="more", epsilon=Decimal("0.5"))
    save_question(question=new, **BY)
    of_each(draft, "0.5", 4)


def test_a_share_is_worked_out_again_where_somebody_else_changed_the_draft_meanwhile(draft):
    typed = {**MORE, "name": "copied", "protection": "device", "epsilon": ""}
    question = draft.questions.get(name="copied")
    form = QuestionForm(typed, instance=question)
    assert form.is_valid(), form.errors
    add_questions(study_id=draft.pk, questions=[MORE], **BY)
    save_question(question=question, is_share=form.is_share, **BY)
    of_each(draft, "0.5", 4)


def test_an_epsilon_that_was_set_is_not_raised_to_the_least_but_refused(draft, now):
    set_site_limits(epsilon_floor=Decimal("0.6"), why="a rule", **BY)
    study = new_draft(texts=TEXTS, questions=[{**MORE, "epsilon": "0.1"}])
    assert study.questions.get().epsilon == Decimal("0.1")
    (problem,) = Readiness(study).problems(now)
    assert problem.text == "ε must be between 0.6 and 4; it is 0.1."


def test_a_draft_from_before_keeps_what_each_question_has(draft):
    Study.objects.filter(pk=draft.pk).update(person=None)
    draft.questions.update(epsilon=Decimal("0.9"))
    add_questions(study_id=draft.pk, questions=[MORE], **BY)
    assert sorted(shares(draft).values()) == [Decimal("0.9")] * 3 + [1]


def test_another_epsilon_of_a_person_is_shared_and_what_followed_it_follows(draft):
    decide(
        study_id=draft.pk,
        epsilons={},
        new={"person": Decimal(1), "cap": Decimal(2)},
        may_set_limits=False,
        why="?",
        **BY,
    )
    of_each(draft, "0.333333333", 3)
    draft.refresh_from_db()
    assert (draft.person, draft.cap, draft.release_epsilon) == (1, 1, 1)
    decide(
        study_id=draft.pk,
        epsilons={},
        new={"person": Decimal(2), "cap": Decimal("1.5")},
        may_set_limits=False,
        why="?",
        **BY,
    )
    draft.refresh_from_db()
    assert (draft.person, draft.cap, draft.release_epsilon) == (2, Decimal("1.5"), 1)


def test_a_share_below_the_least_is_not_raised_but_refused_by_name(draft, now):
    set_site_limits(epsilon_floor=Decimal("0.6"), why="a rule", **BY)
    add_questions(study_id=draft.pk, questions=[MORE], **BY)
    assert set(shares(draft).values()) == {Decimal("0.5")}
    texts = [problem.text for problem in Readiness(draft).problems(now)]
    assert texts == ["ε must be between 0.6 and 4; it is 0.5."] * 4
    with pytest.raises(CannotOpen, match="Copied"):
        services.open_study(study_id=draft.pk, why="A test.", **BY)


def test_a_share_above_the_greatest_is_the_greatest(db):
    set_site_limits(epsilon_ceiling=Decimal("0.7"), why="a rule", **BY)
    study = new_draft(texts=TEXTS, questions=QUESTIONS[:1])
    assert shares(study) == {"copied": Decimal("0.7")}


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"person_ceiling": Decimal("1.5")}, "must be ε 0.01 to 1.5 on this site; it is 2"),
        ({"person_floor": Decimal(3)}, "must be ε 3 to 8 on this site; it is 2"),
    ],
)
def test_what_one_person_gives_away_is_held_to_the_site_s_limits(draft, now, limits, said):
    set_site_limits(**limits, why="a rule", **BY)
    (problem,) = Readiness(draft).problems(now)
    assert said in problem.text
    assert [study for study, why in selectors.drafts_beyond(selectors.site_limits())] == [draft]
    with pytest.raises(CannotOpen, match="this site"):
        services.open_study(study_id=draft.pk, why="A test.", **BY)
    again = asked_all(new_draft(texts=TEXTS, questions=QUESTIONS))
    assert again.person == next(iter(limits.values()))
    assert Readiness(again).problems(now) == []


@pytest.mark.parametrize("person", [Decimal(0), Decimal(-1), Decimal(21)])
def test_an_epsilon_of_a_person_that_cannot_be_is_refused(draft, person):
    with pytest.raises(NotDecided) as refusal:
        decide(
            study_id=draft.pk,
            epsilons={},
            new={"person": person},
            may_set_limits=False,
            why="?",
            **BY,
        )
    assert "person" in refusal.value.problems
    of_each(draft, "0.666666666", 3)


def test_an_epsilon_of_a_person_is_spent_on_no_question_too(db):
    assert sharing.spent_of(Decimal(2), Study(), []).epsilons == {}


# The planner's way, until somebody sets it by hand

SIX = [{"kind": "yes_no", "text": f"Did you {at}?", "label": f"Did {at}"} for at in range(6)]


def way_of(study):
    """Return how a draft asks: how many, which together, each with which ε."""
    questions = list(study.questions.all())
    together = {}
    for at, each in enumerate(questions):
        together.setdefault(each.together or each.name, []).append(at)
    study = Study.objects.get(pk=study.pk)
    return study.asked, sorted(together.values()), {each.epsilon for each in questions}


@pytest.fixture
def planned(db):
    return new_draft(texts=TEXTS, questions=SIX)


@pytest.mark.parametrize("n", [40, 300, 5000])
def test_a_new_draft_asks_as_the_planner_proposes(db, n):
    study = new_draft(texts={**TEXTS, "expected": n}, questions=SIX)
    found = Outcome(Goal(n, Decimal(2), (Topic("yes_no", 2),) * 6))
    together = sorted(map(list, found.together))
    assert way_of(study) == (found.asked, together, set(found.epsilons))
    assert (found.asked, together) == (1, [[0, 1], [2, 3], [4, 5]])
    assert (study.expected, study.smallest_batch) == (n, min(100, n // 2))
    content = documents.compose(study)
    assert content.loss <= exponential_below(Decimal(2))
    assert found.proposal.kinds[Kind.SPLIT].worst(n) > 2 * found.way.worst(n)


def test_its_way_follows_its_questions_its_answers_and_a_person(planned):
    delete_question(study_id=planned.pk, name=planned.questions.first().name, **BY)
    assert way_of(planned)[:2] == (1, [[0], [1, 2], [3, 4]])
    add_questions(
        study_id=planned.pk,
        questions=[{"kind": "single", "choices": "A\nB\nC\nD\nE", "text": "Which?", "label": "W"}],
        **BY,
    )
    assert [5] in way_of(planned)[1], "five choices are sent by themselves"
    decide(
        study_id=planned.pk,
        epsilons={},
        new={"person": Decimal(1)},
        may_set_limits=False,
        why="less",
        **BY,
    )
    assert way_of(planned)[2] == {Decimal(1)}
    decide(
        study_id=planned.pk,
        epsilons={},
        new={"person": Decimal(1), "neighbours": "add-remove"},
        may_set_limits=False,
        why="who takes part is hidden",
        **BY,
    )
    asked, together, epsilons = way_of(planned)
    assert (asked, len(together)) == (None, 6), "then nothing can be drawn or joined"
    assert epsilons == {Decimal("0.166666666")}


def test_what_depends_on_another_is_drawn_with_it_and_halves_its_share(db):
    follows = {**SIX[1], "asked_if": "first", "asked_if_answers": [1]}
    study = new_draft(texts=TEXTS, questions=[{**SIX[0], "name": "first"}, follows, *SIX[2:]])
    content = documents.compose(study)
    assert content.loss <= exponential_below(Decimal(2))
    first, second = study.questions.all()[:2]
    assert first.epsilon == second.epsilon == 1
    assert (first.together, second.together) == ("", "")
    assert {frozenset(("first", second.name))} <= set(content.sets)


@pytest.mark.parametrize(
    "act",
    [
        asked_all,
        lambda study: send_apart(study_id=study.pk, together="as_one_1", **BY),
        lambda study: send_together(
            study_id=study.pk,
            names=list(study.questions.values_list("name", flat=True))[:3],
            **BY,
        ),
        lambda study: add_questions(
            study_id=study.pk,
            questions=[{**each, "together": "mine"} for each in SIX[:2]],
            **BY,
        ),
    ],
)
def test_whoever_sets_it_by_hand_keeps_it(planned, act):
    act(planned)
    asked, together, _epsilons = way_of(planned)
    add_questions(study_id=planned.pk, questions=SIX[:3], **BY)
    last = len(together) and max(map(max, together))
    assert way_of(planned)[:2] == (asked, [*together, [last + 1], [last + 2], [last + 3]])
    assert Study.objects.get(pk=planned.pk).is_planned is False


def test_what_is_sent_as_one_answer_keeps_its_name_while_it_stays_the_same(planned):
    names = list(planned.questions.values_list("name", flat=True))
    before = dict(planned.questions.values_list("name", "together"))
    planned.questions.filter(name__in=names[2:4]).update(together="kept")
    add_questions(study_id=planned.pk, questions=SIX[:2], **BY)
    after = dict(planned.questions.values_list("name", "together"))
    assert after[names[0]] == after[names[1]] == before[names[0]]
    assert after[names[2]] == after[names[3]] == "kept"
    assert len(set(after.values())) == 4


def test_a_question_that_is_not_whole_yet_is_planned_around(planned):
    blank = {"kind": "single", "choices": "", "text": "Which?", "label": "Which"}
    add_questions(study_id=planned.pk, questions=[blank], **BY)
    asked, together, epsilons = way_of(planned)
    assert (asked, together) == (1, [[0, 1], [2, 3], [4, 5], [6]])
    assert epsilons == {Decimal(2)}


def test_a_smallest_batch_follows_the_answers_expected_until_it_is_set(planned):
    planned.expected = 60
    save_study(study=planned, fields=["expected"], **BY)
    assert Study.objects.get(pk=planned.pk).smallest_batch == 30
    planned.smallest_batch = 45
    save_study(study=planned, fields=["smallest_batch"], **BY)
    planned.expected = 1000
    save_study(study=planned, fields=["expected"], **BY)
    assert Study.objects.get(pk=planned.pk).smallest_batch == 45


def test_fewer_answers_never_go_below_what_answers_sent_as_given_need(db):
    study = new_draft(texts=TEXTS, questions=[*SIX, GIVEN])
    study.expected = 40
    save_study(study=study, fields=["expected"], **BY)
    assert Study.objects.get(pk=study.pk).smallest_batch == 50


def test_a_draft_of_an_older_site_is_shared_as_it_was(planned):
    Study.objects.filter(pk=planned.pk).update(is_planned=None, asked=None)
    planned.questions.update(together="")
    add_questions(study_id=planned.pk, questions=SIX[:2], **BY)
    assert way_of(planned) == (None, [[at] for at in range(8)], {Decimal("0.25")})
