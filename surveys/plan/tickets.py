"""A ticket: a signature that shows that its holder is on a Plan's list, and not who that is.

What is signed is 32 random bytes of the device, “candor ticket” and the Plan's digest: a prepared
message of RSABSSA-SHA384-PSS-Randomized (RFC 9474, § 5), whose signature is a stock one of RSA-PSS
with SHA-384 and a salt of 48 bytes. Who signed it saw it blinded only. The id of the report that it
comes with is made of it too, so that what keeps reports single spends it.
"""

import hashlib
from functools import lru_cache

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey, RSAPublicNumbers
from cryptography.hazmat.primitives.hashes import SHA384

NAME = b"candor ticket"
PREFIX, SALT, EXPONENT = 32, 48, 65_537  # bytes, bytes, of every key
ID_DIGITS = 32  # of a report's id

_hash = SHA384()
_padding = PSS(mgf=MGF1(_hash), salt_length=SALT)


def message(prefix: bytes, digest: str) -> bytes:
    """Return what a ticket signs, from 32 random bytes and the Plan's digest in hexadecimal."""
    return prefix + NAME + bytes.fromhex(digest)


def report_id(message: bytes) -> str:
    """Return the id of the one report that comes with a ticket on this message."""
    return hashlib.sha256(message).hexdigest()[:ID_DIGITS]


def verify(modulus: str, message: bytes, signature: bytes) -> bool:
    """Tell whether this is a signature of the message under a Plan's key, in hexadecimal."""
    try:
        _key(modulus).verify(signature, message, _padding, _hash)
    except InvalidSignature:
        return False
    return True


@lru_cache(maxsize=1024)
def _key(modulus: str) -> RSAPublicKey:
    return RSAPublicNumbers(EXPONENT, int(modulus, 16)).public_key()
