"""Publications of a study whose devices draw what they ask: n, cost and noise of each question."""

from decimal import Decimal
from fractions import Fraction

import pytest

from dpengine.contraction import loss_of
from surveys.aggregation import selectors as aggregation, services as sweeps
from surveys.demo.services import answer_as_browsers
from surveys.design import services as design
from surveys.ledger import selectors as ledger
from surveys.ledger.reads import from_text, to_text
from surveys.ledger.verification import faults
from surveys.releases import comparisons, selectors, services
from surveys.releases.losses import loss_of as law_of
from surveys.releases.queries.parameters import WrongParameter
from tests.conftest import NOW, TODAY, draft_of_drawn

DEVICE = ("copied", "fair", "often", "caught", "late")
PEOPLE = 240


def answer(plan, people=PEOPLE):
    truth = {"copied": 1, "caught": 0, "fair": 2, "often": 1, "late": 0, "year": 1}
    answer_as_browsers(plan, [truth] * people, TODAY)
    design.close_plan(plan_id=plan.pk, today=TODAY)
    sweeps.sweep_all(today=TODAY)
    plan.refresh_from_db()
    return plan


@pytest.fixture
def sealed(drawn):
    return answer(drawn)


def shares(plan, epsilon="1", names=DEVICE):
    return selectors.read(plan, "shares", {"questions": list(names), "epsilon": epsilon})


def test_each_question_is_published_with_the_n_of_those_who_were_asked(sealed):
    release = services.publish_if_due(plan=sealed, now=NOW)
    numbers = release.content
    assert numbers.n == PEOPLE
    for question in numbers.questions:
        asked = aggregation.reports_in(sealed, 1, [question.name])
        assert numbers.n_of(question) == asked
        assert (question.n == 0) == (question.name == "year")
        assert sum(choice.estimate for choice in question.choices) == pytest.approx(1, abs=0.6)
    assert sum(numbers.n_of(one) for one in numbers.questions if one.name != "caught") == 3 * PEOPLE


def test_one_count_of_two_is_completed_by_the_question_s_own_n(sealed):
    numbers = services.publish_if_due(plan=sealed, now=NOW).content
    late = next(one for one in numbers.questions if one.name == "late")
    assert sum(choice.noisy_count for choice in late.choices) == late.n < PEOPLE


def test_a_publication_costs_what_the_set_that_loses_most_loses(drawn):
    query = shares(drawn)
    assert query.cost.epsilon == loss_of([query.cost.reading]) <= 1
    content = drawn.content
    for held in content.sets:
        reports = frozenset(map(content.report_of, held))
        assert loss_of([query.cost.reading.of(reports)]) <= query.cost.epsilon
    everything = draft_of_drawn(slug="everything", asked=None)
    whole = design.open_study(why="A test.", study_id=everything.pk, who="ada", now=NOW)
    usual = {part.name: part.mechanism.scale for part in shares(whole).parts}
    # of five questions each person is asked three at most: each has a larger part
    assert all(part.mechanism.scale < usual[part.name] for part in query.parts)


def test_where_reports_are_counted_the_cost_is_the_largest_too(db):
    draft = draft_of_drawn(cap_delta="0.000001")
    plan = design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)
    query = shares(plan)
    parts = {part.name: part.mechanism.cost.rho for part in query.parts}
    largest = max(sum(parts[name] for name in held) for held in plan.content.sets)
    assert query.cost.rho == largest < sum(parts.values())
    assert largest <= Fraction(1, 2)  # ρ of ε = 1


def test_what_a_row_read_says_the_sets_and_is_replayed(sealed):
    services.publish_if_due(plan=sealed, now=NOW)
    account = ledger.account(sealed.study.budget_id)
    (entry,) = account.entries
    assert entry.reading.sets == tuple(
        frozenset(map(sealed.content.report_of, each)) for each in sealed.content.sets
    )
    assert to_text(from_text(entry.reads)) == entry.reads
    assert faults() == []  # nor do rows say less than what they read loses


