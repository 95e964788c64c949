"""Charge, draw and store: together, once, and only when the rule and the cap allow."""

import datetime
from decimal import Decimal
from fractions import Fraction

import pytest
from django.db import DatabaseError, transaction

from dpengine.central.laplace import DiscreteLaplace
from dpengine.contraction import contracted
from surveys.aggregation import selectors as aggregation, services as sweeps
from surveys.design import services as design
from surveys.ledger.models import Entry
from surveys.releases import services
from surveys.releases.models import Release, Request

HOUR = datetime.timedelta(hours=1)


@pytest.fixture
def closed(answered, today):
    plan = answered(60)
    design.close_plan(plan_id=plan.pk, today=today)
    sweeps.sweep_all(today=today)
    return plan


def periodic(draft, **changes):
    for name, value in {"rule": "every", "hours": 24, **changes}.items():
        setattr(draft, name, value)
    draft.save()


def test_a_closed_study_is_published_once_and_charged_once(closed, now):
    first = services.publish_due(now=now)
    again = services.publish_due(now=now + 48 * HOUR)
    assert (len(first), again) == (1, [])
    assert Entry.charges.get().epsilon == Decimal(1)


def test_publishing_the_same_request_again_returns_the_same_draw(closed, now):
    request = services.request_by_rule(plan=closed, now=now)
    first = services.publish(request_id=request.pk, now=now)
    second = services.publish(request_id=request.pk, now=now + HOUR)
    assert first == second
    assert first.numbers == second.numbers
    assert Entry.charges.count() == Release.objects.count() == 1


def test_asking_the_same_again_is_the_same_request(closed, now):
    assert services.request_by_rule(plan=closed, now=now) == services.request_by_rule(
        plan=closed, now=now
    )


def test_nothing_is_charged_or_drawn_again_on_a_retry(closed, now, monkeypatch):
    request = services.request_by_rule(plan=closed, now=now)
    services.publish(request_id=request.pk, now=now)

    def once_more(*args, **kwargs):
        raise AssertionError("a second charge, or a second draw")

    monkeypatch.setattr(services.charges, "charge", once_more)
    monkeypatch.setattr(DiscreteLaplace, "release", once_more)
    services.publish(request_id=request.pk, now=now)


@pytest.mark.parametrize(
    "victim",
    [
        "surveys.releases.services.charges.charge",
        "surveys.releases.statistics.Part.draw",
        "surveys.releases.models.Release.save",
    ],
)
def test_charge_and_draw_stand_or_fall_together(closed, now, monkeypatch, victim):
    request = services.request_by_rule(plan=closed, now=now)

    def die(*args, **kwargs):
        raise RuntimeError("killed")

    monkeypatch.setattr(victim, die)
    with pytest.raises(RuntimeError):
        services.publish(request_id=request.pk, now=now)
    assert not Entry.charges.exists()
    assert not Release.objects.exists()
    monkeypatch.undo()
    services.publish(request_id=request.pk, now=now)
    assert Entry.charges.count() == Release.objects.count() == 1


def test_every_charge_has_its_release_and_every_release_its_charge(closed, now):
    services.publish_due(now=now)
    assert {entry.pk for entry in Entry.charges.all()} == {
        release.entry_id for release in Release.objects.all()
    }
    release, entry = Release.objects.get(), Entry.charges.get()
    assert entry.statistic == release.request.digest
    assert entry.budget == closed.study.budget


def test_what_is_published_is_noisy_and_what_it_says_follows_from_it(closed, now):
    services.publish_due(now=now)
    numbers = Release.objects.get().numbers
    assert numbers["n"] == 60
    drawn = {q["name"]: [c["noisy_count"] for c in q["choices"]] for q in numbers["questions"]}
    # equal with a chance below 1e-5 at these scales
    assert drawn != aggregation.totals(closed)
    assert sum(drawn["copied"]) == 60
    for question in numbers["questions"]:
        for choice in question["choices"]:
            low, high = choice["interval"]
            assert low <= choice["estimate"] <= high
            assert all(part is None or part >= 0 for part in choice["variance"].values())
            assert choice["standard_error"] > 0


