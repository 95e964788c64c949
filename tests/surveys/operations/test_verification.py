"""`verify_ledger` names what was changed, taken away, put in or drawn again of all that was
published.

Whoever owns the database can drop its triggers and constraints: each change below is made so, by
SQL.
"""

import datetime
import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from surveys.ledger import selectors
from surveys.ledger.services import faults as chain_faults
from surveys.releases import services, verification
from surveys.releases.models import Release, Request, Series, Step
from tests.surveys.ledger.small import tampering
from tests.surveys.releases.conftest import NOW, answer, open_asked

pytestmark = pytest.mark.django_db
HOUR = datetime.timedelta(hours=1)
Change = list[tuple[str, list[Any]]]


@pytest.fixture
def published() -> dict[str, Any]:
    """Two releases, a series about a limit, one paid on the first day with two steps, and a
    request that waits.
    """
    plan = open_asked()
    asked = {
        "a": ("shares", {"questions": ["copied"], "epsilon": "0.5"}),
        "b": ("shares", {"questions": ["year"], "epsilon": "0.25"}),
        "watch": ("watch", {"answer": "year/1", "percent": "99.9", "epsilon": "1"}),
        "waits": ("shares", {"questions": ["copied", "year"], "epsilon": "0.125"}),
    }
    found = {
        name: services.ask_for(plan=plan, kind=kind, parameters=parameters, who="mira", now=NOW)
        for name, (kind, parameters) in asked.items()
    }
    made = {
        name: services.publish(request_id=found[name].pk, now=NOW) for name in ("a", "b", "watch")
    }
    refreshed = open_asked(
        slug="again",
        title="Again",
        rule="continual",
        cap=Decimal(4),
        cap_delta="0.000001",
        release_epsilon=Decimal(2),
        horizon=5,
        hours=1,
    )
    services.publish_due(now=NOW)
    answer(refreshed, 60)
    services.publish_due(now=NOW + 2 * HOUR)
    assert Release.objects.count() == Series.objects.count() == 2
    assert Step.objects.count() == 3
    return {**found, **{f"{name}_made": each for name, each in made.items()}, "again": refreshed}


def numbers(made: Release | Step, change: Callable[[dict[str, Any]], Any]) -> Change:
    """Change the numbers of a release or a step."""
    found = json.loads(json.dumps(made.numbers))
    change(found)
    return [
        (
            f"UPDATE {made._meta.db_table} SET numbers = %s WHERE id = %s",  # noqa: S608
            [json.dumps(found), made.pk],
        )
    ]


def first(found: dict[str, Any]) -> dict[str, Any]:
    return dict(found["questions"][0])["choices"][0]


def copy(table: str, row: Any, **changed: Any) -> Change:
    """Put in a copy of a row with other columns."""
    columns = [field.column for field in row._meta.concrete_fields if field.column != "id"]
    taken = ", ".join("%s" if name in changed else name for name in columns)
    values = [changed[name] for name in columns if name in changed]
    text = f"INSERT INTO {table} (id, {', '.join(columns)}) SELECT 900, {taken} FROM {table} WHERE id = %s"  # noqa: S608
    return [(text, [*values, row.pk])]


def change(table: str, column: str, value: Any, pk: int) -> Change:
    return [(f"UPDATE releases_{table} SET {column} = %s WHERE id = %s", [value, pk])]  # noqa: S608


def delete(table: str, pk: int) -> Change:
    return [(f"DELETE FROM releases_{table} WHERE id = %s", [pk])]  # noqa: S608


def drawn_again(p: dict[str, Any]) -> Change:
    """Take a release away and draw it once more from the same totals, as the site itself would."""
    fresh = json.loads(json.dumps(p["a_made"].numbers))
    first(fresh)["count"] = first(fresh).get("count", 0) + 3
    made = {
        "numbers": json.dumps(fresh),
        "published_at": NOW + HOUR,
        "request_id": -1,
        "entry_id": -1,
    }
    old = p["a_made"]
    answers = [
        *change("release", "request_id", old.request_id, 900),
        *change("release", "entry_id", old.entry_id, 900),
    ]
    return [*copy("releases_release", old, **made), *delete("release", old.pk), *answers]


def step(p: dict[str, Any], number: int) -> Step:
    return Step.objects.get(series__request__plan=p["again"], number=number)


def other_question(p: dict[str, Any]) -> Change:
    statistic = {**p["a"].statistic, "parameters": {**p["a"].parameters, "epsilon": "1"}}
    return change("request", "statistic", json.dumps(statistic), p["a"].pk)


def other_mechanism(p: dict[str, Any]) -> Change:
    return change(
        "request", "statistic", json.dumps({**p["a"].statistic, "mechanism": "none"}), p["a"].pk
    )


def more_batches(p: dict[str, Any]) -> Change:
    return change("request", "statistic", json.dumps({**p["a"].statistic, "batches": 2}), p["a"].pk)


