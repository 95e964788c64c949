"""The WSGI application as `up` serves it: it dies with its server, and serves what is prepared.

Killed before this module was loaded, the server is no longer there to die with; it leads our
process group, so we know which it was.
"""

import os
import time

from surveys.operations.up import LOOK, PREPARED, SERVING, die_with_parent

die_with_parent(os.getpgrp())

import django  # noqa: E402 (first the promise to die)

django.setup()

from surveys import urls as urls  # noqa: E402 (all pages, which takes as long as preparing does)

while not PREPARED.exists():
    time.sleep(LOOK)

from surveys.wsgi import application as application  # noqa: E402 (static files are there now)

SERVING.touch()
