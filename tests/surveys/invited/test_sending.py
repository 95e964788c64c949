"""Letters where something else happens: they are stopped, the issuer is slow, the study closes."""

import datetime
from collections import Counter
from types import SimpleNamespace

import pytest

from surveys.design import services as design
from surveys.design.drafts import new_draft
from surveys.design.models import Study
from surveys.design.refusals import Refused
from surveys.invited import letters, selectors, sending, services
from surveys.invited.lists import Entry
from surveys.invited.models import Delivery, Letter, Person
from surveys.issuer import services as issuer
from surveys.issuer.models import Key as TicketKey
from surveys.issuer.refusals import Refused as NotIssued
from surveys.people.models import AuditRow, User
from tests.conftest import NOW, TODAY
from tests.surveys.drafting.conftest import COPIED, TEXTS
from tests.surveys.invited.conftest import entries
from tests.surveys.invited.test_letters import (
    DAY,
    EVERYBODY,
    SITE,
    fetch,
    of,
    scheduled,
    send,
    states,
)

WEEK = 7 * DAY
ANEW = {"en": {"subject": "Anew", "text": "{link}"}}


def test_a_letter_of_a_later_day_that_was_stopped_goes_on_that_day(plan, sink):
    letter = scheduled(plan, TODAY + WEEK)
    sending.stop(of(letter), today=TODAY)
    sending.go_on(of(letter), today=TODAY)
    assert send() == 0
    assert send(NOW + WEEK) == 90


def test_a_letter_that_nobody_had_is_written_anew(plan, sink):
    letter = scheduled(plan, TODAY + WEEK)
    sending.stop(of(letter), today=TODAY)
    sending.forget_stopped(today=TODAY + DAY)
    assert scheduled(plan, TODAY + WEEK, reminds=True).reminds
    assert send(NOW + WEEK) == 90


def test_a_letter_that_somebody_had_is_not_written_anew(plan, sink, settings):
    settings.LETTERS_A_SECOND = 50
    letter = scheduled(plan)
    sending.send_due(now=NOW, budget=1)
    sending.stop(of(letter), today=TODAY)
    for day in (TODAY, TODAY + DAY):
        with pytest.raises(Refused):
            scheduled(plan)
        sending.forget_stopped(today=day)


def test_no_letter_goes_out_after_the_last_day(listed):
    Study.objects.update(closes_on=TODAY + DAY)
    listed.refresh_from_db()
    plan = services.launch(study=listed, why="A test.", who="olga", now=NOW)
    scheduled(plan, TODAY + DAY)
    with pytest.raises(Refused, match="until 12 May 2026"):
        scheduled(plan, TODAY + WEEK)