def swapped(p: dict[str, Any]) -> Change:
    a, b = p["a_made"], p["b_made"]
    return [
        change("release", "numbers", json.dumps(one.numbers), other.pk)[0]
        for one, other in ((a, b), (b, a))
    ]


PLAN = "the Plan of a"


def other_words(p: dict[str, Any]) -> Change:
    """Change what a question asked, in the Plan that the numbers are about."""
    plan = p["a"].plan
    return plan_changed(
        plan, "document", plan.document.replace("Have you copied", "Have you never copied")
    )


def plan_changed(plan: Any, column: str, value: Any) -> Change:
    return [(f"UPDATE design_plan SET {column} = %s WHERE id = %s", [value, plan.pk])]  # noqa: S608


def gone_behind_a_plan(p: dict[str, Any]) -> Change:
    """Take a release away with its request, and put in a Plan by the request's name, as if it
    had paid for that.
    """
    words = json.dumps(p["a"].statistic, sort_keys=True, separators=(",", ":"))
    values = {"digest": p["a"].digest, "document": words, "wave": 9}
    return [
        *delete("release", p["a_made"].pk),
        *delete("request", p["a"].pk),
        *copy("design_plan", p["a"].plan, **values),
    ]


def a_step_copied(p: dict[str, Any]) -> Change:
    one = step(p, 1)
    return [*copy("releases_step", one), *change("series", "steps", 3, one.series_id)]


def charges_moved(p: dict[str, Any]) -> Change:
    a, b = p["a_made"], p["b_made"]
    return [
        *change("release", "entry_id", -1, a.pk),
        *change("release", "entry_id", a.entry_id, b.pk),
        *change("release", "entry_id", b.entry_id, a.pk),
    ]


CHANGES: dict[
    str, tuple[Callable[[dict[str, Any]], Change], str]
] = {  # and the request that must be named
    "a share": (lambda p: numbers(p["a_made"], lambda n: first(n).update(share=0.5)), "a"),
    "an interval": (
        lambda p: numbers(p["a_made"], lambda n: n["tables"][0]["rows"][0].update(low=0.0)),
        "a",
    ),
    "n": (lambda p: numbers(p["a_made"], lambda n: n.update(n=61)), "a"),
    "the words of its method": (
        lambda p: numbers(p["a_made"], lambda n: n.update(method="Counted.")),
        "a",
    ),
    "a number more": (lambda p: numbers(p["a_made"], lambda n: n.update(more=1)), "a"),
    "numbers that cannot be": (lambda p: change("release", "numbers", '"x"', p["a_made"].pk), "a"),
    "the day": (lambda p: change("release", "published_on", "2026-05-12", p["a_made"].pk), "a"),
    "the moment": (lambda p: change("release", "published_at", NOW + HOUR, p["a_made"].pk), "a"),
    "the salt": (lambda p: change("release", "salt", "0" * 32, p["a_made"].pk), "a"),
    "what was asked": (other_question, "a"),
    "the mechanism": (other_mechanism, "a"),
    "the batches": (more_batches, "a"),
    "the name of a request": (
        lambda p: change("request", "digest", "f" * 64, p["a"].pk),
        "ffffffff",
    ),
    "who asked": (lambda p: change("request", "who", "eve", p["a"].pk), "a"),
    "the day of a request": (
        lambda p: change("request", "requested_on", "2026-05-01", p["a"].pk),
        "a",
    ),
    "its status": (lambda p: change("request", "refused", "it could not be paid", p["a"].pk), "a"),
    "the words of a Plan": (other_words, PLAN),
    "the Plan of an opening": (lambda p: plan_changed(p["a"].plan, "digest", "e" * 64), "eeeeeeee"),
    "the wave of a Plan": (lambda p: plan_changed(p["a"].plan, "wave", 7), PLAN),
    "gone behind a Plan": (gone_behind_a_plan, "a"),
    "another Plan": (lambda p: change("request", "plan_id", p["again"].pk, p["a"].pk), "a"),
    "a release taken away": (lambda p: delete("release", p["a_made"].pk), "a"),
    "a request taken away": (
        lambda p: [*delete("release", p["a_made"].pk), *delete("request", p["a"].pk)],
        "a",
    ),
    "a release put in": (
        lambda p: copy(
            "releases_release",
            p["a_made"],
            request_id=p["waits"].pk,
            entry_id=p["watch_made"].entry_id,
        ),
        "waits",
    ),
    "drawn again": (drawn_again, "a"),
    "two swapped": (swapped, "a"),
    "charges moved": (charges_moved, "a"),
    "a step changed": (lambda p: numbers(step(p, 1), lambda n: n.update(n=59)), "again"),
    "a step taken away": (lambda p: delete("step", step(p, 2).pk), "again"),
    "a step put in": (lambda p: copy("releases_step", step(p, 2), number=3), "again"),
    "steps swapped": (
        lambda p: [
            *change("step", "number", 9, step(p, 1).pk),
            *change("step", "number", 1, step(p, 2).pk),
            *change("step", "number", 2, step(p, 1).pk),
        ],
        "again",
    ),
    "a question to a series": (
        lambda p: change("step", "question", '{"a": 1}', step(p, 1).pk),
        "again",
    ),
    "steps counted anew": (lambda p: change("series", "steps", 1, step(p, 1).series_id), "again"),
    "a series taken away": (
        lambda p: [
            *delete("step", p["watch_made"].published.get().pk),
            *delete("series", p["watch_made"].pk),
        ],
        "watch",
    ),
}


