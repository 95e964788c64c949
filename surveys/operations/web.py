"""The WSGI application as `up` serves it: a worker of the web server ends when the server does.

The server starts its worker as a child of its own. Killed outright, it would leave
that worker behind, holding the port. Killed before this module was loaded, it is no
longer there to die with: the server leads our process group, so we know who it was.
"""

import os

from surveys.operations.supervisor import die_with_parent

die_with_parent(os.getpgrp())

from surveys.wsgi import application  # noqa: E402 (first the promise to die)

__all__ = ["application"]
