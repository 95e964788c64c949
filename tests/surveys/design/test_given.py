"""What a study needs of which answers are sent as given: a small cap and a batch, or more by the
site's admin.
"""

import json
from decimal import Decimal

import pytest
from django.contrib.auth.models import Permission
from django.utils import translation

from surveys.design import limit_changes, services
from surveys.design.drafts import add_questions, new_draft, save_question, save_study
from surveys.design.models import Delta, Plan, Study
from surveys.design.readiness import Readiness
from surveys.design.refusals import CannotOpen, Refused
from surveys.design.wording import readers_of_given
from surveys.ledger.models import Budget, Entry
from surveys.plan.content import Caps
from tests.conftest import MORE, NOW, QUESTIONS, STUDY

USUAL = {name: value for name, value in STUDY.items() if name not in MORE} | {
    "cap": Decimal(1),
    "smallest_batch": 50,
}
GIVEN = {
    "name": "region",
    "kind": "yes_no",
    "text": "North?",
    "label": "North",
    "protection": "publication",
}
CAP = (
    "If answers are not randomised, the cap must be ε 1 at most; it is {}. The site’s admin "
    "can give this study more"
)
BATCH = "If answers are not randomised, nothing is published before 50 responses; it is {}."
WHY = "These answers are printed in a book."
BY = {"who": "ada", "now": NOW}


def drafted(**terms):
    return services.draft_study(study={**USUAL, **terms}, questions=[QUESTIONS[0], GIVEN])


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({"cap": Decimal(8)}, CAP.format(8)),
        ({"cap": Decimal("1.000000001")}, CAP.format("1.000000001")),
        ({"cap": Decimal(2), "cap_delta": Delta.SIX}, CAP.format(2)),
        ({"smallest_batch": 49}, BATCH.format(49)),
        ({"cap": Decimal(8), "smallest_batch": 10}, CAP.format(8)),
        # without a reason it counts for nothing
        ({"cap": Decimal(8), "given_cap": Decimal(8)}, CAP.format(8)),
    ],
)
def test_beyond_the_usual_cap_and_batch_nothing_opens_and_nothing_is_stored(
    db, client, admin_user, terms, said
):
    study = drafted(**terms)
    assert said in Readiness(study).problems(NOW)[0].text
    with pytest.raises(CannotOpen) as refusal:
        services.open_study(why="A test.", study_id=study.pk, **BY)
    assert said in str(refusal.value)
    client.force_login(admin_user)
    page = client.post(f"/studies/{study.slug}/launch/", {"seen": "any"})
    assert said in page.content.decode()
    assert not any(model.objects.exists() for model in (Plan, Budget, Entry))


@pytest.mark.parametrize(
    "terms",
    [{}, {"cap": Decimal("0.5"), "release_epsilon": Decimal("0.5")}, {"cap_delta": Delta.SIX}],
)
def test_within_them_it_opens(db, terms):
    plan = services.open_study(why="A test.", study_id=drafted(**terms).pk, **BY)
    assert Decimal(plan.content.caps.central_epsilon) <= 1


def test_a_study_of_which_all_is_changed_on_the_device_has_the_sites_limits_only(db):
    study = services.draft_study(
        study={**USUAL, "cap": Decimal(8), "smallest_batch": 10}, questions=QUESTIONS
    )
    assert services.open_study(why="A test.", study_id=study.pk, **BY).is_open


def test_the_refusal_is_said_in_chinese_too(db):
    with translation.override("zh-hans"):
        assert "%" not in Readiness(drafted(cap=Decimal(8))).problems(NOW)[0].text


