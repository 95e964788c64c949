"""What the daily check of the ledger reads, what it cannot see, and that the weekly one does."""

import datetime
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from surveys.ledger import checkpoints, services as ledger
from surveys.ledger.models import Checkpoint, Entry, Total
from surveys.operations import checks
from surveys.operations.checks import ALL, NEWS
from surveys.releases import verification as published
from tests.surveys.ledger.small import NOW, OWNER, open_budget, pay, tampering

pytestmark = pytest.mark.django_db
HOUR, DAY = datetime.timedelta(hours=1), datetime.timedelta(days=1)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The positions of the rows whose digests are computed."""
    found: list[int] = []
    usual = checks.chain.check.__globals__["_changed"]

    def changed(columns: Any, budget: Any) -> str:
        found.append(columns["position"])
        return str(usual(columns, budget))

    monkeypatch.setitem(checks.chain.check.__globals__, "_changed", changed)
    return found


@pytest.fixture
def ledger_of_acts() -> Iterator[None]:
    """Eight acts of a budget, for charges are of releases, which are not there."""
    budget = open_budget()
    for number in range(6):
        ledger.record(budget_id=budget.pk, what=f"act {number}", old="", new="", why="so", **OWNER)
    ledger.lower_cap(budget_id=budget.pk, epsilon=1, why="caution", **OWNER)
    return None


def act(what: str = "more") -> Entry:
    return ledger.record(what=what, old="", new="", why="so", **OWNER)


def checked(now: datetime.datetime) -> str:
    event = checks.verify(now=now)
    assert event is not None
    return event.said


def test_a_check_reads_what_is_new_and_the_row_before_it(
    ledger_of_acts: None, read: list[int]
) -> None:
    assert checked(NOW) == ""
    assert read == list(range(1, 9))
    read.clear()
    act(), act()
    assert checked(NOW + DAY) == ""
    assert read == [8, 9, 10]


def test_a_changed_old_row_is_seen_within_the_week_and_by_name(ledger_of_acts: None) -> None:
    assert checked(NOW) == ""
    with tampering(("UPDATE ledger_entry SET who = 'eve' WHERE position = 3", [])):
        assert checked(NOW + DAY) == ""  # what the daily one cannot see
        assert checked(NOW + 7 * DAY).startswith("row 3: was changed")
        assert checked(NOW + 7 * DAY + HOUR).startswith("row 3: was changed")  # and still is


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE ledger_entry SET who = 'eve' WHERE position = 8", "row 8: was changed"),
        ("UPDATE ledger_entry SET who = 'eve' WHERE position = 9", "row 9: was changed"),
        ("DELETE FROM ledger_entry WHERE position = 9", "row 9: missing"),
        ("DELETE FROM ledger_entry WHERE position >= 8", "row 8: missing: the chain had 8 rows"),
        ("UPDATE ledger_head SET length = 9", "row 10: stands after the end"),
        ("UPDATE ledger_budget SET epsilon = 1800000000", "row 8: says that “study:x” has"),
        ("UPDATE ledger_budget SET name = 'study:z'", "row 8: was changed"),
    ],
)
def test_what_is_new_and_what_rows_said_of_budgets_is_seen_every_day(
    ledger_of_acts: None, change: str, said: str
) -> None:
    assert checked(NOW) == ""
    act(), act()
    with tampering((change, [])):
        assert said in checked(NOW + DAY)


def test_another_row_where_the_last_check_ended_is_seen(ledger_of_acts: None) -> None:
    """It holds, and so do those after it: only the checkpoint's digest tells."""
    assert checked(NOW) == ""
    row = Entry.objects.get(position=8)
    row.why = "another reason"
    row.digest = ledger.chain.digest_of(ledger.chain.document_of(row))
    with tampering(
        (
            "UPDATE ledger_entry SET why = %s, digest = %s WHERE position = 8",
            [row.why, row.digest],
        ),
        ("UPDATE ledger_head SET digest = %s", [row.digest]),
    ):
        assert checked(NOW + DAY).startswith("row 8: another row stood here")


def test_a_total_is_compared_every_day_though_its_rows_are_old() -> None:
    pay(open_budget())
    assert ledger.faults() == []
    books = ledger.check().books
    checkpoints.keep(NEWS, books, at=NOW, whole_at=NOW)
    assert Total.objects.count() == 1
    with tampering(("UPDATE ledger_total SET parts = '{}'", [])):
        assert "the total of “study:x” is not" in checked(NOW + DAY)


@pytest.mark.parametrize(
    "change",
    [
        {"length": 3},
        {"digest": "f" * 64},
        {"books": '{"running":{},"terms":{}}'},
        {"whole_at": NOW + 99 * DAY},
    ],
)
def test_a_checkpoint_that_somebody_wrote_is_none(
    ledger_of_acts: None, read: list[int], change: dict[str, Any]
) -> None:
    checked(NOW)
    read.clear()
    Checkpoint.objects.filter(name=NEWS).update(**change)
    assert checked(NOW + DAY) == ""
    assert read == list(range(1, 9))


def test_a_check_of_all_rests_and_goes_on_where_it_was(
    ledger_of_acts: None, read: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "PORTION", 3)
    monkeypatch.setattr(published, "MANY", 5)
    assert checks.verify(now=NOW, seconds=0) is None
    assert checkpoints.kept(ALL) is not None
    act("meanwhile")
    times = 0
    while (event := checks.verify_if_due(now=NOW + times * HOUR)) is None:
        times += 1
        assert times < 3
    assert event.went_well
    assert sorted(set(read)) == list(range(1, 10))
    assert checks.verify_if_due(now=NOW + 2 * HOUR) is None


def test_since_when_a_check_rests_is_said_until_it_ends(
    ledger_of_acts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "PORTION", 1)
    monkeypatch.setattr(checks.verify, "__kwdefaults__", {"seconds": 0.0})
    monkeypatch.setattr(published, "MANY", 5)
    times = 0
    while checks.verify_if_due(now=NOW + times * HOUR) is None:
        assert checks.under_way_since() == NOW
        times += 1
        assert times < 8 + len(published.PARTS)  # a portion, or a part, at least each time
    assert times > len(published.PARTS)
    assert checks.under_way_since() is None


def test_a_check_that_rests_names_what_it_finds_later(
    ledger_of_acts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "PORTION", 3)
    assert checks.verify(now=NOW, seconds=0) is None
    with tampering(("UPDATE ledger_entry SET who = 'eve' WHERE position = 7", [])):
        assert checked(NOW).startswith("row 7: was changed")
        assert not Checkpoint.objects.exists()


def test_the_command_reads_all_unless_it_is_told_to_read_what_is_new(
    ledger_of_acts: None, read: list[int], capsys: Any
) -> None:
    call_command("verify_ledger", new=True)  # there is nothing to go on from
    assert "The ledger is whole: 8 rows" in capsys.readouterr().out
    checked(NOW)
    read.clear()
    call_command("verify_ledger", new=True)
    assert "What is new of the ledger is whole: 8 rows" in capsys.readouterr().out
    assert read == [8]
    call_command("verify_ledger")
    assert read == [8, *range(1, 9)]
    with pytest.raises(CommandError, match="--new reads no older rows"):
        call_command("verify_ledger", new=True, length=3)
