"""Send letters: one worker at a time, so many a second, to each person once at most.

A letter is claimed for a person in the database before it is sent, and what is claimed is never
sent again by itself. If the worker is killed in between, or the server of letters ends in the
middle, nobody knows whether the letter went out: it is doubtful, and for a person to decide. Codes
are drawn here; they stand in the letter, and their SHA-256 at the issuer.
"""

import contextlib
import datetime
import secrets
import smtplib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import structlog
from django.conf import settings
from django.core.mail import get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext as _

from surveys import clock
from surveys.design.models import Plan
from surveys.design.refusals import Refused
from surveys.erasing import InUse, erasing
from surveys.invited import letters, selectors, services
from surveys.invited.keys import SITE, Chest, key_of, site_digest
from surveys.invited.lists import Entry
from surveys.invited.models import Delivery, Letter, Person, Silent, Turn
from surveys.issuer import services as issuer

log = structlog.get_logger(__name__)
State = Delivery.State
BUDGET = 30.0  # seconds in which a task sends
# a worker that held its turn is gone for sure: a task is ended after a minute
TURN = datetime.timedelta(seconds=90)
AT_ONCE = 20  # people whose codes are drawn together
MOST_ASKED = 640  # people of whom the issuer is asked together, where most have fetched
MORNING = 7  # the hour, UTC, from which letters of a later day go out
MOST_TRIES = 5
PERMANENT = 500  # from which code on a server says no for good
DAY = datetime.timedelta(days=1)
REST = datetime.timedelta(minutes=15)  # before a server that said “later” is asked again
MOST_RESTS = 10  # after which this turn ends
CLAIM = """
INSERT INTO invited_delivery (letter_id, person_id, state, tries)
SELECT letter.id, person.id, %s, 0
FROM invited_letter letter, invited_person person, design_plan plan
WHERE letter.id = %s AND letter.state = %s AND person.id = %s
AND NOT letter.is_forgotten AND plan.id = letter.plan_id AND plan.closed_on IS NULL
ON CONFLICT DO NOTHING"""
TOO_MUCH = 421  # with this code a server ends the connection
MOST_DOUBTS = 3  # in succession: then it is the server, and the letter stops


def send_due(*, now: datetime.datetime, budget: float = BUDGET) -> int:
    """Send what is due for some seconds; return how many letters went out."""
    letter = _due(now)
    if letter is None or not settings.EMAIL_CONFIGURED or not _take_turn(now):
        return 0
    try:
        return Run(letter, time.monotonic() + budget, now).go()
    except Exception as error:  # this letter rests, so that the others go out
        own = Letter.objects.filter(pk=letter.pk, state=Letter.State.GOES)
        own.update(trouble=type(error).__name__[:20], rests_until=now + REST)
        raise
    finally:
        Turn.objects.filter(pk=1, until=now + TURN).update(until=now)  # if it is still its own


def _due(now: datetime.datetime) -> Letter | None:
    today = now.astimezone(datetime.UTC).date()
    if now.hour < MORNING:
        today -= datetime.timedelta(days=1)
    waits = Letter.objects.filter(state=Letter.State.WAITS, day__lte=today)
    goes = Letter.objects.filter(state=Letter.State.GOES)
    # what rests goes last, so that one slow address keeps no other letter waiting
    order = F("rests_until").asc(nulls_first=True), "pk"
    due = goes if clock.doubt() else goes | waits
    return due.select_related("plan__study").order_by(*order).first()


def _take_turn(now: datetime.datetime) -> bool:
    """Take the turn to send, once the last one is over; one that would last longer than a turn can
    was taken by a clock ahead.
    """
    Turn.objects.get_or_create(pk=1, defaults={"until": now})
    is_over = Q(until__lte=now) | Q(until__gt=now + TURN + clock.OFF)
    free = Turn.objects.filter(is_over, pk=1)
    return free.update(until=now + TURN) == 1


