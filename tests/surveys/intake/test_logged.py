"""By way of a log: nothing that was answered 202 is lost, counted twice, or counted after a close."""

import json
import sys
import threading

import pytest
from confluent_kafka import KafkaError, KafkaException
from django.db import OperationalError, connection

from surveys.aggregation import selectors as aggregation
from surveys.aggregation.services import sweep_plan
from surveys.design import services as design
from surveys.encryption import CannotOpen
from surveys.intake import broker, group, logged, posts, report_tables
from surveys.intake.broker import Line
from surveys.intake.models import Lane, OpenReport, Receipt
from tests.brokers import PARTITIONS, cluster, standing
from tests.conftest import NOW, QUESTIONS, STUDY, TODAY
from tests.patience import PATIENCE, became
from tests.surveys.intake import test_rsgi
from tests.surveys.intake.posted import Sent, post_all, stop_clock
from tests.surveys.intake.test_group import entry
from tests.surveys.intake.test_reports import body, post

door = test_rsgi.door  # a fixture
ASK = "/api/v1/studies/exam-honesty/verdicts"


@pytest.fixture(scope="module")
def servers():
    with cluster() as addresses:
        yield addresses


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A machine that pauses keeps no broker from its answer, and no midnight comes."""
    stop_clock(monkeypatch, posts, logged)
    monkeypatch.setattr(broker, "ACKNOWLEDGED", PATIENCE)


@pytest.fixture
def topic(servers, settings, request):
    """A topic of this test's own."""
    name = request.node.name.replace("[", "-").replace("]", "")[:80]
    settings.REPORTS_LOG = f"kafka://{servers}/{name}"
    broker.topic.cache_clear()
    yield name
    broker.topic.cache_clear()


@pytest.fixture
def stands(servers, topic):
    """What stands in the log of this test, from a place on."""
    return lambda: [Line(each.partition(), each.value()) for each in standing(servers, topic)]


def report(plan, number, /, **more):
    return body(plan, report_id=f"{number:032x}", **more)


def stored():
    return Receipt.objects.count(), OpenReport.objects.count()


def mark():
    logged.Marks().look()


def says(copied):
    return {"answers": {"copied": copied, "fair": [3], "often": [0]}}


def test_what_the_log_has_is_answered_202_and_its_verdict_is_asked_for(client, plan, stands):
    first = post(client, report(plan, 1))
    assert (first.status_code, first["Retry-After"], stored()) == (202, "1", (0, 0))
    asked = post(client, first.content, ASK)
    assert (asked.status_code, asked.json(), asked["Retry-After"]) == (202, first.json(), "1")
    logged.take(stands())
    asked = post(client, first.content, ASK)
    assert (asked.status_code, asked.json()["receipt"]) == (200, first.json()["receipt"])
    assert (post(client, report(plan, 1)).status_code, stored()) == (200, (1, 1))


def test_what_the_door_can_know_it_says_before_the_log_has_anything(client, plan, stands):
    post(client, report(plan, 1))
    logged.take(stands())
    refused = [
        report(plan, 1, **says(0)),
        report(plan, 2, **says(7)),
        report(plan, 3, plan="0" * 64),
    ]
    assert [post(client, each).status_code for each in refused] == [409, 422, 409]
    design.close_plan(plan_id=plan.pk, today=TODAY)
    assert post(client, report(plan, 3)).status_code == 410
    assert len(stands()) == 1


def test_the_log_is_braked_as_the_database_is(client, plan, stands, settings):
    settings.REPORTS_AT_ONCE = 1
    assert [post(client, report(plan, number)).status_code for number in (1, 2)] == [202, 429]
    assert len(stands()) == 1


def test_doubles_in_the_log_are_one_report_and_other_content_is_a_conflict(client, plan, stands):
    said = [post(client, report(plan, 1, **says(copied))) for copied in (1, 1, 0)]
    assert [each.status_code for each in said] == [202] * 3
    logged.take(stands())
    asked = [post(client, each.content, ASK) for each in said]
    assert [each.status_code for each in asked] == [200, 200, 409]
    assert stored() == (1, 1)
    assert OpenReport.objects.get().values == "[1,[3],[0]]"


def test_what_comes_again_after_a_crash_is_counted_once(client, plan, stands):
    for number in range(20):
        post(client, report(plan, number))
    lines = stands()
    logged.take(lines[:13])
    logged.take(lines[5:])  # as it stood before what was stored was deleted
    logged.take(lines)
    assert stored() == (20, 20)


