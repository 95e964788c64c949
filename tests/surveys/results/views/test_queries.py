"""The pages to ask for more: cost and error first, one confirmation, the same numbers for ever."""

import csv
import html
import io
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from django.test import Client

from surveys.design import services as design
from surveys.design.models import Plan
from surveys.ledger import services as budgets
from surveys.ledger.models import Entry
from surveys.ledger.selectors import account
from surveys.people import services as people
from surveys.people.models import Role
from surveys.releases import selectors as releases, services
from surveys.releases.models import Release, Request, Series
from surveys.releases.queries.parameters import WrongParameter
from surveys.releases.queries.quantile import Quantile
from tests.conftest import draft_of_drawn, known_as
from tests.surveys.releases.conftest import NOW, answer, close, open_asked
from tests.surveys.results import small
from tests.surveys.results.small import open_small

pytestmark = pytest.mark.django_db

STUDY = "/studies/on-request/"
SHARES = {"questions": ["copied", "year"], "epsilon": "0.45"}
SEEN = re.compile(r'name="confirmed" value="(\w{64})"')


@pytest.fixture
def plan(db: None) -> Plan:
    return open_asked()


@pytest.fixture
def asker(plan: Plan) -> Client:
    """The browser of a researcher who may use the study's budget."""
    return browser("mira", plan, role=Role.ANALYST)


def browser(name: str, plan: Plan, *, role: Role) -> Client:
    user = known_as(name)
    people.share(study=plan.study, user=user, role=role)
    client = Client()
    client.force_login(user)
    return client


def text_of(response: Any) -> str:
    assert response.status_code == 200
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


def preview(client: Client, kind: str = "shares", **parameters: Any) -> Any:
    return client.post(f"{STUDY}ask/{kind}/", {**SHARES, **parameters})


def confirm(client: Client, kind: str = "shares", **parameters: Any) -> Any:
    """See the cost, then confirm it; return the answer."""
    found = SEEN.search(preview(client, kind, **parameters).content.decode())
    assert found is not None
    return client.post(f"{STUDY}ask/{kind}/", {**SHARES, **parameters, "confirmed": found[1]})


def publish(client: Client, **parameters: Any) -> Request:
    confirm(client, **parameters)
    request = Request.objects.latest("pk")
    services.publish(request_id=request.pk, now=NOW)
    return request


def number_of(request: Request) -> int | None:
    drawn = releases.drawn(request)
    return drawn.entry.number if drawn else None


# Before


def test_every_kind_that_fits_is_offered_with_its_sentence_and_the_others_with_what_they_need(
    asker: Client,
) -> None:
    page = text_of(asker.get(f"{STUDY}ask/"))
    for kind in releases.kinds().values():
        assert str(kind.title) in page
    assert "Not possible in this study" in page  # one number only: no regression
    assert "It needs two numbers that are not randomised." in page


def test_every_kind_that_is_offered_has_a_form_that_opens(asker: Client) -> None:
    offered = re.findall(
        r'href="(/studies/on-request/ask/\w+/)"', asker.get(f"{STUDY}ask/").content.decode()
    )
    assert len(offered) >= 8
    for path in offered:
        assert "See the budget it would use" in text_of(asker.get(path))


def test_cost_error_and_what_is_left_are_shown_before_anything_is_drawn(asker: Client) -> None:
    page = text_of(preview(asker))
    assert "It uses 0.45 of the 2.00 left" in page
    assert "left after it 1.55" in page
    assert "in 95 of 100 such studies" in page
    # e^0.45/(1 + e^0.45) = .611
    assert "is 50% sure of something about" in page
    assert page.count("Publish, use 0.45") == 1
    assert not Request.objects.exists()
    assert not Entry.charges.exists()


def open_share(plan: Plan, holder: str) -> None:
    terms: dict[str, Any] = {"cap": Decimal("0.3"), "who": "ada", "now": NOW, "why": "a share"}
    budgets.open_share(study_id=plan.study.budget_id or 0, holder=holder, **terms)


