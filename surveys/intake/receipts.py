"""Receipt numbers: the first 60 bits of SHA-256(report id), in Crockford's base 32, as
CN4F-7QKM-2XW9.

Nobody can guess one, or turn one into an answer; whoever has the report's id can compute it.
"""

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LOOKALIKES = str.maketrans({"I": "1", "L": "1", "O": "0"})
CHARACTERS = 12
HEX_DIGITS = 15  # 60 bits
PAIRS = [first + second for first in ALPHABET for second in ALPHABET]  # of 10 bits


def number(id_digest: bytes) -> str:
    """Return the receipt of a report, from the SHA-256 of its id."""
    bits = int(id_digest.hex()[:HEX_DIGITS], 16)
    pairs = [PAIRS[bits >> shift & 1023] for shift in (50, 40, 30, 20, 10, 0)]
    return "{}{}-{}{}-{}{}".format(*pairs)


def prefix(receipt: str) -> str | None:
    """Return the first digits of the id's hash, or None if this is no receipt. Forgives case,
    dashes, lookalikes.
    """
    letters = "".join(receipt.upper().split()).replace("-", "").translate(LOOKALIKES)
    if len(letters) != CHARACTERS or any(letter not in ALPHABET for letter in letters):
        return None
    bits = 0
    for letter in letters:
        bits = bits << 5 | ALPHABET.index(letter)
    return f"{bits:0{HEX_DIGITS}x}"
