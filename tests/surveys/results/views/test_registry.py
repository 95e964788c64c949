"""The public registry: what it says, to people and to machines, and to whom."""

import hashlib
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.http import StreamingHttpResponse
from django.test import Client

from dpengine.privacy import round_down
from surveys.design import selectors as design, services, words
from surveys.design.models import Catalogue, Panel, Plan, Study
from surveys.ledger import selectors as ledger
from surveys.ledger.selectors import Account
from surveys.plan.content import Texts
from surveys.releases import selectors as releases
from surveys.results.presenters import StudyPresenter
from surveys.results.registered import registered
from tests.costs import pure
from tests.html import one_line
from tests.surveys.ledger.small import tampering
from tests.surveys.results import kinds
from tests.surveys.results.small import NOW, STUDY, answer, close, open_small, publish
from tests.words import po

pytestmark = pytest.mark.django_db


@pytest.fixture
def published(db: None) -> Plan:
    plan = open_small()
    answer(plan)
    publish(plan)
    return plan


def document_of(client: Client, slug: str = "small") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(client.get(f"/registry/{slug}.json").content)
    return found


def fraction(pair: list[str]) -> Fraction:
    return Fraction(int(pair[0]), int(pair[1]))


def account_of(plan: Plan) -> Account:
    assert plan.study.budget_id is not None
    return ledger.account(plan.study.budget_id)


@pytest.mark.parametrize(
    "path",
    [
        "/registry/",
        "/registry/?q=small&state=closed",
        "/registry/small/",
        "/registry/small.json",
        "/registry/small.yaml",
        "/registry/ledger.json",
        "/registry/schemas/study-5.json",
    ],
)
def test_strangers_get_no_cookie(client: Client, published: Plan, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 200
    assert not response.cookies


def test_the_document_may_be_kept_for_a_minute_by_anyone(client: Client, published: Plan) -> None:
    response = client.get("/registry/small.json")
    assert response.headers["Content-Type"] == "application/json"
    assert set(response.headers["Cache-Control"].split(", ")) == {"public", "max-age=60"}
    assert "Cookie" not in response.headers.get("Vary", "")


def test_the_documents_charges_are_the_ledgers_exactly(client: Client, published: Plan) -> None:
    document, account = document_of(client), account_of(published)
    assert [Decimal(charge["epsilon"]) for charge in document["charges"]] == [
        entry.epsilon for entry in account.entries
    ]
    assert Decimal(document["charges"][0]["total"]) == account.amount_spent
    central = {name: Decimal(document["central"][name]) for name in ("cap", "spent", "left")}
    assert central == {
        "cap": account.cap,
        "spent": account.amount_spent,
        "left": account.amount_left,
    }


def test_the_documents_losses_are_the_plans_exactly(client: Client, published: Plan) -> None:
    document, content = document_of(client), published.content
    wave = document["waves"][0]
    assert document["format"] == "candor-registry/5"
    assert wave["plan"] == published.digest
    assert fraction(wave["loss"]) == fraction(document["local"]["loss"]) == content.loss
    for shown, question in zip(wave["questions"], content.questions, strict=True):
        assert fraction(shown["loss"]) == question.loss
        assert shown["channel"] == question.channel_document


def test_the_documents_releases_name_their_rows_and_plans(client: Client, published: Plan) -> None:
    release = releases.publications_of(published.study)[0]
    day, sha256 = release.published_on.isoformat(), release.entry.published
    cover = {"row": release.entry.position, "sha256": sha256, "step": None, "found": False}
    assert document_of(client)["releases"] == [
        {
            "number": release.number,
            "row": release.entry.position,
            "wave": 1,
            "plan": published.digest,
            "kind": "shares",
            "published_on": day,
            "answers": 120,
            "steps": None,
            "vouched": [cover],
        }
    ]


def test_the_document_holds_no_number_that_a_reader_could_round(
    client: Client, published: Plan
) -> None:
    def floats(part: Any) -> list[float]:
        if isinstance(part, float):
            return [part]
        parts = part.values() if isinstance(part, dict) else part if isinstance(part, list) else []
        return [found for inner in parts for found in floats(inner)]

    assert floats(document_of(client)) == []


def test_results_for_members_are_counted_in_the_registry_but_not_shown(
    client: Client, published: Plan
) -> None:
    page = client.get("/registry/small/").content.decode()
    assert "/results/small/" not in page
    assert "interval" not in json.dumps(document_of(client))


def test_odds_on_the_page_come_from_the_plans_integers(client: Client, published: Plan) -> None:
    keep, rest = published.content.questions[0].channel_document["weights"][1][::-1]
    own = round(100 * keep / (keep + rest))
    page = client.get("/registry/small/").content.decode()
    assert f"One hundred dots, {own} filled and {100 - own} rings" in page
    assert f'<span class="num">{own} : {100 - own}</span>' in page
    page = one_line(client.get("/registry/").content.decode())
    assert '<span class="num">73 : 27</span>' in page


def test_odds_between_two_are_never_shown_for_more_choices(client: Client, published: Plan) -> None:
    odds = design.odds_of(published.content.questions[1])[0]
    page = client.get("/registry/small/").content.decode()
    assert (
        f'{odds.size} answers sent, own among them in <span class="num">{odds.own_of_hundred} of '
        f"100</span>" in page
    )


def test_one_persons_loss_is_rounded_up(client: Client, published: Plan) -> None:
    """ln of the exact product lies a hair below 1.5; it is shown as 1.50, never 1.49."""
    assert published.content.loss < Fraction("4.4817")
    page = one_line(client.get("/registry/").content.decode())
    assert '<td data-head="One person, ε" class="n">1.50<span class="sub"></span>' in page


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", True),
        ("?q=SMALL", True),
        ("?q=aldermoor+small", True),
        ("?q=zebra", False),
        ("?state=collecting", True),
        ("?state=closed", False),
        ("?state=nonsense", True),
        ("?page=99", True),
    ],
)
def test_studies_are_found_by_words_and_state(
    client: Client, published: Plan, query: str, found: bool
) -> None:
    assert (
        f'href="/registry/{published.study.slug}/"'
        in client.get(f"/registry/{query}").content.decode()
    ) == found


