"""The time of a walk: the site's modules read the simulator's clock, and theirs again after it."""

import datetime
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager

from django.utils import timezone

from tests.simulator.clock import START, Clock, forward as forward


@contextmanager
def walking() -> Iterator[None]:
    """Begin at the same noon; give every module of the site that reads the clock this one."""
    Clock.moment = START
    shown = types.ModuleType("datetime")
    shown.__dict__.update({**vars(datetime), "datetime": Clock})
    zone = types.ModuleType("timezone")
    zone.__dict__.update({**vars(timezone), "now": Clock.now})
    changed = []
    for name, module in list(sys.modules.items()):
        # the ledger is told the time, and knows a moment by its type
        if not name.startswith("surveys.") or name.startswith("surveys.ledger."):
            continue
        for attribute, real, walked in (
            ("datetime", datetime, shown),
            ("timezone", timezone, zone),
        ):
            if getattr(module, attribute, None) is real:
                setattr(module, attribute, walked)
                changed.append((module, attribute, real))
    try:
        yield
    finally:
        for module, attribute, real in changed:
            setattr(module, attribute, real)