def test_every_budget_that_pays_is_shown(asker: Client, plan: Plan) -> None:
    open_share(plan, "mira")
    page = text_of(preview(asker))
    assert "Budget of your share of it" in page
    assert "is not enough: this uses 0.45, and 0.30 of 0.30 is left" in page
    assert "Publish, use" not in page


def test_many_numbers_about_few_people_are_warned_of(plan: Plan, asker: Client) -> None:
    """Sixty people: a cross-table of 2 × 3 is 6 numbers; thirty published before make it 36 of
    60.
    """
    assert "Many numbers about few people" not in text_of(preview(asker))
    for hundredth in range(1, 7):
        publish(asker, epsilon=f"0.0{hundredth}")
    page = text_of(preview(asker, epsilon="0.07"))
    assert "about 35 numbers on 60 people" in page
    assert "Dinur and Nissim 2003" in page
    assert "With this query" in page
    for hundredth in range(8, 10):  # thirty and more have been published: said before a question
        publish(asker, epsilon=f"0.0{hundredth}")
    page = text_of(asker.get(f"/studies/{plan.study.slug}/ask/"))
    assert "Many numbers about few people" in page
    assert "have been published about this wave" in page


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"epsilon": "0"}, "It must be at least 0.001; it is 0."),
        ({"epsilon": "-1"}, "It must be at least 0.001; it is -1."),
        ({"epsilon": "NaN"}, "This must be a number."),
        ({"epsilon": ""}, "This is needed."),
        (
            {"epsilon": "1.2"},
            "One request of this study may cost at most ε 1, and this costs ε 1.2.",
        ),
        ({"questions": []}, "This is needed."),
        ({"questions": ["hours"]}, "hours is not one of the available choices"),
    ],
)
def test_what_cannot_be_asked_is_said_beside_its_field_and_nothing_is_written(
    asker: Client, wrong: dict[str, Any], words: str
) -> None:
    assert words in text_of(preview(asker, **wrong))
    assert not Request.objects.exists()


def test_where_a_cap_is_counted_in_rho_what_one_request_may_cost_is_said_in_epsilon_too(
    db: None,
) -> None:
    """It is what was typed, whatever the noise."""
    plan = open_asked(cap_delta="0.000001")
    client, asked = browser("mira", plan, role=Role.ANALYST), {"question": "hours", "epsilon": "5"}
    for kind, others in (
        ("mean", {"spread": "bound"}),
        ("quantile", {"percent": "50", "method": "exponential"}),
    ):
        page = text_of(preview(client, kind, **asked, **others))
        assert "may let out ε 1 at most, and this is ε 5" in page


def test_what_was_typed_is_what_it_gives_away_with_its_share_of_the_cap(db: None) -> None:
    """At a cap of (1, 10⁻⁶). Before, a table typed at 0.4 said 1.96, most common answers 0.8."""
    plan = open_asked(cap_delta="0.000001", cap=Decimal(1))
    client = browser("mira", plan, role=Role.ANALYST)
    asked: dict[str, dict[str, Any]] = {
        "shares": {"questions": ["copied", "year"]},
        "crosstab": {"rows": "copied", "within": "year"},
        "most_common": {"question": "year", "best": 1},
        "mean": {"question": "hours", "spread": "bound"},
        "quantile": {"question": "hours", "percent": "50", "method": "exponential"},
        "price": {"question": "hours", "lowest": 1, "highest": 80, "step": 1},
        "variance": {"question": "hours"},
        "watch": {"answer": "year/1", "percent": "50"},
    }
    for kind, parameters in asked.items():
        page = text_of(preview(client, kind, **parameters, epsilon="0.4"))
        assert "That is ε 0.4." in page, kind
        assert "the odds grow at most 1.50 times" in page, kind
        share = "18 %" if kind not in ("price", "most_common") else "1[78] %"
        assert re.search(
            f"That is {share} of the cap. The budget left allows this many of them: 5", page
        ), kind
        assert "It uses ρ 0.004" in page, kind


