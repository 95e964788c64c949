"""What a rule publishes of a list in strata: each part's counts with noise of its own for one
charge, and numbers of all whom the list invited.
"""

import datetime
import json
import math

import pytest
from msgspec.structs import replace as changed

from surveys.aggregation import selectors as counted, services as aggregation
from surveys.demo.services import answer_as_browsers
from surveys.design import services as design
from surveys.ledger.models import Entry
from surveys.operations.checks import faults
from surveys.releases import comparisons, selectors, services, statistics
from surveys.releases.models import Release
from tests.conftest import NOW, QUESTIONS, STUDY, TODAY
from tests.strata import answer_of, asking

LIST = [100, 300, 600]
CAME = (80, 90, 60)
YES = (8, 45, 48)  # of every 80, 90 and 60


def opened(people=LIST, **changes):
    study = {**STUDY, "widest": 100, **changes}
    draft = design.draft_study(study=study, questions=QUESTIONS)
    with asking(people):
        return design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)


def answer(plan, came=CAME, yes=YES):
    for stratum, (many, of_yes) in enumerate(zip(came, yes, strict=True)):
        truths = [{"copied": int(i < of_yes), "fair": i % 5, "often": i % 4} for i in range(many)]
        answer_of(plan, stratum, truths, TODAY)


def published(plan):
    design.close_plan(plan_id=plan.pk, today=TODAY)
    aggregation.sweep_all(today=TODAY)
    services.publish_due(now=NOW)
    return Release.objects.get(request__plan=plan)


@pytest.fixture
def release(db):
    plan = opened()
    answer(plan)
    return published(plan)


def test_every_part_has_its_counts_and_all_are_weighted_to_the_list(release):
    content = release.content
    assert [[*part.reports] for part in content.strata] == [[80, 0, 0], [0, 90, 0], [0, 0, 60]]
    assert [part.weight for part in content.strata] == pytest.approx([0.1, 0.3, 0.6])
    assert content.n == 230
    for at, whole in enumerate(content.questions):
        for choice, figure in enumerate(whole.choices):
            parts = [part.questions[at].choices[choice] for part in content.strata]
            by_hand = sum(w * one.estimate for w, one in zip((0.1, 0.3, 0.6), parts, strict=True))
            assert figure.estimate == pytest.approx(by_hand, abs=1e-12)
            below = [
                w * (one.estimate - one.low) for w, one in zip((0.1, 0.3, 0.6), parts, strict=True)
            ]
            assert figure.estimate - figure.low == pytest.approx(math.hypot(*below), abs=1e-12)
            variance = sum(
                w**2 * one.standard_error**2 for w, one in zip((0.1, 0.3, 0.6), parts, strict=True)
            )
            assert figure.standard_error**2 == pytest.approx(variance, rel=1e-9)


def test_what_is_published_are_the_exact_counts_with_noise_of_their_own(release):
    plan = release.request.plan
    parts = counted.parts(plan, counted.sealed_batches(plan))
    off = [
        figure.noisy_count - exact
        for part, own in zip(release.content.strata, parts, strict=True)
        for numbers in part.questions
        for figure, exact in zip(numbers.choices, own.counts[numbers.name], strict=True)
    ]
    scale = release.content.questions[0].mechanism.scale
    assert scale > 0
    assert len(set(off)) > 4
    assert max(map(abs, off)) < 40 * scale


def test_a_list_costs_what_an_open_link_costs(release):
    link = design.draft_study(
        study={**STUDY, "widest": 100, "slug": "open", "title": "Open"}, questions=QUESTIONS
    )
    plan = design.open_study(why="A test.", study_id=link.pk, who="ada", now=NOW)
    truths = [{"copied": i % 2, "fair": i % 5, "often": i % 4} for i in range(230)]
    answer_as_browsers(plan, truths, TODAY)
    other = published(plan)
    assert other.content.strata == ()
    one, same = (Entry.objects.get(pk=each.entry_id) for each in (release, other))
    assert (one.epsilon, one.rho) == (same.epsilon, same.rho)
    assert "in each stratum" in one.mechanism
    laws = {
        json.dumps(numbers.mechanism.epsilon)
        for part in release.content.strata
        for numbers in part.questions
    }
    assert laws == {json.dumps(numbers.mechanism.epsilon) for numbers in other.content.questions}


def test_the_books_hold(release):
    assert list(faults()) == []
    plan = release.request.plan
    assert services.publish(request_id=release.request_id, now=NOW) == release
    assert counted.sealed_reports(plan) == release.content.n


def test_beside_it_stands_what_came_unweighted(release):
    plan, query = release.request.plan, selectors.query_of(release.request)
    numbers = release.content.questions[0]
    beside = comparisons.of_strata(plan, query, release.content, numbers)
    parts = [own.choices[1].estimate for _, _, own in beside.parts]
    as_came = sum(n * share for n, share in zip(CAME, parts, strict=True)) / 230
    assert beside.unweighted.choices[1].estimate == pytest.approx(as_came, abs=1e-12)
    assert [own.n for _, _, own in beside.parts] == [*CAME]


