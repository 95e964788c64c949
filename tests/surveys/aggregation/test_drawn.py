"""Batches, tallies and joint counts of a study whose devices draw what they ask."""

import json
from collections import Counter

import pytest

from surveys.aggregation import columns, selectors, services
from surveys.aggregation.models import Batch, Tally
from surveys.demo.services import answer_as_browsers
from surveys.intake.models import OpenReport
from tests.conftest import TODAY

NAMES = ("copied", "fair", "often", "caught", "late")
PEOPLE = 90


@pytest.fixture
def reports(drawn):
    """What waits, as dictionaries of what was asked."""
    truth = {"copied": 1, "caught": 0, "fair": 2, "often": 1, "late": 0, "year": 1}
    answer_as_browsers(drawn, [truth] * PEOPLE, TODAY)
    rows = map(json.loads, OpenReport.objects.values_list("values", flat=True))
    return [
        {name: value for name, value in zip(NAMES, row, strict=True) if value is not None}
        for row in rows
    ]


def by_hand(reports, names):
    held = [report for report in reports if set(names) <= set(report)]
    packed = [
        tuple(tuple(each[name]) if isinstance(each[name], list) else each[name] for name in names)
        for each in held
    ]
    return Counter(packed)


def test_the_order_of_the_plan_is_that_of_the_values(drawn):
    assert tuple(drawn.content.channels) == NAMES


def test_each_question_is_counted_of_those_who_were_asked(drawn, reports, monkeypatch):
    monkeypatch.setattr(services, "MAX_BATCH", 40)
    assert services.sweep_all(today=TODAY) == PEOPLE
    counts, batches = selectors.totals(drawn), selectors.sealed_batches(drawn)
    assert batches > 1
    for name in NAMES:
        asked = sum(name in report for report in reports)
        assert 0 < asked < PEOPLE
        assert selectors.reports_in(drawn, batches, [name]) == asked
        assert selectors.asked_of(drawn, [name], counts) == asked
        assert selectors.joint(drawn, [name]) == by_hand(reports, [name])
    assert sum(counts[columns.SETS]) == PEOPLE == selectors.reports_in(drawn, batches)
    assert counts["year"] == [0, PEOPLE, 0]  # sent as given: everybody is asked
    running = Tally.objects.get().counts
    assert (
        selectors.recount(drawn, selectors.sealed(drawn, batches), drawn.content.channels)
        == running
    )


def test_pairs_are_of_the_reports_that_hold_both(drawn, reports):
    services.sweep_all(today=TODAY)
    for names in (("fair", "late"), ("late", "fair"), ("copied", "caught"), ("caught", "often")):
        expected = by_hand(reports, names)
        assert selectors.joint(drawn, names) == expected
        assert selectors.reports_in(drawn, 1, names) == sum(expected.values()) > 0
    beside = selectors.joint(drawn, ("year", "late"))
    assert beside == Counter({(1, *late): n for late, n in by_hand(reports, ("late",)).items()})
    assert selectors.joint(drawn, ("year",)) == Counter({(1,): PEOPLE})
    assert selectors.joint(drawn, ("fair", "often", "late")) == Counter()  # never together
    assert selectors.reports_in(drawn, 1, ("fair", "often", "late")) == 0


def test_the_first_batches_say_how_many_they_asked(drawn, reports, monkeypatch):
    monkeypatch.setattr(services, "MAX_BATCH", 40)
    services.sweep_all(today=TODAY)
    first = selectors.reports_in(drawn, 1, ["late"])
    assert 0 < first < selectors.reports_in(drawn, 2, ["late"])
    assert selectors.joint(drawn, ["late"], 1).total() == first


def test_a_batch_holds_a_byte_a_report_and_no_more_columns_than_answers(drawn, reports):
    services.sweep_all(today=TODAY)
    batch = Batch.objects.get()
    channels = drawn.content.channels
    widths = sum(channels[name].width for report in reports for name in report)
    assert len(batch.columns) == PEOPLE + widths
    with pytest.raises(ValueError, match="columns must be"):
        columns.split(bytes(batch.columns) + b"0", PEOPLE, channels, drawn.content.drawn_sets)


def test_where_nothing_is_drawn_columns_are_as_they_were(answered, today):
    plan = answered(30)
    services.sweep_all(today=today)
    batch, channels = Batch.objects.get(), plan.content.channels
    assert len(batch.columns) == 30 * sum(channel.width for channel in channels.values())
    assert columns.SETS not in Tally.objects.get().counts
