"""Keys of lists: one a study, made with its list and destroyed with it; and one of the site, by
which it knows the addresses that want no letters.

Each stands in the database sealed under PUBLICATION_KEYS, so that the database alone tells nobody's
address; without its key a list is random bytes, in old copies too.
"""

import hmac
import os
from typing import Any

import msgspec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.db import transaction

from surveys.encryption import new_key, seal
from surveys.invited.models import Key

SITE = "addresses that want no letters"
NONCE = 12  # bytes


def name_of(study_id: int) -> str:
    return f"list of study {study_id}"


def key_of(name: str, study_id: int | None = None) -> bytes:
    """Return a key, made the first time it is asked for."""
    found = Key.objects.filter(pk=name).first()
    if found is None:
        new = Key(name=name, study_id=study_id, sealed=seal(new_key(), about=name))
        with transaction.atomic():
            Key.objects.bulk_create([new], ignore_conflicts=True)
            found = Key.objects.get(pk=name)
    return found.opened()


class Chest:
    """What seals and opens the people of one study's list, as long as it has its key.

    Raises Key.DoesNotExist where there is none: under another key the same people would be others.
    """

    def __init__(self, study_id: int) -> None:
        self.key = Key.objects.get(pk=name_of(study_id)).opened()

    def seal(self, what: Any, about: str) -> bytes:
        nonce = os.urandom(NONCE)
        return nonce + AESGCM(self.key).encrypt(nonce, msgspec.json.encode(what), about.encode())

    def open(self, sealed: bytes | memoryview, about: str) -> Any:
        sealed = bytes(sealed)
        text = AESGCM(self.key).decrypt(sealed[:NONCE], sealed[NONCE:], about.encode())
        return msgspec.json.decode(text)

    def digest(self, address: str) -> bytes:
        """Return what tells two alike addresses, and nothing without the key."""
        return hmac.digest(self.key, plain_address(address).encode(), "sha256")

    def person(self, address: str) -> str:
        """Return a person's reference, which is the same again when their address comes back onto
        the list.
        """
        own = f"person {plain_address(address)}".encode()
        return hmac.digest(self.key, own, "sha256").hex()[:32]

    def reference(self, plan: str, reference: str) -> str:
        """Return the name of a person at the issuer: another one in each wave."""
        return hmac.digest(self.key, f"{plan} {reference}".encode(), "sha256").hex()[:32]


def plain_address(address: str) -> str:
    return "".join(address.split()).casefold()


def site_digest(address: str, key: bytes | None = None) -> str:
    """Return what an address is called among those that want no letters."""
    return hmac.digest(key or key_of(SITE), plain_address(address).encode(), "sha256").hex()
