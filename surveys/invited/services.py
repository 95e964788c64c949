"""Put people on a list, take them off, launch a study for them, erase what is known of them."""

import datetime
import hashlib
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial

import structlog
from django.db import DatabaseError, transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from surveys import clock
from surveys.aggregation import selectors as aggregation
from surveys.design import selectors as design, services as launching
from surveys.design.launch import refuse_unready
from surveys.design.models import Plan, Study
from surveys.design.readiness import said
from surveys.design.refusals import CannotOpen, Refused
from surveys.erasing import erasing
from surveys.intake import selectors as intake, services as receiving
from surveys.invited import letters, selectors
from surveys.invited.keys import Chest, key_of, name_of, plain_address
from surveys.invited.lists import MAX_PEOPLE, Entry, Remark, no_email
from surveys.invited.models import (
    Count,
    Delivery,
    Key,
    Letter,
    Opened,
    Person,
    Silent,
    Unopened,
)
from surveys.isolation import isolate_failures
from surveys.issuer import services as issuer
from surveys.issuer.refusals import Away, Refused as NotIssued
from surveys.parts import in_parts
from surveys.plan.content import PlanContent
from surveys.planning import selectors as planning

AT_ONCE = 10_000  # people in one call of the issuer
LATELY = datetime.timedelta(days=7)  # in which what was on its way has come
log = structlog.get_logger(__name__)
KEPT = ("address", "name", "language", "columns")  # of an entry, sealed


@transaction.atomic
def add_people(*, study_id: int, entries: Sequence[Entry]) -> list[Remark]:
    """Put people on a study's list: all of them, or none, and then the remarks say why.

    While a Plan is open they are invited at once. They count among the invited of their stratum;
    its size in the Plan, by which estimates are weighted, stays.
    """
    study = _held(study_id)
    plan = study.plan
    is_open = plan is not None and plan.is_open
    if is_open and not has_key(study):
        raise Refused(_("The list was deleted: no one can be added before the study has closed."))
    wrong = _not_asked(plan, entries) if is_open and plan else []
    key_of(name_of(study.pk), study.pk)  # made with the list
    chest = Chest(study.pk)
    made = [_person(study, chest, entry) for entry in entries]
    there = Person.objects.filter(study=study)
    if there.count() + len(made) > MAX_PEOPLE:
        raise Refused(_("A list holds %(most)s people at most.") % {"most": f"{MAX_PEOPLE:,}"})
    known = _known(study)
    wrong += [
        Remark(entry.row, "address", _("It is on the list already."))
        for entry, person in zip(entries, made, strict=True)
        if known & {person.digest, person.reference}
    ]
    if wrong:
        return wrong
    Person.objects.bulk_create(made, batch_size=500)
    if is_open and plan:
        try:
            register(plan, made)
        except NotIssued:
            raise Refused(
                _("One of these people was on the list before, in another group: put them there.")
            ) from None
    return []


def not_there_yet(study: Study, entries: Sequence[Entry]) -> list[Entry]:
    """Return those of some people who are not on a study's list."""
    if not has_key(study):
        return list(entries)
    chest, known = Chest(study.pk), _known(study)
    return [
        entry
        for entry in entries
        if known.isdisjoint({chest.digest(entry.address), chest.person(entry.address)})
    ]


def _known(study: Study) -> set[bytes | str]:
    """Return what tells each person of a list: by their address now, and by their first."""
    there = Person.objects.filter(study=study).values_list("digest", "reference")
    return {each for digest, reference in there for each in (bytes(digest), reference)}


def has_key(study: Study) -> bool:
    """Tell whether a study has a list that was not erased."""
    return Key.objects.filter(pk=name_of(study.pk)).exists()


def _held(study_id: int) -> Study:
    study: Study = design.studies().select_for_update(of=("self",)).get(pk=study_id)
    if study.is_retired:
        raise Refused(_("“%(study)s” has ended: it has no list.") % {"study": study})
    if not study.is_invited:
        raise Refused(_("Anyone with the link can answer “%(study)s”.") % {"study": study})
    return study


def _not_asked(plan: Plan, entries: Iterable[Entry]) -> list[Remark]:
    names = index_of(plan)
    text = _("The study is open, with the strata %(names)s.")
    told = text % {"names": ", ".join(map(said, names))}
    return [Remark(entry.row, "stratum", told) for entry in entries if entry.stratum not in names]


