"""Ports for servers of the tests: below those that the system hands out to whoever asks for any
(`ip_local_port_range`), and from another place for each process, so that nobody takes one between
the look and the server.
"""

import os
import socket

FIRST, BEYOND = 10_000, 32_000
_latest = os.getpid() * 7919 % (BEYOND - FIRST)  # neighbours begin far apart


def free_port() -> int:
    """Return a port of 127.0.0.1 on which nobody listens, another one each time."""
    global _latest
    for _ in range(FIRST, BEYOND):
        _latest = (_latest + 1) % (BEYOND - FIRST)
        try:
            socket.create_server(("127.0.0.1", FIRST + _latest)).close()
        except OSError:
            continue
        return FIRST + _latest
    raise OSError("expected a free port, got none")
