"""Tables of keys that stand in the database sealed under PUBLICATION_KEYS, in a column `sealed`: of
receipts, of tickets, of lists.
"""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet

from surveys.encryption import has_first_key, open_sealed, seal
from surveys.erasing import erasing

AT_ONCE = 500  # rows changed in one statement
About = Callable[[Any], str]  # of a row: the associated data of its key


def open_all(rows: QuerySet[Any], about: About) -> int:
    """Open every key, and return how many there are, or raise CannotOpen."""
    return len([open_sealed(bytes(row.sealed), about=about(row)) for row in rows])


def seal_anew(rows: QuerySet[Any], about: About) -> int:
    """Seal with the first key what another one had sealed, and erase how it was; return how many.
    May raise InUse.
    """
    with erasing(**{rows.model._meta.db_table: "sealed"}):
        old = [row for row in rows if not has_first_key(bytes(row.sealed))]
        for row in old:
            row.sealed = seal(open_sealed(bytes(row.sealed), about=about(row)), about=about(row))
        rows.model._default_manager.bulk_update(old, ["sealed"], batch_size=AT_ONCE)
    return len(old)