def test_all_intervals_at_once_are_wider_and_no_other_numbers(release):
    plan, query = release.request.plan, selectors.query_of(release.request)
    wider = comparisons.simultaneous(plan, query, release.content, 0.999)
    for one, other in zip(wider.questions, release.content.questions, strict=True):
        for wide, own in zip(one.choices, other.choices, strict=True):
            assert wide.low < own.low < own.high < wide.high
            assert wide.estimate == own.estimate


def test_what_is_expected_counts_the_noise_of_every_stratum(db):
    one, many = opened([1000], slug="one"), opened(slug="many")
    alone, apart = (selectors.by_rule(plan).parts[0] for plan in (one, many))
    half, added, _unit = statistics.expected(alone, 300)
    wider, of_each, _unit = statistics.expected(apart, 300)
    assert of_each == pytest.approx(added * math.sqrt(3))
    assert wider > half


def test_those_of_few_are_told_as_one(db):
    plan = opened()
    answer(plan, (20, 90, 25), (2, 45, 20))
    content = published(plan).content
    assert [[*part.reports] for part in content.strata] == [[0, 90, 0], [20, 0, 25]]
    assert [part.weight for part in content.strata] == pytest.approx([0.3, 0.7])
    assert content.tables[-1].caption.endswith(" · Arts + Medicine")


def test_a_list_that_is_one_is_published_like_an_open_link(db):
    plan = opened([1000])
    answer_of(plan, 0, [{"copied": 1, "fair": 0, "often": 0}] * 120, TODAY)
    content = published(plan).content
    assert content.strata == ()
    assert "strata" not in content.document()


def test_what_was_published_before_reads_as_it_did(release):
    """A release without parts keeps its bytes."""
    document = changed(release.content, strata=()).document()
    assert "strata" not in document


def test_how_many_answered_a_list_changes_at_midnight_only(db, monkeypatch):
    plan = opened()
    answer(plan)
    aggregation.sweep_all(today=TODAY)
    monkeypatch.setattr(selectors, "_today", lambda: TODAY)
    assert (selectors.answers_so_far(plan), selectors.batch_sizes(plan)) == (0, [])
    monkeypatch.setattr(selectors, "_today", lambda: TODAY + datetime.timedelta(days=1))
    assert selectors.answers_so_far(plan) == 230 - 90  # 30 of each stratum wait
    assert sorted(selectors.batch_sizes(plan)) == [30, 50, 60]


def test_what_is_published_while_a_list_answers_counts_batches_of_earlier_days_only(
    db, monkeypatch
):
    plan = opened(rule="every", hours=24)
    answer(plan)
    aggregation.sweep_all(today=TODAY)
    monkeypatch.setattr(selectors, "_today", lambda: TODAY)
    assert (selectors.people(plan), selectors.batches_named(plan)) == (0, 0)
    assert services.publish_due(now=NOW) == []
    shares = {"kind": "shares", "parameters": {"question": "copied", "epsilon": "0.1"}}
    with pytest.raises(
        services.CannotAsk,
        match="Nothing is published before 10 answers, and fewer have been counted yet",
    ):
        services.ask_for(plan=plan, **shares, who="mira", now=NOW)
    tomorrow = NOW + datetime.timedelta(days=1)
    monkeypatch.setattr(selectors, "_today", tomorrow.date)
    assert services.publish_due(now=tomorrow) != []
    assert Release.objects.get().content.n == selectors.people(plan) == 230 - 90


def test_a_series_sees_a_batch_of_a_list_on_the_day_after(db, monkeypatch):
    plan = opened([600], rule="on-request", cap=2)
    truths = [{"copied": 0, "fair": 0, "often": 0}] * 200  # far from what is watched for
    answer_of(plan, 0, truths, TODAY)
    aggregation.sweep_all(today=TODAY)
    tomorrow = NOW + datetime.timedelta(days=1)
    monkeypatch.setattr(selectors, "_today", tomorrow.date)
    watch = {"answer": "copied/2", "percent": "90", "epsilon": "1"}
    asked = services.ask_for(plan=plan, kind="watch", parameters=watch, who="mira", now=tomorrow)
    series = services.publish(request_id=asked.pk, now=tomorrow)
    answer_of(plan, 0, truths, tomorrow.date())
    aggregation.sweep_all(today=tomorrow.date())
    assert services.step_due(now=tomorrow) == []
    monkeypatch.setattr(selectors, "_today", lambda: TODAY + datetime.timedelta(days=2))
    assert len(services.step_due(now=NOW + datetime.timedelta(days=2))) == 1
    assert series.published.count() == 2


def test_once_a_list_has_closed_all_of_it_is_counted(db, monkeypatch):
    plan = opened()
    answer(plan)
    monkeypatch.setattr(selectors, "_today", lambda: TODAY)
    assert published(plan).content.n == 230