def test_a_closed_study_says_so(client: Client, published: Plan) -> None:
    close(published)
    assert STUDY["title"] in client.get("/registry/?state=closed").content.decode()
    assert document_of(client)["state"] == "closed"


def test_a_draft_is_not_in_the_registry(client: Client, db: None) -> None:
    Study.objects.create(**{**STUDY, "slug": "draft"})
    assert client.get("/registry/draft/").status_code == 404
    assert client.get("/registry/draft.json").status_code == 404
    assert "No study has opened yet" in client.get("/registry/").content.decode()


def test_only_our_own_schemas_are_served(client: Client) -> None:
    assert (
        client.get("/registry/schemas/ledger-3.json").headers["Content-Type"]
        == "application/schema+json"
    )
    assert client.get("/registry/schemas/settings.json").status_code == 404


def test_the_page_says_what_is_spent_by_every_theorem(client: Client, published: Plan) -> None:
    """One publication of 0.7024: every theorem, and the optimum a hair below what is added up."""
    page = client.get("/registry/small/").content.decode()
    assert "ε at δ 10⁻⁶" in page
    assert '<th scope="row">basic: ε added up</th><td class="n">0.71</td>' in page
    assert '<th scope="row">optimal composition</th><td class="n">0.71</td>' in page


def test_the_page_has_all_that_the_registry_promises(client: Client, published: Plan) -> None:
    page = client.get("/registry/small/").content.decode()
    head, length = ledger.head()
    parts = [
        "lasts at this rate",
        "Households",
        "Expected failures",
        "One of 120",
        "Scripts sent",
        "Neighbours",
        "One record is",
        published.digest,
        head,
        f"The chain over all studies has {length} rows",
        'class="burn"',
        "of an admin about ε",
    ]
    for part in parts:
        assert part in page, part


def test_a_household_of_five_loses_five_times_as_much(client: Client, published: Plan) -> None:
    households = document_of(client)["households"]
    assert [household["people"] for household in households] == [1, 2, 3, 4, 5]
    assert (
        Decimal(households[4]["promised"]["epsilon"])
        == 5 * Decimal(households[0]["promised"]["epsilon"])
        == 10
    )
    assert Decimal(households[4]["local"]["epsilon"]) > Decimal("7.49")
    assert households[4]["promised"]["delta"] == "0"


def test_long_ledgers_fold_their_older_rows(client: Client, published: Plan) -> None:
    for number in range(8):
        kinds.charge(published, pure(Fraction(1, 100)), number, NOW)
    assert "1 older" in client.get("/registry/small/").content.decode()


