"""The WSGI application as `up` serves it: a worker of the web server ends when the server does.

The server starts its worker as a child of its own. Killed outright, it would leave
that worker behind, holding the socket. Killed before this module was loaded, it is no
longer there to die with: the server leads our process group, so we know who it was.

Only `front.py` asks here, over a socket of the data folder, and says where a request comes from.
"""

import os
from collections.abc import Callable, Iterable
from typing import Any

from surveys.operations.hop import FROM
from surveys.operations.supervisor import die_with_parent, give_way

die_with_parent(os.getpgrp())

import django  # noqa: E402 (first the promise to die)

django.setup()

from surveys import urls as urls  # noqa: E402 (all pages, which takes as long as preparing does)
from surveys.operations import gate  # noqa: E402

gate.wait()

from surveys.wsgi import application as pages  # noqa: E402 (now static files are looked for)

give_way()  # to the door and the database: readers, however many, keep no report waiting

KEY = f"HTTP_{FROM.upper().replace('-', '_')}"


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    environ["REMOTE_ADDR"] = environ.pop(KEY, "")
    return pages(environ, start_response)