def test_the_sites_admin_gives_more_with_a_reason_that_stands_in_the_ledger_beside_the_opening(db):
    study, new = (
        drafted(cap=Decimal(8), smallest_batch=10),
        {"given_cap": Decimal(8), "given_batch": 10},
    )
    decided = {
        "study_id": study.pk,
        "epsilons": {},
        "new": new,
        "why": WHY,
        "who": "root",
        "now": NOW,
    }
    with pytest.raises(Refused, match="Only the site’s admin"):
        limit_changes.decide(**decided, may_set_limits=False)
    limit_changes.decide(**decided, may_set_limits=True)
    services.open_study(why="A test.", study_id=study.pk, **BY)
    row = Entry.objects.get(what="exam-honesty: where answers are sent as given")
    assert (row.who, row.why) == ("root", WHY)
    assert (row.old, row.new) == (
        "cap ε 1 at most, 50 answers at least",
        "cap ε 8 at most, 10 answers at least",
    )


def test_what_the_admin_gave_is_for_the_questions_that_were_there_and_lapses_with_another(db):
    study, new = (
        drafted(cap=Decimal(8), smallest_batch=10),
        {"given_cap": Decimal(8), "given_batch": 10},
    )
    limit_changes.decide(
        study_id=study.pk, epsilons={}, new=new, why=WHY, may_set_limits=True, who="root", now=NOW
    )
    question = study.questions.get(name="region")
    question.text = "Have you stolen?"
    save_question(question=question, **BY)
    study.refresh_from_db()
    assert (study.given_cap, study.given_batch, study.given_why, study.given_by) == (
        None,
        None,
        None,
        None,
    )
    with pytest.raises(CannotOpen, match="the cap must be ε 1 at most; it is 8"):
        services.open_study(why="A test.", study_id=study.pk, **BY)


def test_what_the_admin_gave_is_for_a_person_and_lapses_where_an_editor_protects_less(db):
    """Else a cap of 3 for a person would be one of 3 for each of their forty answers."""
    study = services.draft_study(study=USUAL, questions=[QUESTIONS[0], *REWORDED])
    decided = {"study_id": study.pk, "epsilons": {}, "why": WHY, "now": NOW}
    new = {"given_cap": Decimal(3), "cap": Decimal(3)}
    limit_changes.decide(**decided, new=new, may_set_limits=True, who="root")
    unit = {"unit": "answer-in-study"}
    with pytest.raises(Refused, match=r"ε 0\.025 at most; it is 3"):
        limit_changes.decide(**decided, new=unit, may_set_limits=False, who="ada")
    study.refresh_from_db()
    assert (study.unit, study.given_cap, study.given_by) == ("respondent-in-study", 3, "root")
    small = {**unit, "cap": Decimal("0.02"), "release_epsilon": Decimal("0.02")}
    limit_changes.decide(**decided, new=small, may_set_limits=False, who="ada")
    study.refresh_from_db()
    assert (study.unit, study.given_cap, study.given_why) == ("answer-in-study", None, None)


def test_a_draft_without_such_answers_says_nothing_of_what_it_could_have(db):
    services.open_study(
        why="A test.",
        study_id=services.draft_study(study=STUDY, questions=QUESTIONS).pk,
        **BY,
    )
    assert not Entry.objects.filter(what__contains="sent as given").exists()


def test_only_the_sites_admin_is_offered_it(client, admin_user, db):
    study = drafted()
    client.force_login(admin_user)
    page = f"/studies/{study.slug}/limits/"
    assert 'name="given_cap"' not in client.get(page).content.decode()
    admin_user.user_permissions.add(Permission.objects.get(codename="set_limits"))
    assert 'name="given_cap"' in client.get(page).content.decode()
    typed = {
        "cap": "3",
        "cap_delta": "0",
        "release_epsilon": "1",
        "epsilon_floor": "0.01",
        "epsilon_ceiling": "8",
    }
    typed |= {
        "household": "3",
        "epsilon-copied": "1",
        "given_cap": "3",
        "given_batch": "",
        "unit": "respondent-in-study",
        "neighbours": "change-one",
        "why": WHY,
    }
    assert client.post(page, typed).status_code == 302
    study.refresh_from_db()
    assert (study.cap, study.given_cap, study.given_batch, study.given_why, study.given_by) == (
        3,
        3,
        None,
        WHY,
        "ada",
    )


