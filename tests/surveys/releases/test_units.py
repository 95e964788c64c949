"""Households, and whether somebody took part: what is charged, drawn first, and published."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from django.test import Client

from dpengine.contraction import contracted, loss_of
from dpengine.estimates import CONFIDENCE
from dpengine.local.cleartext import Cleartext
from dpengine.local.table import Table
from dpengine.privacy import Cost
from surveys.aggregation import services as sweeping
from surveys.demo import services as demo
from surveys.design import selectors as plans, services as design
from surveys.design.models import Plan, Question, Study, Unit
from surveys.design.questions import content_of
from surveys.design.refusals import CannotOpen
from surveys.ledger.models import Entry, Kind
from surveys.people import services as people
from surveys.people.models import Role
from surveys.plan.content import PublicationTerms
from surveys.planning import selectors as planning
from surveys.releases import selectors, services, statistics
from surveys.releases.models import Release
from surveys.releases.queries import ALL
from surveys.releases.queries.parameters import WrongParameter
from surveys.releases.statistics import PeopleCounted
from tests.conftest import known_as
from tests.surveys.results.small import NOW, QUESTIONS, STUDY

ANSWERS = [{"moon": 0, "agree": 4}, {"moon": 1, "agree": 2}]
PROTECTED = {"neighbours": "add-remove", "rule": "when-closed"}


def opened(**changes: Any) -> Plan:
    study = {**STUDY, "release_epsilon": Decimal(1), "smallest_batch": 50, **changes}
    return demo.ensure_study(study, QUESTIONS, NOW)[0]


def answered(many: int, **changes: Any) -> Plan:
    plan = opened(**changes)
    demo.answer_as_browsers(plan, (ANSWERS * many)[:many], NOW.date())
    sweeping.sweep_all(today=NOW.date())
    design.close_plan(plan_id=plan.pk, today=NOW.date())
    sweeping.sweep_all(today=NOW.date())
    return plans.plans().get(pk=plan.pk)


def published(plan: Plan) -> list[Release]:
    services.publish_due(now=NOW)
    services.publish_due(now=NOW)
    return list(Release.objects.filter(request__plan=plan).order_by("pk"))


# Whether somebody took part


@pytest.mark.django_db
@pytest.mark.parametrize("many", [0, 1, 137])
def test_how_many_took_part_is_counted_first_whoever_they_are(many: int) -> None:
    plan = answered(many, smallest_batch=10, **PROTECTED)
    assert selectors.answers_so_far(plan) is None
    services.publish_due(now=NOW)
    (counted,) = Release.objects.all()
    assert counted.request.kind == "people"
    assert counted.entry.sensitivity == "how many took part, by 1"
    assert selectors.answers_so_far(plan) == counted.content.n >= 1
    assert "report" not in counted.entry.mechanism


@pytest.mark.django_db
def test_the_count_and_the_shares_cost_one_publication_together() -> None:
    counted, shares = published(answered(137, **PROTECTED))
    paid = [release.entry.epsilon for release in (counted, shares)]
    assert paid[0] == pytest.approx(Decimal(1) / 3, abs=Decimal("1e-8"))
    assert sum(paid) <= 1
    assert shares.content.n == counted.content.n
    assert shares.request.statistic["batches"] == 0


@pytest.mark.django_db
def test_nothing_else_is_published_where_the_noisy_number_is_too_small(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "dpengine.central.laplace.DiscreteLaplace.release", lambda self, counts: [49]
    )
    (counted,) = published(answered(137, **PROTECTED))
    assert counted.content.n == 49


@pytest.mark.django_db
def test_while_it_collects_nothing_can_be_asked_and_never_a_series() -> None:
    plan = opened(**PROTECTED | {"rule": "on-request"})
    assert "before it has closed" in selectors.may_ask(plan, NOW.date())
    offered = {kind.kind for kind in ALL if kind.form(plan) is not None}
    assert "watch" not in offered
    with pytest.raises(WrongParameter, match="none that goes on"):
        selectors.read(plan, "watch", {})


@pytest.mark.django_db
@pytest.mark.parametrize("rule", ["every", "continual"])
def test_how_often_numbers_come_must_not_tell_how_many_come(rule: str) -> None:
    with pytest.raises(CannotOpen, match="how often would tell"):
        opened(**PROTECTED | {"rule": rule, "cap_delta": "0.000001"})


def test_intervals_of_an_unknown_number_of_people_hold() -> None:
    """2,000 runs of 137 people at a cost where the noise in n counts; nominal 95 %."""
    rng = np.random.default_rng(11)
    channel = Table.coin()
    terms_of = PublicationTerms(epsilon="0.5", rule="when-closed", smallest_batch=10)
    noise = statistics.counts.laplace_or_none(Fraction(1, 4), 1)
    assert terms_of.of_people("respondent-in-study", 1).epsilon == "0.25"
    many, held = 137, 0
    for _ in range(2000):
        yes = int(rng.binomial(many, 0.25 + 0.3 / 2))
        noisy = noise.release([many - yes, yes])
        (told,) = noise.release([many])

        def at(n: int, sure: float, noisy: list[int] = noisy) -> Any:
            return channel.estimates(noisy, n, noise, sure)

        interval = PeopleCounted(max(told, 1), noise).estimates(at, CONFIDENCE)[1]
        held += interval.low <= 0.3 <= interval.high
    assert held >= 1890


def test_intervals_count_the_noise_in_n_where_it_is_most_of_the_doubt() -> None:
    """360 of 400 people, as they answered, over all that their number can come out as."""
    channel, small = Cleartext.of_choices(2), statistics.counts.laplace_or_none(Fraction(5), 1)
    noise = statistics.counts.laplace_or_none(Fraction(1, 10), 1)
    told = np.arange(200, 600)
    chances = noise.tail(told - 400) - noise.tail(told - 399)
    held = 0.0
    for n, chance in zip(told.tolist(), chances, strict=True):

        def at(people: int, sure: float) -> Any:
            return channel.estimates([40, 360], people, small, sure)

        interval = PeopleCounted(n, noise).estimates(at, CONFIDENCE)[1]
        held += float(chance) * (interval.low <= 0.9 <= interval.high)
    assert held >= 0.95


@pytest.mark.django_db
def test_the_planner_foresees_the_interval_that_is_published() -> None:
    plan = answered(400, **PROTECTED | {"release_epsilon": Decimal(2)})
    _, shares = published(plan)
    foreseen = planning.precisions(plan.study, plan.content.questions, 400)
    (moon,) = (each for each in shares.content.questions if each.name == "moon")
    half = (moon.choices[1].high - moon.choices[1].low) / 2
    assert foreseen["moon"].half == pytest.approx(half, rel=0.2)


# Households


def test_a_household_pays_for_each_of_its_people() -> None:
    assert Cost.pure(Fraction(1, 2)).of_group(4).epsilon == 2
    assert Cost.concentrated(Fraction(1, 10)).of_group(3).rho == Fraction(9, 10)
    with pytest.raises(ValueError, match="no δ"):
        Cost.approximate(Fraction(1), Fraction(1, 10**6)).of_group(2)


@pytest.mark.django_db
def test_the_rule_of_a_household_adds_as_much_noise_as_all_its_people_need() -> None:
    plan = answered(137, unit=Unit.HOUSEHOLD_OF_4, rule="when-closed")
    query = selectors.by_rule(plan)
    assert query.epsilon == Decimal("0.25")  # type: ignore[attr-defined]
    assert [part.mechanism.scale for part in query.parts] == [8.0, 32.0]  # type: ignore[attr-defined]
    (release,) = published(plan)
    assert release.entry.epsilon == 1
    assert release.content.n == 137


@pytest.mark.django_db
def test_what_is_asked_of_a_household_is_charged_for_all_and_the_cap_holds() -> None:
    plan = answered(137, unit=Unit.HOUSEHOLD_OF_4, rule="on-request", cap=Decimal(1))
    asked = {"plan": plan, "kind": "shares", "who": "mira", "now": NOW}
    for epsilon, is_paid in (("0.8", True), ("0.2", True), ("0.001", False)):
        request = services.ask_for(
            parameters={"questions": ["moon"], "epsilon": Decimal(epsilon)}, **asked
        )
        done = services.try_to_publish(request_id=request.pk, now=NOW)
        assert (done is not None) is is_paid
    spent = Entry.objects.filter(kind=Kind.CHARGE).values_list("epsilon", flat=True)
    assert list(spent) == [Decimal("0.8"), Decimal("0.2")]
    with pytest.raises(WrongParameter, match="at most ε"):
        services.ask_for(parameters={"questions": ["moon"], "epsilon": Decimal("1.3")}, **asked)


@pytest.mark.django_db
def test_a_household_is_retired_when_its_cap_is_reached() -> None:
    plan = answered(137, unit=Unit.HOUSEHOLD_OF_2, rule="when-closed", cap=Decimal(1))
    published(plan)
    assert services.retire_spent(now=NOW) == [plan.study_id]


@pytest.mark.django_db
def test_a_household_needs_a_cap_without_a_delta() -> None:
    with pytest.raises(CannotOpen, match="without a δ"):
        opened(unit=Unit.HOUSEHOLD_OF_2, cap_delta="0.000001", rule="when-closed")


@pytest.mark.django_db
def test_the_ledger_says_what_its_budget_counts() -> None:
    plan = opened(unit=Unit.HOUSEHOLD_OF_3, **PROTECTED)
    (row,) = Entry.objects.filter(what="opened", budget=plan.study.budget_id)
    assert row.new == "central, household-of-3, add-remove; ε 2"


# One answer

ANSWER = {"unit": Unit.ANSWER_IN_STUDY, "rule": "when-closed"}
FOLLOW_UP = {
    "name": "often",
    "kind": "yes_no",
    "text": "More than once?",
    "label": "Often",
    "epsilon": Decimal(1),
    "asked_if": "moon",
    "asked_if_answers": [1],
}


@pytest.mark.django_db
def test_each_answer_may_lose_what_a_publication_costs_and_it_is_charged_once() -> None:
    plan = answered(137, **ANSWER, release_epsilon=Decimal("0.4"))
    query = selectors.by_rule(plan)
    for part in query.parts:  # type: ignore[attr-defined]
        question = plan.content.question(part.name)
        own = question.loss, plan.content.publication.common_of(question)
        noise = part.mechanism.cost.epsilon
        assert Fraction(39, 100) < contracted(noise, *own) <= Fraction(2, 5)
    (release,) = published(plan)
    assert Decimal("0.39") < release.entry.epsilon <= Decimal("0.4")
    sets = {frozenset(["small/1/moon"]), frozenset(["small/1/agree"])}
    assert set(release.entry.reading.sets) == sets
    assert plan.study.budget is not None
    assert plan.study.budget.counts_answers


@pytest.mark.django_db
def test_publications_about_different_answers_do_not_add_up_and_about_one_they_do() -> None:
    amounts = {"cap": Decimal("0.45"), "release_epsilon": Decimal("0.45")}
    plan = answered(137, **{**ANSWER, "rule": "on-request"}, **amounts)
    asked = {"plan": plan, "kind": "shares", "who": "mira", "now": NOW}
    for names, epsilon in ((["moon"], "0.2"), (["agree"], "0.2"), (["moon"], "0.25")):
        request = services.ask_for(
            parameters={"questions": names, "epsilon": Decimal(epsilon)}, **asked
        )
        assert services.try_to_publish(request_id=request.pk, now=NOW) is not None
    spent = list(Entry.objects.filter(kind=Kind.CHARGE).values_list("epsilon", flat=True))
    assert spent[0] == pytest.approx(Decimal("0.2"), abs=Decimal("1e-2"))
    assert spent[1] < Decimal("0.01")  # what noise of another scale loses more
    moon = loss_of(
        entry.reading for entry in Entry.charges.all() if "small/1/moon" in entry.reading.losses
    )
    assert moon is not None
    assert sum(spent) == pytest.approx(Decimal(float(moon)), abs=Decimal("1e-8"))
    request = services.ask_for(
        parameters={"questions": ["moon"], "epsilon": Decimal("0.3")}, **asked
    )
    assert services.try_to_publish(request_id=request.pk, now=NOW) is None  # moon has no more
    request = services.ask_for(
        parameters={"questions": ["agree"], "epsilon": Decimal("0.2")}, **asked | {"now": NOW}
    )
    assert services.try_to_publish(request_id=request.pk, now=NOW) is not None  # the other one has


@pytest.mark.django_db
def test_a_table_of_two_questions_is_charged_as_the_dearer_of_two_answers() -> None:
    whole = opened(rule="on-request")
    both = {"rows": "moon", "within": "agree", "epsilon": Decimal("0.3")}
    person = selectors.read(whole, "crosstab", both)
    answer = selectors.read(
        opened(slug="other", **{**ANSWER, "rule": "on-request"}),
        kind="crosstab",
        parameters=both,
    )
    for query in (person, answer):
        assert Fraction(29, 100) < query.cost.epsilon <= Fraction(3, 10)
    assert answer.engine.scale < person.engine.scale  # type: ignore[attr-defined]


@pytest.mark.django_db
@pytest.mark.parametrize("follow_ups", ["everybody", "skip"])
def test_what_follows_from_a_question_is_one_answer_with_it(follow_ups: str) -> None:
    study = {**STUDY, **ANSWER, "follow_ups": follow_ups, "smallest_batch": 50}
    plan = demo.ensure_study(study, [*QUESTIONS, FOLLOW_UP], NOW)[0]
    assert plan.content.records == [{"moon", "often"}, {"agree"}]
    assert (plan.content.answers, plan.content.most_asked(["moon", "often", "agree"])) == (2, 2)
    last = plan.content.questions[-1]
    assert (last.asked_if is None, last.follows) == (
        (True, "moon") if follow_ups == "everybody" else (False, "")
    )
    losses = plan.content.losses
    assert plan.content.loss_of_record == (losses["moon"] or 1) * (losses["often"] or 1)
    usual = demo.ensure_study(
        {**study, "slug": "usual", "unit": Unit.RESPONDENT_IN_STUDY}, [*QUESTIONS, FOLLOW_UP], NOW
    )[0]
    assert "follows" not in usual.document


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"cap_delta": "0.000001"}, "must have no δ"),
        ({"neighbours": "add-remove"}, "more than one answer"),
    ],
)
def test_one_answer_has_no_delta_and_is_not_whether_somebody_took_part(
    changes: dict[str, str], said: str
) -> None:
    with pytest.raises(CannotOpen, match=said):
        opened(**ANSWER, **changes)


def test_one_answer_is_planned_with_the_whole_of_a_publication() -> None:
    whole, answer = (
        planning.precisions(
            Study(**{**STUDY, "rule": "when-closed", "release_epsilon": Decimal("0.4")}, unit=unit),
            [content_of(Question(**each)) for each in QUESTIONS],
            1000,
        )
        for unit in (Unit.RESPONDENT_IN_STUDY, Unit.ANSWER_IN_STUDY)
    )
    assert all(answer[name].half < whole[name].half for name in ("moon", "agree"))


def test_terms_of_one_person_are_left_as_they_are() -> None:
    rule = PublicationTerms(epsilon="0.75", rule="when-closed", smallest_batch=10)
    assert rule.of_shares("respondent-in-study", "change-one", 3) is rule
    assert rule.of_shares("household-of-3", "change-one", 3).epsilon == "0.25"
    both = rule.of_shares("household-of-3", "add-remove", 4)
    assert (both.epsilon, rule.of_people("household-of-3", 4).epsilon) == ("0.2", "0.05")
    tight = PublicationTerms(epsilon="1", rule="every", smallest_batch=10, rho="0.5")
    assert tight.of_shares("respondent-in-study", "add-remove", 1).rho == "0.25"


@pytest.mark.django_db
def test_pages_call_a_noisy_number_of_people_about_so_many(client: Client) -> None:
    plan = answered(137, **PROTECTED)
    published(plan)
    people_told = f"about {selectors.people(plan):,}"
    user = known_as("mira")
    people.share(study=plan.study, user=user, role=Role.ANALYST)
    client.force_login(user)
    slug = plan.study.slug
    asked = {"questions": ["moon"], "epsilon": "0.1"}
    page = " ".join(client.post(f"/studies/{slug}/ask/shares/", asked).content.decode().split())
    assert f"how many answered: {people_told} responses counted." in page
    page = " ".join(client.get(f"/registry/{slug}/").content.decode().split())
    assert f"numbers on {people_told} people" in page
