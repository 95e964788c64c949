"""Whoever changes a byte of a row, cuts, moves or adds rows, or changes a budget behind them, is
found out.
"""

import hashlib
import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, ProgrammingError, connection, transaction

from dpengine.privacy import Cost
from surveys.ledger import chain, selectors, services, terms, verification
from surveys.ledger.models import Budget, Entry, Head, Total
from surveys.ledger.verification import faults
from tests.surveys.ledger.small import NOW, OWNER, open_budget, pay, tampering

pytestmark = pytest.mark.django_db

COLUMNS = [field.column for field in Entry._meta.concrete_fields]
ROWS = 10


def whole() -> list[chain.Document]:
    return list(selectors.documents(selectors.head()[1]))


@pytest.fixture
def ledger() -> None:
    """Ten rows of every kind: three openings, charges with and without an ε, acts of a budget
    and of the site.
    """
    pure = open_budget()
    zero = open_budget("panel:y", rho=Fraction(1, 2), delta=Fraction(1, 10**6), fixed_parts=True)
    open_budget("panel:y, local", side="local", epsilon=8)
    pay(pure, "0.45", part="left")
    pay(zero, Cost.concentrated(Fraction(1, 100), Fraction(1, 10**7)))
    services.record(what="set the ceiling", old="8", new="7", why="caution", **OWNER)
    services.lower_cap(budget_id=pure.pk, epsilon=Fraction(3, 2), why="caution", **OWNER)
    services.lower_cap(budget_id=zero.pk, delta=0 + Fraction(1, 10**7), why="caution", **OWNER)
    services.set_weekly_limit(budget_id=pure.pk, weekly=1, why="slowly, “slowly”", **OWNER)
    services.retire_budget(budget_id=zero.pk, why="over", **OWNER)
    assert faults() == []


def test_anyone_can_check_the_chain_with_nothing_but_sha_256(ledger):
    before = "0" * 64
    for row in whole():
        document = {name: value for name, value in row.items() if name != "digest"}
        canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert row["digest"] == hashlib.sha256(canonical.encode()).hexdigest()
        assert row["previous"] == before
        before = row["digest"]
    assert selectors.head() == (before, ROWS)


def test_a_row_says_amounts_and_moments_in_full(ledger):
    row = whole()[4]
    said = ("0.01", "0.0000001", None, "panel:y", "2026-05-11T12:00:00.000000+00:00", 5)
    assert (
        tuple(row[name] for name in ("rho", "delta", "epsilon", "budget", "at", "position")) == said
    )
    # empty, and newer
    assert set(row) == {field.name for field in Entry._meta.concrete_fields} - {
        "published",
        "reads",
    }
    row = services.record(
        what="published step 1", old="", new="", why="paid", published="a" * 64, **OWNER
    )
    assert whole()[-1]["published"] == row.published
    assert faults() == []


def bytes_changed(value: Any, longest: int, unique: bool) -> Iterator[Any]:
    """Yield a value with its first, middle and last byte changed; something in place of nothing."""
    if value is None:
        yield 0 if longest == 0 else ""
    elif isinstance(value, int):
        yield from (value ^ (1 << shift) for shift in (8 if unique else 0, 12, 60))
        yield from [-value] if value else []
    elif value == "":
        yield "x"
    else:
        for place in {0, len(value) // 2, len(value) - 1}:
            other = "y" if value[place] == "x" else "x"
            yield value[:place] + other + value[place + 1 :]


def values_of(table: str, key: str, columns: list[str]) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {key}")  # noqa: S608
        return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]


