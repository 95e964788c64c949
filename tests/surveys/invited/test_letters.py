"""Letters, to a real server: each person's own, once at most, whatever the server does."""

import datetime
import re
import socket
import threading
from typing import Any

import pytest
from django.test import Client

from surveys.design import services as design
from surveys.invited import forms, letters, selectors, sending, services
from surveys.invited.keys import Chest
from surveys.invited.lists import Entry
from surveys.invited.models import Delivery, Key, Letter, Person, Silent
from surveys.issuer import services as issuer
from surveys.issuer.models import Code, Invitation, Mark
from tests.conftest import NOW, TODAY
from tests.surveys.invited.conftest import entries

TEXT = "Hello {name},\n\nYour link:\n\n{link}\n\nRoom {room}\n\nThe last day is {last_day}."
TEXTS = {"en": {"subject": "For {name}", "text": TEXT}}
SITE = "https://candor.example.org"
DAY = datetime.timedelta(days=1)
EVERYBODY = sorted(each.address for each in entries())
LINK = re.compile(r"https://candor\.example\.org/s/exam-honesty/#(\w{64})\.(\d)\.([\w-]{22})")


def scheduled(plan: Any, day: datetime.date = TODAY, *, reminds: bool = False) -> Letter:
    how = {"plan": plan, "texts": TEXTS, "reminds": reminds, "origin": SITE}
    return sending.schedule(**how, day=day, today=TODAY)


def send(now: datetime.datetime = NOW, times: int = 1) -> int:
    return sum(sending.send_due(now=now) for _ in range(times))


def of(letter: Letter) -> Letter:
    return Letter.objects.get(pk=letter.pk)


def states(letter: Letter) -> dict[str, int]:
    found: dict[str, int] = {}
    for state in letter.deliveries.values_list("state", flat=True):
        found[state] = found.get(state, 0) + 1
    return found


def test_everybody_gets_one_letter_with_a_link_of_their_own(plan, sink):
    letter = scheduled(plan)
    assert send() == 90
    assert send() == 0
    assert sink.to() == EVERYBODY
    assert (of(letter).state, of(letter).sent) == ("done", 90)
    assert not Delivery.objects.exists(), "who had it is forgotten"
    links = [LINK.search(sink.read(at).get_body(("plain",)).get_content()) for at in range(90)]
    assert {link[1] for link in links} == {plan.digest}
    codes = {link[3] for link in links}
    assert len(codes) == 90
    import hashlib

    known = {bytes(pk) for pk in Code.objects.values_list("digest", flat=True)}
    assert {hashlib.sha256(code.encode()).digest() for code in codes} <= known


