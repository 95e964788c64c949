from decimal import Decimal

import pytest
import yaml
from django.db import transaction

from dpengine.privacy import exponential_below
from surveys.demo import answers, kinds, services
from surveys.demo.services import ensure_study
from surveys.demo.studies import HABITS_ASKED, NIGHTS_LIST
from surveys.design.models import Plan, Question, Study
from surveys.guesses import is_risky
from surveys.intake.models import Receipt
from surveys.people.models import User
from surveys.releases.models import Release, Request, Step
from tests.conftest import NOW
from tests.every_kind import EVERY, EVERY_QUESTIONS
from tests.surveys.results.test_deployments import VALIDATOR

TRUTHS = {"hard_drugs": {1: 629 / 3615}, "marijuana": {1: 1725 / 3615}, "same_sex": {1: 258 / 3615}}


@pytest.fixture(scope="module")
def brought(django_db_setup, django_db_blocker):
    """The demo, brought once for the tests of this module: each looks, and is rolled back to it."""
    with django_db_blocker.unblock(), transaction.atomic():
        services.bring(now=NOW)
        yield
        transaction.set_rollback(True)


@pytest.mark.django_db
def test_every_demo_study_is_a_valid_entry(brought, client):
    found = list(Study.objects.values_list("slug", flat=True))
    assert len(found) == len(services.STUDIES)
    for slug in found:
        entry = yaml.safe_load(client.get(f"/registry/{slug}.yaml").content)
        assert [error.message for error in VALIDATOR.iter_errors(entry)] == [], slug


@pytest.mark.django_db
def test_the_demo_brings_real_answers_to_the_dashboard_and_again_changes_nothing(brought, now):
    services.bring(now=now)
    assert len(answers.people_of_health()) == 3615
    assert Receipt.objects.count() == 3615 + 1551 + 3000
    release = Release.objects.get(request__plan__study__slug="health-and-habits")
    assert release.numbers["n"] == 3615
    assert {plan.study.slug: plan.is_open for plan in Plan.objects.all()} == {
        "health-and-habits": False,
        "medicines-and-help": True,
        "partners-and-drinking": False,
        "sleep-and-work": True,
        "going-without-care": True,
        "night-shifts": True,
    }
    for question in release.numbers["questions"]:
        for index, truth in TRUTHS.get(question["name"], {}).items():
            choice = question["choices"][index]
            # a false alarm in 10⁸ runs
            assert abs(choice["estimate"] - truth) < 6 * choice["standard_error"]

    asked = Request.objects.filter(plan__study__slug="partners-and-drinking")
    assert [request.kind for request in asked] == [kind for kind, _ in HABITS_ASKED]
    researcher = User.objects.get(username="researcher")
    assert {request.who for request in asked} == {researcher.pseudonym}
    assert Step.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("slug", ["medicines-and-help", "sleep-and-work", "going-without-care"])
def test_nobody_gives_away_more_than_2_in_a_study_that_a_stranger_can_open(brought, slug):
    content = Plan.objects.get(study__slug=slug).content
    assert content.loss <= exponential_below(Decimal(2))
    assert not is_risky(content.loss)


@pytest.mark.django_db
def test_a_visitor_meets_an_answer_that_is_read_a_condition_and_a_list(brought, client):
    mixed, listed = (
        Plan.objects.get(study__slug=slug).content
        for slug in ("going-without-care", "night-shifts")
    )
    protections = {each.name: each.protection for each in mixed.questions}
    assert protections == {"without": "device", "reason": "device", "age_group": "publication"}
    assert [each.name for each in mixed.questions if each.skipped] == ["reason"]
    assert mixed.invited is None
    assert {each.name: each.people for each in listed.invited.strata} == NIGHTS_LIST
    for content in (mixed, listed):
        assert content.languages == ["en", "zh-hans"]
        for language in ("", "zh-hans/"):
            assert client.get(f"/s/{content.slug}/{language}").status_code == 200


@pytest.mark.django_db
def test_the_study_of_every_kind_asks_each_person_two_of_eight_and_publishes_all(brought):
    plan = Plan.objects.get(study__slug="sleep-and-work")
    asked = [len(each.blocks) for each in plan.content.drawn]
    assert (len(plan.content.blocks), set(asked)) == (8, {2})
    release = Release.objects.get(request__plan=plan)  # so wide that it waits, it would not be
    assert release.numbers["n"] == kinds.PEOPLE
    assert release.entry.epsilon <= 2


@pytest.mark.django_db
def test_a_demo_from_before_keeps_the_study_it_has(now):
    before = ensure_study({**EVERY, "slug": "before"}, EVERY_QUESTIONS, now)[0]
    plan, is_new = ensure_study({**kinds.SLEEP, "slug": "before"}, kinds.SLEEP_QUESTIONS, now)
    assert (plan.digest, is_new) == (before.digest, False)
    assert plan.content.drawn == []


@pytest.mark.django_db
def test_a_unit_that_no_study_can_have_is_refused_by_name(now):
    with pytest.raises(ValueError, match=r"unit: expected .*respondent-in-study.*, got 'village'"):
        ensure_study({**kinds.SLEEP, "slug": "v", "unit": "village"}, kinds.SLEEP_QUESTIONS, now)
    assert not Study.objects.filter(slug="v").exists()


def test_more_partners_than_the_question_takes_are_counted_as_the_most():
    people = answers.people_with_habits()
    assert len(people) == 1551
    assert max(person["partners"] for person in people) == 100


def test_every_person_has_a_choice_for_every_question():
    people = answers.people_of_health()
    assert sum(person["hard_drugs"] for person in people) == 629
    assert sum(person["marijuana"] == 2 for person in people) == 536


def test_made_up_people_answer_as_the_form_lets_them_and_say_what_does_not_apply():
    people = kinds.made_up_people()
    assert len(people) == kinds.PEOPLE
    assert all(
        (person["awake"] == kinds.DOES_NOT_APPLY) == (not person["drowsy"]) for person in people
    )
    assert all(person["taken"] == sorted(set(person["taken"])) for person in people)
    assert all(person["taken"] == [4] or 4 not in person["taken"] for person in people)
    for question in kinds.SLEEP_QUESTIONS:
        if question["kind"] in ("number", "month", "date"):
            steps = question["most"] - question["least"]
            assert all(0 <= person[question["name"]] <= steps for person in people)


def test_the_demo_s_study_of_every_kind_says_that_its_answers_are_made_up():
    assert "invented" in kinds.SLEEP["organisation"]
    assert "nobody gave them" in kinds.SLEEP["purpose"]
    assert {question["kind"] for question in kinds.SLEEP_QUESTIONS} == set(Question.Kind.values)
