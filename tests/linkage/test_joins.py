"""The insider against small sites: one that keeps its word, and some that do not."""

import contextlib
import csv
import io
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.linkage.audit import main
from tests.linkage.copies import places, read

PEOPLE, DAYS = 300, 3
Insert = Callable[[sqlite3.Connection, list["Person"], int], None]


class Person:
    def __init__(self, at: int, chance: random.Random) -> None:
        self.at, self.stratum = at, chance.choice("ab")
        self.reference, self.receipt = chance.randbytes(16).hex(), chance.randbytes(32).hex()
        self.day = at * DAYS // PEOPLE + 1


def honest(db: sqlite3.Connection, people: list[Person], day: int) -> None:
    come = [person for person in people if person.day <= day]
    for person in sorted(people, key=lambda each: each.reference):
        row = (person.reference, person.stratum, person in come)
        db.execute("INSERT INTO invitation VALUES (?, ?, ?, NULL)", row)
    for person in sorted(come, key=lambda each: each.receipt):
        db.execute("INSERT INTO receipt VALUES (?, ?)", (bytes.fromhex(person.receipt), person.day))


def marked_with_a_day(db: sqlite3.Connection, people: list[Person], day: int) -> None:
    honest(db, people, day)
    for person in people:
        if person.day <= day:
            row = (person.day, person.reference)
            db.execute("UPDATE invitation SET day = ? WHERE reference = ?", row)


def in_order(db: sqlite3.Connection, people: list[Person], day: int) -> None:
    honest(db, people, day)
    db.execute("DELETE FROM receipt")
    for person in people:
        if person.day <= day:
            row = (bytes.fromhex(person.receipt), person.day)
            db.execute("INSERT INTO receipt VALUES (?, ?)", row)


def filled(folder: Path, insert: Insert) -> list[str]:
    """Return the arguments of an audit: a copy a day, and who is whose."""
    chance = random.Random(16)
    people = [Person(at, chance) for at in range(PEOPLE)]
    copies = [folder / f"day {day}.sqlite3" for day in range(1, DAYS + 1)]
    for day, copy in enumerate(copies, 1):
        with closing(sqlite3.connect(copy)) as db, db:
            db.execute("CREATE TABLE invitation (reference TEXT, stratum TEXT, fetched, day)")
            db.execute("CREATE TABLE receipt (digest BLOB, day)")
            insert(db, people, day)
    truth = folder / "truth.csv"
    with truth.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["stratum", "fetched", "answered", "list", "report"])
        for each in people:
            rows.writerow([each.stratum, each.at, each.at, each.reference, each.receipt])
    return [*map(str, copies), "--truth", str(truth)]


def audited(arguments: list[str]) -> tuple[int, str]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        found = main(arguments)
    return found, said.getvalue()


def test_a_site_that_keeps_no_order_tells_nothing_beyond_its_sets(tmp_path: Path) -> None:
    found, said = audited(filled(tmp_path, honest))
    assert found == 0
    assert "Nothing tells more than chance." in said
    sizes = next(line for line in said.splitlines() if line.startswith("all copies"))
    counted = [each.split(" × ") for each in sizes.partition("people: ")[2].split(", ")]
    assert sum(int(times) * int(size) for times, size in counted) == PEOPLE
    assert sum(int(times) for times, _ in counted) == 2 * DAYS  # a stratum, and a day of copies


@pytest.mark.parametrize(
    ("insert", "told"),
    [
        (marked_with_a_day, "invitation.day × receipt.day"),
        (in_order, "a watcher’s clock × day 3.sqlite3 2: receipt.place"),
    ],
)
def test_a_site_that_keeps_more_is_found(tmp_path: Path, insert: Insert, told: str) -> None:
    found, said = audited(filled(tmp_path, insert))
    assert found == 1
    assert told in said


def test_an_identifier_in_a_log_is_found(tmp_path: Path) -> None:
    arguments = filled(tmp_path, honest)
    truth = Path(arguments[-1])
    reference = truth.read_text().splitlines()[1].split(",")[3]
    log = tmp_path / "door.log"
    log.write_text(f"ticket for {reference}\n")
    found, said = audited([*arguments, "--log", str(log)])
    assert found == 1
    assert f"{log}: 1 identifiers" in said
    log.write_text("nothing\n")
    found, said = audited([*arguments, "--log", str(log)])
    assert found == 0
    assert "0 identifiers" in said


def test_a_dump_s_rows_are_read_in_its_order(tmp_path: Path) -> None:
    dump = tmp_path / "dump.sql"
    dump.write_text(
        "SET x;\nCOPY public.receipt (digest, day) FROM stdin;\n"
        f"\\\\x{'ab' * 8}\t2026-01-01\n\\\\x{'cd' * 8}\t2026-01-02\n\\.\n"
    )
    rows = read(str(dump), {"cd" * 8, "ab" * 8}).rows
    assert [rows[each * 8][0].hidden["order"] for each in ("ab", "cd")] == [0, 1]
    assert rows["cd" * 8][0].values["day"] == "2026-01-02"


def test_bytes_are_found_wherever_they_stand(tmp_path: Path) -> None:
    file, name = tmp_path / "base", "0123456789abcdef" * 2
    for before in (0, 1, 2, 3, 2**24 - 7, 2**24 + 1):
        file.write_bytes(b"\0" * before + bytes.fromhex(name) + b"\0" * 9)
        assert places(file, {name}) == {name: before}
    file.write_bytes(b"x" + name.encode())
    assert places(file, {name}) == {name: 1}
    file.write_bytes(b"abc")
    assert places(file, {name}) == {}


@pytest.mark.parametrize(
    ("truth", "expected"),
    [
        ("stratum,fetched\na,1\n", "expected columns stratum, fetched, answered"),
        ("stratum,fetched,answered\na,1,2\n", "list… and report…"),
        (
            "stratum,fetched,answered,list,report\na,x,2,aaaaaaaa,bbbbbbbb\n",
            "row 2: expected whole",
        ),
        ("stratum,fetched,answered,list,report\na,1,2,a,bbbbbbbb\n", "8 letters or more"),
    ],
)
def test_what_is_no_truth_is_named(tmp_path: Path, truth: str, expected: str) -> None:
    file = tmp_path / "truth.csv"
    file.write_text(truth)
    found, said = audited([str(file), "--truth", str(file)])
    assert found == 2
    assert expected in said


def test_what_is_no_copy_is_named(tmp_path: Path) -> None:
    arguments = filled(tmp_path, honest)
    found, said = audited([str(tmp_path / "none"), *arguments[-2:]])
    assert found == 2
    assert "expected a file, a folder or postgresql" in said
