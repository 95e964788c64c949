"""Charges of what answers lose: noise through the devices' noise, and the ceiling."""

from decimal import Decimal
from fractions import Fraction

import pytest

from dpengine.central.counts import AsTheyCame
from dpengine.contraction import Noise, Reading, contracted, loss_of, noise_within
from dpengine.privacy import Cost, epsilon_above
from surveys.aggregation import services as sweeps
from surveys.design import services as design, terms
from surveys.design.models import Study
from surveys.ledger import reads, selectors as ledger, services as charges
from surveys.ledger.models import Entry
from surveys.ledger.refusals import Overspent
from surveys.ledger.totals import Running
from surveys.ledger.verification import _is_understated
from surveys.releases import selectors, services
from surveys.results.progress import WaveProgress
from tests.conftest import NOW


def opened(draft, **terms):
    Study.objects.filter(pk=draft.pk).update(**terms)
    return design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)


ROW = {"reason": "a test", "mechanism": "none", "sensitivity": "1", "who": "ada", "now": NOW}


def charge(plan, cost, number=0):
    return charges.charge(
        budget_ids=[plan.study.budget_id], cost=cost, statistic=f"{number:064x}", **ROW
    )


def query(plan, epsilon, kind="shares", **parameters):
    names = [question.name for question in plan.content.questions]
    given = {"questions": names, **parameters} if kind == "shares" else parameters
    return selectors.read(plan, kind, {**given, "epsilon": epsilon})


def test_at_a_person_s_epsilon_everything_is_published_as_it_came_and_then_is_free(draft):
    plan = opened(draft, cap=Decimal(8), release_epsilon=Decimal(8))
    everything = query(plan, "20")
    assert {type(engine) for engine in everything.engines} == {AsTheyCame}
    (row,) = charge(plan, everything.cost)
    assert row.epsilon == epsilon_above(plan.content.loss)
    names = [question.name for question in plan.content.questions[:2]]
    for number, other in enumerate(
        [
            query(plan, "0.3"),
            query(plan, "20", "crosstab", rows=names[0], within=names[1]),
            query(plan, "0.7", "most_common", question=names[1], best=1),
        ],
        start=1,
    ):
        (row,) = charge(plan, other.cost, number)
        assert (row.epsilon, row.rho) == (0, 0)
    assert ledger.account(plan.study.budget_id).amount_spent == epsilon_above(plan.content.loss)


def test_a_cap_below_the_ceiling_pays_for_less_than_everything(draft):
    plan = opened(draft, cap=Decimal("1.5"), release_epsilon=Decimal(1))
    account = ledger.account(plan.study.budget_id)
    assert not account.can_pay(query(plan, "20").cost)
    assert account.can_pay(query(plan, "1.5").cost)
    assert not account.can_pay(query(plan, "1.500000001").cost)


def test_rows_add_up_to_what_all_of_them_lose_together(draft):
    plan = opened(draft, cap=Decimal(8), release_epsilon=Decimal(1))
    names = [question.name for question in plan.content.questions[:2]]
    asked = [
        query(plan, "0.5"),
        query(plan, "0.5", questions=names[:1]),
        query(plan, "0.7", "crosstab", rows=names[0], within=names[1]),
        query(plan, "0.5", "most_common", question=names[1], best=1),
    ]
    rows = [charge(plan, each.cost, number)[0] for number, each in enumerate(asked)]
    together = loss_of(each.cost.reading for each in asked)
    assert together <= sum(Fraction(row.epsilon) for row in rows) < together + Fraction(1, 10**9)
    assert all(row.epsilon <= each.epsilon for row, each in zip(rows, asked, strict=True))
    kept = Entry.charges.order_by("position")
    assert [row.reading for row in kept] == [each.cost.reading for each in asked]


def test_noise_is_less_than_for_the_same_loss_of_reports(draft):
    plan = opened(draft, cap=Decimal(2), release_epsilon=Decimal(1))
    assert query(plan, "1").cost.epsilon <= 1
    for engine in query(plan, "1").engines:
        assert engine.epsilon > Fraction(1, len(plan.content.questions))