def test_a_draft_s_first_answer_sent_as_given_brings_its_cap_within_and_says_so(db):
    study = new_draft(
        texts={name: USUAL[name] for name in ("title", "organisation", "purpose", "contact")}
    )
    add_questions(study_id=study.pk, questions=[QUESTIONS[0]], **BY)
    study.refresh_from_db()
    assert study.cap == 2
    add_questions(study_id=study.pk, questions=[GIVEN], **BY)
    study.refresh_from_db()
    assert (study.cap, study.release_epsilon, study.smallest_batch) == (1, 1, 100)
    assert Readiness(study).problems(NOW) == []
    assert services.open_study(why="A test.", study_id=study.pk, **BY).is_open


def test_a_draft_that_begins_with_such_answers_can_open_as_it_is(db):
    texts = {name: USUAL[name] for name in ("title", "organisation", "purpose", "contact")}
    study = new_draft(texts=texts, questions=[QUESTIONS[0], GIVEN])
    assert services.open_study(why="A test.", study_id=study.pk, **BY).content.caps == Caps(
        central_epsilon="1"
    )


def test_a_cap_beyond_is_refused_where_it_is_typed(client, admin_user, db):
    study = drafted()
    client.force_login(admin_user)
    page = f"/studies/{study.slug}/build/texts/"
    kept = {
        name: getattr(study, name)
        for name in ("title", "organisation", "purpose", "contact", "language", "layout")
    }
    typed = {
        **kept,
        "cap": "2",
        "rule": "when-closed",
        "hours": "24",
        "horizon": "52",
        "release_epsilon": "1",
    }
    typed |= {"smallest_batch": "20", "results": "public"}
    said = client.post(page, typed).content.decode()
    assert [text in said for text in (CAP.format(2), BATCH.format(20))] == [True, True]
    assert Study.objects.get().cap == 1


def test_a_wave_that_is_open_stays_as_it_is_and_the_next_one_needs_less(client, db):
    study = drafted(**{**MORE, "waves": 2, "cap": Decimal(2), "smallest_batch": 10})
    plan = services.open_study(why="A test.", study_id=study.pk, **BY)
    # as it was opened before there were such limits
    Study.objects.update(given_cap=None, given_batch=None, given_why=None)
    body = {"plan": plan.digest, "report_id": "0f" * 16, "answers": {"copied": 1, "region": 1}}
    address = f"/api/v1/studies/{study.slug}/reports"
    assert (
        client.post(address, json.dumps(body), content_type="application/json").status_code == 201
    )
    services.close_plan(plan_id=plan.pk, today=NOW.date())
    services.begin_wave(study_id=study.pk)
    with pytest.raises(CannotOpen, match="the cap must be ε 1 at most; it is 2"):
        services.open_study(why="A test.", study_id=study.pk, **BY)
    Study.objects.update(smallest_batch=50)
    services.lower_cap(study_id=study.pk, new=Decimal(1), why=WHY, **BY)
    assert services.open_study(why="A test.", study_id=study.pk, **BY).wave == 2


# Where one answer is protected, and not a person


REWORDED = [{**GIVEN, "name": f"region_{place}", "text": f"North, {place}?"} for place in range(40)]
TOGETHER = "It holds for each of a person’s {} answers that are not randomised: together they "


def of_answers(count, **terms):
    study = {**USUAL, "unit": "answer-in-study", **terms}
    return services.draft_study(study=study, questions=[QUESTIONS[0], *REWORDED[:count]])


