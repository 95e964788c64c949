"""Where receipts stand: today's in `intake_receipt`, those of earlier days in `intake_settled`.

On PostgreSQL both are in 16 parts by the first digit of the digest: a digest is a hash already, so
parts are as even as those by a hash of it, and what begins with some digits is in one of them. Each
night moves receipts part by part, so that no door waits longer than one part takes to be written
anew with what is left in it.

A part says nothing that the digest does not. So of a settled receipt its place, the transaction
that wrote it and the shape of the index tell its digest and its day, and nothing more.
"""

import datetime
from collections.abc import Collection
from itertools import pairwise

from django.db import connection, transaction

from surveys.erasing import empty_journal, hold, write_anew

TODAY, EARLIER, NEWS = "intake_receipt", "intake_settled", "intake_news"
COLUMNS = "id_digest, content_digest, plan_id, day"
PARTS = 16  # hexadecimal digits
SLICE = 20_000  # receipts moved at once on SQLite, which has one lock for all that is written
EDGES = 1 << 16


def part(table: str, number: int) -> str:
    return f"{table}_{number:x}"


def settle(today: datetime.date, but: Collection[int] = ()) -> int:
    """Move the receipts of earlier days, in the order of their digests, but those of these Plans;
    return how many. May raise InUse: then some are in both tables, or still in the first, and the
    next try goes on.
    """
    conditions = [f"day < '{today:%Y-%m-%d}'"]
    if but:
        conditions.append(f"plan_id NOT IN ({', '.join(f'{plan_id:d}' for plan_id in but)})")
    return (_by_part if connection.vendor == "postgresql" else _by_slice)(" AND ".join(conditions))


def _by_part(condition: str) -> int:
    """Copy all, each part at once; then take them away. A door that looked before the copy has
    ended when they go, for what takes them away holds the table alone; nobody finds one in neither.
    """
    with transaction.atomic():
        hold(TODAY, NEWS)  # whoever began on an earlier day has ended
        write_anew(NEWS)  # which forgets in what order marks came
    for number in range(PARTS):
        _copy(part(TODAY, number), condition)
    return sum(_take_away(number, condition) for number in range(PARTS))


def _copy(table: str, condition: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {EARLIER} ({COLUMNS}) SELECT {COLUMNS} FROM {table} WHERE {condition} "  # noqa: S608
            "ORDER BY id_digest ON CONFLICT (id_digest) DO NOTHING"
        )


@transaction.atomic
def _take_away(number: int, condition: str) -> int:
    """Take what was copied out of a part; one that came late stays for the next try."""
    table = part(TODAY, number)
    with connection.cursor() as cursor:
        cursor.execute(
            f"DELETE FROM {table} WHERE {condition} "  # noqa: S608
            f"AND id_digest IN (SELECT id_digest FROM {part(EARLIER, number)})"
        )
        moved = cursor.rowcount
    if moved:
        hold(TODAY, table)
        write_anew(table)
    return int(moved)


def _by_slice(condition: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {TODAY} WHERE {condition}")  # noqa: S608
        ((waiting,),) = cursor.fetchall()
    slices = 1 + waiting // SLICE
    edges = [(EDGES * number // slices).to_bytes(2) for number in range(slices)]
    moved = sum(_move(low, high, condition) for low, high in pairwise([*edges, b"\xff" * 33]))
    with transaction.atomic():
        empty_journal()
    return moved


@transaction.atomic
def _move(low: bytes, high: bytes, condition: str) -> int:
    chosen = f"FROM {TODAY} WHERE id_digest >= %s AND id_digest < %s AND {condition}"
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {EARLIER} ({COLUMNS}) SELECT {COLUMNS} {chosen} ORDER BY id_digest",
            [low, high],
        )
        cursor.execute(f"DELETE {chosen}", [low, high])
        return int(cursor.rowcount)