def said() -> str:
    with pytest.raises(CommandError) as refusal:
        call_command("verify_ledger")
    assert refusal.value.returncode == 1
    return str(refusal.value)


def test_whatever_is_changed_of_what_was_published_is_named(
    published: dict[str, Any], capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "CHUNK", 2)
    call_command("verify_ledger")
    assert "The ledger is whole" in capsys.readouterr().out
    by_rule = Request.objects.get(plan=published["again"])
    for what, (make, named) in CHANGES.items():
        one = {**published, "again": by_rule, PLAN: published["a"].plan}.get(named)
        with tampering(*make(published)):
            assert chain_faults() == [], what  # the chain alone sees none of it
            text = said()
        assert (one.digest[:8] if one else named) in text, (what, text)
    call_command("verify_ledger")
    assert "The ledger is whole" in capsys.readouterr().out


WITHOUT_KEYS = """DO $$ DECLARE each record; BEGIN
    FOR each IN SELECT conrelid::regclass AS of, conname FROM pg_constraint WHERE contype IN ('p', 'u')
        AND conrelid IN ('releases_release'::regclass, 'releases_step'::regclass)
    LOOP EXECUTE format('ALTER TABLE %%s DROP CONSTRAINT %%I CASCADE', each.of, each.conname); END LOOP; END $$"""


@pytest.mark.engine("postgresql")
def test_a_row_that_hides_another_of_its_key_is_named(published: dict[str, Any]) -> None:
    """SQLite has no table without its keys; here whoever owns the database drops them."""
    old, by_rule = published["a_made"], Request.objects.get(plan=published["again"])
    fresh = json.dumps({**old.numbers, "n": 59})
    columns = ", ".join(field.column for field in Release._meta.concrete_fields)
    values = columns.replace("numbers", "%s")
    double = f"INSERT INTO releases_release ({columns}) SELECT {values} FROM releases_release WHERE id = %s"  # noqa: S608
    keyless: Change = [(WITHOUT_KEYS, [])]
    with tampering(*keyless, (double, [fresh, old.pk])):
        assert f"releases_release has two rows of id {old.pk}" in said()
    with tampering(*keyless, *a_step_copied(published)):
        assert f"series of request {by_rule.digest[:8]}: 3 steps taken" in said()


def test_a_request_that_a_series_answers_too_is_named(published: dict[str, Any]) -> None:
    a, digest = published["a_made"], published["a"].digest[:8]
    keys = {"request_id": a.request_id, "entry_id": a.entry_id}
    with tampering(*copy("releases_series", published["watch_made"], **keys)):
        assert f"request {digest} is answered twice, by a release and a series" in said()


def test_a_row_whose_release_is_gone_is_named_by_its_number(published: dict[str, Any]) -> None:
    with tampering(*CHANGES["a release taken away"][0](published)):
        assert f"row {published['a_made'].entry_id}: paid for" in said()
    with tampering(*CHANGES["a step taken away"][0](published)):
        assert re.search(r"row \d+: “published step 2”: what it vouches for is gone", said())


def test_a_row_of_the_chain_that_was_changed_is_named_too(published: dict[str, Any]) -> None:
    head, length = selectors.head()
    with tampering(("UPDATE ledger_entry SET who = 'eve' WHERE position = 4", [])):
        assert "row 4: was changed" in said()
    with pytest.raises(CommandError, match=f"row {length + 1}: missing"):
        call_command("verify_ledger", head=head, length=length + 1)


@pytest.mark.engine("sqlite")
def test_what_cannot_be_read_is_a_finding_and_no_crash(published: dict[str, Any]) -> None:
    bad = b"\xff\xfe{"
    for table, column, row in (
        ("release", "numbers", "a_made"),
        ("release", "published_at", "a_made"),
        ("release", "published_on", "a_made"),
        ("request", "statistic", "a"),
        ("request", "requested_on", "a"),
    ):
        for value in (bad, "[" * 100_000, 7):
            with tampering(*change(table, column, value, published[row].pk)):
                assert published["a"].digest[:8] in said(), (table, column)