def test_what_a_delta_means_is_said_as_what_it_is(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """δ = 1/2,000,000 + 1/16,000,000: odds beyond twice e^ε have a chance of 9/8,000,000. δ is not
    the chance that ε fails.
    """
    monkeypatch.setattr(Quantile, "nearer_than_first", lambda self, n: True)
    plan = open_asked(cap_delta="0.000001")
    page = text_of(
        preview(
            browser("mira", plan, role=Role.ANALYST),
            "quantile",
            question="hours",
            percent="50",
            method="smooth",
            epsilon="1",
        )
    )
    assert "Someone who knows all other answers" in page
    assert (
        "With a probability of 1 in 888,888 at most, its δ lets odds grow to more than twice"
        in page
    )
    assert "cap is ε 2 at δ 0.000001" in page
    assert "Left: ρ 0.0834 or ε 2.00" in page
    assert "but for a chance" not in page


def test_what_it_loses_by_itself_is_told_apart_from_what_it_adds(asker: Client, plan: Plan) -> None:
    """One question was read before by a noise, and a second noise adds less than it loses."""
    asked = {"questions": ["copied"], "epsilon": "0.3"}
    line = "That is ε 0.3. It adds "
    assert f"{line}ε 0.30 to earlier releases." in text_of(preview(asker, **asked))
    publish(asker, questions=["copied"])
    added = account(plan.study.budget_id).added(releases.read(plan, "shares", asked).cost)
    assert 0 < added.epsilon < Fraction(3, 10)
    page = text_of(preview(asker, **asked))
    assert f"{line}ε {float(added.epsilon):.2f}"[:-1] in page
    publish(asker, **asked)
    assert f"{line}nothing to earlier releases." in text_of(preview(asker, **asked))


def test_a_release_says_its_loss_by_itself_and_noise_only_where_some_was_added(db: None) -> None:
    """At an ε of all that devices gave away no noise is added, and what follows is free."""
    plan = open_small(cap=Decimal(8), release_epsilon=Decimal(8), rule="on-request")
    small.answer(plan)
    client = browser("mira", plan, role=Role.ANALYST)
    own, pages = "This release alone, by the ", []
    for epsilon in ("8", "0.3"):
        request = services.ask_for(
            plan=plan,
            kind="shares",
            parameters={"questions": ["moon"], "epsilon": epsilon},
            who="mira",
            now=small.NOW,
        )
        services.publish(request_id=request.pk, now=small.NOW)
        pages.append(text_of(client.get(f"/studies/small/releases/{number_of(request)}/")))
    assert f"{own}randomising on devices: no noise was added." in pages[0]
    assert "It used ε 0.00, once" in pages[1]
    assert f"{own}random noise in its numbers." in pages[1]


def test_before_the_smallest_batch_the_reason_stands_there(db: None) -> None:
    plan = open_asked(people=5)
    client = browser("mira", plan, role=Role.ANALYST)
    assert "Nothing is published before 10 answers" in text_of(client.get(f"{STUDY}ask/"))
    assert "Nothing can be asked now" in text_of(client.get(f"{STUDY}ask/shares/"))


# Confirming


def test_a_confirmed_request_waits_for_a_worker_and_then_leads_to_its_numbers(
    asker: Client,
) -> None:
    answered = confirm(asker)
    waiting = asker.get(answered.headers["Location"])
    assert "The numbers are being made" in text_of(waiting)
    assert waiting.headers["Refresh"] == "2"
    request = Request.objects.get()
    services.publish(request_id=request.pk, now=NOW)
    arrived = asker.get(answered.headers["Location"])
    assert arrived.headers["Location"] == f"{STUDY}releases/{number_of(request)}/"
    page = text_of(asker.get(arrived.headers["Location"]))
    assert "asked by mira" in page
    assert "It used ε 0.45, once" in page
    assert "uses no budget" in page


def test_a_request_that_no_worker_comes_to_says_so_and_is_looked_at_less_often(
    asker: Client,
) -> None:
    path = confirm(asker).headers["Location"]
    Request.objects.update(confirmed_at=NOW)
    page = asker.get(path)
    assert "This takes longer than usual" in text_of(page)
    assert "has used nothing" in text_of(page)
    assert page.headers["Refresh"] == "15"


def test_the_same_again_shows_the_same_numbers_and_says_so(asker: Client) -> None:
    request = publish(asker)
    shown = asker.get(f"{STUDY}releases/{number_of(request)}/").content
    page = text_of(preview(asker))
    assert "mira asked for exactly this" in page
    assert "It uses no budget" in page
    again = confirm(asker)
    assert again.headers["Location"] == f"{STUDY}releases/{number_of(request)}/?again"
    assert "This was asked before" in text_of(asker.get(again.headers["Location"]))
    assert asker.get(f"{STUDY}releases/{number_of(request)}/").content.count(
        b"%</b>"
    ) == shown.count(b"%</b>")
    assert Release.objects.count() == Entry.charges.count() == 1


def test_answers_that_came_after_the_cost_was_shown_are_told_of_before_anything_is_confirmed(
    asker: Client, plan: Plan
) -> None:
    seen = SEEN.search(preview(asker).content.decode())
    assert seen is not None
    answer(plan, 20)
    page = text_of(asker.post(f"{STUDY}ask/shares/", {**SHARES, "confirmed": seen[1]}))
    assert "More responses were counted since you looked" in page
    assert not Request.objects.exists()


def test_what_could_not_be_paid_says_why_and_can_be_confirmed_again(asker: Client) -> None:
    for epsilon in ("1", "0.99"):
        publish(asker, epsilon=epsilon)
    request = services.ask_for(
        plan=Plan.objects.get(),
        kind="shares",
        parameters={**SHARES, "epsilon": "0.98"},
        who="mira",
        now=NOW,
    )
    services.try_to_publish(request_id=request.pk, now=NOW)
    path = f"{STUDY}asked/{request.digest}/"
    page = asker.get(path)
    assert f"{account(Plan.objects.get().study.budget_id).amount_left} is left" in text_of(page)
    assert "Refresh" not in page.headers
    assert "not enough budget" in text_of(asker.get(STUDY))
    assert asker.post(path).headers["Location"] == path
    assert "The numbers are being made" in text_of(asker.get(path))


def test_what_another_could_not_pay_shows_its_cost_and_is_charged_to_whoever_confirms_it(
    asker: Client, plan: Plan
) -> None:
    open_share(plan, "otto")
    refused = services.ask_for(plan=plan, kind="shares", parameters=SHARES, who="otto", now=NOW)
    services.try_to_publish(request_id=refused.pk, now=NOW)
    page = text_of(preview(asker))
    assert "It uses 0.45 of the 2.00 left" in page
    assert "uses no budget" not in page
    path = f"{STUDY}asked/{refused.digest}/"
    assert "the budget of the person who confirms it" in text_of(asker.get(path))
    asker.post(path)
    assert Request.objects.get().who == "mira"


# Who


def test_a_member_without_the_right_reads_but_cannot_ask(plan: Plan, asker: Client) -> None:
    request = publish(asker)
    reader = browser("otto", plan, role=Role.READER)
    assert "asked by mira" in text_of(reader.get(f"{STUDY}releases/{number_of(request)}/"))
    assert "An owner of the study can give you the right to ask" in text_of(reader.get(STUDY))
    for path in ("ask/", "ask/shares/"):
        assert reader.get(f"{STUDY}{path}").status_code == 403
    assert reader.post(f"{STUDY}ask/shares/", SHARES).status_code == 403
    assert reader.post(f"{STUDY}asked/{request.digest}/").status_code == 403
    assert Request.objects.count() == 1


def test_a_study_that_is_not_shared_has_no_such_pages(plan: Plan, asker: Client) -> None:
    request = publish(asker)
    people.ensure_user(username="eve", password="a long enough password")
    stranger = Client()
    stranger.login(username="eve", password="a long enough password")
    for path in (
        "ask/",
        "ask/shares/",
        f"asked/{request.digest}/",
        f"releases/{number_of(request)}/",
    ):
        assert stranger.get(f"{STUDY}{path}").status_code == 404
    assert stranger.get(f"{STUDY}releases/{number_of(request)}.csv").status_code == 404


def test_strangers_read_what_was_asked_for_where_results_are_for_everyone(
    client: Client, asker: Client
) -> None:
    number = number_of(publish(asker))
    assert (
        f"/results/on-request/releases/{number}/"
        in client.get("/results/on-request/").content.decode()
    )
    response = client.get(f"/results/on-request/releases/{number}/")
    assert "asked by a member of the team" in text_of(response)  # “mira” is no pseudonym
    assert not response.cookies
    assert client.get(f"/results/on-request/releases/{number}.csv").status_code == 200
    assert client.get("/results/on-request/releases/999/").status_code == 404


def test_results_for_members_are_not_for_strangers(client: Client, db: None) -> None:
    plan = open_asked(results="members")
    number = number_of(publish(browser("mira", plan, role=Role.ANALYST)))
    assert client.get(f"/results/on-request/releases/{number}/").status_code == 404
    assert client.get(f"/results/on-request/releases/{number}.csv").status_code == 404


# Files


def rows_of(response: Any) -> list[list[str]]:
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.reader(io.StringIO(response.content.decode())))