def test_a_request_about_choices_needs_less_noise_and_is_charged_what_it_asks_for(draft):
    plan = opened(draft, cap=Decimal(2), release_epsilon=Decimal(1))
    asked = query(plan, "0.25", questions=["fair"])
    (noise,), report = asked.cost.reading.noises, plan.content.report_of("fair")
    loss, common = asked.cost.reading.losses[report], asked.cost.reading.common[report]
    assert common == plan.content.question("fair").channel.common > 1
    assert noise.epsilon > Fraction(5, 4) * noise_within(Fraction(1, 4), loss)
    (row,) = charge(plan, asked.cost)
    assert Decimal("0.249999") < row.epsilon <= Decimal("0.25")
    assert Entry.charges.get().reading == asked.cost.reading
    twice = query(plan, "0.25", questions=["fair"], wave=1).cost.reading
    most = contracted(2 * noise.epsilon, loss, common)
    assert loss_of([asked.cost.reading, twice]) == most > 2 * Fraction(row.epsilon)


def test_a_cap_pays_for_so_many_as_can_be_charged_and_no_more(draft):
    plan = opened(draft, cap=Decimal("0.3"), release_epsilon=Decimal("0.1"))
    asked = query(plan, "0.1", questions=["fair"])
    said = ledger.account(plan.study.budget_id).pays_for(asked.cost)
    assert said == 2  # of a sum of three, which an ε of .3 would seem to pay for
    for number in range(said):
        charge(plan, asked.cost, number)
    account = ledger.account(plan.study.budget_id)
    assert account.pays_for(asked.cost) == 0
    with pytest.raises(Overspent):
        charge(plan, asked.cost, said)


@pytest.mark.parametrize("first", ["0.5", "1.4", "20"])
@pytest.mark.parametrize("again", ["0.1", "0.9", "20"])
@pytest.mark.parametrize("beyond", ["0", "0.01", "0.3"])
def test_a_cap_pays_for_one_more_where_one_can_be_charged(draft, first, again, beyond):
    most = max(draft.questions.get(name="fair").epsilon, Decimal(1))
    plan = opened(draft, cap=most + Decimal(beyond), release_epsilon=Decimal("0.1"))
    both = [query(plan, each, questions=["fair"]).cost for each in (first, again)]
    if ledger.account(plan.study.budget_id).can_pay(both[0]):
        charge(plan, both[0])
    account = ledger.account(plan.study.budget_id)
    assert (account.pays_for(both[1]) > 0) == account.can_pay(both[1])


def test_what_a_rule_repeats_costs_its_part_of_the_cap_at_most(draft):
    plan = opened(draft, cap=Decimal("0.3"), release_epsilon=Decimal("0.1"), rule="every", hours=24)
    asked = query(plan, "0.1", questions=["fair"])
    assert ledger.account(plan.study.budget_id).pays_for(asked.cost) >= 3
    rows = [charge(plan, asked.cost, number)[0] for number in range(3)]
    assert sum(row.epsilon for row in rows) <= Decimal("0.3")


def test_a_plan_of_before_counts_nothing_in_common(draft, monkeypatch):
    monkeypatch.setattr(terms, "COMMON", 0)
    plan = opened(draft, cap=Decimal(2), release_epsilon=Decimal(1))
    assert "accounting" not in plan.document
    asked = query(plan, "0.25", questions=["fair"])
    (noise,), report = asked.cost.reading.noises, plan.content.report_of("fair")
    least = noise_within(Fraction(1, 4), asked.cost.reading.losses[report])
    assert float(noise.epsilon) == pytest.approx(float(least), rel=1e-9)
    charge(plan, asked.cost)
    assert asked.cost.reading.common == {}
    assert "common" not in Entry.charges.get().reads