def index_of(plan: Plan) -> dict[str, int]:
    """Return the place of each stratum of a Plan, by name."""
    invited = plan.content.invited
    return {each.name: at for at, each in enumerate(invited.strata)} if invited else {}


def _person(study: Study, chest: Chest, entry: Entry) -> Person:
    reference = chest.person(entry.address) if entry.address else secrets.token_hex(16)
    return Person(
        study=study,
        reference=reference,
        stratum=entry.stratum,
        # nobody unnamed is like another
        digest=chest.digest(entry.address) if entry.address else os.urandom(32),
        sealed=_sealed(chest, entry, reference),
        has_email=entry.has_email,
    )


def _sealed(chest: Chest, entry: Entry, reference: str) -> bytes:
    kept = asdict(entry)
    return chest.seal({name: kept[name] for name in KEPT}, reference)


def add_unnamed(*, study_id: int, count: int, stratum: str) -> None:
    """Put people on a list of whom nothing is known: their codes are given away by hand."""
    wrong = add_people(study_id=study_id, entries=[Entry("", stratum=stratum)] * count)
    if wrong:
        raise Refused(wrong[0].text)


@transaction.atomic
def remove_person(*, study_id: int, reference: str) -> None:
    """Take somebody off a list: their codes stop working, and what is known of them is erased.

    Who has fetched a ticket may still use it. They stay counted either way: nobody is told which.
    May raise InUse: then nothing was done.
    """
    study = _held(study_id)
    chosen = Person.objects.filter(study=study, reference=reference)
    if not chosen.exists():
        return
    with erasing(invited_delivery="state", invited_person="stratum"):
        chosen.delete()
    if (plan := study.plan) is not None and plan.is_open:
        issuer.withdraw(plan.digest, [Chest(study.pk).reference(plan.digest, reference)])


@transaction.atomic
def note_returned(*, study: Study, addresses: Iterable[str]) -> int:
    """Mark those of a study's list to whom letters came back; return how many."""
    if not has_key(study):
        return 0
    chest = Chest(study.pk)
    digests = [chest.digest(address) for address in addresses]
    return sum(
        Person.objects.filter(study=study, digest__in=some).update(came_back=True)
        for some in in_parts(digests, 500)
    )


@transaction.atomic
def write_again(*, study_id: int, reference: str, address: str) -> None:
    """Have letters sent again to somebody to whom one came back, from the next on: to another
    address, or once more to the same. The invitation stays the one they have.
    """
    study = _held(study_id)
    address = " ".join(address.split())
    if why := no_email(address):
        raise Refused(why)
    own = Person.objects.filter(study=study, reference=reference, came_back=True).first()
    if own is None:
        return
    chest = Chest(study.pk)
    before = selectors.entry_of(chest, own)
    entry = replace(before, address=address)
    others = Person.objects.filter(study=study).exclude(pk=own.pk)
    if others.filter(Q(digest=chest.digest(address)) | Q(reference=chest.person(address))).exists():
        raise Refused(_("It is on the list already."))
    own.digest, own.sealed = chest.digest(address), _sealed(chest, entry, reference)
    own.has_email, own.came_back = True, False
    own.was_changed |= plain_address(address) != plain_address(before.address)
    own.save()


def reissue(*, study: Study, reference: str) -> None:
    """Let who has lost their ticket fetch another, once: a double that is counted in public. It is
    counted for who has fetched none, too; nobody is told which it was.
    """
    plan = study.plan
    if plan is not None and plan.is_open and has_key(study):
        known = Chest(study.pk).reference(plan.digest, reference)
        with suppress(NotIssued):
            issuer.reissue(plan.digest, known)


def set_erasure(*, study: Study, day: datetime.date | None) -> None:
    """Choose the day on which a list is erased; None: when its study retires. A Refused says that
    there is none.
    """
    if not Key.objects.filter(pk=name_of(study.pk)).update(erase_on=day):
        raise Refused(_("The list is empty."))


# The launch


