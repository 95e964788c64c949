"""Is the ledger what it was? Rows against their digests, the chain against itself, budgets against
what rows say.

Everything is read as the database holds it: what someone damaged is a finding, not a crash.
"""

from collections.abc import Iterator, Sequence

from django.db import DatabaseError, transaction

from surveys.ledger import chain, selectors
from surveys.ledger.chain import BEFORE_THE_FIRST, Damaged, Fault, Stored
from surveys.ledger.contradictions import contradictions
from surveys.ledger.models import Head


def faults(*, head: str = "", length: int | None = None) -> list[Fault]:
    """Return everything that is wrong, in order of position: nothing, if the ledger is whole.

    `head` and `length` are what someone noted earlier: they show a tail that was cut off, and a
    chain that was written anew. The end of the chain is held meanwhile, so that no row is added
    halfway.
    """
    with transaction.atomic():
        problems = _faults(head, length)
        # Nothing was written, and SQLite commits nothing to a damaged file.
        transaction.set_rollback(True)
    return problems


def _faults(head: str, length: int | None) -> list[Fault]:
    end = Head.objects.select_for_update().first()
    rows = chain.stored()
    problems = [*_broken_links(rows), *_wrong_end(rows, head, length)]
    if end is None:
        problems.append(Fault(0, "the record of the chain's end is gone"))
    else:
        problems += [*_wrong_end(rows, end.digest, end.length), *_beyond(rows, end.length)]
    # Each of these trusts what comes before it.
    problems = sorted(set(problems or contradictions(rows)))
    try:
        return problems or list(_overspent())
    except DatabaseError:
        # Rows that can be read, but not problems: the index of a damaged SQLite file.
        return list(_broken_links(chain.one_by_one()))


def _broken_links(rows: Sequence[Stored]) -> Iterator[Fault]:
    """Find rows that are missing, changed, or in another place than they were."""
    expected, before = 1, BEFORE_THE_FIRST
    for columns, budget in rows:
        position = columns["position"]
        if not isinstance(position, int) or position < expected:
            yield Fault(expected, f"position: {position!r} cannot stand here")
            continue
        if position > expected:
            yield Fault(expected, f"missing; the next is row {position}")
        elif before and columns["previous"] != before:
            yield Fault(position, "does not follow the row before it")
        text = _changed(columns, budget)
        if text:
            yield Fault(position, text)
        # After a changed row, the next one is not to blame.
        expected, before = position + 1, "" if text else columns["digest"]


def _changed(columns: chain.Columns, budget: str | None) -> str:
    """Say what contradicts the digest of a row, nothing if it holds."""
    try:
        holds = chain.digest_of(chain.document(columns, budget)) == columns["digest"]
    except Damaged as damage:
        return str(damage)
    return "" if holds else "was changed: its columns do not have its digest"


def _wrong_end(rows: Sequence[Stored], head: str, length: int | None) -> Iterator[Fault]:
    """Compare the chain with an end that is, or was, recorded."""
    whole = [columns for columns, _ in rows if isinstance(columns["position"], int)]
    digests = {0: BEFORE_THE_FIRST, **{columns["position"]: columns["digest"] for columns in whole}}
    if length is None:
        if head and head not in digests.values():
            yield Fault(0, f"no row has the digest {head}")
    elif length not in digests:
        yield Fault(max(digests) + 1, f"missing: the chain had {length} rows")
    elif head and digests[length] != head:
        yield Fault(length, f"another row stood here: its digest was {head}")


def _beyond(rows: Sequence[Stored], length: int) -> Iterator[Fault]:
    """Find rows after the recorded end: putting them there changes nothing guarded."""
    for columns, _ in rows:
        if isinstance(columns["position"], int) and columns["position"] > length:
            yield Fault(
                columns["position"], f"stands after the end of the chain, which is row {length}"
            )


def _overspent() -> Iterator[Fault]:
    """Find budgets that paid more than their cap, by rows that no service wrote."""
    for account in selectors.accounts().values():
        if account.is_understated:
            text = f"rows of “{account.budget}” say less than what they read loses"
            yield Fault(account.entries[-1].position if account.entries else 0, text)
        if account.is_overspent:
            yield Fault(
                account.entries[-1].position, f"more than the cap of “{account.budget}” is spent"
            )