def test_a_file_holds_the_numbers_exactly_as_published(asker: Client) -> None:
    request = publish(asker)
    head, *rows = rows_of(asker.get(f"{STUDY}releases/{number_of(request)}.csv"))
    assert head == ["table", "row", "value", "low", "high", "standard_error", "unit"]
    tables = Release.objects.get().numbers["tables"]
    assert [float(row[2]) for row in rows] == [
        row["value"] for table in tables for row in table["rows"]
    ]


def test_a_synthetic_set_comes_as_a_file_of_its_own(asker: Client) -> None:
    request = publish(asker, kind="synthetic", questions=["year", "hours"], bins="4", epsilon="0.9")
    path = f"{STUDY}releases/{number_of(request)}"
    assert "Synthetic people: " in text_of(asker.get(f"{path}/"))
    head, *rows = rows_of(asker.get(f"{path}.csv?synthetic"))
    assert head == ["year", "hours"]
    assert {row[0] for row in rows} <= {"First", "Second", "Third"}
    assert (
        asker.get(f"{STUDY}releases/{number_of(publish(asker))}.csv?synthetic").status_code == 404
    )


# Series


def test_a_series_that_takes_questions_answers_them_one_by_one_and_the_same_one_the_same(
    asker: Client,
) -> None:
    request = publish(
        asker, kind="check", questions=["year"], tolerance="20", numbers="3", epsilon="0.9"
    )
    path = f"{STUDY}releases/{number_of(request)}/"
    page = text_of(asker.get(path))
    assert "Ask the next question" in page
    assert "Year First Second Third" in page  # which place is which answer
    stated = {"question": "year", "choice": "1", "percent": "33"}
    for _ in range(2):
        assert asker.post(path, stated).headers["Location"] == path
    assert Series.objects.get().steps == 1
    assert "You found 33 %" in text_of(asker.get(path))
    assert (
        "expected a whole number from 1 to 3"
        in text_of(asker.post(path, {**stated, "choice": "9"})).lower()
    )
    assert Series.objects.get().steps == 1
    assert Entry.charges.count() == 1


