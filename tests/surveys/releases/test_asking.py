"""Ask, and get the same numbers for ever: charged, drawn and stored together, by whichever
worker comes first.
"""

import datetime
import socket
import threading
import time
from decimal import Decimal
from functools import partial

import pytest
from django.db import IntegrityError, transaction
from kombu.exceptions import OperationalError

from surveys.celery import app
from surveys.demo.services import answer_as_browsers, ensure_study
from surveys.design import services as design
from surveys.ledger import selectors as ledger, services as budgets
from surveys.ledger.models import Entry
from surveys.releases import selectors, services
from surveys.releases.models import ERASED, Release, Request, Series, Step
from surveys.releases.queries.parameters import WrongParameter
from surveys.releases.queries.quantile import Quantile
from tests.patience import PATIENCE
from tests.surveys.releases.conftest import NOW, QUESTIONS, STUDY, answer, close, open_asked

HOUR = datetime.timedelta(hours=1)
MINUTE = datetime.timedelta(minutes=1)
DAY = datetime.timedelta(days=1)
SHARES = {"questions": ["copied", "year"], "epsilon": "0.5"}
# Passed by chance once in a hundred million looks.
WATCH = {"answer": "year/1", "percent": "99.9", "epsilon": "1"}


def ask(plan, who="mira", now=NOW, kind="shares", **parameters):
    return services.ask_for(
        plan=plan, kind=kind, parameters={**SHARES, **parameters}, who=who, now=now
    )


def publish(plan, **words):
    return services.publish(request_id=ask(plan, **words).pk, now=NOW)


def spent(plan):
    return ledger.account(plan.study.budget_id).amount_spent


# The same request


def test_the_same_again_by_anyone_is_the_same_request_and_costs_nothing(asked):
    first = publish(asked)
    again = ask(asked, who="otto", now=NOW + HOUR, questions=["year", "copied"], epsilon="0.50")
    assert again == first.request
    assert services.publish(request_id=again.pk, now=NOW + HOUR).numbers == first.numbers
    assert spent(asked) == Decimal("0.5")


@pytest.mark.parametrize("other", [{"epsilon": "0.4"}, {"questions": ["copied"]}])
def test_another_setting_is_another_request(asked, other):
    assert ask(asked).digest != ask(asked, **other).digest


WAYS: list[tuple[str, dict[str, object], dict[str, object]]] = [
    (
        "price",
        {"question": "hours", "lowest": 1, "highest": 10, "step": 3},
        {"question": "hours", "lowest": 1, "highest": 12, "step": 3},
    ),
    ("synthetic", {"questions": ["year"], "bins": 4}, {"questions": ["year"], "bins": 5}),
    (
        "trusted",
        {"question": "hours", "second": "age", "statistic": "correlation", "groups": 30},
        {"question": "age", "second": "hours", "statistic": "correlation", "groups": 30},
    ),
    (
        "expression",
        {"expression": "mean(hours)", "least": 0, "most": 9, "groups": 30},
        {"expression": " mean(hours) ", "least": "0.0", "most": "9.00", "groups": 30},
    ),
    (
        "quantile",
        {"question": "hours", "percent": "50", "method": "exponential"},
        {"question": "hours", "percent": "50.0", "method": "exponential", "step": 3},
    ),
    (
        "mean",
        {"question": "copied", "scores": "0, 1"},
        {"question": "copied", "scores": "", "spread": "released"},
    ),
]


@pytest.mark.parametrize(("kind", "one", "other"), WAYS, ids=[kind for kind, *_ in WAYS])
def test_one_statistic_said_in_two_ways_is_one_request(db, kind, one, other):
    age = {**QUESTIONS[2], "name": "age", "label": "Age", "most": 99}
    plan, _ = ensure_study({**STUDY, "slug": "said-twice"}, [*QUESTIONS, age], NOW)
    first, second = (
        selectors.read(plan, kind, {**said, "epsilon": "0.3"}) for said in (one, other)
    )
    assert selectors.statistic(plan, first, 1) == selectors.statistic(plan, second, 1)


