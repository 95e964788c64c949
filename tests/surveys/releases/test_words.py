"""What is stored is English, and is said to readers in their own language."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.utils import translation

from surveys.demo.kinds import SLEEP, SLEEP_QUESTIONS
from surveys.demo.services import ensure_study
from surveys.demo.studies import HABITS, HABITS_QUESTIONS
from surveys.design import changes
from surveys.design import services as design
from surveys.design.models import Panel, Plan, Study
from surveys.ledger import chain
from surveys.ledger.models import Entry
from surveys.releases import queries, sentences, services, words
from surveys.releases.asked import ALL
from surveys.releases.asked.base import Asked, Standing
from surveys.releases.continual import Continual
from surveys.releases.models import Release, Step
from tests.surveys.releases.asked import plans, scored_plans
from tests.surveys.releases.test_kinds import NAMES, NOW, opened

GIVEN = plans.given("colour", plans.COLOURS)
DEVICE = plans.device("team", plans.COLOURS)
SIDE = plans.given("side", ["Left", "Right"], kind="yes_no")
COSTS = plans.number("cost", 0, 100)
EVERYTHING = (GIVEN, DEVICE, SIDE, COSTS, scored_plans.HOURS, scored_plans.AGE, scored_plans.FAIR)
PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "crosstab": [{"rows": "colour", "within": "side"}, {"rows": "team", "within": "side"}],
    "most_common": [{"question": "colour", "best": 2}, {"question": "team", "best": 1}],
    "mean": [{"question": "cost", "spread": "released"}, {"question": "hours"}, {"question": "team"}],
    "quantile": [
        {"question": "hours", "percent": "50", "method": "exponential"},
        {"question": "hours", "percent": "90", "method": "exponential"},
        {"question": "hours", "percent": "50", "method": "smooth"},
        {"question": "hours", "percent": "50", "method": "propose", "step": 5},
    ],
    "ranges": [{"question": "cost", "ranges": "0-9\n5-50\n7"}],
    "linear_regression": [{"outcome": "hours", "predictors": ["age"]}],
    "synthetic": [{"questions": ["side", "cost"], "bins": 5}, {"questions": ["side"]}],
    "watch": [{"answer": "colour/1", "percent": "20"}],
    "check": [{"questions": ["side", "colour"], "tolerance": "5", "numbers": 3}],
    "price": [{"question": "cost", "lowest": 10, "highest": 90, "step": 10}],
    "trusted": [{"question": "hours", "statistic": "trimmed_mean", "groups": 10},
                {"question": "hours", "second": "age", "statistic": "correlation", "groups": 200}],
}  # fmt: skip
PEOPLE = [(i % 5, i % 5, i % 2, i, i % 61, 18 + i % 82, i % 4) for i in range(100)]
BY_NAME = [question["name"] for question in EVERYTHING]


def everything(*, rho: bool, neighbours: str = "change-one") -> Plan:
    return plans.plan_with(*EVERYTHING, rho=rho, neighbours=neighbours)


def questions_in(plan: Plan) -> list[dict[str, Any]]:
    return list(plan.content["questions"])


def counts_for(plan: Plan, asked: Asked) -> Any:
    rows = [[row[BY_NAME.index(name)] for name in asked.questions] for row in PEOPLE]
    return plans.reported(plan, asked.questions, rows, seed=7)


def texts_of(asked: Asked, plan: Plan, n: int = 100) -> list[str]:
    """Return every sentence that a kind can store or show, but for the words of the questions themselves."""
    counts = counts_for(plan, asked)
    drawn = [asked.draw(counts, n)]
    if isinstance(asked, Standing):
        form = asked.question_form(plan)
        question = {"question": "side", "choice": 1, "percent": "1"} if form else None
        drawn.append(asked.step(asked.start(counts, n), counts, n, question)[1])
    found = [asked.mechanism, f"{asked.mechanism}; {n:,} reports", asked.sensitivity, *asked.expected(n)]
    for numbers in drawn:
        found += [numbers["method"], *numbers["notes"], *numbers["derived"]]
        for table in numbers["tables"]:
            found.append(table["caption"])
            found += [row["value"] for row in table["rows"] if isinstance(row["value"], str)]
    labels = {question["label"] for question in questions_in(plan)}
    return [text for text in found if text not in plans.COLOURS and not set(text.split(" and ")) <= labels]


@pytest.mark.parametrize("rho", [False, True])
@pytest.mark.parametrize("neighbours", ["change-one", "add-remove"])
@pytest.mark.parametrize("kind", [kind for kind in ALL if kind.kind != "shares"], ids=lambda kind: kind.kind)
def test_every_sentence_of_every_kind_is_known(kind, rho, neighbours):
    plan = everything(rho=rho, neighbours=neighbours)
    for parameters in PARAMETERS[kind.kind]:
        if parameters.get("method") in ("smooth", "propose") and not rho:
            continue
        for epsilon in ("2", "0.05") if kind.kind != "linear_regression" else ("2",):
            asked = kind.read(plan, {**parameters, "epsilon": epsilon})
            assert [text for text in texts_of(asked, plan) if not words.is_known(text)] == []


def test_every_kind_has_a_title_that_is_known():
    assert {str(kind.title) for kind in (*ALL, Continual)} == set(sentences.ONE_OF["title"])
    assert words.is_known("Table of two questions: Team, Fair: or not, wave 2")


@pytest.mark.django_db
@pytest.mark.parametrize("changes", [{}, {"cap_delta": "0.000001"}, {"rule": "continual", "cap_delta": "0.000001"}])
def test_every_sentence_of_what_a_rule_publishes_and_of_its_ledger_is_known(changes):
    plan = opened(**changes)
    services.publish_due(now=NOW)
    asked = queries.by_rule(plan)
    (numbers,) = [each.numbers for each in (*Release.objects.all(), *Step.objects.all())]
    said = [asked.mechanism, asked.sensitivity, *asked.expected(60)]
    said += [numbers["method"], *numbers["notes"], *numbers["derived"]]
    said += [part["mechanism"]["name"] for part in numbers["questions"]]
    for entry in Entry.objects.all():
        new = "" if entry.published else entry.new  # then it is the digest of a request, which has no words
        said += [entry.reason, entry.mechanism, entry.sensitivity, entry.what, entry.old, new, entry.why]
    assert [text for text in said if text and not words.is_known(text)] == []


def test_a_mechanism_and_the_number_of_reports_are_said_apart():
    law = "reusable holdout, 5 numbers, discrete Laplace of scales 45, 90, 75"
    with translation.override("zh-hans"):
        assert words.told(f"{law}; 1,551 reports").startswith(words.told(law))
        assert "report" not in words.told(f"{law}; 1,551 reports")


@pytest.mark.django_db
def test_more_for_answers_sent_as_given_is_known_as_the_ledger_writes_it():
    ensure_study({**HABITS, "given_by": "person 1"}, HABITS_QUESTIONS, NOW)
    entry = Entry.objects.get(why=HABITS["given_why"])
    assert [text for text in (entry.what, entry.old, entry.new) if not words.is_known(text)] == []


@pytest.mark.django_db
def test_every_term_that_the_ledger_writes_is_known():
    study = design.draft_study(study=SLEEP, questions=SLEEP_QUESTIONS)
    panel = Panel.objects.create(slug="p", name="P")
    for found, owner in ((changes.terms_of(Study.objects.get(pk=study.pk)), "sleep-and-work"),
                         (changes.terms_of_panel(panel), "panel p")):  # fmt: skip
        assert [name for name in found if not words.is_known(f"{owner}: {name}")] == []


def stored_by(language: str) -> tuple[list[Any], list[Any]]:
    """Ask and publish while a language is the reader's; return the words of all rows and numbers."""
    with translation.override(language):
        plan = opened(rule="on-request")
        asked = [
            ("shares", {"questions": NAMES, "epsilon": "1"}),
            ("crosstab", {"rows": "drowsy", "within": "boss", "epsilon": "1"}),
            ("watch", {"answer": "drowsy/1", "percent": "99.9", "epsilon": "0.5"}),
            ("mean", {"question": "boss", "epsilon": "1"}),
            ("crosstab", {"rows": "drowsy", "within": "rest", "epsilon": "3"}),
        ]
        for kind, parameters in asked:
            made = services.ask_for(plan=plan, kind=kind, parameters=parameters, who="ada", now=NOW)
            services.try_to_publish(request_id=made.pk, now=NOW)
        numbers = [each.numbers for each in (*Release.objects.all(), *Step.objects.all())]
        documents = [
            {name: value for name, value in _row(entry).items() if name not in ("previous", "digest", "published")}
            for entry in Entry.objects.all()
        ]
        refused = list(plan.requests.order_by("pk").values_list("refused", flat=True))
        shown = [_words_of(each) for each in numbers]
    return [documents, refused], shown