def test_no_batch_is_sealed_after_a_close_before_the_markers_have_passed(client, plan, stands):
    tickets = [post(client, report(plan, number)).content for number in range(8)]
    design.close_plan(plan_id=plan.pk, today=TODAY)
    first, *others = stands()
    logged.take([first])
    assert not aggregation.everything_is_sealed(plan)
    assert sweep_plan(plan, TODAY) == 0  # a batch of one
    mark()
    *lines, last, _ = stands()  # the other one is of the day
    assert len(lines) > len(others)
    logged.take(lines)
    assert Lane.objects.count() == 1
    assert sweep_plan(plan, TODAY) == 0
    assert post(client, tickets[0], ASK).status_code == 200
    logged.take([last])
    assert [post(client, each, ASK).status_code for each in tickets] == [200] * 8
    assert report_tables.marked() == [plan.pk]
    assert sweep_plan(plan, TODAY) == 8
    assert aggregation.everything_is_sealed(plan)


def test_what_stands_behind_a_marker_was_answered_202_to_nobody_and_is_not_counted(
    client, plan, stands
):
    ticket = post(client, report(plan, 1)).content
    (late,) = stands()  # a broker has it later than the door waited
    design.close_plan(plan_id=plan.pk, today=TODAY)
    mark()
    logged.take([line for line in stands() if line != late])
    logged.take([late])
    assert stored() == (0, 0)
    assert post(client, ticket, ASK).status_code == 410


def test_a_lane_ends_for_its_own_plan_only(client, plan, stands):
    other = design.draft_study(study={**STUDY, "slug": "other"}, questions=QUESTIONS)
    other = design.open_study(why="A test.", study_id=other.pk, who="ada", now=NOW)
    post(client, report(plan, 1))
    post(client, report(other, 2), "/api/v1/studies/other/reports")
    design.close_plan(plan_id=plan.pk, today=TODAY)
    mark()
    logged.take(stands())
    assert stored() == (2, 2)
    assert set(Lane.objects.values_list("plan", flat=True)) == {other.pk}


def test_what_the_log_keeps_is_of_one_length_of_a_day_and_of_nobody(client, plan, servers, topic):
    id_of = {number: f"{number:032x}" for number in range(30)}
    said = [post(client, report(plan, number)).json() for number in id_of]
    design.close_plan(plan_id=plan.pk, today=TODAY)
    mark()
    found = standing(servers, topic)
    assert len(found) == 30 + 2 * PARTITIONS  # with a day's first marks
    assert len({len(each.value()) for each in found}) == 1
    assert {each.timestamp()[1] % 86_400_000 for each in found} == {0}
    assert {(each.key(), each.headers()) for each in found} == {(None, None)}
    whole = b"".join(each.value() for each in found)
    for each in said:
        for name in ("report", "content"):
            assert bytes.fromhex(each[name])[:8] not in whole
            assert each[name][:16].encode() not in whole


def test_a_record_of_another_partition_or_key_is_not_taken(client, plan, stands, settings):
    post(client, report(plan, 1))
    (line,) = stands()
    with pytest.raises(CannotOpen, match="expected what was sealed for it"):
        logged.take([Line((line.partition + 1) % PARTITIONS, line.text)])
    keys, settings.PUBLICATION_KEYS = settings.PUBLICATION_KEYS, [b"k" * 32]
    with pytest.raises(CannotOpen, match="Put it back"):
        logged.take([line])
    settings.PUBLICATION_KEYS = [b"k" * 32, *keys]
    logged.take([line])
    assert stored() == (1, 1)


class Given:
    """A reader who is given lines once, and then tells to stop."""

    def __init__(self, lines, stop):
        self.lines, self.stop, self.said = lines, stop, []

    def read(self, seconds):
        if not self.lines:
            self.stop.set()
        lines, self.lines = self.lines, []
        return lines

    def done(self):
        self.said.append(stored())


@pytest.mark.parametrize("fails", [1, 3])
def test_nothing_is_deleted_or_passed_over_that_could_not_be_stored(
    client, plan, stands, monkeypatch, fails
):
    for number in range(4):
        post(client, report(plan, number))
    sound, left = report_tables.put, [OperationalError()] * fails

    def put(rows):
        if left:
            raise left.pop()
        sound(rows)

    monkeypatch.setattr(report_tables, "put", put)
    monkeypatch.setattr(logged, "AGAIN", 0.01)
    # it would find a transaction that is not its own
    monkeypatch.setattr(connection, "close_if_unusable_or_obsolete", lambda: None)
    stop = threading.Event()
    reader = Given(stands(), stop)
    logged.consume(reader, stop)
    assert left == []
    assert reader.said == [(0, 0), (4, 4)]  # before it read anything, and then all of it


def test_records_are_deleted_up_to_the_last_that_was_read(client, plan, topic, monkeypatch):
    """The cluster of these tests cannot: what is asked of it is looked at."""
    for number in range(9):
        post(client, report(plan, number))
    asked = []
    reader = broker.Reader(broker.topic())
    monkeypatch.setattr(reader.topic, "delete", asked.append)
    read = became(lambda: reader.read(1))
    reader.done()
    reader.done()
    reader.close()
    ends = {line.partition: 0 for line in read}
    for line in read:
        ends[line.partition] += 1
    assert asked == [ends]