def test_a_letter_says_what_its_person_has_and_ends_all_by_a_link(plan, sink, settings):
    settings.RETURN_PATH = "bounces@example.org"
    scheduled(plan)
    send()
    read = next(letter for at in range(90) if "p7.law" in (letter := sink.read(at))["To"])
    assert read["Subject"] == "For P 7"
    plain, html = (read.get_body((kind,)).get_content() for kind in ("plain", "html"))
    assert "Hello P 7," in plain
    assert "Room 7" in plain
    assert "last day" not in plain, "there is none"
    (address,) = re.findall(r'<a href="(https://[^"]*/s/[^"]*)"', html)
    assert LINK.fullmatch(address)
    assert "p7.law" not in plain
    assert read["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    stop = read["List-Unsubscribe"].strip(" <>")
    assert stop in plain
    assert sink.letters[0].mail_from == "bounces@example.org"
    assert read["From"] == settings.DEFAULT_FROM_EMAIL


def test_who_presses_is_left_alone_by_every_study(plan, sink):
    token = letters.stop_token("p3.arts@example.org")
    client = Client(enforce_csrf_checks=True)
    assert client.get(f"/letters/stop/{token}/").status_code == 200
    assert not Silent.objects.exists(), "scanners open it"
    assert client.post(f"/letters/stop/{token}/").status_code == 200
    assert client.post(f"/letters/stop/{token}x/").status_code == 404
    letter = scheduled(plan)
    send()
    assert sink.to() == [each for each in EVERYBODY if each != "p3.arts@example.org"]
    assert (of(letter).sent, of(letter).silent) == (89, 1)
    assert re.fullmatch("[0-9a-f]{64}", letters.stopped_by(token)), "a digest, no address"


def fetch(plan: Any, some: Any) -> None:
    """Mark people at the issuer as if they had fetched a ticket."""
    for person in some:
        own = bytes.fromhex(known_as(plan, person))
        Mark.objects.create(invitation_id=own, blinded=b"b" * 32)


def known_as(plan: Any, person: Person) -> str:
    """Return what the issuer calls somebody."""
    return Chest(plan.study_id).reference(plan.digest, person.reference)


def test_a_reminder_goes_to_exactly_those_without_a_ticket(plan, sink):
    scheduled(plan)
    send()
    sink.letters.clear()
    came = Person.objects.filter(stratum="Law")
    fetch(plan, came)
    letter = scheduled(plan, TODAY + DAY, reminds=True)
    assert send(NOW + DAY) == 60
    assert sink.to() == [each for each in EVERYBODY if ".law@" not in each]
    assert of(letter).state == "done"
    assert not Delivery.objects.exists()
    codes = {
        own.pk: Code.objects.filter(invitation=own).count() for own in Invitation.objects.all()
    }
    assert set(codes.values()) == {3}, "at the issuer all look alike"


def test_one_letter_a_day_and_none_before_its_day(plan, sink):
    letter = scheduled(plan, TODAY + DAY)
    assert send() == 0
    assert send(NOW + DAY - datetime.timedelta(hours=6)) == 0, "the night is over at seven"
    letter = scheduled(plan, TODAY + DAY)
    assert Letter.objects.get() == letter, "it is written anew while it waits"
    assert send(NOW + DAY) == 90
    with pytest.raises(services.Refused):
        scheduled(plan, TODAY + DAY)


def test_an_address_that_is_refused_is_listed_and_the_others_go(plan, sink):
    sink.recipients = {"p1.law@example.org": "550 no such person"}
    letter = scheduled(plan)
    send()
    assert (of(letter).sent, of(letter).refused) == (89, 1)
    (gone,) = Person.objects.filter(came_back=True)
    assert gone.stratum == "Law"
    scheduled(plan, TODAY + DAY)
    sink.letters.clear()
    assert send(NOW + DAY) == 89


@pytest.mark.parametrize("said", ["451 too many", "550 not from here"])
def test_a_server_that_refuses_the_sender_refuses_nobody(plan, sink, said):
    sink.sender = said
    letter = scheduled(plan)
    send()
    assert (of(letter).state, of(letter).trouble) == ("stopped", "SMTPSenderRefused")
    assert of(letter).refused == 0
    assert not Person.objects.filter(came_back=True).exists()
    sink.sender = "250 OK"
    sending.go_on(of(letter), today=TODAY)
    send()
    assert sink.to() == EVERYBODY


def test_a_server_that_takes_no_letters_marks_no_address(plan, sink):
    sink.data = "550 quota exceeded"
    letter = scheduled(plan)
    send()
    assert (of(letter).state, of(letter).refused) == ("stopped", sending.MOST_DOUBTS)
    assert not Person.objects.filter(came_back=True).exists()


def test_a_letter_that_rests_keeps_no_other_waiting(plan, sink):
    sink.recipients = {"p1.law@example.org": "451 later"}
    first = scheduled(plan)
    send()
    assert of(first).state == "goes"
    second = scheduled(plan, TODAY + DAY)
    sink.letters.clear()
    assert send(NOW + DAY) == 89
    assert of(second).sent == 89


def test_a_server_that_says_later_is_asked_again_later(plan, sink, monkeypatch):
    sink.recipients = {"p1.law@example.org": "451 later"}
    letter = scheduled(plan)
    send(times=3)
    assert (of(letter).sent, of(letter).state) == (89, "goes")
    assert states(letter) == {"sent": 89, "later": 1}
    sink.recipients = {}
    Letter.objects.update(rests_until=None)
    assert send() == 1
    assert of(letter).state == "done"
    assert sink.to() == EVERYBODY


def test_a_rest_that_a_clock_ahead_began_is_over_once_that_is_right(plan, sink):
    sink.recipients = {"p1.law@example.org": "451 later"}
    letter = scheduled(plan)
    send()
    sink.recipients = {}
    Letter.objects.update(rests_until=datetime.datetime.now(datetime.UTC) + 400 * DAY)
    assert send() == 1
    assert of(letter).state == "done"


def test_a_server_that_always_says_later_is_given_up(plan, sink, monkeypatch):
    sink.recipients = {"p1.law@example.org": "451 later"}
    monkeypatch.setattr(sending, "REST", datetime.timedelta(0))
    letter = scheduled(plan)
    send(times=2)
    assert (of(letter).sent, of(letter).refused, of(letter).state) == (89, 1, "done")


def test_no_server_claims_nobodys_letter(plan, settings, sink):
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    letter = scheduled(plan)
    assert send() == 0
    assert of(letter).trouble == "ConnectionRefusedErr"
    assert states(letter) == {}
    settings.EMAIL_PORT = port
    assert send() == 90
    assert of(letter).trouble == ""


def test_a_server_that_dies_in_the_middle_leaves_doubts_and_is_stopped(plan, sink):
    """It had the letters, so that nobody is sent a second one unless somebody says so."""
    sink.dies = True
    letter = scheduled(plan)
    assert send(times=3) == 0
    assert (of(letter).state, len(sink.letters)) == ("stopped", sending.MOST_DOUBTS)
    assert states(letter) == {"doubtful": sending.MOST_DOUBTS}
    had = sink.to()
    assert sorted(selectors.progress_of(plan.study, plan).__next__().addresses) == had
    sink.dies = False
    sending.go_on(of(letter), today=TODAY)
    assert send() == 90 - sending.MOST_DOUBTS
    assert sink.to() == EVERYBODY
    assert (of(letter).state, states(letter)) == ("done", {"doubtful": sending.MOST_DOUBTS})
    sending.decide(of(letter), again=True)
    assert send(times=2) == sending.MOST_DOUBTS
    assert sink.to() == sorted([*EVERYBODY, *had]), "to no other than those"
    assert states(letter) == {}


def test_doubts_can_be_left(plan, sink):
    sink.dies = True
    letter = scheduled(plan)
    send()
    sink.dies = False
    sending.decide(of(letter), again=False)
    sending.go_on(of(letter), today=TODAY)
    send()
    assert sink.to() == EVERYBODY
    assert of(letter).state == "done"
    assert states(letter) == {}


def test_a_server_that_hangs_is_given_up_after_its_time(plan, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_CONFIGURED, settings.EMAIL_TIMEOUT = True, 0.2
    with socket.create_server(("127.0.0.1", 0)) as server:  # which answers nobody
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.getsockname()
        letter = scheduled(plan)
        assert send() == 0
    assert states(letter) == {}
    assert of(letter).trouble


def test_a_worker_that_ended_leaves_one_letter_in_doubt(plan, sink):
    letter = scheduled(plan)
    person = Person.objects.order_by("reference").first()
    assert sending.claim(letter, person)
    assert not sending.claim(letter, person)
    assert send() == 89
    assert states(letter) == {"doubtful": 1}


def test_two_workers_at_once_are_as_one(plan, sink):
    sending.Turn.objects.create(pk=1, until=NOW + datetime.timedelta(seconds=60))
    scheduled(plan)
    assert send() == 0
    assert send(NOW + datetime.timedelta(seconds=61)) == 90


def test_a_turn_that_a_clock_ahead_took_is_over_once_that_is_right(plan, sink):
    sending.Turn.objects.create(pk=1, until=NOW + 400 * DAY)
    scheduled(plan)
    assert send() == 90


def test_who_slept_through_a_turn_frees_nobody_else_s(plan, sink, monkeypatch):
    """Another worker took the turn meanwhile: a third one must not, or it finds letters in doubt."""
    scheduled(plan)
    taken = NOW + datetime.timedelta(hours=1)
    monkeypatch.setattr(
        sending.Run, "go", lambda run: sending.Turn.objects.update(until=taken) and 0
    )
    assert send() == 0
    assert sending.Turn.objects.get().until == taken


def test_it_stops_and_goes_on(plan, sink, settings):
    settings.LETTERS_A_SECOND = 50
    letter = scheduled(plan)
    first = threading.Event()
    sink_data = type(sink).handle_DATA

    async def stops(self, server, session, envelope):
        first.set()
        return await sink_data(self, server, session, envelope)

    type(sink).handle_DATA = stops
    try:
        sent = sending.send_due(now=NOW, budget=1)
    finally:
        type(sink).handle_DATA = sink_data
    assert first.is_set()
    assert 1 <= sent <= 51, "no more than the rate allows"
    sending.stop(of(letter), today=TODAY)
    assert send() == 0
    settings.LETTERS_A_SECOND = 0
    sending.go_on(of(letter), today=TODAY)
    assert send() == 90 - sent
    assert sink.to() == EVERYBODY


def test_who_had_a_letter_that_was_stopped_is_forgotten_the_next_day(plan, sink, settings):
    settings.LETTERS_A_SECOND = 50
    letter = scheduled(plan)
    sending.send_due(now=NOW, budget=1)
    sending.stop(of(letter), today=TODAY)
    sending.forget_stopped(today=TODAY)
    assert Delivery.objects.exists()
    sending.forget_stopped(today=TODAY + DAY)
    assert not Delivery.objects.exists()
    sending.go_on(of(letter), today=TODAY)
    assert send() == 0, "who had it is not known any more"


def test_a_study_that_has_closed_sends_nothing(plan, sink):
    letter = scheduled(plan)
    design.close_plan(plan_id=plan.pk, today=TODAY)
    assert send() == 0
    assert of(letter).state == "stopped"


def test_letters_that_came_back_are_read_from_any_text(plan, owner, listed):
    text = "Final-Recipient: rfc822; P2.Law@example.org\nDiagnostic-Code: 550 <x@elsewhere.org>"
    owner.post("/studies/exam-honesty/list/returned/", {"pasted": text})
    (gone,) = Person.objects.filter(came_back=True)
    assert gone.stratum == "Law"


def test_a_letter_must_have_the_link_and_no_column_that_is_not_there():
    assert forms.problem_of("Hello", TEXT, {"room"}) == ""
    assert "{room}" in forms.problem_of("Hello", TEXT, {"desk"})
    assert "{link}" in forms.problem_of("Hello", "no link", set())
    assert "{link}" in forms.problem_of("{link}", "{link}", set())
    assert "{link}" in forms.problem_of("Hello", "{link} {link}", set())


def test_nobodys_words_become_markup_or_headers(plan):
    texts = {"en": {"subject": "{name}", "text": "<b>{name}</b>\n\n{link}"}}
    entry = Entry("a@example.org", "<script>x</script>")
    written = letters.write(plan, texts, entry, link="https://x/#1", origin=SITE)
    assert "<script>" not in written.html
    assert "&lt;b&gt;" in written.html
    assert "\n" not in written.subject


def test_the_pages_write_try_and_schedule(plan, owner, sink):
    page = owner.get("/studies/exam-honesty/list/letters/write/invitation/")
    assert page.status_code == 200
    form = {
        **page.context["form"].initial,
        "day": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }
    form = {name: str(value) for name, value in form.items()}
    look = owner.post("/studies/exam-honesty/list/letters/write/invitation/", form | {"do": "look"})
    assert "Ada Example" in look.content.decode()
    typed = form | {"do": "change", "text_en": "no link yet"}
    back = owner.post("/studies/exam-honesty/list/letters/write/invitation/", typed)
    assert "no link yet</textarea>" in back.content.decode()
    assert not sink.letters
    user = look.wsgi_request.user
    user.email = "olga@example.org"
    user.save()
    owner.post("/studies/exam-honesty/list/letters/write/invitation/", form | {"do": "try"})
    assert sink.to() == ["olga@example.org"]
    bad = form | {"do": "send", "text_en": "no link"}
    answer = owner.post("/studies/exam-honesty/list/letters/write/invitation/", bad)
    assert answer.status_code == 400
    answer = owner.post(
        "/studies/exam-honesty/list/letters/write/invitation/", form | {"do": "send"}
    )
    assert answer.status_code == 302
    assert "is being sent" in owner.get("/studies/exam-honesty/list/letters/").content.decode()


def test_paper_has_fresh_links_for_whom_no_letter_reaches(plan, owner, listed):
    unnamed = [Entry("Main Street 1", "Zed", stratum="Law", columns={"room": "=1+1"})]
    services.add_people(study_id=listed.pk, entries=unnamed)
    services.note_returned(study=listed, addresses=["p1.law@example.org"])
    before = Code.objects.count()
    path = "/studies/exam-honesty/list/paper/"
    file = owner.post(path, {"whom": "some", "as": "file"}).content.decode()
    assert file.splitlines()[0] == "\ufeffaddress,name,language,stratum,room,link"
    assert file.count("/s/exam-honesty/#") == selectors.without_email(listed) == 2
    assert "'=1+1" in file
    assert Code.objects.count() == before + 2
    pages = owner.post(path, {"whom": "all", "as": "pages", "part": "0"}).content.decode()
    assert pages.count('class="qr"') == 91
    pages = owner.post(path, {"whom": "some", "as": "pages", "part": "3"}).content.decode()
    assert pages.count('class="qr"') == 2, "there is no fourth part of these"
    assert "Main Street 1" in pages


def test_no_log_says_who_or_which_code(plan, sink, caplog):
    sink.recipients = {"p1.law@example.org": "550 no", "p2.law@example.org": "451 later"}
    scheduled(plan)
    with caplog.at_level("DEBUG"):
        send()
    said = " ".join(str(record.__dict__) for record in caplog.records if record.name != "mail.log")
    assert "letters sent" in said
    assert "example.org/" not in said
    assert "@example.org" not in said


def counted(monkeypatch: Any, verb: str) -> list[list[Any]]:
    """Return what the issuer is given from now on, call by call."""
    calls: list[list[Any]] = []
    act = getattr(issuer, verb)

    def noted(plan: str, people: list[Any], **how: bool) -> Any:
        calls.append(list(people))
        return act(plan, people, **how)

    monkeypatch.setattr(issuer, verb, noted)
    return calls


def test_the_issuer_is_asked_of_each_person_once_whether_to_remind(plan, sink, monkeypatch):
    fetch(plan, Person.objects.filter(stratum="Law"))
    asked = counted(monkeypatch, "fetched")
    scheduled(plan, reminds=True)
    assert send() == 60
    assert sorted(map(len, asked)) == [10, 20, 20, 20, 20]
    assert len({each for people in asked for each in people}) == 90


@pytest.mark.parametrize("reminds", [False, True])
def test_codes_are_told_to_the_issuer_by_portions(plan, sink, monkeypatch, reminds):
    told = counted(monkeypatch, "invite")
    scheduled(plan, reminds=reminds)
    assert send() == 90
    assert [len(some) for some in told] == [20, 20, 20, 20, 10]


def test_who_is_taken_off_before_a_code_is_drawn_is_not_invited_again(plan, sink, monkeypatch):
    """The worker had chosen them already."""
    look, gone = sending.Run._next, []

    def removed_meanwhile(run: sending.Run) -> list[int]:
        found = look(run)
        for person in Person.objects.filter(pk__in=found[:1]):
            gone.append(bytes.fromhex(known_as(plan, person)))
            services.remove_person(study_id=plan.study_id, reference=person.reference)
        return found

    monkeypatch.setattr(sending.Run, "_next", removed_meanwhile)
    scheduled(plan)
    assert send() == 90 - len(gone) == 85
    assert Invitation.objects.filter(pk__in=gone).count() == 5, "they stay counted"
    assert not Code.objects.filter(invitation__in=gone).exists()


def test_who_is_taken_off_after_a_code_was_drawn_gets_no_letter(plan, sink, monkeypatch):
    give, gone = services.give_codes, []

    def removed_afterwards(of: Any, coded: Any, *, alone: bool) -> None:
        give(of, coded, alone=alone)
        for person, _digest in coded[-1:]:
            gone.append(bytes.fromhex(known_as(plan, person)))
            services.remove_person(study_id=plan.study_id, reference=person.reference)

    monkeypatch.setattr(services, "give_codes", removed_afterwards)
    scheduled(plan)
    assert send() == 90 - len(gone) == 85
    assert not Code.objects.filter(invitation__in=gone).exists()


def test_a_list_that_is_erased_meanwhile_gets_no_new_key(plan, sink, monkeypatch):
    look = sending.Run._next

    def erased_meanwhile(run: sending.Run) -> list[int]:
        found = look(run)
        services.set_erasure(study=plan.study, day=TODAY)
        services.erase_due(today=TODAY)
        return found

    monkeypatch.setattr(sending.Run, "_next", erased_meanwhile)
    scheduled(plan, reminds=True)
    assert send() == 0
    assert not Key.objects.filter(study=plan.study).exists()


def test_who_was_told_later_and_has_fetched_meanwhile_is_reminded_no_more(plan, sink):
    sink.recipients = {"p1.law@example.org": "451 later"}
    letter = scheduled(plan, reminds=True)
    send()
    assert states(letter) == {"sent": 89, "later": 1}
    fetch(plan, [each.person for each in letter.deliveries.filter(state="later")])
    Letter.objects.update(rests_until=None)
    assert send(times=2) == 0
    assert of(letter).state == "done"
