"""Encryption of answers that are sent as given, and of keys, wherever they are kept: AES-256 in
Galois/counter mode.

A sealed text is the key's id (8 bytes), a random nonce (12), the ciphertext and its tag (16). It
opens only under the same key and for what it was sealed for: another Plan, batch or purpose is
refused like a forgery. Who has the database without the key has random bytes; who has both has the
answers.

Keys       PUBLICATION_KEYS, or in local mode publication.key in the data folder. The first one
           seals, all open, so a new key goes in front, `manage.py rotate_keys` seals everything
           anew, and the old one can go.
Limit      One key seals at most 2³² texts: the chance that two of them share a nonce is then below
           2⁻³² (NIST SP 800-38D, § 8.3). A text is one report or one batch, and a
           record of the log.
Lengths    are not hidden: pack answers to one width before sealing them.
Copies     A report's text is bound to its Plan, not to its row: a sweep refuses two alike, but one
           that is put back after its sweep counts again. Nothing here is a defence against who may
           write to the database.
"""

import hashlib
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

KEY, ID, NONCE = 32, 8, 12  # bytes
VARIABLE = "PUBLICATION_KEYS"


class CannotOpen(Exception):
    """A sealed text that stays sealed, and what to look at. Nothing is lost: the right key opens
    it.
    """


def seal(text: bytes, *, about: str) -> bytes:
    """Encrypt a text for one purpose, with the first key."""
    key = _keys()[0]
    nonce = os.urandom(NONCE)
    return key_id(key) + nonce + AESGCM(key).encrypt(nonce, text, about.encode())


def open_sealed(sealed: bytes, *, about: str) -> bytes:
    """Return the text that was sealed for this purpose, or raise CannotOpen."""
    named, nonce, rest = sealed[:ID], sealed[ID : ID + NONCE], sealed[ID + NONCE :]
    key = next((key for key in _keys() if key_id(key) == named), None)
    if key is None:
        known = ", ".join(key_id(key).hex() for key in _keys())
        raise CannotOpen(
            f"{VARIABLE}: expected the key {named.hex()} among its keys, got {known}. Put it back."
        )
    try:
        return AESGCM(key).decrypt(nonce, rest, about.encode())
    except (InvalidTag, ValueError):  # the second where not even a nonce is left
        raise CannotOpen(
            f"{about}: expected what was sealed for it, got something else or something damaged"
        ) from None


def new_key() -> bytes:
    """Draw a key for one purpose, to be kept sealed."""
    return os.urandom(KEY)


def has_first_key(sealed: bytes) -> bool:
    """Tell whether a text was sealed with the key that seals now."""
    return sealed[:ID] == key_id(_keys()[0])


def key_id(key: bytes) -> bytes:
    """Return a name for a key that tells nothing of it."""
    return hashlib.sha256(b"candor publication key" + key).digest()[:ID]


def first_key_id() -> str:
    return key_id(_keys()[0]).hex()


def _keys() -> list[bytes]:
    if not settings.PUBLICATION_KEYS:
        raise CannotOpen(f"{VARIABLE}: expected one or more keys, got none")
    return list(settings.PUBLICATION_KEYS)