def _row(entry: Entry) -> dict[str, Any]:
    return json.loads(chain.canonical(chain.document_of(entry)))


def _words_of(numbers: Any) -> Any:
    """Return what numbers say, without the numbers, which chance makes."""
    if isinstance(numbers, dict):
        return {name: _words_of(value) for name, value in numbers.items() if name not in ("value", "low", "high")}
    if isinstance(numbers, list):
        return [_words_of(each) for each in numbers]
    return numbers if isinstance(numbers, str) else None


@pytest.mark.django_db
def test_what_is_asked_and_confirmed_in_chinese_is_stored_as_in_english():
    class Undone(Exception):
        pass

    found = []
    for language in ("en", "zh-hans"):
        try:
            with transaction.atomic():
                found.append(stored_by(language))
                raise Undone
        except Undone:
            pass
    assert found[0] == found[1]
    rows, refused = found[0][0]
    assert any("is left" in text for text in refused)
    assert all(text == "" or words.is_known(text) for text in refused)
    assert len(rows) > 4


def test_a_known_sentence_is_said_in_the_readers_language_from_its_parts():
    text = "discrete Laplace, 3 tallies; 1,000 reports"
    assert words.told(text) == text
    with translation.override("zh-hans"):
        said = words.told(text)
        assert said != text
        assert "1,000" in said
        assert "3" in said
        assert words.told("Because the board wants it") == "Because the board wants it"
        assert words.is_foreign("a mechanism that is gone")
    assert not words.is_foreign("a mechanism that is gone")


def test_words_of_a_question_are_not_taken_for_ours():
    with translation.override("zh-hans"):
        for text in ("Team: A", "Yes, and no", "A to B", "Too tired to be safe", "We lowered it in any seven days"):
            assert words.told(text) == text


def test_no_number_is_made_an_ordinal_by_two_letters():
    """552th: a number that is filled in later may end in 1, 2 or 3."""
    glued = re.compile(r"(?:%\(\w+\)[sd]|\}\}?)(?:st|nd|rd|th)\b")
    found = [
        f"{path}: {match[0]}"
        for path in [*Path("surveys").rglob("*.py"), *Path("templates").rglob("*.html")]
        for match in glued.finditer(path.read_text())
    ]
    assert found == []
