"""What is stored is English, and is said to readers in their own language."""

import importlib
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import translation

from surveys import messages
from surveys.demo.kinds import SLEEP, SLEEP_QUESTIONS
from surveys.demo.services import ensure_study
from surveys.demo.studies import HABITS, HABITS_QUESTIONS
from surveys.design import changes, services as design
from surveys.design.models import Panel, Plan, Study
from surveys.ledger import chain
from surveys.ledger.models import Entry
from surveys.releases import sandbox, selectors, services, statistics
from surveys.releases.models import Release, Step
from surveys.releases.numbers import Numbers
from surveys.releases.queries import ALL, EVERY
from surveys.releases.queries.base import InteractiveQuery, Query
from surveys.releases.queries.expression import Expression
from surveys.releases.queries.most_common import MostCommon
from surveys.releases.queries.shares import Shares
from tests.surveys.releases.queries import plans, scored_plans
from tests.surveys.releases.test_kinds import NAMES, NOW, opened

PEOPLE = [(i % 5, i % 5, i % 2, i, i % 61, 18 + i % 82, i % 4) for i in range(100)]
BY_NAME = [question["name"] for question in scored_plans.EVERYTHING]


@pytest.fixture(autouse=True)
def without_walls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "compute", scored_plans.computed_here)


def examples_of(kind: type[Query]) -> list[dict[str, Any]]:
    """Return settings of a kind, which its own test states."""
    module = importlib.import_module(f"tests.surveys.releases.queries.test_{kind.kind}")
    examples: list[dict[str, Any]] = module.EXAMPLES
    return examples


def counts_for(plan: Plan, query: Query) -> Any:
    rows = [[row[BY_NAME.index(name)] for name in query.names] for row in PEOPLE]
    joint = plans.reported(plan, query.names, rows, seed=7)
    if isinstance(query, Expression):
        return query.results(joint)
    if not isinstance(query, Shares):
        return joint
    return {
        part.name: statistics.marginal(joint, at, part.tally.channel.cells)
        for at, part in enumerate(query.parts)
    }


def drawn_from(query: Query, n: int = 100) -> list[Numbers]:
    """Return what a draw publishes, and a step if there are any."""
    counts = counts_for(query.plan, query)
    drawn = [query.draw(counts, n)]
    if isinstance(query, InteractiveQuery):
        form = query.question_form()
        question = {"question": "side", "choice": 1, "percent": "1"} if form else None
        drawn.append(query.step(query.start(counts, n), counts, n, question)[1])
    return drawn


def texts_of(query: Query, n: int = 100) -> list[str]:
    """Return every sentence that a kind can store or show, but for the words of the questions
    themselves.
    """
    found = [
        query.mechanism,
        f"{query.mechanism}; {n:,} reports",
        query.sensitivity,
        *query.expected(n),
    ]
    for numbers in drawn_from(query, n):
        found += [numbers.method, *numbers.notes, *numbers.derived]
        for table in numbers.tables:
            found.append(table.caption)
            found += [row.value for row in table.rows if isinstance(row.value, str)]
    labels = {question.label for question in query.plan.content.questions}
    return [
        text
        for text in found
        if text not in plans.COLOURS and not set(text.split(" and ")) <= labels
    ]


def queries_of(kind: type[Query], *, rho: bool, neighbours: str) -> list[Query]:
    """Return a kind at all its example settings, for a usual cost and a small one."""
    plan = scored_plans.everything(rho=rho, neighbours=neighbours)
    return [
        kind.read(plan, {**parameters, "epsilon": epsilon})
        for parameters in examples_of(kind)
        if rho or parameters.get("method") not in ("smooth", "propose")
        for epsilon in (("2", "0.05") if kind.kind != "linear_regression" else ("2",))
    ]


EVERY_KIND = pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.kind)
EVERY_PLAN = [
    pytest.mark.parametrize("rho", [False, True]),
    pytest.mark.parametrize("neighbours", ["change-one", "add-remove"]),
]


@EVERY_KIND
@EVERY_PLAN[0]
@EVERY_PLAN[1]
def test_every_sentence_of_every_kind_is_known(kind, rho, neighbours):
    for query in queries_of(kind, rho=rho, neighbours=neighbours):
        assert [text for text in texts_of(query) if not messages.is_known(text)] == []


@EVERY_KIND
@EVERY_PLAN[0]
@EVERY_PLAN[1]
def test_a_text_says_the_same_in_chinese_from_its_code_as_from_its_english(kind, rho, neighbours):
    with translation.override("zh-hans"):
        for query in queries_of(kind, rho=rho, neighbours=neighbours):
            for text in texts_of(query):
                again = messages.translate(str(text))
                if not isinstance(getattr(text, "values", {}).get("label"), messages.Text):
                    assert messages.translate(text) == again, text
                else:  # a range of numbers, which is taken for somebody's own words
                    assert messages.translate(text) != again


@EVERY_KIND
def test_a_kind_says_how_many_numbers_it_publishes(kind):
    for query in queries_of(kind, rho=False, neighbours="change-one"):
        if not isinstance(query, InteractiveQuery):
            (numbers,) = drawn_from(query)
            assert query.published == sum(len(table.rows) for table in numbers.tables)


@EVERY_KIND
def test_texts_know_their_messages_after_they_were_stored(kind):
    field = Release._meta.get_field("numbers")
    for query in queries_of(kind, rho=True, neighbours="add-remove"):
        for numbers in drawn_from(query):
            document = numbers.document()
            stored = json.dumps(field.get_prep_value(document))
            again = field.from_db_value(stored, None, connection)
            assert again == document == json.loads(json.dumps(document))
            assert messages.codes_in(again) == messages.codes_in(document)


