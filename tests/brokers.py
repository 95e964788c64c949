"""A cluster of Kafka's protocol in this process: librdkafka's own, which tests of clients are made
with. The registries that the tests use have no broker that we can use.

It appends, replicates to nobody, stamps, hands partitions out and takes them back. It deletes no
records, so that whoever begins anew is sent everything again.
"""

import contextlib
from collections.abc import Iterator

from confluent_kafka import Consumer, Message, Producer, TopicPartition

from tests.patience import PATIENCE

PARTITIONS = 4  # of a topic that somebody asks for, as the mock cluster has it


@contextlib.contextmanager
def cluster() -> Iterator[str]:
    """Yield the addresses of three brokers, which end with this process at the latest."""
    owner = Producer({"bootstrap.servers": "none", "test.mock.num.brokers": 3, "log_level": 3})
    brokers = owner.list_topics(timeout=PATIENCE).brokers.values()
    yield ",".join(f"{each.host}:{each.port}" for each in brokers)
    del owner


def standing(servers: str, topic: str) -> list[Message]:
    """Return all that stands in a topic, each partition's in its order."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "a-look", "log_level": 3})
    parts = [TopicPartition(topic, each, 0) for each in range(PARTITIONS)]
    ends = sum(consumer.get_watermark_offsets(each, timeout=PATIENCE)[1] for each in parts)
    consumer.assign(parts)
    found: list[Message] = []
    while len(found) < ends:
        found += consumer.consume(ends - len(found), 10)
    consumer.close()
    return sorted(found, key=lambda each: (each.partition() or 0, each.offset() or 0))