def test_more_answers_are_another_request_and_the_old_one_keeps_its_own(asked):
    old = ask(asked)
    answer(asked, 20)
    new = ask(asked)
    assert old.digest != new.digest
    assert services.publish(request_id=old.pk, now=NOW).numbers["n"] == 60
    assert services.publish(request_id=new.pk, now=NOW).numbers["n"] == 80


def test_what_the_rule_of_a_study_publishes_is_what_asking_for_it_would_give(opened):
    plan = close(opened(rule="when-closed", slug="by-rule"))
    services.publish_due(now=NOW)
    release = Release.objects.get()
    again = ask(plan, epsilon="1")
    assert again == release.request
    assert Entry.charges.count() == 1


# Money


def test_a_request_that_cannot_be_paid_waits_with_its_reason_and_can_be_confirmed_again(asked):
    publish(asked, epsilon="1")
    publish(asked, epsilon="0.99")
    third = ask(asked, epsilon="0.98")
    left = ledger.account(asked.study.budget_id).amount_left
    before = spent(asked)
    assert services.try_to_publish(request_id=third.pk, now=NOW) is None
    third.refresh_from_db()
    assert f"{left} is left" in third.refused
    assert not Release.objects.filter(request=third).exists()
    assert services.publish_asked(now=NOW + HOUR) == []  # nobody tries again by itself
    assert services.confirm(request_id=third.pk, who="mira", now=NOW + HOUR).refused == ""
    assert spent(asked) == before > 1


def test_a_charge_that_is_refused_by_one_budget_leaves_no_trace_in_the_others(asked):
    open_share(asked, "mira", "0.3")
    with pytest.raises(budgets.Overspent):
        publish(asked, who="mira")
    assert not Entry.charges.exists()
    publish(asked, who="mira", epsilon="0.3")
    assert Entry.charges.count() == 2
    assert len({entry.statistic for entry in Entry.charges.all()}) == 1


def open_share(plan, who, epsilon):
    budgets.open_share(
        study_id=plan.study.budget_id,
        holder=who,
        cap=Decimal(epsilon),
        who="ada",
        now=NOW,
        why="a share",
    )


def test_whoever_confirms_what_another_could_not_pay_pays_from_their_own_budget(asked):
    open_share(asked, "mira", "0.3")
    first = ask(asked, who="mira")
    assert services.try_to_publish(request_id=first.pk, now=NOW) is None
    again = ask(asked, who="otto")
    assert (again, again.who) == (first, "otto")
    assert services.try_to_publish(request_id=again.pk, now=NOW)
    assert {entry.who for entry in Entry.charges.all()} == {"otto"}
    assert Entry.charges.count() == 1  # the study's: nothing from her share


def test_a_request_that_waits_stays_with_whoever_asked_first(asked):
    open_share(asked, "mira", "0.5")
    first = ask(asked, who="mira")
    assert ask(asked, who="otto").who == "mira"
    services.publish(request_id=first.pk, now=NOW)
    assert Entry.charges.count() == 2


def test_who_paid_for_a_request_cannot_be_changed_once_it_is_drawn(asked):
    request = publish(asked).request
    assert services.confirm(request_id=request.pk, who="otto", now=NOW).who == "mira"
    with pytest.raises(IntegrityError, match="who paid"), transaction.atomic():
        Request.objects.filter(pk=request.pk).update(who="otto")
    series = services.publish(request_id=ask(asked, kind="watch", **WATCH).pk, now=NOW)
    with pytest.raises(IntegrityError, match="who paid"), transaction.atomic():
        Request.objects.filter(series=series).update(who="otto")


