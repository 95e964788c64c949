"""Tickets against the vectors of RFC 9474 (appendix A.1), and what is none."""

import hashlib
import os

import pytest

from surveys.issuer import signing
from surveys.plan import tickets
from tests import tickets as client
from tests.vectors import load

VECTOR = {
    name: bytes.fromhex(value) if name != "name" else value
    for name, value in load("tickets.json")[0].items()
}
MODULUS = VECTOR["n"].hex()
PLAN = "ab" * 32


def test_blinding_signing_and_finishing_give_the_bytes_of_the_rfc():
    assert VECTOR["name"] == "RSABSSA-SHA384-PSS-Randomized"
    prepared = VECTOR["msg_prefix"] + VECTOR["msg"]
    assert prepared == VECTOR["prepared_msg"]
    assert client.encoded(prepared, 4096, VECTOR["salt"]) == VECTOR["encoded_msg"]
    n = int.from_bytes(VECTOR["n"])
    factor = pow(int.from_bytes(VECTOR["inv"]), -1, n)
    own = client.blind_message(MODULUS, prepared, VECTOR["msg_prefix"], VECTOR["salt"], factor)
    assert own.blinded == VECTOR["blinded_msg"]
    signing.refuse_unfit(MODULUS, own.blinded)
    blind = signing.sign(MODULUS, VECTOR["d"], own.blinded)
    assert blind == VECTOR["blind_sig"]
    assert client.finish(MODULUS, own, blind) == VECTOR["sig"]
    assert tickets.verify(MODULUS, prepared, VECTOR["sig"])


def test_a_message_is_a_prefix_a_name_and_a_digest_and_makes_the_reports_id():
    message = tickets.message(bytes(range(32)), PLAN)
    assert message == bytes(range(32)) + b"candor ticket" + b"\xab" * 32
    assert tickets.report_id(message) == hashlib.sha256(message).hexdigest()[:32]


@pytest.mark.parametrize("bits", [2048, 2056, 3072, 4096])
def test_keys_of_every_size_in_bytes_sign(bits):
    key = client.new_key(bits)
    own = client.blind(key.modulus, PLAN)
    length = bits // 8
    blind = signing.sign(key.modulus, key.d.to_bytes(length), own.blinded)
    assert len(client.finish(key.modulus, own, blind)) == length


def test_what_is_no_signature_is_none():
    key, other = client.keys(2)
    message = tickets.message(os.urandom(32), PLAN)
    n, length = int(key.modulus, 16), len(key.modulus) // 2
    own = client.blind_message(key.modulus, message, message[:32])
    blind = signing.sign(key.modulus, key.d.to_bytes(length), own.blinded)
    good = client.finish(key.modulus, own, blind)
    assert tickets.verify(key.modulus, message, good)
    number = int.from_bytes(good)
    false = [
        (number ^ 1).to_bytes(length),
        good[1:],
        good[:-1],
        b"\0" + good,
        (number + n).to_bytes(length + 1),  # the same number of another length
        (n - number).to_bytes(length),
        bytes(length),
        (1).to_bytes(length),
        (n - 1).to_bytes(length),
        n.to_bytes(length),
        b"\xff" * length,
        blind,
        b"",
    ]
    assert [each for each in false if tickets.verify(key.modulus, message, each)] == []
    assert not tickets.verify(other.modulus, message, good)
    assert not tickets.verify(key.modulus, tickets.message(message[:32], "ba" * 32), good)


def test_another_salt_or_hash_is_no_ticket():
    from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
    from cryptography.hazmat.primitives.hashes import SHA256, SHA384

    (key,) = client.keys()
    message = tickets.message(os.urandom(32), PLAN)
    for salt, hashed in ((0, SHA384()), (32, SHA384()), (48, SHA256())):
        made = key.private.sign(message, PSS(MGF1(hashed), salt), hashed)
        assert not tickets.verify(key.modulus, message, made)
