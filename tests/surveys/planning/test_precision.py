"""The ± of the planner is the one that a release of that size prints, on average."""

from decimal import Decimal
from fractions import Fraction

import pytest

from dpengine.estimates import NoNoise
from dpengine.inference.power import Response
from dpengine.inference.precision import half_width
from dpengine.privacy import Neighbours
from dpengine.randomness import below, system_stream
from surveys.aggregation import selectors as aggregation
from surveys.design import services as design
from surveys.planning.precision import LastRefresh, OneRelease, noise_of, precision_of
from surveys.planning.questions import HALF, QuestionAtEpsilon, forecast
from surveys.planning.rehearsal import RehearsedQuestion
from surveys.releases import selectors as releases
from tests.conftest import NOW, QUESTIONS, STUDY
from tests.surveys.planning.made_up import PlannedQuestion, pure

EPSILON = Decimal(1)
RUNS = 60
# a question, and the answers of somebody of the share that is planned for, and of the others
PLANNED = {
    "yes_no": (PlannedQuestion.made_up("yes_no"), 0, 1),
    "single": (PlannedQuestion.made_up("single", choices=6), 0, 3),
    "multiple": (PlannedQuestion.made_up("multiple", choices=4), [0], []),
    "mean": (PlannedQuestion.made_up("number", most=20), 20, 0),
}


@pytest.mark.parametrize("name", PLANNED)
def test_it_is_what_a_release_prints_on_average(name):
    """Half-widths vary by 1 % from draw to draw (a mean's by 3 %): 1.5 % is beyond 4 standard
    errors of 60.
    """
    planned, one, other = PLANNED[name]
    question = planned.at(EPSILON)
    rehearsed = RehearsedQuestion(question, noise_of(question, [None], pure("1")))
    n, printed = 500, 0.0
    for _ in range(RUNS):
        reports = [
            rehearsed.report(one if below(2, system_stream) else other, system_stream)
            for _ in range(n)
        ]
        estimate = rehearsed.estimates(reports)[0]
        printed += (estimate.high - estimate.low) / 2 / RUNS
    assert precision_of(question, rehearsed.publication, n, HALF).half == pytest.approx(
        printed, rel=0.015
    )


@pytest.mark.parametrize("n", [100, 800, 20_000])
def test_without_the_publication_it_is_clopper_and_pearsons(n):
    question = PlannedQuestion.made_up("yes_no").at(EPSILON)
    margin = question.channel.margins()[0]
    response = Response(float(margin.lie), margin.contrast)
    found = forecast(question.channel, n, HALF, NoNoise())
    exact = half_width(response, n, 0.5)
    assert (found.high - found.low) / 2 == pytest.approx(exact, rel=2 / n + 1e-3)


@pytest.mark.parametrize("name", PLANNED)
def test_its_layers_telescope_and_the_publication_is_counted(name):
    question = PLANNED[name][0].at(EPSILON)
    precision = precision_of(
        question, noise_of(question, [None, None, None, None], pure("0.5")), 1000, HALF
    )
    assert precision.variance.sampling > 0
    assert precision.variance.device > 0
    assert precision.device < precision.half
    assert (
        precision.half > precision_of(question, noise_of(question, [], pure("8")), 1000, HALF).half
    )


def test_plain_answers_are_as_many_as_would_be_as_precise():
    question = PlannedQuestion.made_up("yes_no").at(EPSILON)
    precision = precision_of(question, noise_of(question, [], pure("1")), 4000, HALF)
    assert half_width(Response(0, 1), precision.plain, 0.5) == pytest.approx(
        precision.half, rel=0.01
    )


def test_counts_of_a_mean_add_up_and_stand_at_the_two_ends():
    channel = PlannedQuestion.made_up("number", most=20).at(EPSILON).channel
    assert sum(channel.likely_counts(777, Fraction(1, 3))) == 777
    assert channel.mean(channel.likely_counts(9999, Fraction(1, 4)), 9999).value == pytest.approx(
        5, abs=0.01
    )


def test_no_answers_have_no_width():
    question = PlannedQuestion.made_up("yes_no").at(EPSILON)
    with pytest.raises(ValueError, match="n must be 1 or more, got 0"):
        precision_of(question, noise_of(question, [], pure("1")), 0, HALF)


# Its noise is the one that the release draws with


MORE = [
    {"name": "ticks", "kind": "multiple", "text": "Which?", "label": "Which", "choices": "A\nB\nC"},
    {
        "name": "days",
        "kind": "number",
        "text": "Days?",
        "label": "Days",
        "least": 0,
        "most": 20,
        "unit": "days",
    },
    {
        "name": "month",  # a report holds three of its choices
        "kind": "single",
        "text": "When?",
        "label": "When",
        "choices": "\n".join("ABCDEFGHIJKL"),
    },
    {
        "name": "sent",
        "kind": "single",
        "text": "Where?",
        "label": "Where",
        "choices": "A\nB\nC",
        "protection": "publication",
    },
]


def opened(**terms):
    questions = [{**each, "epsilon": Decimal("0.9")} for each in QUESTIONS + MORE]
    made = design.draft_study(study={**STUDY, **terms}, questions=questions)
    return design.open_study(why="A test.", study_id=made.pk, who="ada", now=NOW)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "terms",
    [{}, {"cap_delta": "0.000001"}, {"neighbours": "add-remove"}, {"unit": "household-of-3"}],
    ids=str,
)
def test_it_is_the_law_that_the_release_of_every_question_draws_with(terms):
    plan = opened(**terms)
    tallies = aggregation.public_tallies(plan)
    for part in releases.by_rule(plan).parts:
        others = [plan.content.question(each.name).loss for each in tallies if each != part.tally]
        question = QuestionAtEpsilon(part.question, part.tally.neighbours)
        law = noise_of(question, others, plan.content.of_shares)
        assert law.noise == part.mechanism
        assert question.channel.noise_left(law.noise, question.neighbours) == part.noise


@pytest.mark.django_db
def test_it_is_the_law_of_the_last_refresh_where_all_are_paid_on_the_first_day():
    plan = opened(cap_delta="0.000001", rule="continual", horizon=8)
    tallies = aggregation.public_tallies(plan)
    for part in releases.by_rule(plan).parts:
        others = [plan.content.question(each.name).loss for each in tallies if each != part.tally]
        question = QuestionAtEpsilon(part.question, part.tally.neighbours)
        law = noise_of(question, others, plan.content.publication)
        assert isinstance(law, LastRefresh)
        assert law.counter == part.counter
        assert law.noise == part.counter.noise(8)
        assert question.channel.noise_left(law.noise, question.neighbours) == part.at(8).noise


def test_a_draw_differs_from_the_counts_by_its_noise_only():
    question = PlannedQuestion.made_up("yes_no").at(Decimal(1))
    law = noise_of(question, [Fraction(3)], pure("1"))
    assert isinstance(law, OneRelease)
    off = [law.draw([1000])[0] - 1000 for _ in range(400)]
    assert any(off)
    assert abs(sum(off)) < 400 * 0.6  # variance 1.84 each: beyond 8 standard errors


def test_more_questions_share_what_one_publication_costs():
    question = PlannedQuestion.made_up("likert", neighbours=Neighbours.ADD_REMOVE).at(Decimal(1))
    assert (
        noise_of(question, [None, None, None], pure("1")).noise.epsilon
        <= noise_of(question, [], pure("0.25")).noise.epsilon
    )