@pytest.mark.parametrize(
    ("count", "cap", "most"), [(2, "0.501", "0.5"), (10, "1", "0.1"), (40, "0.026", "0.025")]
)
def test_the_same_question_in_other_words_counts_as_often_as_it_is_asked(db, count, cap, most):
    """What all of one person's answers lose together is ε 1 at most, as where a person is kept."""
    study = of_answers(count, cap=Decimal(cap), release_epsilon=Decimal(cap))
    with pytest.raises(CannotOpen) as refusal:
        services.open_study(why="A test.", study_id=study.pk, **BY)
    lost = f"{count * Decimal(cap):f}".rstrip("0").rstrip(".") if "." in cap else f"{count}"
    said = f"the cap must be ε {most} at most; it is {cap}."
    assert said in str(refusal.value)
    assert f"{TOGETHER.format(count)}lose ε {lost}." in str(refusal.value)
    within = of_answers(count, slug="within", cap=Decimal(most), release_epsilon=Decimal(most))
    plan = services.open_study(why="A test.", study_id=within.pk, **BY)
    assert count * Decimal(plan.content.caps.central_epsilon) <= 1


def test_where_each_wave_has_a_cap_of_its_own_all_of_them_are_counted(db):
    """The same question in each of four waves is four answers of the same person."""
    four = {"unit": "respondent-in-wave", "waves": 4}
    with pytest.raises(CannotOpen) as refusal:
        services.open_study(why="A test.", study_id=drafted(**four).pk, **BY)
    assert "ε 0.25 at most; it is 1." in str(refusal.value)
    assert "in each of the 4 waves: in all of them one person loses ε 4." in str(refusal.value)
    quarter = {"cap": Decimal("0.25"), "release_epsilon": Decimal("0.25"), "slug": "within"}
    within = drafted(**four, **quarter)
    plan = services.open_study(why="A test.", study_id=within.pk, **BY)
    assert "right at most 74 times in 100 (ε 1)" in readers_of_given(plan.content)
    once = drafted(unit="respondent-in-wave", slug="once")
    assert services.open_study(why="A test.", study_id=once.pk, **BY).is_open


def test_what_was_given_for_two_waves_lapses_with_a_third(db):
    study = drafted(unit="respondent-in-wave", waves=2)
    new = {"given_cap": Decimal(1)}
    limit_changes.decide(
        study_id=study.pk, epsilons={}, new=new, why=WHY, may_set_limits=True, who="root", now=NOW
    )
    for waves, given in ((2, Decimal(1)), (3, None)):
        study.refresh_from_db()
        study.waves = waves
        save_study(study=study, fields=["waves"], **BY)
        study.refresh_from_db()
        assert (study.given_cap, study.given_why) == (given, given and WHY)
    assert services.terms.problems_of_given(study, study.questions.all()).keys() == {"cap"}


def test_one_answer_given_by_a_person_needs_no_less(db):
    assert services.open_study(why="A test.", study_id=of_answers(1).pk, **BY).is_open


def test_a_draft_of_single_answers_is_brought_within_with_every_question(db):
    study = of_answers(1)
    add_questions(study_id=study.pk, questions=REWORDED[1:4], **BY)
    study.refresh_from_db()
    assert (study.cap, study.release_epsilon) == (Decimal("0.25"), Decimal("0.25"))


def test_to_protect_one_answer_instead_of_a_person_needs_a_smaller_cap(db):
    study = services.draft_study(study=USUAL, questions=[QUESTIONS[0], *REWORDED])
    decided = {"study_id": study.pk, "epsilons": {}, "may_set_limits": False}
    new = {"unit": "answer-in-study", "cap": Decimal(1)}
    with pytest.raises(Refused, match=r"ε 0\.025 at most; it is 1\. .* together they lose ε 40"):
        limit_changes.decide(**decided, new=new, why=WHY, who="ada", now=NOW)


def test_the_sum_is_said_where_a_study_is_launched(db, client, admin_user):
    client.force_login(admin_user)
    study = of_answers(2, cap=Decimal("0.5"), release_epsilon=Decimal("0.5"))
    page = client.get(f"/studies/{study.slug}/launch/").content.decode()
    assert "right at most 74 times in 100 (ε 1)" in " ".join(page.split())