def test_who_may_not_ask_puts_no_question_to_a_series(asker: Client, plan: Plan) -> None:
    request = publish(
        asker, kind="check", questions=["year"], tolerance="20", numbers="3", epsilon="0.9"
    )
    reader = browser("otto", plan, role=Role.READER)
    path = f"{STUDY}releases/{number_of(request)}/"
    page = text_of(reader.get(path))
    assert "Ask the next question" not in page
    assert "No question was asked yet" in page
    assert "steps so far: 0" in text_of(reader.get(STUDY))
    assert (
        reader.post(path, {"question": "year", "choice": "1", "percent": "33"}).status_code == 403
    )


def test_a_series_that_goes_on_by_itself_says_so(asker: Client, plan: Plan) -> None:
    request = publish(asker, kind="watch", answer="year/1", percent="99.9", epsilon="0.9")
    path = f"{STUDY}releases/{number_of(request)}/"
    page = text_of(asker.get(path))
    assert "each batch of responses adds a step" in page
    assert "Step 1" in page
    design.close_plan(plan_id=plan.pk, today=NOW.date())
    assert "the series ends when the last responses" in text_of(asker.get(path))


def test_after_retirement_nothing_can_be_asked_and_what_was_published_stays(
    asker: Client, plan: Plan
) -> None:
    request = publish(asker)
    design.retire(study_id=plan.study_id, because="asked to", who="ada", now=NOW)
    assert "The study ended on" in text_of(asker.get(f"{STUDY}ask/"))
    assert "The study ended on" in text_of(preview(asker, epsilon="0.1"))
    assert "It used ε 0.45" in text_of(asker.get(f"{STUDY}releases/{number_of(request)}/"))


