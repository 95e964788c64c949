"""The ± of the planner is the one that a release of that size prints, on average."""

from decimal import Decimal
from fractions import Fraction

import pytest

from dpengine.estimates import NoNoise
from dpengine.inference.power import Response
from dpengine.inference.precision import exact_half_width, half_width
from dpengine.randomness import below, system_words
from surveys.planning.laws import law_of, pure
from surveys.planning.rehearsal import Part
from surveys.planning.topics import HALF, Topic, counts_of, published
from surveys.planning.widths import width_of

EPSILON = Decimal(1)
RUNS = 60
DRAWN = {  # a topic, and the answers of somebody of the share that is planned for, and of the others
    "yes_no": (Topic.made_up("yes_no"), 0, 1),
    "single": (Topic.made_up("single", choices=6), 0, 3),
    "multiple": (Topic.made_up("multiple", choices=4), [0], []),
    "mean": (Topic.made_up("number", most=20), 20, 0),
}


@pytest.mark.parametrize("name", DRAWN)
def test_it_is_what_a_release_prints_on_average(name):
    """Half-widths vary by 1 % from draw to draw (a mean's by 3 %): 1.5 % is beyond 4 standard errors of 60."""
    topic, one, other = DRAWN[name]
    drawn = topic.at(EPSILON)
    part = Part(drawn.content, drawn.tally, law_of(drawn.tally, 2, pure("1")))
    n, printed = 500, 0.0
    for _ in range(RUNS):
        reports = [part.report(one if below(2, system_words) else other, system_words) for _ in range(n)]
        estimate = part.estimates(reports)[0]
        printed += (estimate.high - estimate.low) / 2 / RUNS
    assert width_of(drawn, part.law, n, HALF).half == pytest.approx(printed, rel=0.015)


@pytest.mark.parametrize("n", [100, 800, 20_000])
def test_without_the_publication_it_is_clopper_and_pearsons(n):
    drawn = Topic.made_up("yes_no").at(EPSILON)
    margin = drawn.tally.channel.margins()[0]
    response = Response(float(margin.lie), margin.contrast)
    found = published(drawn.tally.channel, n, HALF, NoNoise())
    exact = exact_half_width(response, n, 0.5)
    assert (found.high - found.low) / 2 == pytest.approx(exact, rel=2 / n + 1e-3)
    assert half_width(response, n, 0.5) < exact


@pytest.mark.parametrize("name", DRAWN)
def test_its_layers_telescope_and_the_publication_is_counted(name):
    drawn = DRAWN[name][0].at(EPSILON)
    width = width_of(drawn, law_of(drawn.tally, 5, pure("0.5")), 1000, HALF)
    assert 0 < width.sampling < width.device < width.half
    assert width.half > width_of(drawn, law_of(drawn.tally, 1, pure("8")), 1000, HALF).half


def test_plain_answers_are_as_many_as_would_be_as_precise():
    drawn = Topic.made_up("yes_no").at(EPSILON)
    width = width_of(drawn, law_of(drawn.tally, 1, pure("1")), 4000, HALF)
    assert half_width(Response(0, 1), width.plain, 0.5) == pytest.approx(width.half, rel=0.01)


def test_counts_of_a_mean_add_up_and_stand_at_the_two_ends():
    channel = Topic.made_up("number", most=20).at(EPSILON).tally.channel
    assert sum(counts_of(channel, 777, Fraction(1, 3))) == 777
    assert channel.mean(counts_of(channel, 9999, Fraction(1, 4)), 9999).value == pytest.approx(5, abs=0.01)


def test_no_answers_have_no_width():
    drawn = Topic.made_up("yes_no").at(EPSILON)
    with pytest.raises(ValueError, match="n must be 1 or more, got 0"):
        width_of(drawn, law_of(drawn.tally, 1, pure("1")), 0, HALF)