@pytest.mark.parametrize("column", COLUMNS)
def test_a_byte_changed_in_any_column_of_any_row_names_that_row(ledger, column):
    longest = Entry._meta.get_field(column).max_length or 0
    cases = 0
    for row in values_of("ledger_entry", "position", COLUMNS):
        for forged in bytes_changed(
            row[column], longest, column in ("position", "number", "budget_id")
        ):
            if column == "number" and not -(2**31) <= forged < 2**31:
                continue  # PostgreSQL's column holds no more
            change = (
                f"UPDATE ledger_entry SET {column} = %s WHERE position = %s",  # noqa: S608
                [forged, row["position"]],
            )
            with tampering(change):
                found = faults()
            assert row["position"] in {fault.position for fault in found}, (row["position"], forged)
            if column != "position":
                # no other row is blamed
                assert len({fault.position for fault in found}) == 1, found
            cases += 1
    assert cases >= ROWS
    assert faults() == []


@pytest.mark.parametrize(
    ("change", "position"),
    [
        ("name = 'study:z'", 1),
        ("unit = 'household'", 1),
        ("neighbours = 'add-remove'", 1),
        ("side = 'local'", 1),
        ("fixed_parts = (1 = 1)", 1),
        ("id = 77", 1),
        ("epsilon = epsilon + 1", 7),
        ("epsilon = NULL, rho = 1", 7),
        ("weekly = weekly + 1", 9),
        ("weekly = NULL", 9),
        ("retired_on = '2026-05-12'", 1),
    ],
)
def test_a_budget_that_is_not_what_its_rows_made_it_names_the_row_that_says_so(
    ledger, change, position
):
    with tampering((f"UPDATE ledger_budget SET {change} WHERE name = 'study:x'", [])):  # noqa: S608
        assert position in {fault.position for fault in faults()}


@pytest.mark.parametrize(
    ("change", "position"),
    [
        ("rho = rho + 1", 8),
        ("delta = delta + 1", 8),
        ("retired_on = NULL", 10),
        ("fixed_parts = (1 = 0)", 2),
    ],
)
def test_the_same_holds_for_a_concentrated_budget_that_has_ended(ledger, change, position):
    with tampering((f"UPDATE ledger_budget SET {change} WHERE name = 'panel:y'", [])):  # noqa: S608
        assert [fault.position for fault in faults()] == [position]


def test_an_act_that_says_what_no_row_before_it_said_shows(ledger):
    """As one that could run the site's code would write it: its digest holds."""
    budget = Budget.objects.get(name="study:x")
    now = terms.limit_of(budget)
    services._act(budget, what=terms.LIMITED, old="no limit", new=now, why="so", **OWNER)
    assert [str(fault) for fault in faults()] == [
        f"row 11: says that “study:x” had “no limit” before; rows say “{now}”"
    ]


def test_a_budget_without_a_row_shows(ledger):
    Budget.objects.create(name="study:smuggled", unit="u", neighbours="change-one", epsilon=20)
    assert [str(fault) for fault in faults()] == ["row 0: no row opens “study:smuggled”"]


@pytest.mark.parametrize(
    ("statements", "positions"),
    [
        (["DELETE FROM ledger_entry WHERE position = 5"], {5}),
        (["DELETE FROM ledger_entry WHERE position >= 9"], {9}),
        (["DELETE FROM ledger_entry WHERE position = 1"], {1}),
        (
            [
                "UPDATE ledger_entry SET position = -position WHERE position IN (4, 5)",
                "UPDATE ledger_entry SET position = 9 + position WHERE position IN (-4, -5)",
            ],
            {4},
        ),
        (
            [
                "UPDATE ledger_entry SET position = 99 WHERE position = 4",
                "UPDATE ledger_entry SET position = 4 WHERE position = 5",
                "UPDATE ledger_entry SET position = 5 WHERE position = 99",
            ],
            {4, 5},
        ),
    ],
    ids=["cut out", "cut off", "beheaded", "moved", "swapped"],
)
def test_rows_that_are_missing_or_moved_show(ledger, statements, positions):
    with tampering(*((statement, []) for statement in statements)):
        assert positions <= {fault.position for fault in faults()}


