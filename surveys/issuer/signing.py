"""Sign what nobody here can read: the private operation of RSA on a blinded message (RFC 9474,
§ 4.3).

It takes as long whatever the key and the message are: GMP's powmod_sec runs in constant time, on a
message that is blinded once more by a random factor. What comes of it is checked under the public
key before it leaves: a fault of the machine could give the key away.
"""

import math
import os

from cryptography.hazmat.primitives.asymmetric import rsa
from gmpy2 import invert, mpz, powmod, powmod_sec

from surveys.issuer.refusals import Refused
from surveys.plan.tickets import EXPONENT

BITS = 2048
MORE = 16  # bytes of chance beyond a modulus: its rest is uniform up to 2⁻¹²⁸


class Faulty(Exception):
    """A signature that its own key does not verify: nothing of it is told."""


def new_key() -> tuple[str, bytes]:
    """Return a new modulus in hexadecimal digits, and its private exponent in bytes."""
    numbers = rsa.generate_private_key(EXPONENT, BITS).private_numbers()
    return f"{numbers.public_numbers.n:x}", numbers.d.to_bytes(BITS // 8)


def refuse_unfit(modulus: str, blinded: bytes) -> None:
    """Refuse a blinded message that has another length, or tells of the key or of nothing."""
    n, length = int(modulus, 16), len(modulus) // 2
    if len(blinded) != length:
        raise Refused("blinded", f"expected {length} bytes, got {len(blinded)}")
    number = int.from_bytes(blinded)
    if not 1 < number < n - 1:
        raise Refused("blinded", "expected a number above 1 and below the modulus less 1")
    if math.gcd(number, n) != 1:
        raise Refused("blinded", "expected a number coprime to the modulus")


def sign(modulus: str, exponent: bytes, blinded: bytes) -> bytes:
    """Return the blind signature of a message that `refuse_unfit` has let pass."""
    n, d = mpz(int(modulus, 16)), mpz(int.from_bytes(exponent))
    message, factor = mpz(int.from_bytes(blinded)), _factor(n)
    hidden = message * powmod(factor, EXPONENT, n) % n
    signature = powmod_sec(hidden, d, n) * invert(factor, n) % n
    if powmod(signature, EXPONENT, n) != message:
        raise Faulty
    return int(signature).to_bytes(len(blinded))


def _factor(n: mpz) -> mpz:
    """Draw a number that has an inverse."""
    while True:
        drawn = mpz(int.from_bytes(os.urandom(n.bit_length() // 8 + MORE))) % n
        if math.gcd(int(drawn), int(n)) == 1:
            return drawn