ASKED: dict[str, Callable[[], dict[str, Any]]] = {
    "crosstab": lambda: {"rows": "copied", "within": "year", "epsilon": "0.3"},
    "most_common": lambda: {"question": "year", "best": "1", "epsilon": "0.3"},
    "mean": lambda: {"question": "hours", "spread": "bound", "epsilon": "0.3"},
    "quantile": lambda: {
        "question": "hours",
        "percent": "50",
        "method": "exponential",
        "epsilon": "0.3",
    },
    "ranges": lambda: {"question": "hours", "ranges": "0-20\n21-80", "epsilon": "0.3"},
    "trusted": lambda: {"question": "hours", "statistic": "mean", "groups": "30", "epsilon": "0.3"},
    "expression": lambda: {
        "expression": "mean(hours > 20)",
        "least": "0",
        "most": "1",
        "groups": "30",
        "epsilon": "0.3",
    },
}


@pytest.mark.parametrize("kind", ASKED)
def test_every_kind_goes_from_its_form_to_its_numbers(asker: Client, kind: str) -> None:
    parameters = ASKED[kind]()
    page = preview(asker, kind, **parameters)
    found = SEEN.search(page.content.decode())
    assert found is not None, text_of(page)
    asker.post(f"{STUDY}ask/{kind}/", {**parameters, "confirmed": found[1]})
    request = Request.objects.get()
    services.publish(request_id=request.pk, now=NOW)
    shown = text_of(asker.get(f"{STUDY}releases/{number_of(request)}/"))
    assert "How these numbers were made" in shown
    assert "style=" not in page.content.decode()


