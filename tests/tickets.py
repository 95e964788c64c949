"""The client of an issuer, for tests: keys, a Plan with a list, blinding, and finished tickets.

It blinds as RFC 9474 says (§ 4.2 and 4.4), in plain integers: the browser's twin is ticket.js.
"""

import base64
import hashlib
import itertools
import math
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA384

from surveys.issuer import signing
from surveys.plan import tickets

HASH = 48  # bytes of SHA-384


class Key(NamedTuple):
    """A stratum's key: its modulus as a Plan has it, and the whole of it."""

    modulus: str
    private: rsa.RSAPrivateKey

    @property
    def d(self) -> int:
        return self.private.private_numbers().d


class Blinded(NamedTuple):
    """What a device keeps between the post that fetches a ticket and the answer."""

    prefix: bytes
    message: bytes
    blinded: bytes
    inverse: int


def new_key(bits: int = 2048) -> Key:
    private = rsa.generate_private_key(tickets.EXPONENT, bits)
    return Key(f"{private.private_numbers().public_numbers.n:x}", private)


_keys: list[Key] = []


def keys(count: int = 1) -> list[Key]:
    """Return keys, the same in all tests of a process."""
    _keys.extend(new_key() for _ in range(count - len(_keys)))
    return _keys[:count]


_issued: list[Key] = []


def issued() -> Callable[[], tuple[str, bytes]]:
    """Return what stands in for `signing.new_key` in a test: the same keys in the same order in all
    tests of a process, for a new one takes a tenth of a second to find.
    """
    places = itertools.count()

    def next_key() -> tuple[str, bytes]:
        place = next(places)
        if place == len(_issued):
            _issued.append(new_key(signing.BITS))
        return _issued[place].modulus, _issued[place].d.to_bytes(signing.BITS // 8)

    return next_key


def invited(
    moduli: Sequence[str], *, people: int = 30, moments: int = 15, **parts: Any
) -> dict[str, Any]:
    """Return the part `invited` of a Plan, with a stratum a modulus: "" alone, else A, B …"""
    alone = len(moduli) == 1
    strata = [
        {"key": key, "name": "" if alone else chr(ord("A") + at), "people": people}
        for at, key in enumerate(moduli)
    ]
    return {"moments": moments, "strata": strata, **parts}


def b64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def unb64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def new_code() -> str:
    """Return a code as a letter has it."""
    return b64(os.urandom(16))


def code_digest(code: str) -> bytes:
    """Return what an issuer keeps of a code."""
    return hashlib.sha256(code.encode()).digest()


def encoded(message: bytes, bits: int, salt: bytes) -> bytes:
    """Return EMSA-PSS of a message (RFC 8017, § 9.1.1), for a modulus of so many bits."""
    length = math.ceil((bits - 1) / 8)
    digest = hashlib.sha384(bytes(8) + hashlib.sha384(message).digest() + salt).digest()
    block = bytes(length - len(salt) - HASH - 2) + b"\x01" + salt
    masked = bytearray(a ^ b for a, b in zip(block, _mask(digest, len(block)), strict=True))
    masked[0] &= 0xFF >> (8 * length - bits + 1)
    return bytes(masked) + digest + b"\xbc"


def _mask(seed: bytes, length: int) -> bytes:
    """MGF1 with SHA-384 (RFC 8017, § B.2.1)."""
    blocks = (
        hashlib.sha384(seed + at.to_bytes(4)).digest() for at in range(math.ceil(length / HASH))
    )
    return b"".join(blocks)[:length]


def blind(
    modulus: str,
    digest: str,
    prefix: bytes | None = None,
    salt: bytes | None = None,
    factor: int | None = None,
) -> Blinded:
    """Return a new message of a Plan and what the issuer is to sign of it."""
    prefix = prefix or os.urandom(tickets.PREFIX)
    return blind_message(modulus, tickets.message(prefix, digest), prefix, salt, factor)


def blind_message(
    modulus: str,
    message: bytes,
    prefix: bytes,
    salt: bytes | None = None,
    factor: int | None = None,
) -> Blinded:
    n = int(modulus, 16)
    r = factor or 2 + int.from_bytes(os.urandom(512)) % (n - 3)
    padded = int.from_bytes(encoded(message, n.bit_length(), salt or os.urandom(tickets.SALT)))
    blinded = padded * pow(r, tickets.EXPONENT, n) % n
    return Blinded(prefix, message, blinded.to_bytes(len(modulus) // 2), pow(r, -1, n))


def finish(modulus: str, own: Blinded, signature: bytes) -> bytes:
    """Return the ticket's signature from the blind one, or fail if it is none."""
    n = int(modulus, 16)
    found = (int.from_bytes(signature) * own.inverse % n).to_bytes(len(modulus) // 2)
    assert tickets.verify(modulus, own.message, found)
    return found


def as_part(prefix: bytes, signature: bytes, stratum: int = 0) -> dict[str, Any]:
    """Return the part `ticket` of a report."""
    return {"prefix": prefix.hex(), "signature": b64(signature), "stratum": stratum}


def made(key: Key, digest: str, stratum: int = 0) -> dict[str, Any]:
    """Return the parts `report_id` and `ticket` of a report, as whoever has the key makes them."""
    prefix = os.urandom(tickets.PREFIX)
    message = tickets.message(prefix, digest)
    pss = padding.PSS(mgf=padding.MGF1(SHA384()), salt_length=tickets.SALT)
    signature = key.private.sign(message, pss, SHA384())
    return {
        "report_id": tickets.report_id(message),
        "ticket": as_part(prefix, signature, stratum),
    }
