"""Change each byte of each row of a ledger in SQLite's own file, twice: does `verify_ledger` name
that row?

Not columns through SQL, as tests/surveys/ledger/test_chain.py does, but bytes of the table's pages,
so that a row's header, its types and its place in the tree are hit as well
(https://www.sqlite.org/fileformat2.html, § 1.6).
"""

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from tests.bench import report

TABLE_LEAF, TABLE_INNER = 0x0D, 0x05
FLIPS = (0x01, 0x80)


@dataclass(frozen=True)
class Cell:
    """Where a row stands in the file: its length and key first, then what it holds."""

    key: int
    start: int
    payload: int
    end: int


@dataclass(frozen=True)
class Pages:
    """A database file, page by page."""

    content: bytes

    @property
    def size(self) -> int:
        return int.from_bytes(self.content[16:18], "big") % 65_535

    def cells(self, number: int) -> Iterator[Cell]:
        """Yield the rows of a table from its root page on."""
        base = (number - 1) * self.size
        inner = self.content[base] == TABLE_INNER
        pointers = base + (12 if inner else 8)
        for at in range(pointers, pointers + 2 * self.whole(base + 3, 2), 2):
            cell = base + self.whole(at, 2)
            if inner:
                yield from self.cells(self.whole(cell, 4))
            else:
                length, after = self.varint(cell)
                key, payload = self.varint(after)
                yield Cell(key, cell, payload, payload + length)
        if inner:
            yield from self.cells(self.whole(base + 8, 4))

    def whole(self, at: int, length: int) -> int:
        return int.from_bytes(self.content[at : at + length], "big")

    def varint(self, at: int) -> tuple[int, int]:
        """Return a number of seven bits a byte, and where it ends. Ours are short."""
        value = 0
        while self.content[at] & 0x80:
            value, at = (value | (self.content[at] & 0x7F)) << 7, at + 1
        return value | self.content[at], at + 1


def make_ledger() -> int:
    """Write rows of every kind; return the root page of their table."""
    from django.core.management import call_command
    from django.db import connection

    from dpengine.privacy import Cost
    from surveys.ledger import services
    from tests.surveys.ledger.small import OWNER, open_budget, pay

    call_command("migrate", verbosity=0)
    pure, zero = open_budget(), open_budget("panel:y", rho=Fraction(1, 2), delta=Fraction(1, 10**6))
    for number in range(8):
        pay(pure, "0.05", part="left" if number % 2 else "")
        pay(zero, Cost.concentrated(Fraction(1, 100), Fraction(1, 10**8)))
    services.record(what="set the ceiling", old="8", new="7", why="caution, “caution”", **OWNER)
    services.lower_cap(budget_id=pure.pk, epsilon=Fraction(3, 2), why="caution", **OWNER)
    services.set_weekly_limit(budget_id=pure.pk, weekly=1, why="slowly", **OWNER)
    services.retire_budget(budget_id=zero.pk, why="over", **OWNER)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        cursor.execute("SELECT rootpage FROM sqlite_master WHERE name = 'ledger_entry'")
        root = int(cursor.fetchone()[0])
    connection.close()
    return root


def verdict(file: Path, at: int, byte: int, key: int) -> str:
    """Say what verification makes of a file in which one byte of the row of this key is another."""
    from django.db import connection

    from surveys.ledger.verification import faults

    put(file, at, byte)
    try:
        found = {fault.position for fault in faults()}
    except Exception as error:
        return type(error).__name__
    finally:
        connection.close()
    if not found:
        return "not seen"
    return "named" if key in found else "another row named"


def put(file: Path, at: int, byte: int) -> None:
    """Write a byte, and let SQLite read the file anew."""
    for beside in ("-wal", "-shm"):
        Path(f"{file}{beside}").unlink(missing_ok=True)
    with file.open("r+b") as opened:
        opened.seek(at)
        opened.write(bytes([byte]))


def flip_all(file: Path, root: int) -> Counter[str]:
    content = file.read_bytes()
    said: Counter[str] = Counter()
    for cell in Pages(content).cells(root):
        for at in range(cell.start, cell.end):
            for flip in FLIPS:
                said[verdict(file, at, content[at] ^ flip, cell.key)] += 1
            put(file, at, content[at])
    return said


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="candor-") as folder:
        file = Path(folder) / "flips.sqlite3"
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "surveys.settings",
            "CANDOR_DATA": folder,
            "DATABASE_URL": f"sqlite:///{file}",
        }
        import django

        django.setup()
        said = flip_all(file, make_ledger())
    rows = [
        {"bytes changed": sum(said.values()), "verify_ledger": text, "times": times}
        for text, times in said.items()
    ]
    report.table("Each byte of each row changed in SQLite's file, twice", rows)
    report.save("flipped_bytes", rows)
    if set(said) != {"named"}:
        sys.exit("a change was not named")


if __name__ == "__main__":
    main()
