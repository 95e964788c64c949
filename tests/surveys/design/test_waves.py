"""Waves that are planned: what each may take of its study, and what is refused with a way out."""

import datetime
import json
import re
from decimal import Decimal
from fractions import Fraction

import pytest

from dpengine.privacy import epsilon_above
from surveys.design import documents, services, terms, waves
from surveys.design.drafts import new_draft, save_study
from surveys.design.models import Plan, Study
from surveys.design.refusals import CannotOpen
from surveys.ledger import selectors as ledger
from surveys.plan.content import Unsound, canonical, digest, read
from surveys.plan.verification import verify
from surveys.planning.selectors import prices
from tests.conftest import NOW, QUESTIONS, STUDY, TODAY

BY = {"who": "olga", "now": NOW}
TEXTS = {
    "title": "Once a year",
    "organisation": "Brightwater College",
    "purpose": "To see a trend.",
    "contact": "asks@example.org",
    "language": "en",
    "expected": 300,
}
COPIED = {"name": "copied", "kind": "yes_no", "text": "Have you copied?", "label": "Copied"}


def drafted(waves=2, draws=None, **terms):
    """Return a draft as a person would plan it: by saying how many waves, and how."""
    study = new_draft(texts=TEXTS, questions=[COPIED])
    fields = {"waves": waves, "draws": draws, **terms}
    for name, value in fields.items():
        setattr(study, name, value)
    save_study(study=study, fields=list(fields), why="as planned", **BY)
    study.refresh_from_db()
    return study


def opened(study):
    return services.open_study(study_id=study.pk, why="A test.", **BY)


def closed(study):
    plan = opened(study)
    services.close_plan(plan_id=plan.pk, today=TODAY)
    return plan


@pytest.mark.django_db
def test_a_study_plans_one_wave_with_fresh_draws_unless_somebody_says_otherwise():
    content = documents.compose(new_draft(texts=TEXTS, questions=[COPIED]))
    assert (content.waves, content.draws, content.publication.counts) == (1, "fresh", "answers")
    assert content.loss_of_waves == content.loss


@pytest.mark.django_db
@pytest.mark.parametrize("count", [2, 3, 7])
def test_fresh_waves_share_a_persons_epsilon_and_the_cap(count):
    study = drafted(count)
    part = terms.in_a_wave(study, Decimal(2))
    assert (study.person, study.cap) == (2, 2)
    assert (study.questions.get().epsilon, study.release_epsilon) == (part, part)
    assert count * part <= 2 < count * part + Decimal("0.00000001")
    content = documents.compose(study)
    verify(content)
    assert epsilon_above(content.loss_of_waves, 2) == 2
    assert content.publication.counts == "answers"


@pytest.mark.django_db
def test_kept_waves_have_all_of_a_persons_epsilon_each_and_share_the_cap():
    study = drafted(2, "kept", person=Decimal("1.9"))
    assert study.questions.get().epsilon == Decimal("1.9")
    assert (study.cap, study.release_epsilon) == (2, 1)
    content = documents.compose(study)
    verify(content)
    assert content.keeps_key
    study.wave = 2
    assert documents.compose(study).publication.counts == ""  # charged in full


@pytest.mark.django_db
def test_a_cost_that_somebody_said_stays_where_waves_are_planned():
    study = drafted(1, release_epsilon=Decimal("0.5"))
    study.waves = 2
    save_study(study=study, fields=["waves"], **BY)
    study.refresh_from_db()
    assert study.release_epsilon == Decimal("0.5")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"waves": 1, "draws": "kept"}, "One wave needs no key"),
        ({"waves": 2, "draws": "kept", "is_invited": True}, "People on a list keep no key"),
        ({"waves": 3, "release_epsilon": Decimal(1)}, "Let one publication cost 0.666666666"),
    ],
)
def test_what_cannot_be_planned_is_refused_with_what_to_change(fields, told):
    study = drafted()
    Study.objects.filter(pk=study.pk).update(**fields)
    study.refresh_from_db()
    found = terms.named_problems(study, study.questions.all(), services.site.site_limits())
    said = " ".join(problem for _field, problem in found)
    assert told in said
    with pytest.raises(CannotOpen, match=re.escape(told)):
        opened(study)
    assert not Plan.objects.exists()


@pytest.mark.django_db
def test_there_is_no_wave_beyond_those_that_are_planned_and_it_says_what_to_do():
    study = drafted(2)
    closed(study)
    assert waves.problem_of_next(study) == ""
    study = services.begin_wave(study_id=study.pk)
    closed(study)
    assert "plans 2 waves" in waves.problem_of_next(study)
    with pytest.raises(CannotOpen, match="make a new study and say there how many waves"):
        services.begin_wave(study_id=study.pk)
    study.refresh_from_db()
    assert study.wave == 2


@pytest.mark.django_db
def test_a_later_wave_takes_no_more_of_a_person_than_the_first_one_said():
    study = drafted(2)
    closed(study)
    study = services.begin_wave(study_id=study.pk)
    study.questions.update(epsilon=Decimal("1.2"))
    with pytest.raises(CannotOpen, match=r"ε 2\.20 in all waves, and wave 1 said ε 2\.00"):
        opened(study)
    study.questions.update(epsilon=Decimal("0.8"))  # less is no harm
    assert opened(study).wave == 2


@pytest.mark.django_db
@pytest.mark.parametrize("term", [{"waves": 3}, {"draws": "kept"}])
def test_how_many_waves_and_how_stays_from_the_first_launch_on(term):
    study = drafted(2)
    closed(study)
    services.begin_wave(study_id=study.pk)
    Study.objects.filter(pk=study.pk).update(**term)
    with pytest.raises(CannotOpen, match="Set it back, or make a new study"):
        opened(study)