def test_a_ledger_that_cannot_be_read_to_its_end_never_passes_for_the_whole(
    client: Client, published: Plan, caplog: pytest.LogCaptureFixture
) -> None:
    whole = json.loads(b"".join(streamed(client)))["rows"]
    assert len(whole) == 3
    with tampering(("UPDATE ledger_entry SET budget_id = 99999 WHERE position = 2", [])):
        text = b"".join(streamed(client)).decode()
        segment = client.get("/registry/ledger/1.json")
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)
    said = "The ledger cannot be read on: row 2: budget: there is none of this id"
    assert text.endswith(f"\n\nThis document is not whole. {said}\n")
    assert segment.status_code == 500
    assert segment.json() == {"detail": said}
    assert "Cache-Control" not in segment
    assert caplog.text.count("row 2: budget: there is none of this id") == 2


def streamed(client: Client) -> Iterator[bytes]:
    answer = client.get("/registry/ledger.json")
    assert isinstance(answer, StreamingHttpResponse)
    return answer.streaming_content  # type: ignore[return-value]


def test_no_study_can_take_the_address_of_the_ledger(db: None) -> None:
    with pytest.raises(ValidationError, match="is a file of the registry"):
        Study(**{**STUDY, "slug": "ledger"}).clean()


def test_what_a_cap_with_a_delta_promises_readers_names_the_delta(client: Client) -> None:
    """(ε, δ) is no bound on the odds of every outcome: past twice e^ε they come with a chance of
    2δ at most.
    """
    page = client.get(f"/registry/{kinds.mixed().study.slug}/").content.decode()
    assert "ε&nbsp;3.00 at δ 10⁻⁶" in page
    assert "more than twice that with a probability of 2·10⁻⁶ at most" in page
    assert (
        "more than twice"
        not in client.get(f"/registry/{kinds.unpublished().study.slug}/").content.decode()
    )


def test_a_record_that_is_one_wave_is_never_said_to_be_all_of_them(client: Client) -> None:
    """Two waves of ε = 1.5 each, counted apart: 1.50 is what one of them loses."""
    first = open_small(unit="respondent-in-wave", waves=2, draws="kept")
    services.close_plan(plan_id=first.pk, today=NOW.date())
    services.begin_wave(study_id=first.study_id)
    services.open_study(why="A test.", study_id=first.study_id, who="admin", now=NOW)
    page, listed = (
        client.get(path).content.decode() for path in ("/registry/small/", "/registry/")
    )
    assert "in all 2 waves" not in page
    assert "in 2 waves" not in page + listed
    assert "One person, in one wave, all together: ε 1.50." in page
    assert "in each of 2 waves" in listed


def test_a_record_that_is_all_waves_is_said_to_be_all_of_them(client: Client) -> None:
    first = open_small(waves=2, draws="kept")
    services.close_plan(plan_id=first.pk, today=NOW.date())
    services.begin_wave(study_id=first.study_id)
    services.open_study(why="A test.", study_id=first.study_id, who="admin", now=NOW)
    page = client.get("/registry/small/").content.decode()
    assert "One person, in all 2 waves together, each randomised anew: ε 3.00." in page


@pytest.mark.parametrize("unit", ["respondent-in-study", "respondent-in-wave"])
def test_after_a_second_wave_only_the_cap_bounds_what_readers_learn(
    client: Client, unit: str
) -> None:
    """A kept key repeats an unchanged answer's draw, so that a changed one shows: answers lose 1.5
    a wave, and both at once may lose more than 3. The cap of 5 holds.
    """
    first = open_small(unit=unit, cap="5", waves=2, draws="kept")
    one, two = "odds of a guess grow at most 4.49 times", "odds of a guess grow at most 149 times"
    page = one_line(client.get("/registry/small/").content.decode())
    assert one in page
    assert "keeps its key" not in page
    services.close_plan(plan_id=first.pk, today=NOW.date())
    services.begin_wave(study_id=first.study_id)
    services.open_study(why="A test.", study_id=first.study_id, who="admin", now=NOW)
    page = one_line(client.get("/registry/small/").content.decode())
    assert two in page
    assert "whether it changed is not protected" in page
    document = client.get("/registry/small.json").json()
    assert document["readers"] == document["central"]["promised"]