def test_a_release_is_named_by_the_row_of_the_study_s_own_budget(asked):
    open_share(asked, "mira", "1")
    release = publish(asked)
    assert release.entry.budget_id == asked.study.budget_id
    assert selectors.publication_numbered(asked.study, release.entry.number).release == release


def test_one_request_may_cost_at_most_what_the_plan_says(asked):
    with pytest.raises(WrongParameter, match=r"at most ε 1, and this costs ε 1\.5"):
        ask(asked, epsilon="1.5")
    assert not Request.objects.exists()


@pytest.mark.parametrize("epsilon", ["0", "-1", "NaN", "Infinity", "0.0000000001", "21", "", "a"])
def test_an_epsilon_that_is_none_is_refused_and_nothing_is_written(asked, epsilon):
    with pytest.raises(WrongParameter):
        ask(asked, epsilon=epsilon)
    assert not Request.objects.exists()
    assert not Entry.charges.exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"questions": []},
        {"questions": ["nobody"]},
        {"questions": "copied"},
        {"questions": ["hours"]},
    ],
)
def test_questions_that_cannot_be_counted_are_refused(asked, wrong):
    with pytest.raises(WrongParameter, match="questions"):
        ask(asked, **wrong)


def test_a_kind_that_there_is_not_is_refused(asked):
    with pytest.raises(WrongParameter, match="kind"):
        ask(asked, kind="everything")


def test_gaussian_noise_is_drawn_where_the_cap_has_a_delta_and_never_costs_more_rho_than_laplace(
    opened,
):
    plan = opened(cap_delta="0.000001", slug="concentrated", release_epsilon=Decimal(2))
    release = publish(plan)
    assert {q["mechanism"]["name"] for q in release.numbers["questions"]} == {"discrete Gaussian"}
    assert release.entry.rho <= Decimal("0.0625")  # two parts of ε 0.25: 2 · 0.25²/2
    assert release.entry.epsilon is None


def test_under_a_cap_with_a_delta_five_requests_of_epsilon_two_fifths_fit_and_no_sixth(opened):
    """Each is ρ 0.00408 of the 0.0229 of (1, 10⁻⁶): 18 %. Of whatever kind, and in any order."""
    plan = opened(cap_delta="0.000001", slug="either", cap=Decimal(1), release_epsilon=Decimal(1))
    fifths = {"epsilon": "0.4"}
    publish(plan, kind="mean", **{"question": "hours", "spread": "bound"} | fifths)
    for question in ("copied", "year"):
        release = publish(plan, questions=[question], **fifths)
        (part,) = release.numbers["questions"]
        assert part["mechanism"]["name"] == "discrete Gaussian"
        assert (release.entry.epsilon, release.entry.delta) == (None, 0)
        assert Decimal("0.00408") < release.entry.rho < Decimal("0.00409")
    publish(plan, kind="crosstab", rows="copied", within="year", **fifths)
    publish(plan, kind="most_common", question="year", best=1, **fifths)
    with pytest.raises(budgets.Overspent, match="is left"):
        publish(plan, questions=["copied", "year"], **fifths)


def test_the_law_of_the_noise_does_not_hang_on_the_size_of_a_request(opened):
    plan = opened(cap_delta="0.000001", slug="sizes", cap=Decimal(1), release_epsilon=Decimal(1))
    names = {
        selectors.asked(
            plan, "crosstab", {"rows": "copied", "within": "year", "epsilon": size}
        ).mechanism.partition(",")[0]
        for size in ("0.05", "0.4", "0.55", "1")
    }
    assert names == {"discrete Gaussian"}