def test_a_refused_deletion_is_logged_and_stops_nobody(client, plan, topic, monkeypatch):
    said = []
    monkeypatch.setattr(broker.log, "error", lambda *words, **more: said.append((*words, more)))
    post(client, report(plan, 1))
    broker.topic().delete({0: 1})
    assert became(lambda: said)
    assert said == [("not deleted from the log", {"kind": "_UNSUPPORTED_FEATURE"})]


def test_a_log_that_is_away_is_503_and_never_202(client, plan, settings, monkeypatch):
    with cluster() as servers:
        settings.REPORTS_LOG = f"kafka://{servers}/away"
        broker.topic.cache_clear()
        assert post(client, report(plan, 1)).status_code == 202
    monkeypatch.setattr(broker, "ACKNOWLEDGED", 1.0)
    refused = post(client, report(plan, 2))
    assert (refused.status_code, refused["Retry-After"]) == (503, "5")
    broker.topic.cache_clear()  # as a door that has just begun
    assert post(client, report(plan, 2)).status_code == 503
    broker.topic.cache_clear()


class Deaf:
    """A producer that takes some lines and then fails, and of which nobody hears any more."""

    def __init__(self, takes=9, fails=None, flush_fails=None):
        self.takes, self.fails, self.flush_fails = takes, fails, flush_fails

    def produce(self, *_said, **_more):
        if not self.takes:
            raise self.fails
        self.takes -= 1

    def flush(self, _seconds):
        if self.flush_fails:
            raise self.flush_fails
        return 9  # that wait


@pytest.mark.parametrize(
    "deaf",
    [
        Deaf(),
        Deaf(0, BufferError("full")),
        Deaf(0, KafkaException(KafkaError(KafkaError._FATAL))),
        Deaf(flush_fails=KafkaException(KafkaError(KafkaError._FATAL))),
    ],
    ids=["silent", "full", "fatal", "cannot wait"],
)
def test_what_nobody_acknowledged_is_503_and_never_202(client, plan, stands, monkeypatch, deaf):
    monkeypatch.setattr(broker.topic(), "producer", deaf)
    refused = post(client, report(plan, 1))
    assert (refused.status_code, refused["Retry-After"]) == (503, "5")
    assert (stands(), stored()) == ([], (0, 0))


def test_of_a_group_that_filled_the_queue_what_was_acknowledged_is_202(plan, topic, monkeypatch):
    """And the next group has a producer of its own."""
    begun = broker.topic()
    sound, left = begun.producer, [None, None]

    class Small:
        flush = sound.flush

        def produce(self, *said, **more):
            if not left:
                raise BufferError("full")
            left.pop()
            sound.produce(*said, **more)

    monkeypatch.setattr(begun, "producer", Small())
    outcomes = group.accept_all([entry(plan, each) for each in range(4)], logged.append_all)
    kinds = sorted(type(each).__name__ for each in outcomes)
    assert kinds == ["Away", "Away", "Logged", "Logged"]
    assert broker.topic() is not begun


def test_of_a_group_only_what_was_not_acknowledged_is_asked_for_again(plan, topic, monkeypatch):
    entries = [entry(plan, number) for number in (1, 2, 1, 2, 3)]
    sound = broker.Topic.append

    def append(self, lines, day):
        told = sound(self, lines, day)
        return [broker.Away("a test"), *told[1:]]

    monkeypatch.setattr(broker.Topic, "append", append)
    outcomes = group.accept_all(entries, logged.append_all)
    kinds = [type(each).__name__ for each in outcomes]
    assert kinds == ["Away", "Logged", "Away", "Logged", "Logged"]


def test_door_and_pages_answer_alike_with_a_log(door, client, plan, topic):
    bodies = [json.dumps(report(plan, number)).encode() for number in range(3)]
    by_door = post_all(door, [Sent("exam-honesty", each) for each in bodies], at_once=3)
    tickets = [Sent("exam-honesty", each.body, path=ASK) for each in by_door]
    odd = [Sent("exam-honesty", each, path=ASK) for each in (b"{}", b"[", bodies[0])]
    odd += [Sent("nowhere", by_door[0].body, path="/api/v1/studies/{}/verdicts")]
    asked = post_all(door, [*tickets, *odd], at_once=4)
    by_page = [post(client, each) for each in bodies]
    by_page += [post(client, each.body, each.path.format(each.slug)) for each in [*tickets, *odd]]
    assert [(each.status, each.body) for each in [*by_door, *asked]] == [
        (each.status_code, each.content) for each in by_page
    ]
    assert [each.status for each in asked] == [202] * 3 + [422] * 3 + [404]


def test_without_a_log_nothing_needs_its_client(client, plan, settings, monkeypatch):
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    assert settings.REPORTS_LOG == ""
    assert post(client, report(plan, 1)).status_code == 201