@pytest.mark.parametrize(
    "terms",
    [
        {"neighbours": "add-remove"},
        {"unit": "respondent-in-wave"},
        {"cap_delta": "0.000001"},
    ],
    ids=str,
)
def test_where_taking_part_shows_or_a_cap_has_a_delta_reports_are_what_loses(draft, terms):
    plan = opened(draft, cap=Decimal(2), release_epsilon=Decimal(1), **terms)
    assert plan.content.publication.counts == ""
    assert set(plan.content.losses.values()) == {None}
    (row,) = charge(plan, query(plan, "0.2").cost)
    assert row.reads is None
    assert not plan.study.budget.counts_answers


@pytest.mark.usefixtures("two_waves")
def test_a_later_wave_whose_draws_may_be_repeated_loses_what_its_noise_lets_out(draft):
    plan = opened(draft, cap=Decimal(8), release_epsilon=Decimal(1))
    charge(plan, query(plan, "20").cost)
    ceiling = ledger.account(plan.study.budget_id).amount_spent
    design.close_plan(plan_id=plan.pk, today=NOW.date())
    services.publish_due(now=NOW)
    design.begin_wave(study_id=plan.study_id)
    later = design.open_study(why="A test.", study_id=plan.study_id, who="ada", now=NOW)
    assert later.content.publication.counts == ""
    (row,) = charge(later, query(later, "1").cost, 1)
    assert row.epsilon == 1
    assert ledger.account(plan.study.budget_id).amount_spent == ceiling + 1


def test_who_does_not_say_what_is_read_is_refused(draft):
    plan = opened(draft, cap=Decimal(2), release_epsilon=Decimal(1))
    with pytest.raises(charges.BadAmount, match="counts what answers lose"):
        charge(plan, Cost.pure(Fraction(1)))
    reading = Reading({"a": None}, [Noise(frozenset("a"), None)])
    with pytest.raises(charges.BadAmount, match="pays for pure ε only"):
        charge(plan, Cost(rho=Fraction(1), reading=reading))
    assert not Entry.charges.exists()


# Before a number is published


@pytest.fixture
def few(draft, request, today):
    """Forty answers, closed and counted, of a study that waits where they say next to nothing."""

    def made(people=40, **terms):
        Study.objects.filter(pk=draft.pk).update(widest=None, **terms)
        plan = request.getfixturevalue("answered")(people)
        design.close_plan(plan_id=plan.pk, today=today)
        sweeps.sweep_all(today=today)
        return plan

    return made