class Name(NamedTuple):
    """A person, by what the list calls them, and what the issuer does."""

    pk: int
    reference: str
    at_issuer: str


@dataclass(slots=True)
class Run:
    """One worker's turn at one letter."""

    letter: Letter
    until: float  # of the clock that never goes back
    now: datetime.datetime
    sent: int = 0
    doubts: int = 0  # in succession
    rests: int = 0
    upto: str = ""  # the reference up to which the list is looked at when these people have theirs
    asked: int = AT_ONCE  # people of whom the issuer is asked together
    connection: BaseEmailBackend | None = None
    key: bytes = field(default_factory=lambda: key_of(SITE))

    @property
    def plan(self) -> Plan:
        return self.letter.plan

    def go(self) -> int:
        own = Letter.objects.filter(pk=self.letter.pk)
        if not self.plan.is_open or self.plan.is_over(self.now):
            own.update(state=Letter.State.STOPPED)
            return 0
        own.filter(state=Letter.State.WAITS).update(state=Letter.State.GOES)
        self.upto = self.letter.past
        # whoever claimed these has ended
        self.letter.deliveries.filter(state=State.CLAIMED).update(state=State.DOUBTFUL)
        if not self._opens():
            return 0
        try:
            while self._goes_on():
                people = self._next()
                if not people:
                    if not (self._is_late() or self._later().exists()):
                        self.letter.past = ""
                        finish(self.letter)
                    break
                if not self._send_to(people):
                    break
                self.letter.past = self.upto
        finally:
            own.update(past=self.letter.past)  # where the next turn goes on
            self._close()
        log.info("letters sent", letter=self.letter.pk, count=self.sent)
        return self.sent

    def _goes_on(self) -> bool:
        own = Letter.objects.filter(pk=self.letter.pk, state=Letter.State.GOES)
        return not self._is_late() and own.filter(plan__closed_on=None).exists()

    def _is_late(self) -> bool:
        return time.monotonic() > self.until

    def _opens(self) -> bool:
        """Open a way to the server, or note that there is none."""
        self.connection = get_connection()
        own = Letter.objects.filter(pk=self.letter.pk)
        try:
            self.connection.open()
        except (OSError, smtplib.SMTPException) as error:
            log.warning("no server for letters", kind=type(error).__name__)
            own.filter(state=Letter.State.GOES).update(trouble=type(error).__name__[:20])
            self._close()
            return False
        own.exclude(trouble="").update(trouble="")
        return True

    def _close(self) -> None:
        if self.connection is not None:
            with contextlib.suppress(OSError, smtplib.SMTPException):
                self.connection.close()
        self.connection = None

    def _next(self) -> list[int]:
        """Return some people who are still to have this letter, in an order that is chance's; at
        last those whose server said: later.
        """
        fresh = missed(self.letter)
        while not (self.letter.is_forgotten or self._is_late()):
            some = self._names(fresh.filter(reference__gt=self.letter.past)[: self.asked])
            if not some:
                break
            people = self._still_asked(some)
            first = people[:AT_ONCE]
            self.upto = (first if len(first) < len(people) else some)[-1].reference
            if first:
                self.asked = AT_ONCE
                return [each.pk for each in first]
            self.letter.past, self.asked = self.upto, min(2 * self.asked, MOST_ASKED)
        now = datetime.datetime.now(datetime.UTC)
        rests = (now, now + REST + clock.OFF)  # a longer rest was begun by a clock ahead
        if Letter.objects.filter(pk=self.letter.pk, rests_until__range=rests).exists():
            return []
        late = reached(self.plan).filter(pk__in=self._later().values("person_id"))
        while not self._is_late():
            some = self._names(late[:AT_ONCE])
            people = self._still_asked(some)
            came = {each.pk for each in some} - {each.pk for each in people}
            self._later().filter(person__in=came).delete()
            if people:
                return [each.pk for each in people]
            if not some:  # the others are reached no more
                self._later().exclude(person__in=reached(self.plan)).delete()
                break
        return []

    def _later(self) -> QuerySet[Delivery]:
        return self.letter.deliveries.filter(state=State.LATER)

    @transaction.atomic  # so that the list is not erased between its people and its key
    def _names(self, people: QuerySet[Person]) -> list[Name]:
        """Return what some people are called here and, for a reminder, by the issuer."""
        found = list(people.values_list("pk", "reference"))
        chest = Chest(self.plan.study_id) if found and self.letter.reminds else None
        return [
            Name(pk, reference, chest.reference(self.plan.digest, reference) if chest else "")
            for pk, reference in found
        ]

    def _still_asked(self, people: Sequence[Name]) -> list[Name]:
        """Return all of them; for a reminder, those who have fetched no ticket."""
        came: set[str] = set()
        if people and self.letter.reminds:
            came = issuer.fetched(self.plan.digest, [each.at_issuer for each in people])
        return [each for each in people if each.at_issuer not in came]

    def _send_to(self, people: Sequence[int]) -> bool:
        """Send some people's letters, one at least; tell whether to go on."""
        chosen = reached(self.plan).filter(pk__in=people)
        coded = services.new_codes(self.plan, chosen, origin=self.letter.origin)
        for place, each in enumerate(coded):
            began = time.monotonic()
            if place and began > self.until:
                return False
            written = letters.write(
                self.plan,
                self.letter.texts,
                each.entry,
                link=each.link,
                origin=self.letter.origin,
                key=self.key,
            )
            if not self._deliver(each.person, each.entry.address, written):
                return False
            if settings.LETTERS_A_SECOND:
                spent = time.monotonic() - began
                time.sleep(max(0.0, 1 / settings.LETTERS_A_SECOND - spent))
        return True

    def _deliver(self, person: Person, address: str, written: letters.Written) -> bool:
        """Send one letter once at most; tell whether to go on to the next."""
        if Silent.objects.filter(pk=site_digest(address, self.key)).exists():
            if claim(self.letter, person):
                self._settle(person, State.SILENT, "silent")
            return True
        if self.connection is None and not self._opens():
            return False
        if not claim(self.letter, person):
            return True
        assert self.connection is not None  # noqa: S101 (for mypy)
        try:
            letters.message(written, address, self.connection).send()
        except smtplib.SMTPRecipientsRefused as error:
            codes = [code for code, _said in error.recipients.values()]
            return self._turned_away(person, min(codes, default=550))
        except smtplib.SMTPDataError as error:
            if error.smtp_code < PERMANENT:
                return self._turned_away(person, error.smtp_code)
            self._settle(person, State.REFUSED, "refused")
            return self._goes_on_after(error)
        except smtplib.SMTPSenderRefused as error:  # of nobody's address: this letter waits
            self._close()
            self.letter.deliveries.filter(person=person).update(state=State.LATER)
            return self._goes_on_after(error)
        except (smtplib.SMTPNotSupportedError, UnicodeError, ValueError):
            self._settle(person, State.REFUSED, "refused")
            self._close()
        except (OSError, smtplib.SMTPException) as error:
            log.warning("a letter is doubtful", kind=type(error).__name__, letter=self.letter.pk)
            self._close()
            self.letter.deliveries.filter(person=person).update(state=State.DOUBTFUL)
            return self._goes_on_after(error)
        else:
            self.doubts, self.sent = 0, self.sent + 1
            self._settle(person, State.SENT, "sent")
        return True

    def _turned_away(self, person: Person, code: int) -> bool:
        """Note that the server said no: for good from 500 on, else for now. It holds the letter of
        nobody.
        """
        self.doubts, self.rests = 0, self.rests + 1
        if code == TOO_MUCH:
            self._close()
        if code >= PERMANENT:
            self._settle(person, State.REFUSED, "refused")
            if not self.letter.reminds:  # for whoever gets a reminder has not fetched
                Person.objects.filter(pk=person.pk).update(came_back=True)
            return True
        own = self.letter.deliveries.filter(person=person)
        own.update(state=State.LATER, tries=F("tries") + 1)
        if own.filter(tries__gte=MOST_TRIES).exists():
            self._settle(person, State.REFUSED, "refused")
        rest = datetime.datetime.now(datetime.UTC) + REST
        Letter.objects.filter(pk=self.letter.pk).update(rests_until=rest)
        return self.rests % MOST_RESTS > 0

    def _goes_on_after(self, error: Exception) -> bool:
        """Stop the letter once several in succession did not go: it is the server, not a person."""
        self.doubts += 1
        if self.doubts < MOST_DOUBTS:
            return True
        Letter.objects.filter(pk=self.letter.pk, state=Letter.State.GOES).update(
            state=Letter.State.STOPPED,
            trouble=type(error).__name__[:20],
            stopped_on=datetime.datetime.now(datetime.UTC).date(),
        )
        return False

    @transaction.atomic
    def _settle(self, person: Person, state: State, counted: str) -> None:
        changed = self.letter.deliveries.filter(person=person).exclude(state=state)
        if changed.update(state=state):
            Letter.objects.filter(pk=self.letter.pk).update(**{counted: F(counted) + 1})


