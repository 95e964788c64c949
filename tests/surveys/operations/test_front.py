"""What the front of `up` hands to the pages, and how it reads what they say."""

import asyncio
import contextlib
import os

import pytest

from tests.patience import PATIENCE
from tests.surveys.intake.posted import Headers


@pytest.fixture
def front(monkeypatch):
    """The module, which in life promises to die with its server."""
    monkeypatch.setattr("surveys.operations.supervisor.die_with_parent", lambda parent: None)
    from surveys.operations import front

    return front


@pytest.fixture
def web(front, monkeypatch):
    """The pages' module, which in life gives way to the door: the tests' session would too."""
    monkeypatch.setattr("surveys.operations.supervisor.give_way", lambda: None)
    before = os.nice(0)
    from surveys.operations import web

    assert os.nice(0) == before
    return web


class Scope:
    method, client, authority = "POST", "192.0.2.7:5123", None

    def __init__(self, path="/", query="", *more, **headers):
        self.path, self.query_string = path, query
        pairs = [(name.replace("_", "-"), value) for name, value in headers.items()]
        self.headers = Headers([("host", "forms.example"), *pairs, *more])


def head(front, *words, **headers):
    return front.head_of(Scope(*words, **headers)).decode("latin-1").split("\r\n")


def test_an_address_is_handed_on_as_it_was_asked_for(front):
    assert head(front, "/s/a b/", "x=%20&y")[0] == "POST /s/a%20b/?x=%20&y HTTP/1.0"
    assert head(front, "/s/é/")[0] == "POST /s/%C3%A9/ HTTP/1.0"


def test_no_address_begins_a_line_of_its_own(front):
    lines = head(front, "/x\r\nX-Candor-From: 198.51.100.7\r\n\r\n")
    assert lines[0].startswith("POST /x%0D%0AX-Candor-From")
    assert lines[1:] == ["x-candor-from: 192.0.2.7:5123", "host: forms.example", "", ""]


def test_the_pages_learn_who_asks_and_nobody_can_say_so_for_them(front):
    lines = head(front, x_candor_from="198.51.100.7", x_forwarded_for="198.51.100.8")
    told = [line for line in lines if line.startswith("x-candor-from")]
    assert told == ["x-candor-from: 192.0.2.7:5123"]
    assert "x-forwarded-for: 198.51.100.8" in lines


def test_no_header_is_handed_on_that_wsgi_would_take_for_another(front):
    lines = head(front, "/", "", ("x_candor_from", "198.51.100.7"), ("X_Forwarded_For", "::1"))
    assert lines[1:] == ["x-candor-from: 192.0.2.7:5123", "host: forms.example", "", ""]


class Gone:
    """Whoever sent half of a request and left."""

    def __init__(self):
        self.said = []

    async def __call__(self):
        raise RuntimeError("RSGI transport is closed")

    def response_empty(self, status, headers):
        self.said.append(int(status))


def test_who_leaves_in_the_middle_is_no_fault_of_ours(front):
    gone = Gone()
    asyncio.run(front.Front.elsewhere(None, Scope(content_length="5"), gone))
    assert gone.said == [400]


def test_a_length_that_no_number_holds_is_for_the_pages_to_refuse(front):
    class Unread:
        async def __call__(self):
            pytest.fail("none of it is read")

    for length in ("0" * 5_000 + "2", "9" * 5_000, "²", ""):
        assert front.length_of(Scope(content_length=length)) == 0
    assert asyncio.run(front.whole(Unread(), 0)) == b""


class Slow:
    """Whoever begins a body, until they go."""

    def __init__(self, goes):
        self.goes, self.said = goes, []

    async def __call__(self):
        await self.goes.wait()
        raise RuntimeError("RSGI transport is closed")

    def response_empty(self, status, headers):
        self.said.append((int(status), dict(headers).get("Retry-After")))


def test_bodies_that_do_not_end_hold_so_much_memory_and_no_more(front):
    async def story():
        goes, under_way = asyncio.Event(), []

        async def post(length, many):
            """Begin so many bodies; return what each was told at once."""
            visitors = [Slow(goes) for _ in range(many)]
            scope = Scope(content_length=str(length))
            for visitor in visitors:
                under_way.append(asyncio.create_task(front.Front.elsewhere(None, scope, visitor)))
            await asyncio.sleep(0)
            return [visitor.said for visitor in visitors]

        files = await post(10 * 2**20, 8)
        assert files == [[]] * 6 + [[(503, "5")]] * 2
        assert await post(front.SMALL, 1_025) == [[]] * 1_024 + [[(503, "5")]]
        assert await post(front.SMALL + 1, 1) == [[]], "there is room for a file as small"
        assert front.held == {True: front.MOST_HELD, False: 60 * 2**20 + front.SMALL + 1}
        goes.set()
        await asyncio.gather(*under_way)
        assert files == [[(400, None)]] * 6 + [[(503, "5")]] * 2
        assert front.held == {True: 0, False: 0}

    asyncio.run(story())


