"""Long documents: what is written as it is read is what would be written at once."""

import gc
import json
from collections.abc import Iterator
from threading import BoundedSemaphore
from types import SimpleNamespace

import pytest
from django.test import Client

from surveys import streams
from surveys.streams import AT_ONCE, CHUNK, Broken, Held, json_lines


@pytest.mark.parametrize("count", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1])
def test_it_is_what_would_be_written_at_once(count: int) -> None:
    rows = [{"row": at, "nothing": []} for at in range(count)]
    assert "".join(json_lines({"head": "a"}, rows)) == json.dumps(
        {"head": "a", "rows": rows}, indent=1
    )


@pytest.mark.parametrize("count", [0, 1, CHUNK, CHUNK + 1])
def test_what_ends_before_its_end_is_no_json_and_says_why(count: int) -> None:
    def rows() -> Iterator[int]:
        yield from range(count)
        raise Broken("row 7 is damaged")

    text = "".join(json_lines({}, rows()))
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)
    whole, _, why = text.partition("\n\n")
    assert why == "This document is not whole. row 7 is damaged\n"
    assert json.loads(whole + "]}")["rows"] == list(range(count))


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch) -> BoundedSemaphore:
    """As many as a site has."""
    found = BoundedSemaphore(AT_ONCE)
    monkeypatch.setattr(streams, "places", found)
    return found


ADDRESSES = ("/registry/ledger.json", "/ledger.csv", "/ledger.json")


@pytest.mark.parametrize("address", ADDRESSES)
def test_who_fetches_long_documents_leaves_threads_to_pages(client, plan, places, address):
    under_way = [client.get(each) for each in ADDRESSES[:AT_ONCE]]
    assert [each.status_code for each in under_way] == [200] * AT_ONCE
    refused = client.get(address)
    assert refused.status_code == 429
    assert refused["Retry-After"] == "10"
    assert refused["Cache-Control"] == "no-store"
    assert (
        refused.content == b"Others are fetching long documents just now. Ask again in ten seconds."
    )
    assert client.get("/registry/").status_code == 200
    assert client.get("/registry/ledger/1.json").status_code == 200
    assert b"".join(under_way[0])  # to its end
    again = client.get(address)
    assert (again.status_code, bool(b"".join(again))) == (200, True)


def test_a_place_is_given_back_once_however_a_document_ends(plan, places):
    client = Client(raise_request_exception=False)
    whole = client.get("/registry/ledger.json", headers={"Accept-Encoding": "gzip"})
    assert whole["Content-Encoding"] == "gzip"
    assert whole["Cache-Control"] == "public, max-age=60"
    b"".join(whole)
    whole.close()  # a second time
    left = client.get("/ledger.json")
    next(iter(left))
    left.close()  # who asked has gone
    client.head("/ledger.csv")
    client.get("/registry/ledger.json")  # and nobody reads it
    gc.collect()
    assert places.acquire(blocking=False)
    closed = Held(["a"], places)
    closed.close()  # and is still known
    assert [places.acquire(blocking=False) for _ in range(AT_ONCE + 1)] == [True] * AT_ONCE + [
        False
    ]


def test_who_reads_slowly_keeps_no_place_for_long(places, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(streams, "time", SimpleNamespace(monotonic=lambda: now[0]))
    for moments, found in (
        (
            (0.0, 600.0, 600.1),
            ["a", "b", "\n\nThis document is not whole. It was read too slowly.\n"],
        ),
        ((0.0, 1.0, 2.0), ["a", "b", "c"]),
    ):
        assert places.acquire(blocking=False)
        now[0], parts = 0.0, []
        held = Held(iter("abc"), places)
        for moment in moments:
            now[0] = moment
            parts.append(next(iter(held)))
        now[0] = 1_000.0
        assert [*parts, *held] == found, "what is whole is never called a part"
        held.close()


def test_what_was_begun_is_ended_with_its_document(places):
    ended = []

    def rows() -> Iterator[str]:
        try:
            yield "a"
            yield "b"
        finally:
            ended.append(True)

    assert places.acquire(blocking=False)
    held = Held(rows(), places)
    next(iter(held))
    held.close()
    assert ended == [True]