def claim(letter: Letter, person: Person) -> bool:
    """Claim one person's letter, in one statement; tell whether nobody had. None is claimed of a
    letter that has ended, of which nobody knows any more who had it, nor for who is off the list.
    """
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, [State.CLAIMED, letter.pk, Letter.State.GOES, person.pk])
        if cursor.rowcount == 1:
            return True
    own = Delivery.objects.filter(letter=letter, person=person, state=State.LATER)
    goes = own.filter(letter__state=Letter.State.GOES, letter__plan__closed_on=None)
    return goes.update(state=State.CLAIMED) == 1


def reached(plan: Plan) -> QuerySet[Person]:
    """Return whom letters reach."""
    strata = services.index_of(plan)
    own = Person.objects.filter(study=plan.study_id, stratum__in=strata)
    return own.exclude(selectors.WITHOUT_EMAIL).order_by("reference")


def missed(letter: Letter) -> QuerySet[Person]:
    """Return whom a letter can reach, and has not yet: a reminder, those who have fetched too."""
    had = letter.deliveries.values("person_id")
    return reached(letter.plan).exclude(pk__in=had)


def finish(letter: Letter) -> None:
    """Forget who had a letter; those whose letter is doubtful stay until somebody decides.

    Whoever got no reminder gets a code that nobody knows: at the issuer all look alike. Who was
    added meanwhile is invited first.
    """
    own = Letter.objects.filter(pk=letter.pk, state=Letter.State.GOES)
    try:
        with services.kept_still(letter.plan), erasing(invited_delivery="state"):
            if not own.exists() or letter.deliveries.filter(state=State.LATER).exists():
                return
            if not letter.reminds and not letter.is_forgotten and missed(letter).exists():
                return
            if letter.reminds:
                had = letter.deliveries.values("person_id")
                others = Person.objects.filter(study=letter.plan.study).exclude(pk__in=had)
                services.register(letter.plan, others)
            letter.deliveries.exclude(state=State.DOUBTFUL).delete()
            own.update(state=Letter.State.DONE, is_forgotten=True)
    except InUse:  # the next turn finds it free
        return