@pytest.mark.django_db
def test_what_the_cap_pays_for_counts_what_is_spent():
    study = Study(cap=Decimal(2), release_epsilon=Decimal(1))
    assert terms.publications_paid(study) == 2
    assert terms.publications_paid(study, Decimal("0.04")) == 0
    assert terms.publications_paid(study, Decimal("1.04")) == 1


# Plans and studies of older days


@pytest.mark.django_db
def test_an_older_plan_reads_verifies_and_hashes_as_it_did():
    document = canonical(documents.compose(drafted(1)))
    old = {
        name: part for name, part in json.loads(document).items() if name not in ("waves", "draws")
    }
    written = json.dumps(old, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    content = read(written)
    verify(content)
    assert (content.waves, content.draws, content.keeps_key) == (0, "", False)
    assert content.loss_of_waves == content.loss
    assert digest(canonical(content)) == digest(written)


@pytest.mark.django_db
def test_a_study_of_older_days_goes_on_as_it_began():
    study = services.draft_study(study={**STUDY, "draws": ""}, questions=QUESTIONS)
    plan = opened(study)
    assert not {"waves", "draws"} & json.loads(plan.document).keys()
    services.close_plan(plan_id=plan.pk, today=TODAY)
    study = services.begin_wave(study_id=study.pk)
    assert opened(study).content.publication.counts == ""  # a key that was kept may repeat draws
    assert prices(study, list(study.questions.all())) == []


@pytest.mark.parametrize(
    "change",
    [{"waves": 0}, {"waves": 100}, {"draws": ""}, {"draws": "kept", "waves": 1}, {"wave": 3}],
)
@pytest.mark.django_db
def test_a_plan_says_both_or_neither_and_is_one_of_its_waves(change):
    document = json.loads(canonical(documents.compose(drafted(2))))
    with pytest.raises(Unsound):
        verify({**document, **change})


# What waves cost


@pytest.mark.django_db
def test_the_price_of_waves_is_known_by_hand():
    """One yes/no question, ε = 2, 300 answers; published intervals are a little wider than the 7.4,
    12.2, 17.6 and 7.5 of 1.96 standard errors. With a key and an ε that nobody set, 1.47 and .98 in
    each wave: 9.0 and 12.5, and the noise.
    """
    study = drafted(1)
    by_hand = drafted(1)
    by_hand.person = None
    fresh = {
        (1, "fresh"): ("7.6", "1.0"),
        (2, "fresh"): ("12.6", "2.7"),
        (3, "fresh"): ("18.0", "5.6"),
    }
    for draft, kept in (
        (by_hand, {(2, "kept"): ("7.7", "1.0"), (3, "kept"): ("7.8", "1.1")}),
        (study, {(2, "kept"): ("9.4", "1.5"), (3, "kept"): ("13.1", "3.0")}),
    ):
        assert {
            (each.waves, each.draws): (each.precision.said, each.people)
            for each in prices(draft, list(draft.questions.all()))
        } == fresh | kept
    several = drafted(3, "kept")
    kept = prices(several, list(several.questions.all()))
    assert [(each.waves, each.draws, each.is_chosen) for each in kept] == [
        (1, "fresh", False),
        (3, "fresh", False),
        (3, "kept", True),
    ]


@pytest.mark.django_db
def test_people_on_a_list_are_offered_no_key():
    study = drafted(2)
    study.is_invited = True
    assert {each.draws for each in prices(study, list(study.questions.all()))} == {"fresh"}


@pytest.mark.django_db
def test_all_waves_together_are_what_needs_a_reason():
    study = drafted(1)
    assert not services.launch.needs_reason(documents.compose(study))
    asked = drafted(2, "kept", person=Decimal("1.48"))
    assert services.launch.needs_reason(documents.compose(asked))
    assert Fraction(1) < documents.compose(drafted(2)).loss_of_waves


@pytest.mark.django_db
@pytest.mark.parametrize(("count", "epsilon"), [(2, "1.47"), (3, "0.98"), (7, "0.42")])
def test_what_nobody_sets_of_waves_with_a_key_needs_no_reason(count, epsilon):
    """ln(19)/W: for that each wave has all of a person's ε, and each answer may have changed."""
    study = drafted(count, "kept")
    assert (study.person, study.questions.get().epsilon) == (Decimal(epsilon), Decimal(epsilon))
    content = documents.compose(study)
    assert Fraction("17.5") < content.loss_of_waves <= 19
    assert services.open_study(study_id=study.pk, **BY).is_open, "and none was asked for"


@pytest.mark.django_db
def test_a_persons_epsilon_follows_the_waves_until_somebody_sets_it():
    study = drafted(2, "kept")
    for draws, person in (("fresh", 2), ("kept", Decimal("1.47"))):
        study.draws = draws
        save_study(study=study, fields=["draws"], **BY)
        study.refresh_from_db()
        assert study.person == person
    study.person = Decimal("0.5")
    save_study(study=study, fields=["person"], **BY)
    study.draws = "fresh"
    save_study(study=study, fields=["draws"], **BY)
    study.refresh_from_db()
    assert study.person == Decimal("0.5")
    assert new_draft(texts={**TEXTS, "waves": 2, "draws": "kept"}).person == Decimal("1.47")


@pytest.mark.django_db
def test_the_ledger_holds_one_cap_for_all_waves():
    study = drafted(2)
    closed(study)
    study = services.begin_wave(study_id=study.pk)
    second = opened(study)
    account = ledger.account(second.study.budget_id)
    assert (account.cap, account.amount_left) == (2, 2)
    assert datetime.date.fromisoformat(str(second.opened_on)) == TODAY