class Whole:
    """Whoever has sent all of a body."""

    def __init__(self, length):
        self.body, self.said = b"x" * length, []

    async def __call__(self):
        return self.body

    def response_empty(self, status, headers):
        self.said.append(int(status))


def test_a_body_that_was_handed_on_holds_no_room_while_its_answer_is_waited_for(
    front, settings, tmp_path
):
    settings.WEB_SOCKET = tmp_path / "web.sock"
    length = 10 * 2**20

    async def story():
        came, goes, held = asyncio.Event(), asyncio.Event(), []

        async def pages(reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            held.append(front.held[False])
            await reader.readexactly(length)
            came.set()
            await goes.wait()
            writer.write(b"HTTP/1.0 204 No Content\r\n\r\n")
            await writer.drain()
            writer.close()

        server = await asyncio.start_unix_server(pages, settings.WEB_SOCKET)
        visitor, scope = Whole(length), Scope(content_length=str(length))
        task = asyncio.create_task(front.Front.elsewhere(None, scope, visitor))
        async with asyncio.timeout(PATIENCE):
            await came.wait()
            while front.held[False]:
                await asyncio.sleep(0.01)
            assert (held, visitor.said) == ([length], [])
            goes.set()
            await task
        assert visitor.said == [204]
        server.close()

    asyncio.run(story())


def test_pages_may_answer_before_they_have_taken_all_of_a_body(front, settings, tmp_path):
    """As they do where they refuse it unread."""
    settings.WEB_SOCKET = tmp_path / "web.sock"
    length = 10 * 2**20

    async def story():
        async def pages(reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.0 204 No Content\r\n\r\n")
            await writer.drain()
            writer.close()

        server = await asyncio.start_unix_server(pages, settings.WEB_SOCKET)
        visitor, scope = Whole(length), Scope(content_length=str(length))
        async with asyncio.timeout(PATIENCE):
            await front.Front.elsewhere(None, scope, visitor)
        assert (visitor.said, front.held[False]) == ([204], 0)
        server.close()

    asyncio.run(story())


def test_pages_that_take_nothing_are_given_up_and_no_connection_to_them_stays(
    front, settings, monkeypatch, tmp_path
):
    monkeypatch.setattr(front, "DEADLINE", 0.1)
    settings.WEB_SOCKET = tmp_path / "web.sock"
    length = 10 * 2**20

    async def story():
        ended = asyncio.Event()

        async def pages(reader, writer):
            await asyncio.sleep(0.3)  # all threads are busy
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                while await reader.read(front.CHUNK):
                    pass
            ended.set()
            writer.close()

        server = await asyncio.start_unix_server(pages, settings.WEB_SOCKET)
        visitor, scope = Whole(length), Scope(content_length=str(length))
        async with asyncio.timeout(PATIENCE):
            await front.Front.elsewhere(None, scope, visitor)
            assert (visitor.said, front.held[False]) == ([502], 0)
            await ended.wait()
        server.close()

    asyncio.run(story())


def test_headers_of_one_hop_stay_there(front):
    lines = head(front, connection="close", te="trailers", cookie="a=b")
    assert lines[2:] == ["host: forms.example", "cookie: a=b", "", ""]


def test_an_answer_s_head_is_read_with_all_its_cookies(front):
    said = b"HTTP/1.0 302 Found\r\nServer: x\r\nSet-Cookie: a=1\r\nset-cookie: b=2:3\r\n\r\n"
    assert front.read_head(said) == (302, [("Set-Cookie", "a=1"), ("set-cookie", "b=2:3")])


def test_the_pages_see_that_address_as_the_socket_s(web, monkeypatch):
    seen = {}
    monkeypatch.setattr(web, "pages", lambda environ, start: seen.update(environ) or [])
    web.application({"HTTP_X_CANDOR_FROM": "192.0.2.7:5123", "REMOTE_ADDR": ""}, None)
    assert seen == {"REMOTE_ADDR": "192.0.2.7:5123"}
