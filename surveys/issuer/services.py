"""What whoever runs a list asks of the issuer: keys, invitations, counts, and the end.

The issuer is in this process, or in another one (`far.py`). A reference is random, drawn anew for
each person and Plan, and 32 small hexadecimal digits; a Plan is named by its digest. Refused says
what is wrong, Away that the issuer cannot be reached.
"""

from collections.abc import Sequence
from http import HTTPStatus
from typing import NamedTuple

import msgspec
from django.db import transaction
from django.db.models import F, QuerySet, Sum

from surveys.encryption import seal
from surveys.erasing import erasing
from surveys.issuer import signing, tables
from surveys.issuer.far import verb
from surveys.issuer.models import Code, Invitation, Key, Mark
from surveys.issuer.refusals import Refused
from surveys.parts import in_parts
from surveys.plan.content import Unsound, digest, read

MOST_KEYS = 100
AT_ONCE = 500  # rows looked up in one statement
REFERENCE, DIGEST = 16, 32  # bytes
# What reading a document says that is no Plan, or one whose blocks hold what it does not ask.
NO_PLAN = (Unsound, msgspec.MsgspecError, ValueError, LookupError, RecursionError)
ERASED = {
    "issuer_key": "sealed",
    "issuer_code": "invitation_id",
    "issuer_invitation": "reissued",
    "issuer_mark": "blinded",
}


class Counts(NamedTuple):
    """People of a stratum: invited at any time, of them those who have fetched a ticket, and how
    many tickets were issued anew at most: as often as somebody asked for it.
    """

    invited: int
    fetched: int
    reissued: int


@verb
def make_keys(count: int) -> list[str]:
    """Make new keys and return their moduli; they are bound to no Plan yet."""
    if not 1 <= count <= MOST_KEYS:
        raise Refused("count", f"expected 1 to {MOST_KEYS} keys")
    keys = []
    for modulus, exponent in (signing.new_key() for _ in range(count)):
        keys.append(key := Key(modulus=modulus))
        key.sealed = seal(exponent, about=key.about)
    Key.objects.bulk_create(keys)
    return [key.modulus for key in keys]


@verb
@transaction.atomic
def open_plan(document: bytes) -> None:
    """Bind a Plan's keys to it, from its canonical bytes; tickets are issued from now on. A second
    time nothing changes.
    """
    try:
        text = document.decode()
        invited = read(text).invited
    except NO_PLAN:
        raise Refused("document", "expected a Plan") from None
    plan = digest(text)
    if invited is None:
        raise Refused("document", "expected a Plan that invites people")
    for stratum, each in enumerate(invited.strata):
        is_bound = _with_key(plan).filter(modulus=each.key, stratum=stratum).exists()
        free = Key.objects.filter(modulus=each.key, plan="")
        if not is_bound and not free.update(plan=plan, stratum=stratum):
            raise Refused("document", f"expected a key of this issuer at stratum {stratum}")


@verb
@transaction.atomic
def invite(plan: str, people: Sequence[tuple[str, int, bytes]], alone: bool = False) -> None:
    """Take people's references, strata and the SHA-256 of a code each: the first time it makes the
    invitation, later it adds a code. At most 50,000 at once. `alone` are codes that whoever made
    the list has too: each tells only whether it was used itself.
    """
    keys = _open_keys(plan)
    wanted: dict[bytes, int] = {}
    codes: list[tuple[bytes, bytes]] = []
    for reference, stratum, code in people:
        if not 0 <= stratum < len(keys) or len(code) != DIGEST:
            raise Refused("people", f"expected strata below {len(keys)} and SHA-256 of codes")
        wanted[_reference(reference)] = keys[stratum].pk
        codes.append((code, _reference(reference)))
    Invitation.objects.bulk_create(
        (Invitation(reference=own, key_id=key) for own, key in sorted(wanted.items())),
        ignore_conflicts=True,
        batch_size=AT_ONCE,
    )
    for some in in_parts(list(wanted), AT_ONCE):
        found = Invitation.objects.filter(pk__in=some).values_list("pk", "key_id")
        if any(wanted[bytes(own)] != key for own, key in found):
            raise Refused("people", "expected each reference in one stratum of one Plan")
    Code.objects.bulk_create(
        (Code(digest=code, invitation_id=own, is_alone=alone) for code, own in sorted(codes)),
        ignore_conflicts=True,
        batch_size=AT_ONCE,
    )