def test_rows_add_up_and_stay_below_what_all_that_a_person_sent_can_lose(sealed):
    rows = [services.publish_if_due(plan=sealed, now=NOW).entry]
    asked = [
        ("crosstab", {"rows": "fair", "within": "late", "epsilon": "0.3"}),
        ("shares", {"questions": ["late"], "epsilon": "0.3"}),
        ("crosstab", {"rows": "fair", "within": "year", "epsilon": "0.2"}),
    ]
    for kind, parameters in asked:
        request = services.ask_for(
            plan=sealed, kind=kind, parameters=parameters, who="mira", now=NOW
        )
        rows.append(services.publish(request_id=request.pk, now=NOW).entry)
    account = ledger.account(sealed.study.budget_id)
    together = loss_of(entry.reading for entry in account.entries)
    total = sum(Fraction(row.epsilon) for row in rows)
    assert together <= total < together + Fraction(1, 10**9)
    assert faults() == []  # nor do rows say less than what they read loses


def test_a_table_is_of_those_who_were_asked_both(sealed):
    services.publish_if_due(plan=sealed, now=NOW)
    parameters = {"rows": "fair", "within": "late", "epsilon": "0.5"}
    request = services.ask_for(
        plan=sealed, kind="crosstab", parameters=parameters, who="mira", now=NOW
    )
    release = services.publish(request_id=request.pk, now=NOW)
    both = aggregation.reports_in(sealed, 1, ["fair", "late"])
    assert release.content.n == both < PEOPLE
    query = selectors.query_of(request)
    met = sealed.content.part_asked(["fair", "late"])
    assert query.people_expected(PEOPLE) == round(PEOPLE * met) < PEOPLE // 6, "both need few"
    groups = comparisons.group_differences(query, release.content, 0, 1)
    assert groups is not None


def test_questions_that_nobody_is_asked_together_are_refused_by_name(db):
    plan = design.open_study(why="A test.", study_id=draft_of_drawn(asked=1).pk, who="ada", now=NOW)
    with pytest.raises(WrongParameter, match="one person is asked") as refusal:
        selectors.read(plan, "crosstab", {"rows": "fair", "within": "late", "epsilon": "0.5"})
    assert refusal.value.field == "rows"
    followed = {"rows": "copied", "within": "caught", "epsilon": "0.5"}
    assert selectors.read(plan, "crosstab", followed).names == ("copied", "caught")


def test_a_pair_that_nobody_was_asked_yet_cannot_be_published(db):
    draft = draft_of_drawn(smallest_batch=10, rule="on-request", release_epsilon=Decimal(1))
    plan = design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)
    content = plan.content
    held = sorted(content.sets[0])
    assert content.part_asked(held) == Fraction(content.weights[0], sum(content.weights))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(content), "draw_set", lambda *_: 5)  # everybody draws the last set
        answer(plan, 12)
    apart = next(
        names
        for names in (("copied", "fair"), ("copied", "often"), ("fair", "late"))
        if not set(names) <= content.sets[5]
    )
    with pytest.raises(services.CannotAsk, match="has been asked all of this"):
        services.ask_for(
            plan=plan,
            kind="crosstab",
            parameters={"rows": apart[0], "within": apart[1], "epsilon": "0.5"},
            who="mira",
            now=NOW,
        )
    request = services.ask_for(
        plan=plan,
        kind="shares",
        parameters={"questions": [*DEVICE], "epsilon": "1"},
        who="mira",
        now=NOW,
    )
    numbers = services.publish(request_id=request.pk, now=NOW).content
    assert {one.name for one in numbers.questions} == content.sets[5]  # nothing of the others


