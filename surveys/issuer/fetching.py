"""Issue a ticket, once to each invitation.

A code is known or not: whether it was withdrawn, is of another stratum or Plan, or never was, the
answer is the same, and so is what is done for it. Nothing is signed before the invitation is
marked, in one statement; signing comes after its commit, and what is signed again gives the same
bytes, so that a lost answer can be asked for again and no signature is kept.
"""

import hashlib
import hmac
from http import HTTPStatus
from typing import Any

from django.db import transaction

from surveys.apart import values_apart
from surveys.issuer import signing, tables
from surveys.issuer.models import Code, Key, Mark
from surveys.issuer.refusals import Refused

MARK = """
INSERT INTO issuer_mark (invitation_id, blinded, code, is_settled)
SELECT reference, %s, (SELECT digest FROM issuer_code WHERE digest = %s AND is_alone), FALSE
FROM issuer_invitation WHERE reference = (
  SELECT invitation_id FROM issuer_code WHERE digest = %s
) AND key_id = %s ON CONFLICT DO NOTHING"""


def issue(plan: str, stratum: int, code: str, blinded: bytes) -> bytes:
    """Return the blind signature for who holds a code, or raise Refused."""
    key = Key.objects.filter(plan=plan, stratum=stratum).first()
    if key is None:
        raise _unknown()
    if key.is_closed:
        raise _closed()
    signing.refuse_unfit(key.modulus, blinded)
    digest, message = _sha256(code.encode()), _sha256(blinded)
    kept = _mark(key, digest, message)
    if not hmac.compare_digest(kept, message):
        expected = "expected the message for which a ticket was fetched, got another"
        raise Refused("blinded", expected, HTTPStatus.CONFLICT)
    return signing.sign(key.modulus, key.opened(), blinded)


def has_fetched(plan: str, code: str) -> dict[str, Any]:
    """Tell who holds a code whether their ticket was fetched, by anybody's code of this person or
    by this one `alone`; or raise Refused.

    A code that was e-mailed answers for the person, at once: they see that somebody fetched in
    their place. One that whoever made the list has too answers for itself, and by the last daily
    count: asked again and again it would say when somebody fetches.
    """
    keys = list(Key.objects.filter(plan=plan).exclude(plan=""))
    if keys and all(key.is_closed for key in keys):
        raise _closed()
    digest = _sha256(code.encode())
    found = Code.objects.filter(digest=digest)
    own = found.values_list(
        "invitation", "invitation__key", "invitation__reissued", "is_alone"
    ).first()
    if own is None or own[1] not in {key.pk for key in keys}:
        raise _unknown()
    marks = Mark.objects.filter(pk=own[0])
    if own[3]:
        came = marks.filter(code=digest, is_settled=True).exists()
        return {"fetched": came, "alone": True}
    return {"fetched": own[2] > 0 or marks.exists(), "alone": False}


def _mark(key: Key, digest: bytes, message: bytes) -> bytes:
    """Mark an invitation, unless it is; return the digest of the message that it is marked with."""
    known = Code.objects.filter(digest=digest, invitation__key=key)
    if not known.exists():  # a guess waits for no lock
        raise _unknown()
    with transaction.atomic():
        tables.hold_marks(alone=False)
        with values_apart() as cursor:
            cursor.execute(MARK, [message, digest, digest, key.pk])
        own = Code.objects.filter(digest=digest).values("invitation_id")
        kept = Mark.objects.filter(pk__in=own).values_list("blinded", flat=True).first()
    if kept is None:  # withdrawn just now
        raise _unknown()
    return bytes(kept)


def _sha256(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _unknown() -> Refused:
    return Refused("code", "expected one of this Plan and stratum", HTTPStatus.FORBIDDEN)


def _closed() -> Refused:
    return Refused("plan", "this study has closed and issues no more tickets", HTTPStatus.GONE)