def test_a_delta_that_is_used_up_is_called_that_and_not_a_weekly_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Eight medians with a δ use all of it, and hardly any of ρ."""
    plan = open_asked(cap_delta="0.000001")
    client = browser("mira", plan, role=Role.ANALYST)
    said = {"question": "hours", "percent": "50", "method": "smooth"}
    monkeypatch.setattr(Quantile, "nearer_than_first", lambda self, n: True)
    for hundredths in range(51, 59):
        publish(client, kind="quantile", **said, epsilon=f"0.{hundredths}")
    page = text_of(preview(client, "quantile", **said, epsilon="0.6"))
    assert "Its δ is used up. Mechanisms without a δ are still possible" in page
    assert "weekly limit allows" not in page
    assert "Publish, use" in text_of(
        preview(client, "quantile", **said | {"method": "exponential"}, epsilon="0.1")
    )


def test_where_either_counts_a_cost_and_what_is_left_are_said_with_both_signs(db: None) -> None:
    """ε = 1/2 by itself: ρ 0.00622 at δ/2 = 5e-7, as Laplace noise of ε 0.1115 has."""
    plan = open_asked(cap_delta="0.000001")
    client = browser("mira", plan, role=Role.ANALYST)
    said = {"question": "hours", "epsilon": "0.5", "spread": "bound"}
    page = text_of(preview(client, "mean", **said))
    assert re.search(r"It uses ρ 0\.006\d+ \(ε 0\.11\d+\)\. Left: ρ 0\.0834 or ε 2\.00 ", page)
    assert "Publish, use ρ 0.006" in page
    page = text_of(client.get(f"{STUDY}ask/"))
    assert "Left: ε 2.00 or ρ 0.0834" in page


def test_a_cost_is_said_with_the_same_decimals_before_and_after(asker: Client) -> None:
    asked = {"epsilon": "0.104"}
    assert "this would use 0.104" in text_of(preview(asker, **asked))
    request = publish(asker, **asked)
    shown = text_of(asker.get(f"{STUDY}releases/{number_of(request)}/"))
    assert "It used ε 0.104, once" in shown


def test_methods_name_the_rows_of_what_was_published_on_request(asker: Client) -> None:
    none = "The study’s rule has published no numbers yet"
    assert none in text_of(asker.get(f"{STUDY}methods/"))
    rows = []
    for epsilon in ("0.1", "0.2"):
        drawn = releases.drawn(publish(asker, epsilon=epsilon))
        assert drawn is not None
        rows.append(str(drawn.entry.position))
    page = text_of(asker.get(f"{STUDY}methods/"))
    said = f"Numbers are published on request: rows {', '.join(rows)} of the public ledger."
    assert page.count(said) == 3  # above the texts, in the paragraph, and in the section
    assert none not in page


@pytest.mark.parametrize("kind", ["shares", "mean", "crosstab", "most_common"])
def test_a_form_proposes_what_a_request_may_cost_and_no_more_than_is_left(asker, plan, kind):
    page = asker.get(f"{STUDY}ask/{kind}/")
    assert page.context["form"]["epsilon"].value() == Decimal(1)
    design.lower_cap(
        study_id=plan.study_id, new=Decimal("0.3"), who="ada", why="less is enough", now=NOW
    )
    page = asker.get(f"{STUDY}ask/{kind}/")
    assert page.context["form"]["epsilon"].value() == Decimal("0.3")


def test_pages_tell_a_cap_that_was_lowered_as_it_is_now(db: None) -> None:
    plan = open_asked(cap_delta="0.000001", cap=Decimal(1))
    client = browser("mira", plan, role=Role.ANALYST)
    assert "ε 0.4 uses 18 %" in text_of(client.get(f"{STUDY}ask/mean/"))
    design.lower_cap(
        study_id=plan.study_id, new=Decimal("0.4"), who="ada", why="less is enough", now=NOW
    )
    for page in ("ask/", "ask/mean/"):
        assert "The cap is ε 0.4 at δ 0.000001" in text_of(client.get(f"{STUDY}{page}"))
    assert "ε 0.4 uses 100 %" in text_of(client.get(f"{STUDY}ask/mean/"))
    assert "capped at ε = 0.4, δ = 0.000001" in text_of(client.get(f"{STUDY}methods/"))


QUIET = re.compile(r'<button class="button wide-button( plain)?">\s+Publish, use')
ASK_LESS = re.compile(r'<button class="button( plain)?" name="change" value="1">\s+Change')


@pytest.mark.parametrize(
    ("kind", "asked", "little"),
    [
        ("shares", {"questions": ["copied"], "epsilon": "0.9"}, False),
        ("shares", {"questions": ["copied"], "epsilon": "0.01"}, True),
        ("shares", {"questions": ["copied", "year"], "epsilon": "0.02"}, True),
        ("mean", {"question": "hours", "epsilon": "0.9"}, False),
        ("mean", {"question": "hours", "epsilon": "0.01"}, True),
        ("crosstab", {"rows": "copied", "columns": "year", "epsilon": "0.02"}, True),
        ("variance", {"question": "hours", "epsilon": "0.9"}, False),
        ("variance", {"question": "hours", "epsilon": "0.01"}, True),
    ],
)
def test_publish_is_the_quiet_button_where_a_query_would_tell_next_to_nothing(
    asker, plan, kind, asked, little
):
    answer(plan, 240)
    fields = asker.get(f"{STUDY}ask/{kind}/").context["form"]
    first = {
        each.name: each.field.choices[0][0] for each in fields if hasattr(each.field, "choices")
    }
    usual = first | {each.name: each.value() for each in fields if each.value() is not None}
    page = asker.post(f"{STUDY}ask/{kind}/", {**usual, **asked})
    assert page.context.get("preview"), page.context["form"].errors
    assert page.context["preview"].tells_little == little
    said = page.content.decode()
    assert bool(QUIET.search(said)[1]) == little
    assert bool(ASK_LESS.search(said)[1]) != little
    assert ("would say almost nothing" in said) == little


def test_no_watch_is_offered_where_no_batch_can_come_and_ask_says_why() -> None:
    plan = open_asked()
    client = browser("mira", plan, role=Role.ANALYST)
    assert f"{STUDY}ask/watch/" in client.get(f"{STUDY}ask/").content.decode()
    close(plan)
    page = client.get(f"{STUDY}ask/").content.decode()
    assert f"{STUDY}ask/watch/" not in page
    assert "It looks at every batch of answers, and this study is closed." in page
    assert client.get(f"{STUDY}ask/watch/").status_code == 404
    asked = {"answer": "year/1", "percent": "50", "epsilon": "0.1"}
    closed = Plan.objects.get()
    with pytest.raises(WrongParameter, match="a study that still takes answers"):
        services.ask_for(plan=closed, kind="watch", parameters=asked, who="mira", now=NOW)


def test_a_watch_that_was_begun_goes_on_when_its_study_has_closed() -> None:
    plan = open_asked()
    client = browser("mira", plan, role=Role.ANALYST)
    request = publish(client, kind="watch", answer="year/1", percent="99.9", epsilon="1")
    close(plan)
    assert "not yet" in text_of(client.get(f"{STUDY}releases/{number_of(request)}/"))
    assert releases.query_of(Request.objects.get()).kind == "watch"


def test_the_page_of_queries_names_what_can_be_asked_of_a_study_and_nothing_else() -> None:
    plan = open_asked()
    client = browser("mira", plan, role=Role.ANALYST)
    page = text_of(client.get(f"{STUDY}ask/"))
    card = page.partition("The same query again")[2].partition("Not possible in this study")[0]
    possible = [kind for kind in releases.kinds().values() if kind.can_be_asked(plan)]
    assert all(str(kind.title) in card for kind in possible)
    assert not any(
        str(kind.title) in card for kind in releases.kinds().values() if kind not in possible
    )


def test_what_no_device_is_asked_together_is_not_offered_together(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = draft_of_drawn(asked=1)
    plan = design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)
    crosstab = releases.kinds()["crosstab"]
    assert crosstab.form(plan) is not None  # with what is asked of everybody
    apart = {name: plan.content.question(name) for name in ("fair", "often", "late")}
    monkeypatch.setattr(crosstab, "fitting", lambda plan: apart)
    assert crosstab.form(plan) is None
    assert "No device is asked enough of its questions together" in str(crosstab.lacks(plan))


def test_the_methods_text_of_what_was_asked_for_says_what_it_is(asker: Client) -> None:
    """Its link on the page of the release was a 404."""
    request = publish(asker, kind="mean", question="hours", spread="bound", epsilon="0.5")
    page = asker.get(f"{STUDY}releases/{number_of(request)}/").content.decode()
    address = re.search(r'href="([^"]*methods/[?]release=[^"]*)"', page)
    assert address is not None
    said = text_of(asker.get(html.unescape(address[1])))
    assert "“Mean of a number or of scored choices: Hours” was published on" in said
    assert "for a query (clamped mean, discrete Laplace of scales" in said
    assert "with a privacy loss of ε = 0.5" in said
    assert asker.get(f"{STUDY}methods/?release=99").status_code == 404
    plain = asker.get(html.unescape(address[1]) + "&plain=section").content.decode()
    assert "noise drawn by OpenDP" in plain


def test_the_mean_of_a_yes_or_no_is_said_in_percent(asker: Client) -> None:
    page = text_of(preview(asker, "mean", question="copied", spread="bound", epsilon="1"))
    half = re.search(r"Copied: within ± ([\d.]+) points", page)
    assert half is not None
    assert float(half[1]) > 5
    request = publish(asker, kind="mean", question="copied", spread="bound", epsilon="1")
    (row,) = Release.objects.get(request=request).content.tables[0].rows
    assert row.unit == "percent"
    assert (row.high or 0) > 5