def test_a_publication_costs_at_most_what_devices_give_away_where_that_is_charged(
    client: Client, db: None
) -> None:
    """Answers lose 1.5 in all: a rule of ε 8 costs no more, and readers of all that is published
    guess right 82 of 100 times at most.
    """
    open_small(cap=Decimal(8), release_epsilon=Decimal(8))
    page = one_line(client.get("/registry/small/").content.decode())
    assert "Each time costs at most ε 1.5." in page
    own = re.search(r'<th scope="row">1</th>(.*?)</tr>', page)
    assert own is not None
    assert re.sub(r"</?data[^>]*>", "", own[1]).endswith(
        '<td class="n">8.00</td><td class="n">82</td>'
    )


def test_a_study_of_a_panel_says_so(client: Client, db: None) -> None:
    panel = Panel.objects.create(slug="class-of-26", name="Class of 26")
    assert (
        "panel:class-of-26"
        in client.get(f"/registry/{open_small(panel=panel).study.slug}/").content.decode()
    )


def test_a_retired_study_has_nothing_left(client: Client, published: Plan) -> None:
    services.retire(study_id=published.study_id, because="It was time.", who="admin", now=NOW)
    page = client.get("/registry/small/").content.decode()
    assert "will not be used" in page
    assert "</b>left" not in one_line(page)


def test_what_people_write_about_a_study_is_text(client: Client) -> None:
    evil = "<script>alert(1)</script>\"'><img src=x>"
    open_small(title=evil, organisation=evil, purpose=evil)
    for path in ("/registry/", "/registry/small/"):
        page = client.get(path).content.decode()
        assert "&lt;script&gt;alert(1)" in page
        assert "<script>alert" not in page
        assert "<img src=x>" not in page


def test_one_study_is_read_without_the_charges_of_the_others(
    client: Client,
    published: Plan,
    django_assert_max_num_queries: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ledger, "accounts", lambda: pytest.fail("every account was read"))
    assert client.get("/registry/small/").status_code == 200
    with django_assert_max_num_queries(40):
        client.get("/registry/small.json")


@pytest.mark.parametrize(
    ("unit", "state"), [("respondent-in-study", "spent"), ("respondent-in-wave", "closed")]
)
def test_a_cap_that_one_wave_has_reached_is_not_all_spent_where_each_has_its_own(
    client: Client, db: None, unit: str, state: str
) -> None:
    plan = open_small(unit=unit)
    kinds.charge(plan, pure(Fraction(2)), 1, NOW, "wave:1" if unit == "respondent-in-wave" else "")
    close(plan)
    assert document_of(client)["state"] == state


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("unit=respondent-in-study", True),
        ("unit=respondent-in-wave", False),
        ("model=device", True),
        ("model=given", False),
        ("model=both", False),
        ("unit=nonsense", True),
        ("model=device&q=small", True),
        ("model=device&q=other", False),
    ],
)
def test_studies_are_found_by_what_counts_as_one_and_where_answers_are_changed(
    client: Client, published: Plan, query: str, found: bool
) -> None:
    assert (
        'href="/registry/small/"' in client.get(f"/registry/?{query}").content.decode()
    ) is found


def test_studies_that_cannot_be_compared_stand_in_lists_of_their_own(client: Client) -> None:
    kinds.mixed()
    kinds.given()
    kinds.plain()
    open_small(slug="apart", unit="respondent-in-wave")
    groups = client.get("/registry/").context["groups"]
    firsts = [(len(group.list), group.list[0].record) for group in groups]
    assert [(many, (each.content.unit, each.model.value)) for many, each in firsts] == [
        (1, ("respondent-in-study", "device")),
        (1, ("respondent-in-study", "both")),
        (1, ("respondent-in-study", "given")),
        (1, ("respondent-in-wave", "device")),
    ]
    assert "compared only with those of the same list" in client.get("/registry/").content.decode()


def test_a_page_of_the_list_keeps_what_was_looked_for(
    client: Client, published: Plan, monkeypatch: Any
) -> None:
    open_small(slug="second", title="A small second")
    monkeypatch.setattr("surveys.results.views.registry.ON_A_PAGE", 1)
    page = client.get("/registry/?q=small&model=device").content.decode()
    assert 'href="?q=small&amp;model=device&amp;page=2"' in page
    assert (
        'href="/registry/small/"'
        in client.get("/registry/?q=small&model=device&page=2").content.decode()
    )