def test_a_tail_cut_off_together_with_its_record_shows_to_who_noted_the_head(ledger):
    head, length = selectors.head()
    ninth = Entry.objects.get(position=9).digest
    forget = ("UPDATE ledger_head SET length = 9, digest = %s", [ninth])
    with tampering(
        ("DELETE FROM ledger_entry WHERE position = 10", []),
        ("UPDATE ledger_budget SET retired_on = NULL", []),
        forget,
    ):
        assert faults() == []
        assert [fault.position for fault in faults(length=length)] == [10]
        assert [fault.position for fault in faults(head=head)] == [0]
        assert [fault.position for fault in faults(head=head, length=length)] == [10]


def test_a_chain_written_anew_shows_to_who_noted_the_head(ledger):
    assert faults(head="f" * 64, length=4)[0].position == 4


def test_an_older_head_still_holds_when_rows_have_come_since(ledger):
    head, length = selectors.head()
    services.record(what="set the ceiling", old="7", new="6", why="more caution", **OWNER)
    assert faults(head=head, length=length) == faults(head=head) == []


@pytest.mark.engine("sqlite")  # PostgreSQL has checksums of its pages
def test_rows_that_a_damaged_file_cannot_give_are_named_one_by_one(ledger, monkeypatch):
    """The whole file, byte by byte: tests/bench/flipped_bytes.py."""
    assert chain.one_by_one() == list(chain.stream())
    monkeypatch.setattr(chain, "READ", chain.READ.replace("e.who", "e.damaged"))
    assert {fault.position for fault in faults()} == set(range(1, ROWS + 1))


@pytest.mark.engine("sqlite")  # PostgreSQL has checksums of its pages
def test_an_index_that_contradicts_the_rows_names_those_it_cannot_find(ledger, monkeypatch):
    def damaged(last):
        raise DatabaseError("database disk image is malformed")

    rows = list(chain.stream())
    monkeypatch.setattr(verification, "_read_index", damaged)
    monkeypatch.setattr(chain, "one_by_one", lambda: rows[:3] + rows[4:])
    assert [fault.position for fault in faults()] == [4]


def test_an_index_that_lacks_the_last_row_is_found(ledger):
    verification._read_index(ROWS)
    with pytest.raises(DatabaseError, match=f"row {ROWS + 1} is not in the index"):
        verification._read_index(ROWS + 1)


def test_an_error_of_another_database_is_not_swallowed(ledger, monkeypatch):
    monkeypatch.setattr(chain, "READ", "SELECT nothing")
    monkeypatch.setattr(chain.connection, "vendor", "postgresql")
    with pytest.raises(DatabaseError), transaction.atomic():
        faults()


@pytest.mark.engine("postgresql")
def test_an_error_behind_the_rows_of_another_database_is_not_swallowed_either(ledger, monkeypatch):
    def lost(last):
        with connection.cursor() as cursor:
            cursor.execute("SELECT nothing")

    monkeypatch.setattr(verification, "_read_index", lost)
    with pytest.raises(ProgrammingError), transaction.atomic():
        faults()


def test_a_row_that_someone_put_after_the_end_shows_however_well_it_follows(ledger):
    """No guard is in the way of an act, and its digest and the one before are what they should
    be. A charge is refused that its total does not count.
    """
    forged = Entry.objects.get(position=4)
    forged.previous, _ = selectors.head()
    forged.position, forged.number, forged.statistic = ROWS + 1, 9, "a" * 64
    with pytest.raises(IntegrityError, match="counted in the total"), transaction.atomic():
        forged.save(force_insert=True)
    forged = Entry.objects.get(position=6)
    forged.previous, forged.position = selectors.head()[0], ROWS + 1
    forged.digest = chain.digest_of(chain.document_of(forged))
    forged.save(force_insert=True)
    assert [str(fault) for fault in faults()] == [
        "row 11: stands after the end of the chain, which is row 10"
    ]


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM ledger_head",
        "UPDATE ledger_head SET length = 11",
        "UPDATE ledger_head SET digest = 'x'",
    ],
)
def test_the_record_of_the_end_is_checked_too(ledger, change):
    with tampering((change, [])):
        assert faults()


