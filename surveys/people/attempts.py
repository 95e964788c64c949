"""How often somebody tried to sign in, without a list of who and from where: keys are kept as hashes."""

from typing import Any

from django.utils.crypto import salted_hmac


def hashed(key: str, prefix: str, version: Any) -> str:
    """Return the name under which a cache keeps a key, which may hold a machine's address or a person's name."""
    return salted_hmac("candor.people.attempts", f"{prefix}:{version}:{key}", algorithm="sha256").hexdigest()