def slow(monkeypatch):
    """Have the issuer take ten seconds for each question, by a clock of its own."""
    ask, clock = issuer.fetched, [0.0]

    def slowly(*of):
        clock[0] += 10
        return ask(*of)

    monkeypatch.setattr(issuer, "fetched", slowly)
    monkeypatch.setattr(sending, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    return clock


def test_a_slow_issuer_does_not_keep_a_reminder_from_going_out(plan, sink, monkeypatch):
    *came, _last = Person.objects.order_by("reference")
    fetch(plan, came)
    slow(monkeypatch)
    scheduled(plan, reminds=True)
    assert send(times=2) == 1


def test_one_letter_that_fails_keeps_no_other_waiting(plan, sink):
    scheduled(plan)
    issuer.drop_keys([key.modulus for key in TicketKey.objects.all()])
    study = new_draft(
        texts={**TEXTS, "is_invited": True, "title": "Second", "expected": 60},
        questions=[{**COPIED, "epsilon": 1}],
    )
    services.add_people(study_id=study.pk, entries=entries())
    second = scheduled(services.launch(study=study, why="A test.", who="olga", now=NOW))
    with pytest.raises(NotIssued):
        send()
    assert send() == 90
    assert of(second).state == "done"
    assert Letter.objects.get(plan=plan).trouble == "Refused"


@pytest.mark.parametrize("at", ["recipients", "data"])
def test_a_server_that_ends_the_connection_leaves_nobody_in_doubt(plan, sink, at):
    said = "421 too many, come again"
    if at == "data":
        sink.data = said
    else:
        sink.recipients = {"p1.law@example.org": said}
    letter = scheduled(plan)
    send()
    assert "doubtful" not in states(letter)
    sink.recipients, sink.data = {}, "250 taken"
    Letter.objects.update(rests_until=None)
    send(times=2)
    assert (of(letter).sent, of(letter).state) == (90, "done")


def test_what_was_to_be_sent_again_and_was_stopped_is_decided_anew(plan, sink):
    letter = scheduled(plan, reminds=True)
    sink.dies = True
    send()
    sink.dies = False
    sending.go_on(of(letter), today=TODAY)
    send(times=2)
    sending.decide(of(letter), again=True)
    sending.stop(of(letter), today=TODAY)
    assert states(letter) == {"doubtful": sending.MOST_DOUBTS}
    sending.decide(of(letter), again=False)
    assert not Delivery.objects.exists()


def test_nothing_stays_of_a_letter_that_was_stopped_once_more(plan, sink):
    letter = scheduled(plan)
    Delivery.objects.create(letter=letter, person=Person.objects.first(), state="later")
    Letter.objects.update(state="stopped", is_forgotten=True, stopped_on=TODAY)
    sending.forget_stopped(today=TODAY + DAY)
    assert not Delivery.objects.exists()


def test_who_is_decided_about_while_a_letter_ends_gets_it(plan, sink, monkeypatch):
    letter = scheduled(plan)
    sink.dies = True
    send()
    sink.dies = False
    sending.go_on(of(letter), today=TODAY)
    ask, decided = sending.Run._still_asked, []

    def meanwhile(run, people):
        found = ask(run, people)
        if not found and not decided:
            decided.append(sending.decide(of(letter), again=True))
        return found

    monkeypatch.setattr(sending.Run, "_still_asked", meanwhile)
    send(times=3)
    assert decided
    assert of(letter).sent == 90


def test_of_a_reminder_nobody_is_named_to_whom_it_came_back(plan, sink):
    fetch(plan, Person.objects.filter(stratum="Law"))
    sink.recipients = dict.fromkeys(EVERYBODY, "550 gone")
    letter = scheduled(plan, reminds=True)
    send()
    assert of(letter).refused == 60
    assert not Person.objects.filter(came_back=True).exists()


def test_a_study_that_closes_meanwhile_sends_no_more(plan, sink, monkeypatch):
    letter, deliver = scheduled(plan), sending.Run._deliver

    def closes(run, *who):
        if not run.sent:
            design.close_plan(plan_id=plan.pk, today=TODAY)
        return deliver(run, *who)

    monkeypatch.setattr(sending.Run, "_deliver", closes)
    assert send(times=2) == 0
    assert of(letter).state == "stopped"


def test_what_a_server_stopped_at_midnight_can_go_on_for_a_day(plan, sink):
    sink.dies = True
    letter = scheduled(plan)
    send()
    sink.dies = False
    Letter.objects.update(stopped_on=TODAY)
    sending.forget_stopped(today=TODAY + DAY)
    assert next(selectors.progress_of(plan.study, plan)).may_go_on
    sending.forget_stopped(today=TODAY + 2 * DAY)
    assert not next(selectors.progress_of(plan.study, plan)).may_go_on
    assert states(letter) == {"doubtful": sending.MOST_DOUBTS}


def test_who_is_added_while_a_letter_ends_gets_it(plan, sink, monkeypatch):
    letter, finish = scheduled(plan), sending.finish
    late = [Entry("late@example.org", stratum="Law")]

    def added(ended):
        if not Person.objects.filter(study=plan.study).count() > 90:
            assert services.add_people(study_id=plan.study_id, entries=late) == []
        finish(ended)

    monkeypatch.setattr(sending, "finish", added)
    assert send(times=2) == 91
    assert of(letter).state == "done"


def test_those_of_whom_a_server_said_later_are_looked_at_by_twenty(plan, sink, monkeypatch):
    letter = scheduled(plan, reminds=True)
    for person in Person.objects.all():
        Delivery.objects.create(letter=letter, person=person, state="later")
    fetch(plan, Person.objects.filter(stratum="Law"))
    asked, ask = [], issuer.fetched
    monkeypatch.setattr(issuer, "fetched", lambda plan, of: asked.append(len(of)) or ask(plan, of))
    assert send() == 60
    assert max(asked) <= sending.AT_ONCE
    assert (of(letter).state, states(letter)) == ("done", {})


def test_a_link_within_a_line_is_a_link(plan):
    texts = {"en": {"subject": "x", "text": "Here: {link}, until Friday"}}
    link = f"{SITE}/s/x/#1"
    written = letters.write(plan, texts, Entry("a@example.org"), link=link, origin=SITE)
    assert f'Here: <a href="{link}">{link}</a>, until Friday' in written.html


def anew(plan, letter, *, reminds):
    sending.stop(of(letter), today=TODAY)
    return sending.schedule(
        plan=plan, texts=ANEW, reminds=reminds, origin=SITE, day=TODAY, today=TODAY
    )


def once(monkeypatch, name, act):
    """Do something once, as another process would, after a step of a turn."""
    step, done = getattr(sending.Run, name), []

    def stepped(run, *what):
        found = step(run, *what)
        if not done:
            done.append(None)
            act()
        return found

    monkeypatch.setattr(sending.Run, name, stepped)
    return done


@pytest.mark.parametrize("reminds", [False, True])
def test_a_turn_that_holds_a_letter_written_anew_sends_nothing(plan, sink, monkeypatch, reminds):
    fetch(plan, Person.objects.filter(stratum="Law"))
    letter = scheduled(plan)
    once(monkeypatch, "_names", lambda: anew(plan, letter, reminds=reminds))
    assert send(times=2) == (60 if reminds else 90)
    assert {sink.read(at)["Subject"] for at in range(len(sink.letters))} == {"Anew"}


def test_a_letter_written_anew_while_the_other_ends_goes_out(plan, sink, monkeypatch):
    fetch(plan, Person.objects.all())
    letter, finish, written = scheduled(plan, reminds=True), sending.finish, []

    def late(ended):
        if not written:
            written.append(anew(plan, letter, reminds=False))
        finish(ended)

    monkeypatch.setattr(sending, "finish", late)
    send(times=3)
    assert of(written[0]).sent == 90


def doubted(plan, sink):
    """Return a letter of which three are doubtful, and which goes on."""
    letter = scheduled(plan)
    sink.dies = True
    send()
    sink.dies = False
    sink.letters.clear()
    sending.go_on(of(letter), today=TODAY)
    return letter


def test_to_read_whose_letters_are_doubtful_is_to_read_the_list(plan, sink, owner):
    page, read = f"/studies/{plan.study.slug}/list/letters/", AuditRow.objects.filter(what="read")
    owner.get(page)
    assert not read.exists()
    doubted(plan, sink)
    assert b"@example.org</li>" in owner.get(page).content
    assert read.get().who == User.objects.get(username="olga").pseudonym


def test_a_turn_that_slept_while_another_ended_the_letter_sends_nobody_two(plan, sink, monkeypatch):
    letter = doubted(plan, sink)

    def other_worker():
        sending.send_due(now=NOW + datetime.timedelta(minutes=2))
        assert of(letter).state == "done"
        sending.decide(of(letter), again=True)

    once(monkeypatch, "_names", other_worker)
    send(times=2)
    assert max(Counter(sink.to()).values()) == 1


def test_who_is_decided_about_between_the_last_look_and_the_end_gets_it(plan, sink, monkeypatch):
    letter, finish, done = doubted(plan, sink), sending.finish, []

    def late(ended):
        if not done:
            done.append(sending.decide(of(letter), again=True))
            Letter.objects.filter(pk=letter.pk).update(rests_until=None)
        finish(ended)

    monkeypatch.setattr(sending, "finish", late)
    send(times=3)
    assert (of(letter).sent, of(letter).state) == (90, "done")


def test_who_was_doubtful_in_a_letter_that_just_ended_is_forgotten_all_the_same(plan, sink):
    letter = doubted(plan, sink)
    read = of(letter)
    send(times=2)
    sending.decide(read, again=False)
    sending.forget_stopped(today=TODAY + DAY)
    assert states(letter) == {}


def test_what_a_killed_worker_had_claimed_is_doubtful_in_a_stopped_letter_too(plan, sink):
    letter = scheduled(plan)
    assert sending.claim(of(letter), Person.objects.first())
    sending.stop(of(letter), today=TODAY)
    sending.forget_stopped(today=TODAY + DAY)
    assert states(letter) == {"doubtful": 1}


def test_what_an_owner_stopped_is_forgotten_the_next_day_whatever_the_server_did(plan, sink):
    letter = doubted(plan, sink)
    sending.decide(of(letter), again=False)
    Letter.objects.filter(pk=letter.pk).update(trouble="SMTPSenderRefused")
    for days in (0, 1):
        sending.stop(of(letter), today=TODAY + days * DAY)
    sending.forget_stopped(today=TODAY + DAY)
    assert states(letter) == {}


def test_in_a_stopped_letter_only_going_on_sends_the_rest(plan, sink):
    letter = scheduled(plan)
    sink.dies = True
    send()
    sink.dies = False
    sending.decide(of(letter), again=True)
    assert send(times=2) == 0
    sending.go_on(of(letter), today=TODAY)
    send(times=2)
    assert (of(letter).sent, of(letter).state) == (90, "done")


def test_a_long_list_and_a_slow_issuer_come_to_an_end(plan, listed, sink, monkeypatch):
    more = [Entry(f"q{at}@example.org", stratum="Law") for at in range(210)]
    assert services.add_people(study_id=listed.pk, entries=more) == []
    first, *came, last = Person.objects.order_by("reference")
    fetch(plan, came)
    clock = slow(monkeypatch)
    letter = scheduled(plan, reminds=True)
    assert [send() for _ in range(4)].count(1) == 2
    assert (of(letter).state, of(letter).past, states(letter)) == ("done", "", {})
    assert clock[0] > 2 * sending.BUDGET
    assert {first.reference, last.reference} == {
        person.reference
        for person, entry in selectors.people_of(listed)
        if entry.address in sink.to()
    }


def test_who_was_not_reached_in_a_turn_is_in_the_next(plan, sink, monkeypatch):
    """A turn that ends among its twenty leaves none of them out, of a reminder either."""
    deliver, clock = sending.Run._deliver, [0.0]

    def slowly(run, *what):
        clock[0] += 10
        return deliver(run, *what)

    monkeypatch.setattr(sending.Run, "_deliver", slowly)
    monkeypatch.setattr(sending, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    letter = scheduled(plan, reminds=True)
    assert [send() for _ in range(30)].count(4) == 22
    assert sink.to() == EVERYBODY
    assert (of(letter).sent, of(letter).state) == (90, "done")


def test_no_letter_goes_out_once_its_last_day_has_passed(listed, sink):
    Study.objects.update(closes_on=TODAY)
    listed.refresh_from_db()
    plan = services.launch(study=listed, why="A test.", who="olga", now=NOW)
    letter = scheduled(plan)
    night = datetime.datetime.combine(TODAY, datetime.time(1), datetime.UTC) + DAY
    assert design.close_due(now=night) == []  # answers are on their way
    assert (sending.send_due(now=night), sink.letters) == (0, [])
    letter.refresh_from_db()
    assert letter.state == Letter.State.STOPPED