def test_what_is_left_is_said_in_the_list_and_first_on_the_page(
    client: Client, published: Plan
) -> None:
    left = round_down(Fraction(account_of(published).amount_left), 2)
    every, own = (client.get(f"/registry/{path}").content.decode() for path in ("", "small/"))
    assert f'<b class="num">{left} left</b>' in one_line(every)
    assert f'<b class="num">{left}</b>left' in one_line(own)


def test_at_most_is_rounded_up(client: Client, published: Plan) -> None:
    """ε 1.5: e^1.5 / (1 + e^1.5) = 81.76: a guess is right at most 82 times in 100; of ε 1.05,
    74.08 is 75.
    """
    assert "right at most 82 times in 100" in client.get("/registry/small/").content.decode()
    record = registered(published.study, NOW)
    object.__setattr__(record, "__dict__", {**record.__dict__, "loss": Fraction(2858, 1000)})
    assert "right at most 75 times in 100" in StudyPresenter(record).guess


def test_every_kind_of_question_is_shown_with_what_chance_does_to_it(client: Client) -> None:
    kinds.modern()
    page = client.get("/registry/modern/").content.decode()
    assert "about one of 4 options, picked at random" in page  # three, and “not asked”
    assert "asked after some answers to moon" in page
    assert "18 to 98 years" in page
    assert "January 2000 to January 2010" in page
    assert "randomised on the device to one of" in page


def test_a_study_of_numbers_shows_no_odds_that_it_has_not(client: Client) -> None:
    kinds.numbers()
    page = client.get("/registry/numbers/").content.decode()
    assert "A number is randomised before it is sent." in page
    assert "One hundred dots" not in page
    assert "a number, randomised" in client.get("/registry/").content.decode()


def test_the_line_of_twelve_weeks_climbs_to_what_is_spent(client: Client, published: Plan) -> None:
    record = registered(published.study, NOW)
    points = [tuple(map(float, point.split(","))) for point in record.spark.split()]
    assert points[0] == (0, 100)
    assert points[-1] == (100, pytest.approx(64.88, abs=0.05))
    assert [x for x, _ in points] == sorted(x for x, _ in points)


def test_the_page_names_its_own_address_and_both_files(client: Client, published: Plan) -> None:
    page = client.get("/registry/small/").content.decode()
    assert '<link rel="canonical" href="http://testserver/registry/small/">' in page
    assert 'href="/registry/small.json"' in page
    assert 'href="/registry/small.yaml"' in page


@pytest.mark.parametrize("kind", ["mixed", "given"])
def test_the_last_row_of_the_questions_has_the_figures_that_its_words_name(
    client: Client, kind: str
) -> None:
    plan = getattr(kinds, kind)()
    page = one_line(client.get(f"/registry/{plan.study.slug}/").content.decode())
    (row,) = re.findall(r"<tfoot>(.*?)</tfoot>", page)
    said, *cells = (
        re.sub("<.*?>", "", each).strip() for each in re.findall(r"<t[hd].*?</t[hd]>", row)
    )
    if kind == "mixed":
        assert re.fullmatch(r"All randomised answers of one person together: ε (.+)\.", said)
        assert said.endswith(f" {cells[0]}.")
        assert "∞" not in row
    else:
        assert said == "One person, all together: ε ∞."
        assert cells == ["∞", "∞"]


def test_the_words_of_the_form_are_listed_with_their_hashes_and_older_ones_stay(client, db):
    plan = open_small()
    older, newer = po(), po().replace(b"POT-Creation-Date: 2026", b"POT-Creation-Date: 2027")
    for content in (older, newer):
        words.install(po=content, who="root", why="A test.", now=NOW)
    address = f"/registry/{plan.study.slug}/"
    own = Catalogue.objects.get(tag="en")
    page = client.get(address).content.decode()
    assert f'href="/registry/words/en/{own.sha256}.po"' in page
    assert "/registry/words/qps/" not in page  # this study is not asked in it
    assert client.get(f"/registry/words/en/{own.sha256}.po").content == bytes(own.content)
    for content in (older, newer):
        sha256 = hashlib.sha256(content).hexdigest()
        assert client.get(f"/registry/words/qps/{sha256}.po").content == content
    assert client.get(f"/registry/words/en/{sha256}.po").status_code == 404
    plan.content.translations["qps"] = Texts()
    listed = design.catalogues(plan.content)
    assert [(each.tag, each.is_ours) for each in listed] == [
        ("en", True),
        ("qps", False),
        ("qps", False),
    ]
    assert listed[1].sha256 == hashlib.sha256(newer).hexdigest()
