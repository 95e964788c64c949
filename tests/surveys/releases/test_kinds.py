"""Every kind of question, from what people meant to what is published: by a rule, once or again,
and on request.
"""

import datetime
import itertools
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import pytest

from dpengine.central.laplace import DiscreteLaplace
from dpengine.privacy import Neighbours
from surveys.aggregation import selectors as aggregation, services as sweeping
from surveys.aggregation.tallies import tally_of
from surveys.demo.kinds import made_up_people
from surveys.demo.services import answer_as_browsers, ensure_study
from surveys.design.models import Plan
from surveys.releases import selectors, services, statistics
from surveys.releases.models import Release, Step
from surveys.releases.numbers import QuestionNumbers
from surveys.releases.queries.parameters import WrongParameter
from surveys.releases.statistics import Part, PeopleCounted, law_of
from tests.every_kind import EVERY, EVERY_QUESTIONS
from tests.surveys.design.kinds import question
from tests.tables import chances_of

NOW = datetime.datetime(2026, 5, 11, 12, tzinfo=datetime.UTC)
NAMES = [each["name"] for each in EVERY_QUESTIONS]
WITH_CHOICES = ("drowsy", "awake", "taken", "boss", "rest")


def opened(people: int = 60, **changes: Any) -> Plan:
    plan, _ = ensure_study({**EVERY, "widest": 100, **changes}, EVERY_QUESTIONS, NOW)
    answer_as_browsers(plan, made_up_people()[:people], NOW.date())
    sweeping.sweep_all(today=NOW.date())
    return plan


def numbers_of(plan: Plan) -> dict[str, QuestionNumbers]:
    services.publish_due(now=NOW)
    release = Release.objects.get(request__plan=plan)
    return {each.name: each for each in release.content.questions}


@pytest.mark.django_db
def test_a_rule_publishes_every_kind_with_intervals_and_what_they_are_made_of():
    found = numbers_of(opened())
    assert list(found) == NAMES
    assert found["taken"].kind == "multiple"
    for name in WITH_CHOICES:
        for choice in found[name].choices:
            assert choice.low <= choice.estimate <= choice.high
            assert set(choice.variance) == {"sampling", "device", "publication"}
            variance = choice.as_estimate().variance
            assert choice.standard_error**2 == pytest.approx(variance.total)
    mean = found["slept"].mean
    assert found["slept"].unit == mean.unit == "hours"
    assert mean.low <= mean.estimate <= mean.high
    assert mean.variance["publication"] > 0
    assert found["started"].is_month
    assert [each.part for each in found["overtime"].quartiles] == [25, 50, 75]
    spans = [(each.least, each.most) for each in found["overtime"].ranges]
    assert (spans[0][0], spans[-1][1]) == (0, 79)
    assert all(after == before + 1 for (_, before), (after, _) in itertools.pairwise(spans))


@pytest.mark.django_db
def test_it_says_the_same_in_tables_months_as_months():
    plan = opened()
    numbers_of(plan)
    tables = {table["caption"]: table["rows"] for table in Release.objects.get().numbers["tables"]}
    assert set(tables) > {
        "Hours slept",
        "Hours worked: shares of people",
        "Hours worked: quartiles",
    }
    (row,) = tables["Began the present work"]
    assert row["value"].split()[-1].isdigit()
    assert row["low"].split()[0] in row["low"]
    assert len(tables["Taken to stay awake or fall asleep"]) == 5


@pytest.mark.django_db
def test_running_tallies_of_every_kind_are_what_the_batches_hold():
    plan = opened(people=80)
    assert aggregation.totals(plan) == aggregation.recount(
        plan, aggregation.sealed(plan), plan.content.channels
    )
    for tally in aggregation.public_tallies(plan):
        joint = aggregation.joint(plan, [tally.name])
        assert (
            statistics.marginal(joint, 0, tally.channel.cells)
            == aggregation.totals(plan)[tally.name]
        )


@pytest.mark.django_db
def test_every_kind_is_refreshed_by_a_rule_that_is_paid_on_the_first_day():
    plan = opened(rule="continual", horizon=3, cap_delta="0.000001")
    kept = {each.name: each for each in selectors.by_rule(plan).parts}  # type: ignore[attr-defined]
    # a tick that turns: 2, squared
    assert (kept["drowsy"].counter.moves, kept["taken"].counter.moves) == (1, 4)
    assert all(each.counter.moves == each.tally.moved.squared for each in kept.values())
    services.publish_due(now=NOW)
    answer_as_browsers(plan, made_up_people()[:40], NOW.date())
    sweeping.sweep_all(today=NOW.date())
    services.publish_due(now=NOW + datetime.timedelta(days=2))
    steps = list(Step.objects.order_by("number"))
    assert [step.content.n for step in steps] == [60, 100]
    assert all([each.name for each in step.content.questions] == NAMES for step in steps)