def test_what_was_asked_before_is_drawn_as_it_was_asked(opened):
    """A request of before, whose worker comes now: ε 0.1 in it is ρ 0.005, as it was shown."""
    plan = opened(cap_delta="0.000001", slug="before", cap=Decimal(1), release_epsilon=Decimal(1))
    query = selectors.read(plan, "shares", {"questions": ["copied"], "epsilon": "0.1"})
    request = services._request(plan=plan, query=query, batches=1, who="mira", now=NOW)
    assert "alone" not in request.parameters
    release = services.publish(request_id=request.pk, now=NOW)
    assert Decimal("0.0049") < release.entry.rho <= Decimal("0.005")
    assert selectors.query_of(request).cost == query.cost
    now = publish(plan, questions=["copied"], epsilon="0.1")
    assert now.request != request
    assert now.request.parameters["alone"] is True
    assert Decimal("0.00029") < now.entry.rho < Decimal("0.00030")


# When


def test_nothing_can_be_asked_before_the_smallest_batch_by_its_public_count(opened):
    plan = opened(people=9, slug="few")
    with pytest.raises(services.CannotAsk, match="before 10 answers, and fewer have been counted"):
        ask(plan)
    with pytest.raises(services.CannotAsk, match="before 10 answers, and fewer came"):
        ask(close(plan))


def test_enough_answers_that_wait_to_be_counted_are_not_called_too_few(opened):
    """As many as are needed came, and no sweep has counted them since the study closed."""
    plan = opened(people=0, slug="uncounted")
    answer_as_browsers(plan, [{"copied": 0, "year": 0, "hours": 20}] * 10, NOW.date())
    plan = design.close_plan(plan_id=plan.pk, today=NOW.date())
    assert "fewer have been counted yet" in selectors.may_ask(plan, NOW.date())


def test_a_study_with_a_rule_publishes_its_own_numbers_first(opened):
    plan = opened(rule="when-closed", slug="by-rule")
    assert "when it has closed" in selectors.may_ask(plan, NOW.date())
    plan = close(plan)
    assert "not been published yet" in selectors.may_ask(plan, NOW.date())
    services.publish_due(now=NOW)
    assert selectors.may_ask(plan, NOW.date()) == ""


def test_the_last_numbers_of_a_rule_are_drawn_before_anybody_can_ask_for_them(opened):
    """Else they would be somebody's request: the rule would find it drawn, and publish it again
    and again.
    """
    plan = opened(rule="every", hours=24, slug="by-rule")
    services.publish_due(now=NOW)
    answer(plan, 20)
    plan = close(plan)
    with pytest.raises(services.CannotAsk, match="come first"):
        ask(plan, epsilon="1")
    assert len(services.publish_due(now=NOW)) == 1
    assert services.publish_due(now=NOW) == []
    assert selectors.may_ask(plan, NOW.date()) == ""


def test_where_the_cap_is_too_small_for_the_rule_researchers_can_ask_for_less(opened):
    plan = opened(rule="every", hours=24, slug="by-rule", cap=Decimal("1.5"))
    services.publish_due(now=NOW)
    answer(plan, 20)
    plan = close(plan)
    assert services.publish_due(now=NOW) == []
    assert selectors.may_ask(plan, NOW.date()) == ""


def test_on_the_day_of_retirement_nothing_can_be_asked_even_if_no_worker_has_come_to_it(opened):
    plan = opened(retires_on=NOW.date() + DAY, slug="ends")
    assert selectors.may_ask(plan, NOW.date()) == ""
    waiting = ask(plan)
    assert "The study ended" in selectors.may_ask(plan, NOW.date() + DAY)
    with pytest.raises(services.CannotAsk):
        ask(plan, now=NOW + DAY)
    assert services.try_to_publish(request_id=waiting.pk, now=NOW + DAY) is None
    assert not Entry.charges.exists()


def test_a_retired_study_publishes_nothing_that_was_asked_before_or_is_asked_now(asked):
    waiting = ask(asked)
    design.retire(study_id=asked.study_id, who="ada", now=NOW, because="asked to")
    asked.study.refresh_from_db()
    assert "The study ended" in selectors.may_ask(asked, NOW.date())
    assert services.try_to_publish(request_id=waiting.pk, now=NOW) is None
    waiting.refresh_from_db()
    assert "retired" in waiting.refused
    assert not Release.objects.exists()