def test_a_code_that_would_say_something_else_is_passed_over():
    (query,) = queries_of(MostCommon, rho=False, neighbours="change-one")[:1]
    document = drawn_from(query)[0].document()
    codes = messages.codes_in(document)
    for code in codes.values():
        code[1] |= dict.fromkeys(code[1], "changed behind the site's back")
    again = messages.with_codes(json.loads(json.dumps(document)), codes)
    assert again == document
    assert messages.codes_in(again) == {}


def test_every_kind_has_a_title_that_is_known():
    titles = {each.msgid for each in messages.MESSAGES.values() if each.fills == "title"}
    assert {kind.title.msgid for kind in EVERY} == titles
    assert messages.is_known("Table of two questions: Team, Fair: or not, wave 2")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "changes", [{}, {"cap_delta": "0.000001"}, {"rule": "continual", "cap_delta": "0.000001"}]
)
def test_every_sentence_of_what_a_rule_publishes_and_of_its_ledger_is_known(changes):
    plan = opened(**changes)
    services.publish_due(now=NOW)
    asked = selectors.by_rule(plan)
    (numbers,) = [each.numbers for each in (*Release.objects.all(), *Step.objects.all())]
    said = [asked.mechanism, asked.sensitivity, *asked.expected(60)]
    said += [numbers["method"], *numbers["notes"], *numbers["derived"]]
    said += [part["mechanism"]["name"] for part in numbers["questions"]]
    for entry in Entry.objects.all():
        # then it is the digest of a request, which has no words
        new = "" if entry.published else entry.new
        said += [
            entry.reason,
            entry.mechanism,
            entry.sensitivity,
            entry.what,
            entry.old,
            new,
            entry.why,
        ]
    assert [text for text in said if text and not messages.is_known(text)] == []


def test_a_mechanism_and_the_number_of_reports_are_said_apart():
    law = "reusable holdout, 5 numbers, discrete Laplace of scales 45, 90, 75"
    with translation.override("zh-hans"):
        assert messages.translate(f"{law}; 1,551 reports").startswith(messages.translate(law))
        assert "report" not in messages.translate(f"{law}; 1,551 reports")


@pytest.mark.django_db
def test_more_for_answers_sent_as_given_is_known_as_the_ledger_writes_it():
    ensure_study({**HABITS, "given_by": "person 1"}, HABITS_QUESTIONS, NOW)
    entry = Entry.objects.get(why=HABITS["given_why"])
    assert [
        text for text in (entry.what, entry.old, entry.new) if not messages.is_known(text)
    ] == []


@pytest.mark.django_db
def test_every_term_that_the_ledger_writes_is_known():
    study = design.draft_study(study=SLEEP, questions=SLEEP_QUESTIONS)
    panel = Panel.objects.create(slug="p", name="P")
    for found, owner in (
        (changes.terms_of(Study.objects.get(pk=study.pk)), "sleep-and-work"),
        (changes.terms_of(panel), "panel p"),
    ):
        assert [name for name in found if not messages.is_known(f"{owner}: {name}")] == []


def stored_by(language: str) -> tuple[list[Any], list[Any]]:
    """Ask and publish while a language is the reader's; return the words of all rows and
    numbers.
    """
    with translation.override(language):
        plan = opened(rule="on-request", cap=Decimal(3))
        asked = [
            ("shares", {"questions": NAMES, "epsilon": "1"}),
            ("crosstab", {"rows": "drowsy", "within": "boss", "epsilon": "1"}),
            ("watch", {"answer": "drowsy/2", "percent": "99.9", "epsilon": "1"}),
            ("mean", {"question": "boss", "epsilon": "1"}),
            ("crosstab", {"rows": "drowsy", "within": "rest", "epsilon": "3"}),
        ]
        for kind, parameters in asked:
            made = services.ask_for(plan=plan, kind=kind, parameters=parameters, who="ada", now=NOW)
            services.try_to_publish(request_id=made.pk, now=NOW)
        numbers = [each.numbers for each in (*Release.objects.all(), *Step.objects.all())]
        documents = [
            {
                name: value
                for name, value in _row(entry).items()
                if name not in ("previous", "digest", "published")
            }
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
        return {
            name: _words_of(value)
            for name, value in numbers.items()
            if name not in ("value", "low", "high")
        }
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
    assert all(text == "" or messages.is_known(text) for text in refused)
    assert len(rows) > 4


def test_a_known_sentence_is_said_in_the_readers_language_from_its_parts():
    text = "discrete Laplace, 3 tallies; 1,000 reports"
    with translation.override("en"):
        assert messages.translate(text) == text
        assert not messages.is_foreign("a mechanism that is gone")
    with translation.override("zh-hans"):
        said = messages.translate(text)
        assert said != text
        assert "1,000" in said
        assert "3" in said
        assert messages.translate("Because the board wants it") == "Because the board wants it"
        assert messages.is_foreign("a mechanism that is gone")


def test_words_of_a_question_are_not_taken_for_ours():
    with translation.override("zh-hans"):
        for text in (
            "Team: A",
            "Yes, and no",
            "A to B",
            "Too tired to be safe",
            "We lowered it in any seven days",
        ):
            assert messages.translate(text) == text


def test_no_number_is_made_an_ordinal_by_two_letters():
    """552th: a number that is filled in later may end in 1, 2 or 3."""
    glued = re.compile(r"(?:%\(\w+\)[sd]|\}\}?)(?:st|nd|rd|th)\b")
    found = [
        f"{path}: {match[0]}"
        for path in [*Path("surveys").rglob("*.py"), *Path("templates").rglob("*.html")]
        for match in glued.finditer(path.read_text())
    ]
    assert found == []
