"""What a series remembers between steps, encrypted: noise that was drawn and counts that are exact are secrets."""

import json
from typing import Any

from surveys.encryption import open_sealed, seal
from surveys.releases.models import Request, Series

State = dict[str, Any]
ERASED = b"-"  # of a series that is over, once what it remembered has left the files as well


def sealed(request: Request, state: State) -> bytes:
    """Return a state for the database; nothing of one that is over."""
    return seal(json.dumps(state).encode(), about=_about(request)) if state else b""


def opened(series: Series) -> State:
    state: State = json.loads(open_sealed(bytes(series.state), about=_about(series.request)))
    return state


def _about(request: Request) -> str:
    return f"series {request.digest}"
