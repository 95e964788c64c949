"""What `up` serves on its one port: the door takes reports itself, and hands all else to the pages'
own process, over a socket of the data folder.

A request is passed on whole, so that a slow client holds no thread there; an answer is passed back
as it comes. HTTP/1.0 is spoken: one request a connection, which ends with the answer.
"""

import asyncio
import contextlib
import os
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from surveys.operations.supervisor import die_with_parent

die_with_parent(os.getpgrp())

from django.conf import settings  # noqa: E402 (first the promise to die)

from surveys import door  # noqa: E402
from surveys.middleware import is_too_large  # noqa: E402
from surveys.operations import gate  # noqa: E402
from surveys.operations.hop import FROM  # noqa: E402

DEADLINE = 60.0  # seconds in which a request must be here, whole: a picture from a slow line
CHUNK = 65_536  # bytes
SMALL = 65_536  # bytes of a body that is none of a file
MOST_HELD = 64 * 2**20  # bytes of small bodies at once, and as many of others
ONE_HOP = ("connection", "keep-alive", "transfer-encoding", "upgrade", "te", "trailer", "expect")
OURS = ("server", "date")  # which the server says again

held = {True: 0, False: 0}  # bytes: of bodies that are small, and of others


class Front(door.Door):
    async def elsewhere(self, scope: Any, protocol: Any) -> None:
        """Hand a request to the pages."""
        length = length_of(scope)
        with contextlib.ExitStack() as room, contextlib.ExitStack() as connection:
            if not has_room(length):
                busy = [("Retry-After", "5"), ("Connection", "close")]
                protocol.response_empty(HTTPStatus.SERVICE_UNAVAILABLE, busy)
                return
            hold(length)
            room.callback(hold, -length)
            if reader := await hand_on(scope, protocol, length, room, connection):
                await pass_back(reader, scope, protocol)


def has_room(length: int) -> bool:
    """Tell whether there is room for a body. Uploads that are begun and never ended then keep
    nobody from signing in, and take so much memory at most from the process that takes reports.
    """
    return held[length <= SMALL] + length <= MOST_HELD


def hold(length: int) -> None:
    """Hold room for a body; for one of less than none, give it back."""
    held[abs(length) <= SMALL] += length


async def hand_on(
    scope: Any,
    protocol: Any,
    length: int,
    room: contextlib.ExitStack,
    connection: contextlib.ExitStack,
) -> asyncio.StreamReader | None:
    """Pass a request on whole, and return where its answer comes, or refuse it and return None.

    The room is given back once the pages have the body; they may also answer before.
    """
    try:
        body = await whole(protocol, length)
        reader, writer = await asyncio.open_unix_connection(str(settings.WEB_SOCKET))
    except TimeoutError:
        protocol.response_empty(HTTPStatus.REQUEST_TIMEOUT, [("Connection", "close")])
        return None
    except RuntimeError:  # who sent half of it has gone
        protocol.response_empty(HTTPStatus.BAD_REQUEST, [])
        return None
    except OSError:  # they are being started again
        protocol.response_empty(HTTPStatus.SERVICE_UNAVAILABLE, [("Retry-After", "2")])
        return None
    writer.write(head_of(scope) + body)
    taken = asyncio.create_task(take(writer, room))
    # the task keeps the writer, which would close its connection once nothing held it
    connection.callback(lambda: writer.transport.abort())
    connection.callback(taken.cancel)
    return reader


async def take(writer: asyncio.StreamWriter, room: contextlib.ExitStack) -> None:
    """Give room back when the pages have taken a body, or have ended; end a connection to pages
    that take nothing for a minute.
    """
    try:
        async with asyncio.timeout(DEADLINE):
            await writer.drain()
    except TimeoutError:
        writer.transport.abort()
    except OSError:
        return  # what they said, if anything, is being read
    room.close()


def length_of(scope: Any) -> int:
    """Return how long a request's body is; 0 of one that the pages refuse by its length."""
    length = scope.headers.get("content-length", "")
    return 0 if not length.isdecimal() or is_too_large(length) else int(length)


async def whole(protocol: Any, length: int) -> bytes:
    """Return a request's body."""
    if not length:
        return b""
    async with asyncio.timeout(DEADLINE):
        body: bytes = await protocol()
    return body


def head_of(scope: Any) -> bytes:
    """Return the head of a request as it came, and from which address.

    WSGI calls X_Candor_From what it calls X-Candor-From, and takes the last of them: so a header
    with a low line in its name goes no further, as at other proxies.
    """
    asked = (
        quote(scope.path, safe="/:@!$&'()*+,;=~")
        + (scope.query_string and "?")
        + (scope.query_string)
    )
    lines = [f"{scope.method} {asked} HTTP/1.0", f"{FROM}: {scope.client}"]
    if scope.authority and "host" not in scope.headers:
        lines.append(f"host: {scope.authority}")
    lines += [
        f"{name}: {value}"
        for name, value in scope.headers.items()
        if name not in ONE_HOP and name != FROM and "_" not in name
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


async def pass_back(reader: asyncio.StreamReader, scope: Any, protocol: Any) -> None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        protocol.response_empty(HTTPStatus.BAD_GATEWAY, [("Retry-After", "2")])
        return
    status, headers = read_head(head)
    if scope.method == "HEAD" or status in (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED):
        protocol.response_empty(status, headers)
        return
    stream = protocol.response_stream(status, headers)
    with contextlib.suppress(OSError, RuntimeError):  # who asked has gone
        while chunk := await reader.read(CHUNK):
            await stream.send_bytes(chunk)


def read_head(head: bytes) -> tuple[int, list[tuple[str, str]]]:
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    pairs = (line.partition(":")[::2] for line in lines)
    headers = [(name.strip(), value.strip()) for name, value in pairs]
    kept = [each for each in headers if each[0].lower() not in (*ONE_HOP, *OURS)]
    return int(first.split(" ")[1]), kept


gate.wait()
app = Front(note=door.count)