# What owners decide


@transaction.atomic
def schedule(
    *,
    plan: Plan,
    texts: letters.Texts,
    reminds: bool,
    origin: str,
    day: datetime.date,
    today: datetime.date,
) -> Letter:
    """Have a letter sent on a day, or at once; in place of one of that day that still waits, or was
    stopped before anybody had it. A turn that holds the other one sends nothing more.
    """
    if plan.closes_on and day > plan.closes_on:
        last = {"day": letters.last_day(plan)}
        raise Refused(_("The study takes answers until %(day)s: no email is sent later.") % last)
    state = Letter.State.WAITS if day > today else Letter.State.GOES
    made = {"texts": texts, "reminds": reminds, "origin": origin, "state": state}
    waits = Q(state=Letter.State.WAITS)
    unsent = Q(state=Letter.State.STOPPED, deliveries=None, sent=0, refused=0, silent=0)
    Letter.objects.filter(waits | unsent, plan=plan, day=day).delete()
    letter, is_new = Letter.objects.get_or_create(plan=plan, day=day, defaults=made)
    if not is_new:
        raise Refused(_("Another email is sent on this day: one a day."))
    return letter


def stop(letter: Letter, *, today: datetime.date) -> None:
    """Send no more of a letter; who has it keeps it. Those that were to be sent again are doubtful
    once more.
    """
    running = Letter.objects.filter(pk=letter.pk, state__in=Letter.RUNNING)
    stopped = running.update(state=Letter.State.STOPPED, stopped_on=today, trouble="")
    if stopped and letter.is_forgotten:
        letter.deliveries.filter(state=State.LATER).update(state=State.DOUBTFUL)