@pytest.mark.django_db
def test_a_cap_with_a_delta_pays_for_every_kind():
    assert list(numbers_of(opened(cap_delta="0.000001"))) == NAMES


@pytest.mark.django_db
def test_all_kinds_can_be_asked_for_as_shares_and_say_before_how_far_off_they_will_be():
    plan = opened(rule="on-request")
    asked = selectors.read(plan, "shares", {"questions": NAMES, "epsilon": "2"})
    said = asked.expected(60)
    assert len(said) == len(NAMES)
    assert "Hours slept: the mean within ±" in said[5]
    assert " hours, in 95 of 100" in said[5]
    assert "the share of people below the middle within ±" in said[6]
    request = services.ask_for(
        plan=plan,
        kind="shares",
        parameters={"questions": ["taken", "slept"], "epsilon": "1"},
        who="ada",
        now=NOW,
    )
    numbers = services.publish(request_id=request.pk, now=NOW).content  # type: ignore[union-attr]
    assert [each.name for each in numbers.questions] == ["taken", "slept"]
    assert any("drawn by chance" in note for note in numbers.notes)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("kind", "parameters", "field"),
    [
        ("crosstab", {"rows": "taken", "within": "drowsy"}, "rows"),
        ("crosstab", {"rows": "drowsy", "within": "slept"}, "within"),
        ("mean", {"question": "slept"}, "question"),
        ("mean", {"question": "overtime"}, "question"),
        ("mean", {"question": "taken"}, "question"),
        ("quantile", {"question": "overtime", "percent": "50"}, "question"),
        ("most_common", {"question": "taken", "best": 1}, "question"),
    ],
)
def test_what_a_kind_cannot_be_asked_is_refused_at_its_field(kind, parameters, field):
    plan = opened(rule="on-request")
    with pytest.raises(WrongParameter, match="Select a valid choice") as refused:
        selectors.read(plan, kind, {**parameters, "epsilon": "0.5"})
    assert refused.value.field == field


@pytest.mark.django_db
def test_forms_offer_what_is_sound_of_each_kind_and_nothing_else():
    plan = opened(rule="on-request")
    forms = {name: kind.form(plan) for name, kind in selectors.kinds().items()}
    assert [name for name, _ in forms["shares"].base_fields["questions"].choices] == NAMES  # type: ignore[union-attr]
    rows = [name for name, _ in forms["crosstab"].base_fields["rows"].choices]  # type: ignore[union-attr]
    assert rows == ["drowsy", "awake", "boss", "rest"]
    means = [name for name, _ in forms["mean"].base_fields["question"].choices]  # type: ignore[union-attr]
    assert means == ["drowsy", "awake", "boss", "rest"]
    assert forms["quantile"] is None
    assert forms["synthetic"] is None


@pytest.mark.django_db
def test_not_being_asked_has_no_score_and_is_never_the_most_common_answer():
    plan = opened(rule="on-request")
    mean = selectors.read(plan, "mean", {"question": "awake", "epsilon": "0.5"})
    assert mean.document()["scores"] == "1,2,3,4,5"
    with pytest.raises(WrongParameter, match="best"):
        selectors.read(plan, "most_common", {"question": "awake", "best": 5, "epsilon": "0.5"})


# Unbiased, from what people meant to the published number: seeded people and devices, real noise

ROUNDS = 80
PEOPLE = 300
FAR = 5  # standard errors of the mean over all rounds: a false alarm in two million runs


def published(
    content: dict[str, Any],
    laws: np.ndarray,
    seed: int,
    rounds: int = ROUNDS,
    tallies: np.ndarray | None = None,
) -> list[QuestionNumbers]:
    """Return what is derived from so many publications; people's reports drawn from the exact
    chances, the noise as a difference of geometric numbers, both from the seed. `tallies` are those
    of each report, where they are not one count.
    """
    counted = np.eye(len(laws), dtype=int) if tallies is None else tallies
    chance, tally = np.random.default_rng(seed), tally_of(content, Neighbours.CHANGE_ONE)
    noise = DiscreteLaplace.for_epsilon(Fraction(1), tally.moved.l1)
    part, found = Part(content, tally, noise, law_of(noise)), []
    for _ in range(rounds):
        exact = (chance.multinomial(PEOPLE, laws) @ counted).tolist()
        vector = tally.vector(exact)
        up, down = chance.geometric(1 - np.exp(-1 / noise.scale), (2, len(vector)))
        drawn = [int(count) for count in vector + up - down]
        noisy = tally.channel.noisy_counts(drawn, PEOPLE)
        found.append(statistics.question_numbers(part, noisy, PeopleCounted(PEOPLE)))
    return found


