"""The digest of a report's content, by which a retry with other content is a conflict: HMAC under a
key of its Plan.

Who knows a report's id and has the database could try all answers against a digest without a key.
The key stands in the database sealed under PUBLICATION_KEYS, so the database alone tells nothing;
it is destroyed when the study retires, and from then on nothing does. What is digested is
SHA-256(id ‖ content).
"""

import datetime
import hashlib
import hmac
from collections.abc import Iterable

from django.db import connection, transaction

from surveys.design import selectors as design
from surveys.design.models import Plan
from surveys.encryption import CannotOpen, new_key, seal
from surveys.intake.models import DigestKey


def digest(key: bytes, report_id: str, content: str) -> bytes:
    """Return the digest of what a report says."""
    said = hashlib.sha256((report_id + content).encode()).digest()
    # `hmac.digest` would let go of the interpreter's lock, and wait for it
    return hmac.new(key, said, "sha256").digest()


def keys_of(plans: Iterable[Plan], today: datetime.date) -> dict[int, bytes | CannotOpen | None]:
    """Return the key of each Plan's receipts by its id, made for the first of them; None once it
    was destroyed.
    """
    by_id = {plan.pk: plan for plan in plans}
    with connection.cursor() as cursor:  # for each group anew, so that the ORM's part would count
        places = ", ".join(["%s"] * len(by_id))
        query = f"SELECT plan_id, sealed FROM intake_digestkey WHERE plan_id IN ({places})"  # noqa: S608
        cursor.execute(query, [*by_id])
        sealed = {pk: bytes(key) for pk, key in cursor.fetchall()}
    return {pk: _opened(plan, sealed.get(pk), today) for pk, plan in by_id.items()}


def _opened(plan: Plan, sealed: bytes | None, today: datetime.date) -> bytes | CannotOpen | None:
    try:
        sealed = sealed or _made(plan, today)
        return DigestKey(plan=plan, sealed=sealed).opened() if sealed else None
    except CannotOpen as error:
        return error


@transaction.atomic
def _made(plan: Plan, today: datetime.date) -> bytes | None:
    """Make a key for a Plan that is open, and stays so until it is kept: no closed Plan has its
    key made again.
    """
    if not design.is_open_now(plan.pk, today):
        return None
    new = DigestKey(plan=plan)
    new.sealed = seal(new_key(), about=new.about)
    # another first report may have come
    DigestKey.objects.bulk_create([new], ignore_conflicts=True)
    return bytes(DigestKey.objects.values_list("sealed", flat=True).get(pk=plan.pk))