def test_rows_beyond_the_cap_show_even_in_a_chain_that_holds(ledger, monkeypatch):
    """As one that could run the site's code without its refusals would write them."""
    monkeypatch.setattr(selectors.Account, "admitted", lambda account, cost, *args: cost)
    pay(Budget.objects.get(name="study:x"), "1.06", now=NOW)
    assert [str(fault) for fault in faults()] == ["row 11: more than the cap of “study:x” is spent"]


def test_failures_that_add_up_to_certainty_show_too(ledger, monkeypatch):
    monkeypatch.setattr(selectors.Account, "admitted", lambda account, cost, *args: cost)
    budget = open_budget("study:certain", rho=1, delta=Fraction(1, 10))
    for _ in range(2):
        pay(budget, Cost.concentrated(Fraction(1, 10), Fraction(6, 10)))
    assert "more than the cap of “study:certain” is spent" in str(faults()[0])


def test_rows_totals_and_the_end_are_called_by_what_they_hold(ledger):
    end, total = Head.objects.get(), Total.objects.get(budget__name="study:x")
    called = Entry.objects.get(position=3), end, total
    assert list(map(str, called)) == ["row 3", f"{ROWS} rows", f"{total.charges} charges"]


@pytest.mark.parametrize(
    "change",
    [
        "holder = NULL",
        "holder = 'person 7f3b'",
        "within_id = id",
        "within_id = NULL",
        "within_id = NULL, holder = NULL",
    ],
)
def test_a_share_that_was_given_to_somebody_else_or_taken_off_is_found(ledger, change):
    study = Budget.objects.get(name="study:x")
    share = services.open_share(study_id=study.pk, holder="person 7f3a", cap=1, why="hers", **OWNER)
    old = services.open_budget(
        name="researcher:mira@study:x",
        unit=study.unit,
        neighbours=study.neighbours,
        epsilon=1,
        within=study,
        holder="person 7f3c",
        **OWNER,
    )
    assert faults() == []
    with tampering((f"UPDATE ledger_budget SET {change} WHERE id = {share.pk}", [])):  # noqa: S608
        assert [str(fault) for fault in faults()] == [
            "row 11: opens “researcher:person 7f3a@study:x”, which is another person’s share now, "
            "or of another budget"
        ]
    with tampering((f"UPDATE ledger_budget SET within_id = id WHERE id = {old.pk}", [])):  # noqa: S608
        assert "row 12: opens “researcher:mira@study:x”" in str(faults()[0])


@pytest.mark.engine("sqlite")  # PostgreSQL checks types and text
@pytest.mark.parametrize("forged", ["x'ff'", "CAST(x'ff' AS TEXT)", "1.5", "'1e400'"])
@pytest.mark.parametrize("table", ["ledger_entry", "ledger_budget"])
def test_bytes_that_are_no_text_and_no_number_are_findings_not_crashes(ledger, table, forged):
    columns = (
        COLUMNS
        if table == "ledger_entry"
        else ["name", "side", "epsilon", "weekly", "retired_on", "fixed_parts", "holder"]
    )
    key = "position = 1" if table == "ledger_entry" else "name = 'study:x'"
    for column in columns:
        with tampering((f"UPDATE {table} SET {column} = {forged} WHERE {key}", [])):  # noqa: S608
            assert any(str(fault).isprintable() for fault in faults()), column


def test_the_rows_about_one_budget_are_those_of_the_whole_chain(ledger):
    for name in ("study:x", "panel:y"):
        wanted = [row for row in whole() if row["budget"] == name]
        assert selectors.documents_about(name, ROWS) == wanted
    assert len(selectors.documents_about("study:x", ROWS)) == 4
    assert selectors.documents_about("study:none", ROWS) == []