def expect_unbiased(values: list[float], errors: list[float], truth: float) -> None:
    apart = np.array(values) - truth
    assert abs(apart.mean()) < FAR * apart.std() / np.sqrt(ROUNDS)
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(apart.std(), rel=0.35)


@pytest.mark.parametrize(("epsilon", "told"), [("1", 1), ("1.5", 2), ("4", 4)])
def test_shares_of_ticks_have_no_bias_and_the_error_that_is_said(epsilon, told):
    content = question("multiple", choices="a\nb\nc\nd", epsilon=Decimal(epsilon))
    channel: Any = content.channel
    assert channel.together == told
    truth = [0.9, 0.5, 0.1, 0.0]
    reports, chances = chances_of(channel)
    people = reduce(np.multiply.outer, [np.array([1 - share, share]) for share in truth]).ravel()
    of_reports = [channel.tally(channel.pack([report])) for report in reports]
    found = published(content, people @ chances, 11, tallies=np.array(of_reports))
    for option, share in enumerate(truth):
        choices = [each.choices[option] for each in found]
        expect_unbiased([c.estimate for c in choices], [c.standard_error for c in choices], share)
        covered = sum(c.low <= share <= c.high for c in choices)
        assert covered >= 0.86 * ROUNDS


@pytest.mark.parametrize("kind", ["number", "month"])
def test_means_of_numbers_and_months_have_no_bias_and_intervals_that_hold(kind):
    least, span = (24_000, 36) if kind == "month" else (-4, 20)
    content = question(kind, least=least, most=least + span, wanted="mean", epsilon=Decimal("1.5"))
    channel: Any = content.channel
    rows = np.array(channel.table.weights, dtype=float) / channel.table.total
    shares = np.full(len(rows), 1 / len(rows))  # people spread over the points of the grid
    truth = least + float(shares @ np.array(channel.grid))
    found = [each.mean for each in published(content, shares @ rows, 12)]
    apart = np.array([each.estimate for each in found]) - truth
    assert abs(apart.mean()) < FAR * apart.std() / np.sqrt(ROUNDS)
    assert sum(each.low <= truth <= each.high for each in found) >= 0.86 * ROUNDS


def test_limits_of_a_spread_hold_for_shares_and_quartiles():
    content = question("number", least=0, most=15, wanted="distribution", epsilon=Decimal(2))
    channel: Any = content.channel
    shares = np.array([0, 0, 1, 3, 6, 8, 6, 3, 1, 0, 0, 2, 4, 2, 0, 0], dtype=float)
    shares /= shares.sum()
    laws = shares @ (np.array(channel.table.weights, dtype=float) / channel.table.total)
    found = published(content, laws, 13, rounds=25)
    median = int(np.searchsorted(shares.cumsum(), 0.5))
    for each in found[0].ranges:
        truth = shares[each.least : each.most + 1].sum()
        same = [next(r for r in one.ranges if r.least == each.least) for one in found]
        assert sum(r.low - 1e-9 <= truth <= r.high + 1e-9 for r in same) >= 0.8 * len(found)
    middles = [one.quartiles[1] for one in found]
    assert sum(q.low <= median <= q.high for q in middles) >= 0.8 * len(found)


@pytest.mark.django_db
def test_a_thousand_choices_are_asked_answered_and_published():
    """From a browser's draw to an interval of every choice."""
    choices = "\n".join(f"Place {at}" for at in range(1000))
    where = {
        "name": "where",
        "kind": "single",
        "text": "Where?",
        "label": "Where",
        "choices": choices,
        "epsilon": "4",
    }
    plan, _ = ensure_study(
        {**EVERY, "widest": 100, "slug": "places", "layout": "screens"}, [where], NOW
    )
    answer_as_browsers(plan, [{"where": at % 3 + 997} for at in range(60)], NOW.date())
    sweeping.sweep_all(today=NOW.date())
    made = services.publish_if_due(plan=plan, now=NOW)
    (numbers,) = made.content.questions
    assert len(numbers.choices) == 1000
    assert all(each.low <= each.high for each in numbers.choices)