def go_on(letter: Letter, *, today: datetime.date) -> None:
    """Send the rest of a stopped letter, once its day has come: to nobody who may have it."""
    stopped = Letter.objects.filter(pk=letter.pk, state=Letter.State.STOPPED, is_forgotten=False)
    state = Letter.State.WAITS if letter.day > today else Letter.State.GOES
    stopped.update(state=state, trouble="", rests_until=None)


@transaction.atomic
def decide(letter: Letter, *, again: bool) -> None:
    """Decide about letters that may have gone out or not: send them, perhaps a second time, or
    leave it. Where the letter was stopped, and can go on, they are sent when it does.
    """
    doubtful = letter.deliveries.filter(state=State.DOUBTFUL)
    if again and doubtful.update(state=State.LATER, tries=0):
        ended = Q(state=Letter.State.DONE) | Q(is_forgotten=True)
        Letter.objects.filter(ended, pk=letter.pk).update(
            state=Letter.State.GOES, trouble="", rests_until=None
        )
    elif letter.is_forgotten:
        doubtful.delete()
    else:
        doubtful.update(state=State.SENT)


def forget_stopped(*, today: datetime.date) -> None:
    """Forget who had the letters that were stopped before today or, where a server stopped them,
    before yesterday: until then they can go on. May raise InUse.
    """
    own = Q(trouble="", stopped_on__lt=today) | Q(stopped_on=None)
    stopped = Letter.objects.filter(state=Letter.State.STOPPED)
    old = stopped.filter(own | Q(stopped_on__lt=today - DAY))
    # whoever claimed these has ended
    Delivery.objects.filter(letter__in=old, state=State.CLAIMED).update(state=State.DOUBTFUL)
    ended = Q(letter__in=old) | Q(letter__state=Letter.State.DONE)
    had = Delivery.objects.filter(ended).exclude(state=State.DOUBTFUL)
    if had.exists() or old.filter(is_forgotten=False).exists():
        with erasing(invited_delivery="state"):
            had.delete()
            old.update(is_forgotten=True)


def send_sample(*, plan: Plan, texts: letters.Texts, origin: str, address: str) -> None:
    """Send a letter to who wrote it, with a link that fetches nothing. May raise OSError."""
    code = secrets.token_urlsafe(16)
    for language in texts:
        entry = Entry(address, language=language, name="Ada Example")
        link = letters.link_of(plan, origin, 0, code, language)
        written = letters.write(plan, {language: texts[language]}, entry, link=link, origin=origin)
        connection = get_connection()
        letters.message(written, address, connection).send()
