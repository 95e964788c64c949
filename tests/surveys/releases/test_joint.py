"""Publications of a study that sends some questions as one answer."""

from fractions import Fraction

import pytest

from dpengine.contraction import loss_of
from dpengine.privacy import round_up
from surveys.aggregation import selectors as aggregation, services as sweeps
from surveys.demo.services import answer_as_browsers
from surveys.design import services as design
from surveys.ledger import selectors as ledger
from surveys.ledger.reads import from_text, to_text
from surveys.ledger.verification import faults
from surveys.limits import risk
from surveys.releases import selectors, services
from surveys.releases.queries.parameters import WrongParameter
from tests.conftest import NOW, TODAY

JOINT = ("copied", "caught", "late")
PEOPLE = 600


@pytest.fixture
def sealed(joint):
    truths = [
        {"copied": int(at % 4 == 0), "caught": 2, "fair": 2, "often": 1, "late": at % 2, "year": 1}
        for at in range(PEOPLE)
    ]
    answer_as_browsers(joint, truths, TODAY)
    design.close_plan(plan_id=joint.pk, today=TODAY)
    sweeps.sweep_all(today=TODAY)
    joint.refresh_from_db()
    return joint


def shares(plan, epsilon, names=JOINT):
    return selectors.read(plan, "shares", {"questions": list(names), "epsilon": epsilon})


def test_each_question_is_estimated_by_its_view(sealed):
    release = services.publish_if_due(plan=sealed, now=NOW)
    by_name = {each.name: each for each in release.content.questions}
    n = aggregation.reports_in(sealed, 1, ["late"])
    for name, at, share in (("copied", 1, 0.25), ("late", 1, 0.5), ("caught", 2, 1.0)):
        numbers = by_name[name]
        assert numbers.n == n < PEOPLE
        found = numbers.choices[at]
        assert abs(found.estimate - share) < 5.5 * found.standard_error
        held = sealed.content.reports["theft"].held
        assert sum(choice.noisy_count for choice in numbers.choices) == pytest.approx(
            n * held, abs=0 if len(numbers.choices) == 2 else 400
        )


def test_three_noises_over_one_answer_cost_what_they_lose_together(joint):
    query = shares(joint, "0.6")
    assert query.cost.epsilon == loss_of([query.cost.reading]) <= Fraction(6, 10)
    assert query.cost.epsilon > Fraction(59, 100)
    assert set(query.cost.reading.losses) == {"joint/1/theft"}
    assert query.cost.reading.sets == (
        frozenset({"joint/1/theft"}),
        frozenset({"joint/1/fair", "joint/1/often"}),
    )
    assert {part.tally.moved.l1 for part in query.parts} == {1, 2}


def test_where_as_much_may_be_lost_as_devices_allow_nothing_is_added(joint):
    query = shares(joint, "2")
    assert not any(part.law.scale for part in query.parts)
    assert query.cost.epsilon <= 2


def test_a_row_is_replayed_and_rows_add_up(sealed):
    services.publish_if_due(plan=sealed, now=NOW)
    request = services.ask_for(
        plan=sealed,
        kind="shares",
        parameters={"questions": ["late", "copied"], "epsilon": "0.3"},
        who="mira",
        now=NOW,
    )
    services.publish(request_id=request.pk, now=NOW)
    account = ledger.account(sealed.study.budget_id)
    for entry in account.entries:
        assert to_text(from_text(entry.reads)) == entry.reads
    assert len(account.entries) == 2
    assert faults() == []  # nor do rows say less than what they read loses


def test_what_reads_reports_and_not_views_is_refused_by_name(joint):
    for kind, parameters in (
        ("crosstab", {"rows": "late", "within": "fair", "epsilon": "0.1"}),
        ("most_common", {"question": "late", "epsilon": "0.1"}),
        ("mean", {"question": "late", "epsilon": "0.1"}),
    ):
        with pytest.raises(WrongParameter):
            selectors.read(joint, kind, parameters)


def test_a_person_loses_one_joint_answer_once(joint):
    content = joint.content
    found = risk.of_plan(joint.study, content, household=1)
    assert found.loss == content.loss
    assert round_up(Fraction(2)) >= found.epsilon