def launch(
    *,
    study: Study,
    who: str,
    now: datetime.datetime,
    seen: str = "",
    why: str = "",
) -> Plan:
    """Open a wave, for its list if it has one: keys are made, the Plan opened, the issuer told and
    everybody on the list invited; or nothing is. What would tell next to nothing needs a reason.
    """
    opens = partial(
        launching.open_study,
        study_id=study.pk,
        who=who,
        now=now,
        seen=seen,
        why=why,
        tells_little=_is_little,
    )
    plan = _opened_for_list(study, opens) if study.is_invited else opens()
    try:
        receiving.prepare(plan)
    except DatabaseError as error:  # it is open: the first report will make its place
        log.warning("no place yet", plan=plan.pk, kind=type(error).__name__)
    return plan


def _is_little(content: PlanContent, expected: int | None) -> bool:
    return planning.outlook(content, expected).is_worthless


def _opened_for_list(study: Study, opens: Callable[..., Plan]) -> Plan:
    refuse_unready(study, selectors.problems(study))  # before keys are made
    try:
        return _launch(study, opens)
    except Away as error:
        raise CannotOpen(
            _("The issuer of tickets cannot be reached. Nothing was opened.")
        ) from error


def _launch(study: Study, opens: Callable[..., Plan]) -> Plan:
    """Open a wave for a list, with keys of its own.

    It is noted that keys were made before anything is opened, and the note goes in the transaction
    that opens: so what is open has its keys, however this ends, and `drop_unopened` finds the
    others, also where the issuer has opened its side and this one was undone. Only keys that are
    made as the process ends, before the note, stay at an issuer elsewhere, bound to nothing.
    """
    keys = issuer.make_keys(len(selectors.strata_of(study)))
    unopened = Unopened.objects.create(keys=keys)
    with transaction.atomic():
        if not Unopened.objects.filter(pk=unopened.pk).delete()[0]:
            raise CannotOpen(_("It took too long, and nothing was opened: try again."))
        held = _held(study.pk)  # so that nobody joins or leaves meanwhile
        if len(selectors.strata_of(held)) != len(keys):
            raise CannotOpen(_("The list has changed meanwhile: look at it again."))
        plan = opens(invited=selectors.part_of(held, keys))
        Opened.objects.create(plan=plan)
        issuer.open_plan(plan.document.encode())
        register(plan, Person.objects.filter(study=study))
    return plan


def drop_unopened() -> list[int]:
    """Have the issuer erase the keys of each launch that came to nothing, and whom it invited;
    return how many keys each had. A launch that opens just now is waited for, and keeps its own.
    """

    @transaction.atomic
    def drop(unopened: Unopened) -> int:
        own = Unopened.objects.select_for_update().filter(pk=unopened.pk).first()
        if own is None:
            return 0
        issuer.drop_keys(own.keys)
        own.delete()
        return len(own.keys)

    return [many for many in isolate_failures(Unopened.objects.all(), drop) if many]


def register(plan: Plan, people: Iterable[Person]) -> None:
    """Invite people, each with a code that nobody knows: letters bring codes that work."""
    give_codes(plan, [(person, secrets.token_bytes(32)) for person in people])


def give_codes(plan: Plan, coded: Iterable[tuple[Person, bytes]], *, alone: bool = False) -> None:
    """Tell the issuer of a code for each person, by its SHA-256, in an order that is chance's.
    `alone` are those that owners have too.
    """
    coded = list(coded)
    if not coded:  # nobody is left, and perhaps no key of the list
        return
    chest, at = Chest(plan.study_id), index_of(plan)
    told = sorted(
        (chest.reference(plan.digest, person.reference), at[person.stratum], digest)
        for person, digest in coded
        if person.stratum in at
    )
    for some in in_parts(told, AT_ONCE):
        issuer.invite(plan.digest, some, alone=alone)


@dataclass(frozen=True, slots=True)
class Coded:
    """Somebody on a list, and a link of their own, with a code of 128 bits."""

    person: Person
    entry: Entry
    link: str