@verb
@transaction.atomic
def withdraw(plan: str, references: Sequence[str]) -> None:
    """Take people off the list: their codes stop working, unless they have fetched. All stay
    counted either way: a number that fell would tell which it was.
    """
    tables.hold_marks(alone=True)
    for some in in_parts([_reference(each) for each in references], AT_ONCE):
        own = Invitation.objects.filter(pk__in=some, key__plan=plan)
        came = _fetchers(own).values("pk")
        Code.objects.filter(invitation__in=own.exclude(pk__in=came)).delete()


@verb
def fetched(plan: str, references: Sequence[str]) -> set[str]:
    """Return those of some people who need no reminder: they have a ticket."""
    marks = Mark.objects.filter(invitation__key__plan=plan).values_list("pk", flat=True)
    asked = in_parts([_reference(each) for each in references], AT_ONCE)
    return {bytes(pk).hex() for some in asked for pk in marks.filter(pk__in=some)}


@verb
def counts(plan: str) -> list[Counts]:
    """Return how many of each stratum are invited, have fetched, and were issued a ticket anew.

    No more reports are accepted than have fetched or were issued one anew.
    """
    return [_counts(key) for key in Key.objects.filter(plan=plan).order_by("stratum")]


@verb
@transaction.atomic
def reissue(plan: str, reference: str) -> None:
    """Let who has lost a ticket fetch another one. Of who has fetched none only the number grows:
    one that did not would tell which it was.
    """
    tables.hold_marks(alone=True)
    own = Invitation.objects.filter(pk=_reference(reference), key__in=_open_keys(plan))
    grows = "reissued" if Mark.objects.filter(invitation__in=own).delete()[0] else "asked"
    if not own.update(**{grows: F(grows) + 1}):
        raise Refused("reference", "expected somebody of this Plan")


@verb
def close_plan(plan: str) -> None:
    """Erase a Plan's private keys, and all that there is of each person; counts stay. A second
    time nothing changes. May raise InUse.
    """
    if not _with_key(plan).exists():
        return
    with erasing(**ERASED):
        for key in _with_key(plan):
            key.invited, key.fetched, key.reissued = _counts(key)
            key.sealed = b""
            key.save()
            _forget_people(key)


@verb
def drop_keys(moduli: Sequence[str]) -> None:
    """Erase keys whose launch came to nothing, and whom it had invited, as if there had been none.
    A second time nothing changes. May raise InUse.

    Whoever asks has to know that no Plan is open under them: tickets end with their key.
    """
    own = Key.objects.filter(modulus__in=moduli)
    if not own.exists():
        return
    with erasing(**ERASED):
        for key in own:
            _forget_people(key)
        own.delete()


def _forget_people(key: Key) -> None:
    Mark.objects.filter(invitation__key=key).delete()
    Code.objects.filter(invitation__key=key).delete()
    Invitation.objects.filter(key=key).delete()


def _counts(key: Key) -> Counts:
    if key.is_closed:
        return Counts(key.invited, key.fetched, key.reissued)
    own = Invitation.objects.filter(key=key)
    anew = own.aggregate(many=Sum(F("reissued") + F("asked"), default=0))["many"]
    return Counts(own.count(), _fetchers(own).count(), anew)


def _fetchers(invitations: QuerySet[Invitation]) -> QuerySet[Invitation]:
    """Return those who have ever fetched."""
    marked = Mark.objects.values("invitation_id")
    return invitations.filter(pk__in=marked) | invitations.filter(reissued__gt=0)


def _with_key(plan: str) -> QuerySet[Key]:
    return Key.objects.filter(plan=plan).exclude(plan="").exclude(sealed=b"")


def _open_keys(plan: str) -> list[Key]:
    keys = list(_with_key(plan).order_by("stratum"))
    if not keys:
        raise Refused("plan", "expected an open Plan of this issuer", HTTPStatus.GONE)
    return keys


def _reference(text: str) -> bytes:
    try:
        found = bytes.fromhex(text)
    except ValueError:
        found = b""
    if len(found) != REFERENCE:
        raise Refused("reference", f"expected {2 * REFERENCE} hexadecimal digits")
    return found
