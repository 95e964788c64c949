"""A topic of Kafka or Redpanda, by librdkafka: the only importer of its client, which sites without
REPORTS_LOG need not have.

What a broker keeps beside a record's bytes is its time, so each is stamped with the midnight of a
day; there are no keys. Nor are offsets committed, since Kafka's own topic for them would hold the
moment of each: records are deleted once they are done with, and whoever begins anew begins at the
first that is left.
"""

import datetime
import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import structlog
from django.conf import settings
from django.db import OperationalError

ACKNOWLEDGED = 5.0  # seconds in which all replicas must have what is appended
AT_ONCE = 1_000  # records that are taken together
log = structlog.get_logger(__name__)


class Away(OperationalError):
    """A broker that did not say in time that it has what was sent: perhaps it has."""


class Line(NamedTuple):
    """A record, and the partition that it stands in."""

    partition: int
    text: bytes


class Topic:
    """What appends to a topic and deletes from it; threads may share it."""

    def __init__(self, url: str) -> None:
        from confluent_kafka import Producer
        from confluent_kafka.admin import AdminClient

        parts = urlsplit(url)
        self.name = parts.path.strip("/")
        self.common: dict[str, str | int | float | bool] = {
            "bootstrap.servers": parts.netloc,
            "log_level": 2,  # what it writes to stderr by itself has addresses; we say what failed
        }
        self.producer = Producer(
            {
                **self.common,
                "acks": "all",
                "enable.idempotence": True,
                "linger.ms": 0,  # whoever appends has a group already
                "message.timeout.ms": int(ACKNOWLEDGED * 1000),
            }
        )
        self.admin = AdminClient(self.common)
        self.partitions = len(self._partitions())

    def _partitions(self) -> Mapping[int, Any]:
        from confluent_kafka import KafkaException

        try:
            found = self.producer.list_topics(self.name, timeout=ACKNOWLEDGED).topics[self.name]
        except KafkaException as error:
            raise Away(str(error.args[0].name())) from None
        if found.error or not found.partitions:
            raise Away(f"{self.name}: expected a topic with partitions, got none")
        partitions: Mapping[int, Any] = found.partitions
        return partitions

    def append(self, lines: Sequence[Line], day: datetime.date) -> list[Away | None]:
        """Append lines, each partition's in their order; return what became of each, once all
        replicas have it or time is over.
        """
        had: set[int] = set()  # and of all else nobody knows

        def told(at: int, error: Any, _message: Any) -> None:
            if not error:
                had.add(at)

        midnight = datetime.datetime.combine(day, datetime.time(), datetime.UTC)
        try:
            try:
                for at, (partition, text) in enumerate(lines):
                    self.producer.produce(
                        self.name,
                        text,
                        partition=partition,
                        timestamp=int(midnight.timestamp() * 1000),
                        on_delivery=functools.partial(told, at),
                    )
            finally:
                self.producer.flush(ACKNOWLEDGED + 1)
        except Exception as error:  # its own queue is full, or a broker has forbidden it for good
            log.warning("the log takes nothing", kind=type(error).__name__)
            topic.cache_clear()  # the next group has a new one
        unknown = Away(f"{self.name}: expected that all replicas have it, heard nothing of it")
        return [None if at in had else unknown for at in range(len(lines))]

    def delete(self, ends: Mapping[int, int]) -> None:
        """Have all records deleted before an offset of each partition."""
        from confluent_kafka import TopicPartition

        wanted = [TopicPartition(self.name, *each) for each in ends.items()]
        for done in self.admin.delete_records(wanted).values():
            done.add_done_callback(_said)


def _said(done: Any) -> None:
    if error := done.exception():  # they come again, and are known
        log.error("not deleted from the log", kind=error.args[0].name())


class Reader:
    """One of those who share a topic's partitions; each record comes until it is deleted."""

    def __init__(self, topic: Topic) -> None:
        from confluent_kafka import Consumer

        self.topic = topic
        self.consumer = Consumer(
            {
                **topic.common,
                "group.id": topic.name,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "session.timeout.ms": 10_000,  # until others take over from one that was killed
            }
        )
        self.consumer.subscribe([topic.name])
        self.ends: dict[int, int] = {}

    def read(self, seconds: float) -> list[Line]:
        """Return what comes next, each partition's in its order: nothing if it takes too long."""
        first = self.consumer.poll(seconds)
        found: list[Any] = [first, *self.consumer.consume(AT_ONCE - 1, 0)] if first else []
        for error in filter(None, (each.error() for each in found)):
            log.warning("the log says", kind=error.name())
        sound = [each for each in found if not each.error()]
        self.ends = {each.partition(): each.offset() + 1 for each in sound}
        return [Line(each.partition(), each.value() or b"") for each in sound]

    def done(self) -> None:
        """Have deleted what was read last."""
        if self.ends:
            self.topic.delete(self.ends)
        self.ends = {}

    def close(self) -> None:
        self.consumer.close()


@functools.cache
def topic() -> Topic:
    """Return this process's topic. May raise Away, and is asked again the next time."""
    return Topic(settings.REPORTS_LOG)