def test_a_rule_waits_by_how_many_are_expected_to_be_asked(db):
    half = design.open_study(
        why="A test.", study_id=draft_of_drawn(widest=60).pk, who="ada", now=NOW
    )
    found = selectors.too_wide(half, 80)
    whole = draft_of_drawn(slug="everything", widest=60, asked=None, release_epsilon=Decimal(2))
    everything = design.open_study(why="A test.", study_id=whole.pk, who="ada", now=NOW)
    part = next(part for part in shares(half).parts if part.name == "late")
    assert part.asked == half.content.part_asked(["late"]) < Fraction(1, 2)
    assert found is not None
    assert next(part for part in shares(everything).parts if part.name == "late").asked == 1


def test_intervals_made_wider_use_the_question_s_own_n(sealed):
    release = services.publish_if_due(plan=sealed, now=NOW)
    query = selectors.query_of(release.request)
    wider = comparisons.simultaneous(sealed, query, release.content, 0.99)
    for one, other in zip(release.content.questions, wider.questions, strict=True):
        for narrow, wide in zip(one.choices, other.choices, strict=True):
            assert wide.low <= narrow.low <= narrow.high <= wide.high
            assert wide.estimate == narrow.estimate
    among = comparisons.among_asked(sealed, query, release.content, "caught")
    assert among is not None


def test_the_picture_of_the_loss_is_of_one_person(drawn):
    query = shares(drawn)
    law = law_of(query)
    assert law.greatest <= float(query.cost.epsilon) * (1 + 1e-6)


def test_published_shares_are_those_of_the_people_and_their_intervals_hold(db):
    """4,000 people, half of whom copied, whichever set they drew: each estimate is within 6 of its
    standard errors (1 in 500 million a share), from the reports of those who were asked.
    """
    draft = draft_of_drawn(cap=Decimal(8), release_epsilon=Decimal(8), given_cap=Decimal(8))
    plan = design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)
    people = [
        {"copied": i % 2, "caught": 1, "fair": i % 5, "often": i % 4, "late": int(i % 4 == 0)}
        | {"year": i % 3}
        for i in range(4000)
    ]
    answer_as_browsers(plan, people, TODAY)
    design.close_plan(plan_id=plan.pk, today=TODAY)
    sweeps.sweep_all(today=TODAY)
    plan.refresh_from_db()
    numbers = services.publish_if_due(plan=plan, now=NOW).content
    truths = {"copied": [0.5, 0.5], "late": [0.75, 0.25], "fair": [0.2] * 5, "often": [0.25] * 4}
    for question in numbers.questions:
        for choice, truth in zip(question.choices, truths.get(question.name, []), strict=False):
            assert abs(choice.estimate - truth) < 6 * choice.standard_error
            # errors are those of about as many as are asked each, not of 4,000
            asked = 4000 * float(plan.content.part_asked([question.name]))
            if 0 < (share := choice.estimate) < 1:
                sampling = pytest.approx(share * (1 - share) / asked, rel=0.2)
                assert choice.variance["sampling"] == sampling


def test_a_continual_rule_counts_each_question_by_who_was_asked_and_pays_for_the_largest_set(db):
    terms = {"rule": "continual", "hours": 1, "horizon": 4, "cap_delta": "0.000001"}
    plan = design.open_study(why="A test.", study_id=draft_of_drawn(**terms).pk, who="ada", now=NOW)
    query = selectors.by_rule(plan)
    parts = {part.name: part.counter.cost.rho for part in query.parts}
    largest = max(sum(parts[name] for name in held) + parts["year"] for held in plan.content.sets)
    assert query.cost.rho == largest <= Fraction(query.rho)
    answer_as_browsers(plan, [dict.fromkeys((*DEVICE, "year"), 0)] * 60, TODAY)
    sweeps.sweep_all(today=TODAY)
    step = services.publish_if_due(plan=plan, now=NOW)
    asked = {name: aggregation.reports_in(plan, 1, [name]) for name in (*DEVICE, "year")}
    assert {one.name: step.content.n_of(one) for one in step.content.questions} == asked
