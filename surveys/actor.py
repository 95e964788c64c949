"""Who acts, as everything that is written down says it: by pseudonym, for the ledger is public
and never forgets.
"""

from typing import Any

from django.http import HttpRequest


def actor(request: HttpRequest) -> str:
    """Return the pseudonym of whoever is signed in."""
    user: Any = request.user
    return str(user.pseudonym)
