"""One person's ε: who shares it, who takes it apart, and what the site allows of it."""

from decimal import Decimal
from fractions import Fraction

import pytest

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
from surveys.design.limit_changes import decide
from surveys.design.models import DraftChange, Question, Study
from surveys.design.readiness import Readiness
from surveys.design.refusals import CannotOpen, NotDecided
from surveys.design.site import set_site_limits
from surveys.drafting.forms import QuestionForm
from tests.conftest import NOW, QUESTIONS
from tests.surveys.design.test_drafts import TEXTS

BY = {"who": "ada", "now": NOW}
MORE = {"kind": "yes_no", "text": "Did you?", "label": "Did"}
GIVEN = {**MORE, "name": "given", "protection": "publication"}


@pytest.fixture
def draft(db):
    return new_draft(texts=TEXTS, questions=QUESTIONS)


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


def test_an_epsilon_that_was_set_is_not_raised_to_the_least_but_refused(draft, today):
    set_site_limits(epsilon_floor=Decimal("0.6"), why="a rule", **BY)
    study = new_draft(texts=TEXTS, questions=[{**MORE, "epsilon": "0.1"}])
    assert study.questions.get().epsilon == Decimal("0.1")
    (problem,) = Readiness(study).problems(today)
    assert problem.text == "ε must be between 0.6 and 8; it is 0.1."


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


def test_a_share_below_the_least_is_not_raised_but_refused_by_name(draft, today):
    set_site_limits(epsilon_floor=Decimal("0.6"), why="a rule", **BY)
    add_questions(study_id=draft.pk, questions=[MORE], **BY)
    assert set(shares(draft).values()) == {Decimal("0.5")}
    texts = [problem.text for problem in Readiness(draft).problems(today)]
    assert texts == ["ε must be between 0.6 and 8; it is 0.5."] * 4
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
def test_what_one_person_gives_away_is_held_to_the_site_s_limits(draft, today, limits, said):
    set_site_limits(**limits, why="a rule", **BY)
    (problem,) = Readiness(draft).problems(today)
    assert said in problem.text
    assert [study for study, why in selectors.drafts_beyond(selectors.site_limits())] == [draft]
    with pytest.raises(CannotOpen, match="this site"):
        services.open_study(study_id=draft.pk, why="A test.", **BY)
    again = new_draft(texts=TEXTS, questions=QUESTIONS)
    assert again.person == next(iter(limits.values()))
    assert Readiness(again).problems(today) == []


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


def test_a_share_is_worked_out_by_hand():
    assert sharing.part_of(Decimal(2), Study(), []) == 2
