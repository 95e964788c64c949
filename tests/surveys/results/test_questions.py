"""Intervals that hold by themselves, and all together."""

import html
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.template.loader import render_to_string
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dpengine.central.laplace import DiscreteLaplace
from dpengine.estimates import Margin, share
from surveys.design.models import Plan
from surveys.releases import comparisons, selectors as releases
from surveys.releases.numbers import QuestionNumbers
from surveys.releases.reconstruction import Crowding
from surveys.results.questions import JointIntervals, Result, results_of
from tests.surveys.results import small
from tests.surveys.results.every import publish_every_kind
from tests.surveys.results.small import open_small


def text_of(client: Client, path: str) -> str:
    return " ".join(html.unescape(client.get(path).content.decode()).split())


def _intervals(question: QuestionNumbers) -> list[tuple[float, float]]:
    means = [question.mean] if question.mean else []
    figures = [*question.choices, *means, *question.quartiles, *question.ranges]
    return [(figure.low, figure.high) for figure in figures]


def test_all_kinds_have_wider_intervals_together_and_the_same_numbers_otherwise(db: None) -> None:
    plan = publish_every_kind()
    (release,) = releases.by_rule_of(plan.study)
    together, query = JointIntervals.of(release), releases.query_of(release.request)
    assert together is not None
    assert together.confidence == pytest.approx(1 - 0.05 / together.intervals)
    same = comparisons.simultaneous(plan, query, release.content, 0.95)
    assert same is not None
    for alone, again in zip(release.content.questions, same.questions, strict=True):
        assert np.array(_intervals(again)) == pytest.approx(np.array(_intervals(alone)))
    for alone, held in zip(release.content.questions, together.content.questions, strict=True):
        for (low, high), (least, most) in zip(_intervals(alone), _intervals(held), strict=True):
            assert least <= low <= high <= most
            # limits of a number in whole steps, and of a range at 0, can stay where they are
            assert most - least > high - low or alone.kind == "distribution"


def test_as_many_intervals_are_counted_as_a_page_shows(db: None) -> None:
    (release,) = releases.by_rule_of(publish_every_kind().study)
    shown = 0
    for result in results_of(release):
        if isinstance(result, Result):
            mirrored = result.is_binary and result.question.kind != "multiple"
            shown += len(result.rows) - mirrored + len(result.among_asked)
        else:
            shown += len(result.columns) + len(result.quartiles) + (result.mean is not None)
    together = JointIntervals.of(release)
    assert together is not None
    assert together.intervals == shown


def test_a_page_says_which_way_its_intervals_hold(member: Client, published: Plan) -> None:
    (release,) = releases.by_rule_of(published.study)
    together = JointIntervals.of(release)
    assert together is not None
    alone, held = (text_of(member, f"/studies/small/?together={way}") for way in (0, 1))
    assert f"Each of the {together.intervals} intervals holds by itself" in alone
    assert f"All {together.intervals} intervals hold together" in held
    assert f"each holds by itself in {together.percent} of 100" in held
    for result in results_of(release, together):
        if isinstance(result, Result) and not result.is_binary:
            assert all(row.interval in held for row in result.rows)
    assert held.count("±") == alone.count("±")
    assert held != alone


def test_no_more_is_asked_of_the_database(member: Client, published: Plan) -> None:
    counts: list[Any] = []
    for way in "01":
        member.get(f"/studies/small/?together={way}")
        with CaptureQueriesContext(connection) as captured:
            member.get(f"/studies/small/?together={way}")
        counts.append(len(captured.captured_queries))
    assert counts[0] == counts[1]


def test_together_they_hold_in_ninety_five_of_a_hundred() -> None:
    """300 studies of 15 shares; 3 standard errors of 95 % are 3.8 points. By themselves they hold
    together in 46 %.
    """
    margin = Margin(*(each / 4 for each in (3, 1)))  # type: ignore[arg-type]
    noise, rng, n, shares = DiscreteLaplace.for_epsilon(1, 1), np.random.default_rng(5), 200, 15
    held = dict.fromkeys((0.95, 1 - 0.05 / shares), 0)
    for _ in range(300):
        true = rng.uniform(0, 1, shares)
        counts = rng.binomial(n, 0.25 + 0.5 * true)
        noisy = [noise.release([int(count)])[0] for count in counts]
        for confidence in held:
            found = [share(count, n, margin, noise, confidence) for count in noisy]
            held[confidence] += all(
                each.low <= value <= each.high for each, value in zip(found, true, strict=True)
            )
    alone, together = held.values()
    assert alone < 0.75 * 300
    assert together >= 0.912 * 300


def test_one_answer_is_one_answer(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without noise: once in some tens it is so far out that one answer tells something."""
    monkeypatch.setattr(DiscreteLaplace, "release", lambda self, counts: [*counts])
    plan = open_small(smallest_batch=1, results="public")
    small.answer(plan, 1)
    small.publish(plan)
    page = text_of(Client(), "/results/small/")
    assert "waits for <b>one new response</b>" in page
    assert "1 response in wave 1, published" in page
    assert "<b>1 response cannot show</b>" in page
    assert "We counted 1 response. Random noise was added" in page
    assert " 1 responses" not in page
    assert " 1 reports" not in page


def test_one_publication_costs_no_more_than_devices_give_away(db: None) -> None:
    """A rule of ε 8, of answers that lose 1.5 in all."""
    plan = open_small(cap=8, release_epsilon=8, results="public")
    small.answer(plan)
    small.publish(plan)
    assert "The first release uses 1.50;" in text_of(Client(), "/results/small/")


@pytest.mark.parametrize(("n_is_public", "told"), [(True, "1"), (False, "about 1")])
@pytest.mark.parametrize("asking", ["", "ahead"])
def test_many_numbers_about_one_person(asking: str, n_is_public: bool, told: str) -> None:
    crowding = Crowding(numbers=7, people=1, is_of_reports=True)
    plan = SimpleNamespace(content=SimpleNamespace(n_is_public=n_is_public))
    page = render_to_string("crowding.html", {"crowding": crowding, "plan": plan, "asking": asking})
    assert f"7 numbers on {told} people</b>" in page
    assert "below about 1, the square root of the people (" in page