# Workers


@pytest.mark.parametrize(
    "victim",
    [
        "surveys.releases.services.charges.charge",
        "surveys.releases.statistics.Part.draw",
        "surveys.releases.models.Release.save",
    ],
)
def test_charge_draw_and_store_of_a_request_stand_or_fall_together(asked, monkeypatch, victim):
    request = ask(asked)

    def die(*args, **kwargs):
        raise RuntimeError("killed")

    monkeypatch.setattr(victim, die)
    with pytest.raises(RuntimeError):
        services.publish(request_id=request.pk, now=NOW)
    monkeypatch.undo()
    assert not Entry.charges.exists()
    services.publish(request_id=request.pk, now=NOW)
    assert Entry.charges.count() == Release.objects.count() == 1


def test_a_confirmed_request_whose_message_was_lost_is_found_by_the_sweep(asked):
    ask(asked)
    assert services.publish_asked(now=NOW) == []  # its message may be under way
    assert len(services.publish_asked(now=NOW + MINUTE)) == 1
    assert services.publish_asked(now=NOW + HOUR) == []


def test_without_a_broker_a_request_is_kept_all_the_same(
    asked, django_capture_on_commit_callbacks, monkeypatch
):
    def no_broker(*args, **kwargs):
        raise OperationalError("away")

    monkeypatch.setattr(app, "send_task", no_broker)
    with django_capture_on_commit_callbacks(execute=True) as callbacks:
        ask(asked)
    assert len(callbacks) == 1
    assert len(services.publish_asked(now=NOW + MINUTE)) == 1


def test_whoever_asks_does_not_wait_until_the_message_is_sent(
    asked, django_capture_on_commit_callbacks, monkeypatch
):
    """Its modules are loaded first, which takes seconds on a busy machine."""
    answered, began, ended = (threading.Event() for _ in range(3))

    def slow(*args, **kwargs):
        began.set()
        answered.wait(PATIENCE)
        ended.set()

    monkeypatch.setattr(app, "send_task", slow)
    with django_capture_on_commit_callbacks(execute=True):
        ask(asked)
    assert not ended.is_set(), "who asks is answered while it is sent"
    assert began.wait(PATIENCE), "and it is sent"
    answered.set()
    assert ended.wait(PATIENCE)


def test_a_broker_that_takes_connections_and_never_answers_holds_nobody_up(
    asked, django_capture_on_commit_callbacks, monkeypatch
):
    short = {name: min(option, 0.2) for name, option in services.AT_ONCE.items()}
    monkeypatch.setattr(services, "AT_ONCE", short)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent_url = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        monkeypatch.setattr(
            app,
            "connection_for_write",
            partial(app.connection_for_write, silent_url),
        )
        with django_capture_on_commit_callbacks(execute=True):
            began = time.monotonic()
            ask(asked)
        assert time.monotonic() - began < PATIENCE
    assert len(services.publish_asked(now=NOW + MINUTE)) == 1


# Series


def test_a_series_is_paid_once_and_makes_a_step_for_every_batch(asked):
    series = services.publish(request_id=ask(asked, kind="watch", **WATCH).pk, now=NOW)
    assert [step.number for step in series.published.all()] == [1]
    assert services.step_due(now=NOW) == []
    answer(asked, 20)
    answer(asked, 20)
    services.step_due(now=NOW + HOUR)
    services.step_due(now=NOW + HOUR)
    assert services.step_due(now=NOW + HOUR) == []
    assert [step.numbers["n"] for step in series.published.all()] == [60, 80, 100]
    assert Entry.charges.count() == 1