def test_the_cost_is_what_the_mechanisms_lose_and_no_more_than_the_plan_allows(closed, now):
    services.publish_due(now=now)
    parts = [question["mechanism"] for question in Release.objects.get().numbers["questions"]]
    assert [part["sensitivity"] for part in parts] == [1, 2, 2]
    questions = closed.content.questions
    losses = [(each.loss, closed.content.publication.common_of(each)) for each in questions]
    strengths = [Fraction(part["sensitivity"]) / Fraction(part["scale"]) for part in parts]
    lost = sum(contracted(noise, *own) for noise, own in zip(strengths, losses, strict=True))
    assert 0.999 < lost <= 1 < sum(strengths)
    assert Entry.charges.get().epsilon == Decimal(closed.content.publication.epsilon) == 1


def test_nothing_is_published_before_the_smallest_batch(answered, now, today):
    plan = answered(9)
    design.close_plan(plan_id=plan.pk, today=today)
    sweeps.sweep_all(today=today)
    assert services.publish_due(now=now) == []


def test_a_closed_study_waits_until_everything_is_sealed(answered, now, today):
    plan = answered(30)
    design.close_plan(plan_id=plan.pk, today=today)
    assert services.publish_due(now=now) == []
    sweeps.sweep_all(today=today)
    assert len(services.publish_due(now=now)) == 1


def test_an_open_study_published_when_closed_stays_silent(answered, now, today):
    answered(30)
    sweeps.sweep_all(today=today)
    assert services.publish_due(now=now) == []


def test_every_so_often_means_not_before_and_not_without_new_answers(draft, now, today, request):
    periodic(draft)
    answer = request.getfixturevalue("answered")
    answer(30)
    sweeps.sweep_all(today=today)
    assert len(services.publish_due(now=now)) == 1
    assert services.publish_due(now=now + 30 * HOUR) == []  # nobody new
    answer(12)
    sweeps.sweep_all(today=today)
    assert services.publish_due(now=now + 23 * HOUR) == []  # too early
    assert len(services.publish_due(now=now + 24 * HOUR)) == 1


def test_a_rule_that_has_used_up_its_cap_falls_silent(draft, now, today, request):
    periodic(draft, hours=1, cap=Decimal("1.5"))
    answer = request.getfixturevalue("answered")
    for step in range(4):
        answer(12)
        sweeps.sweep_all(today=today)
        services.publish_due(now=now + step * HOUR)
    first, *later = [entry.epsilon for entry in Entry.charges.all()]
    assert first < 1  # as if nothing were in common, so that later ones add no more than 1
    assert all(each < 1 for each in later)
    assert len(later) < 3
    assert first + sum(later) <= Decimal("1.5")


def test_a_request_is_answered_from_the_batches_it_names(answered, now, today):
    plan = answered(20)
    sweeps.sweep_all(today=today)
    request = services.request_by_rule(plan=plan, now=now)
    answered(15)
    sweeps.sweep_all(today=today)
    assert services.publish(request_id=request.pk, now=now).numbers["n"] == 20


def test_the_database_itself_refuses_to_change_or_delete_a_release(closed, now):
    services.publish_due(now=now)
    with pytest.raises(DatabaseError, match="drawn once and kept"), transaction.atomic():
        Release.objects.update(numbers={})
    with pytest.raises(DatabaseError, match="drawn once and kept"), transaction.atomic():
        Release.objects.all()._raw_delete("default")
    with pytest.raises(DatabaseError, match="keeps its words"), transaction.atomic():
        Request.objects.update(statistic={})


@pytest.mark.usefixtures("two_waves")
def test_two_waves_share_the_study_s_budget(closed, now, today, request):
    services.publish_due(now=now)
    study = design.begin_wave(study_id=closed.study_id)
    second = design.open_study(why="A test.", study_id=study.pk, who="ada", now=now)
    assert second.study.budget == closed.study.budget


def test_a_close_does_not_publish_again_for_fewer_new_answers_than_a_batch(
    draft, now, today, request
):
    periodic(draft)
    answer = request.getfixturevalue("answered")
    plan = answer(30)
    sweeps.sweep_all(today=today)
    services.publish_due(now=now)
    answer(3)
    design.close_plan(plan_id=plan.pk, today=today)
    sweeps.sweep_all(today=today)
    assert services.publish_due(now=now + 48 * HOUR) == []