def new_codes(
    plan: Plan, people: QuerySet[Person], *, origin: str, alone: bool = False
) -> list[Coded]:
    """Draw a code for each of some people who are on the list now, and tell the issuer of all of
    them at once. Whoever is taken off the list before that gets none; a later removal withdraws it.

    Codes that are printed or saved are `alone`, and so are those that go to an address that an
    owner has put in place of another: it may be the owner's.
    """
    at, made = index_of(plan), []
    told: dict[bool, list[tuple[Person, bytes]]] = {False: [], True: []}  # by who is alone
    with kept_still(plan):
        for person, entry in selectors.people_of(plan.study, people.all()):
            if person.stratum not in at:
                continue
            code = secrets.token_urlsafe(16)
            link = letters.link_of(plan, origin, at[person.stratum], code, entry.language)
            made.append(Coded(person, entry, link))
            digest = hashlib.sha256(code.encode()).digest()
            told[alone or person.was_changed].append((person, digest))
        for is_alone, coded in told.items():
            give_codes(plan, coded, alone=is_alone)
    return made


@contextmanager
def kept_still(plan: Plan) -> Iterator[None]:
    """Have nobody join a list or leave it meanwhile."""
    with transaction.atomic():
        own = design.studies().select_for_update(of=("self",), no_key=True)
        own.get(pk=plan.study_id)
        yield


# The end


def close_ended() -> list[int]:
    """Have the issuer erase the keys and marks of every Plan that has closed; return their ids. It
    keeps its numbers, which are shown from the next midnight on.
    """

    def close(opened: Opened) -> int:
        issuer.close_plan(opened.plan.digest)
        Opened.objects.filter(pk=opened.pk).update(is_over=True)
        return opened.plan_id

    ended = Opened.objects.filter(is_over=False, plan__closed_on__isnull=False)
    return isolate_failures(ended.select_related("plan"), close)


def erase_due(*, today: datetime.date) -> list[int]:
    """Erase every list whose day has come or whose study has retired; return the studies' ids. May
    raise InUse.
    """
    retired = design.studies().filter(retired_on__isnull=False)
    due = Key.objects.filter(study__in=retired)
    if not clock.doubt():
        due |= Key.objects.filter(erase_on__lte=today)
    ids = [pk for pk in due.values_list("study_id", flat=True) if pk is not None]
    if ids:
        with erasing(invited_delivery="state", invited_person="stratum", invited_key="sealed"):
            Delivery.objects.filter(person__study__in=ids).delete()
            Person.objects.filter(study__in=ids).delete()
            Key.objects.filter(study__in=ids).delete()
            open_letters = Letter.objects.filter(plan__study__in=ids).exclude(state="done")
            open_letters.update(state=Letter.State.STOPPED)
    return ids


# Numbers, once a day


def count_day(*, today: datetime.date) -> list[int]:
    """Write the counts of every invited Plan that is open, or was in these days, once a day; return
    the Plans' ids.
    """
    if clock.doubt():
        return []
    done = Count.objects.filter(day=today).values("plan_id")
    lately = Q(is_over=False) | Q(plan__closed_on__gte=today - LATELY)
    due = Opened.objects.filter(lately, plan__opened_on__lt=today).exclude(plan__in=done)
    due = due.select_related("plan")

    def count(opened: Opened) -> int:
        write_counts(opened.plan, today)
        return opened.plan_id

    return isolate_failures(due, count)


@transaction.atomic
def write_counts(plan: Plan, day: datetime.date) -> None:
    """Write the counts that are shown from a day's midnight on; those before the last shown go.

    What was accepted is read first: whoever fetches meanwhile can only make it less than that.
    """
    receiving.count(plan)
    accepted = intake.accepted_of_strata(plan) or [aggregation.received(plan)]
    told = issuer.counts(plan.digest)
    if len(told) != (strata := len(index_of(plan))):
        raise ValueError(f"expected counts of {strata} strata from the issuer, got {len(told)}")
    Count.objects.bulk_create(
        [
            Count(
                plan=plan,
                day=day,
                stratum=at,
                invited=of.invited,
                fetched=of.fetched,
                accepted=accepted[at],
                reissued=of.reissued,
            )
            for at, of in enumerate(told)
        ],
        update_conflicts=True,
        unique_fields=["plan", "day", "stratum"],
        update_fields=["invited", "fetched", "accepted", "reissued"],
    )
    Count.objects.filter(plan=plan, day__lt=day).delete()


def silence(digest: str) -> None:
    """Send no more letters of this site to an address, ever."""
    Silent.objects.get_or_create(pk=digest)
