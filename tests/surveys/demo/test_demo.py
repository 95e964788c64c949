import pytest

from surveys.demo import answers, services
from surveys.design.models import Plan
from surveys.intake.models import Receipt
from surveys.releases.models import Release

TRUTHS = {"hard_drugs": {1: 629 / 3615}, "marijuana": {1: 1725 / 3615}, "same_sex": {1: 258 / 3615}}


@pytest.mark.django_db
def test_the_demo_brings_real_answers_to_the_dashboard_and_again_changes_nothing(now):
    services.bring(now=now)
    services.bring(now=now)
    assert Receipt.objects.count() == len(answers.people()) == 3615
    release = Release.objects.get()
    assert release.numbers["n"] == 3615
    assert {plan.study.slug: plan.is_open for plan in Plan.objects.all()} == {
        "health-and-habits": False,
        "medicines-and-help": True,
    }
    for question in release.numbers["questions"]:
        for index, truth in TRUTHS.get(question["name"], {}).items():
            choice = question["choices"][index]
            assert abs(choice["estimate"] - truth) < 6 * choice["standard_error"]  # a false alarm in 10⁸ runs


def test_every_person_has_a_choice_for_every_question():
    people = answers.people()
    assert sum(person["hard_drugs"] for person in people) == 629
    assert sum(person["marijuana"] == 2 for person in people) == 536