def test_what_would_say_next_to_nothing_waits_and_says_how_many_answers_would_do(few, now):
    plan = few(release_epsilon=Decimal("0.05"))
    assert services.publish_due(now=now) == []
    found = selectors.waits(plan)
    assert found.percent > 50
    assert selectors.too_wide(plan, found.answers) is None
    assert selectors.too_wide(plan, found.answers * 9 // 10) is not None
    with pytest.raises(services.CannotAsk, match="come first"):
        services.ask_for(plan=plan, kind="shares", parameters={}, who="mira", now=now)
    services.publish_anyway(plan=plan, who="mira", now=now)
    services.publish_anyway(plan=plan, who="mira", now=now)  # twice changes nothing
    assert len(services.publish_due(now=now)) == 1
    assert Entry.objects.filter(what=selectors.ANYWAY()).count() == 1


def test_what_says_something_is_published_by_itself(few, now):
    plan = few(400, release_epsilon=Decimal(2))
    assert selectors.waits(plan) is None
    with pytest.raises(services.CannotAsk, match="Nothing waits"):
        services.publish_anyway(plan=plan, who="mira", now=now)
    assert len(services.publish_due(now=now)) == 1


def test_a_limit_for_a_week_warns_by_what_the_last_charge_would_add_again(draft):
    plan = opened(draft, cap=Decimal(8), release_epsilon=Decimal(1))
    charges.set_weekly_limit(
        budget_id=plan.study.budget_id, weekly=Decimal("1.2"), who="ada", now=NOW, why="a test"
    )
    charge(plan, query(plan, "1").cost)
    account = ledger.account(plan.study.budget_id)
    assert any("has to wait" in alert for alert in account.alerts(NOW))
    (row,) = account.entries
    assert 0 < account.added(row.again).epsilon < row.epsilon


def test_what_adds_nothing_is_taken_although_the_week_is_used_up(draft):
    plan = opened(draft, cap=Decimal(8), release_epsilon=Decimal(1))
    charge(plan, query(plan, "8").cost)
    charges.set_weekly_limit(
        budget_id=plan.study.budget_id, weekly=Decimal("0.5"), who="ada", now=NOW, why="a test"
    )
    (row,) = charge(plan, query(plan, "0.3").cost, 1)
    assert row.epsilon == 0
    account = ledger.account(plan.study.budget_id)
    assert account.is_all_lost
    assert account.days_left(NOW) is None


@pytest.mark.parametrize(
    "text",
    [
        '{"losses":{"x/1/q":null},"noises":[{"epsilon":"100","reports":["x/1/q"]}]}',
        '{"losses":{"x/1/q":"3"},"noises":[],"common":{"x/1/q":"1/0"}}',
        '{"losses":{"x/1/q":"3"},"noises":[],"drawn":{"reports":["y"],"sets":[[5]]}}',
        '{"losses":{"x/1/q":"3"},"noises":[{"epsilon":1e400,"reports":["x/1/q"]}]}',
    ],
    ids=("too little", "no number", "no such place", "more than there is"),
)
def test_a_row_that_says_less_than_it_reads_is_a_fault(draft, text):
    plan = opened(draft, cap=Decimal(8), release_epsilon=Decimal(1))
    (_row,) = charge(plan, query(plan, "1").cost)
    assert charges.faults() == []
    charges._append(
        kind="charge",
        budget=plan.study.budget,
        epsilon=Decimal(0),
        rho=Decimal(0),
        delta=Decimal(0),
        statistic="f" * 64,
        reads=text,
        who="ada",
        at=NOW,
    )
    assert "say less than what they read loses" in str(charges.faults()[0])


def test_rows_that_contradict_each_other_are_a_fault():
    running = Running()
    for text in (
        '{"losses":{"a":"2"},"noises":[],"drawn":{"reports":["b"],"sets":[[0]]}}',
        '{"losses":{"a":"2"},"noises":[{"reports":["a"],"epsilon":"99999"}]}',
    ):
        running.read.add(reads.from_text(text))
    assert _is_understated(running, Decimal(100))


def test_a_study_of_numbers_sent_as_given_has_a_stage(draft):
    plan = opened(draft, cap=Decimal(1), release_epsilon=Decimal(1), rule="on-request")
    assert not selectors.publishes_by_rule(plan)
    assert WaveProgress.of(plan).stage


def test_every_page_of_a_study_reads_rows_that_cost_nothing(draft, client, today, request):
    Study.objects.filter(pk=draft.pk).update(
        cap=Decimal(8), release_epsilon=Decimal(8), results="public"
    )
    plan = request.getfixturevalue("answered")(40)
    design.close_plan(plan_id=plan.pk, today=today)
    sweeps.sweep_all(today=today)
    services.publish_due(now=NOW)
    plan.refresh_from_db()
    names = [question.name for question in plan.content.questions[:2]]
    parameters = {"rows": names[0], "within": names[1], "epsilon": "3"}
    asked = services.ask_for(plan=plan, kind="crosstab", parameters=parameters, who="mira", now=NOW)
    free = services.publish(request_id=asked.pk, now=NOW)
    assert free.entry.epsilon == 0
    assert free.numbers["method"].startswith("Nothing was added")
    slug, number = plan.study.slug, f"releases/{free.entry.number}/"
    for path in (
        *(f"/registry/{slug}{end}" for end in ("/", ".json", ".yaml")),
        *(f"/results/{slug}/{page}" for page in ("", "methods/", number, "compare/")),
        f"/ledger/{free.entry.position}/",
        "/registry/ledger.json",
    ):
        assert client.get(path).status_code == 200, path
    assert "No noise was added" in client.get(f"/results/{slug}/").content.decode()
    page = client.get(f"/registry/{slug}/").content.decode()
    assert "at the cap" not in page  # all that devices gave away is free from then on
    assert "when its owner ends it" in page