def test_what_a_series_remembers_is_encrypted_and_erased_when_its_study_retires(asked):
    series = services.publish(request_id=ask(asked, kind="watch", **WATCH).pk, now=NOW)
    series.refresh_from_db()
    assert series.memory
    assert b"asked" not in bytes(series.state)
    design.retire(study_id=asked.study_id, who="ada", now=NOW, because="asked to")
    assert [services.erase_over(), services.erase_over()] == [1, 0]
    series.refresh_from_db()
    assert (bytes(series.state), series.is_over) == (ERASED, True)
    with pytest.raises(services.CannotAsk):
        services.take_step(series_id=series.pk, now=NOW)
    assert Step.objects.count() == 1


def test_a_new_key_seals_what_a_series_remembers_anew_and_nothing_of_it_is_lost(asked, settings):
    series = services.publish(request_id=ask(asked, kind="watch", **WATCH).pk, now=NOW)
    series.refresh_from_db()
    before = series.memory
    settings.PUBLICATION_KEYS = [b"k" * 32, *settings.PUBLICATION_KEYS]
    assert services.encrypt_anew() == 1
    assert services.encrypt_anew() == 0
    settings.PUBLICATION_KEYS = settings.PUBLICATION_KEYS[:1]
    series.refresh_from_db()
    assert series.memory == before


def test_continual_numbers_are_charged_on_the_first_day_and_refreshed_free(opened):
    plan = opened(
        rule="continual",
        cap_delta="0.000001",
        hours=1,
        horizon=3,
        slug="refreshed",
        release_epsilon=Decimal(2),
    )
    assert len(services.publish_due(now=NOW)) == 1
    paid = spent(plan)
    answer(plan, 20)
    assert services.publish_due(now=NOW + HOUR / 2) == []
    assert len(services.publish_due(now=NOW + HOUR)) == 1
    assert services.publish_due(now=NOW + 2 * HOUR) == []  # nobody new
    for hours in (3, 4):
        answer(plan, 20)
        services.publish_due(now=NOW + hours * HOUR)
    steps = list(Step.objects.all())
    assert [step.numbers["n"] for step in steps] == [60, 80, 100]  # three were paid for
    assert Series.objects.get().is_over
    assert spent(plan) == paid
    assert paid <= Decimal(plan.content.publication.rho)


def test_a_step_that_fails_leaves_the_series_as_it_was(asked, monkeypatch):
    series = services.publish(request_id=ask(asked, kind="watch", **WATCH).pk, now=NOW)
    answer(asked, 20)
    before = bytes(Series.objects.get().state)

    def die(*args, **kwargs):
        raise RuntimeError("killed")

    monkeypatch.setattr(Step.objects, "create", die)
    with pytest.raises(RuntimeError), transaction.atomic():
        services.take_step(series_id=series.pk, now=NOW)
    found = Series.objects.get()
    assert (bytes(found.state), found.steps) == (before, 1)


def test_waves_of_a_study_by_wave_are_parts_of_their_own(opened):
    plan = opened(unit="respondent-in-wave", slug="waves")
    publish(plan, epsilon="1")
    assert Entry.charges.get().part == "wave:1"


def test_open_asked_is_what_the_fixtures_make(asked):
    assert open_asked() == asked


@pytest.mark.parametrize("method", ["smooth", "propose"])
def test_a_median_that_has_a_delta_can_be_paid_where_the_cap_has_one(opened, method, monkeypatch):
    monkeypatch.setattr(Quantile, "nearer_than_first", lambda self, n: True)
    plan = opened(cap_delta="0.000001", slug="concentrated", release_epsilon=Decimal(2))
    parameters = {
        "question": "hours",
        "percent": "50",
        "method": method,
        "epsilon": "1",
        "step": 3,
    }
    request = services.ask_for(
        plan=plan, kind="quantile", parameters=parameters, who="mira", now=NOW
    )
    release = services.publish(request_id=request.pk, now=NOW)
    assert 0 < release.entry.delta < Decimal("0.0000005")
    assert release.numbers["tables"][0]["rows"]
