import hashlib
import json

import pytest

from surveys.intake import receipts

ID = "0f" * 16
DIGEST = hashlib.sha256(ID.encode()).digest()


def test_a_receipt_is_the_first_sixty_bits_of_the_id_s_hash():
    bits = int.from_bytes(DIGEST) >> 196
    letters = receipts.number(DIGEST).replace("-", "")
    assert sum(receipts.ALPHABET.index(c) << 5 * (11 - i) for i, c in enumerate(letters)) == bits


def test_a_receipt_leads_back_to_the_first_digits():
    assert receipts.prefix(receipts.number(DIGEST)) == DIGEST.hex()[:15]


def test_it_forgives_how_people_copy():
    number = receipts.number(bytes(32))
    assert number == "0000-0000-0000"
    assert receipts.prefix("oooo 0000oooo") == "0" * 15


@pytest.mark.parametrize("wrong", ["", "CN4F", "CN4F-7QKM-2XW9-0000", "CN4F-7QKM-2XU9", "☃" * 12])
def test_what_is_no_receipt_leads_nowhere(wrong):
    assert receipts.prefix(wrong) is None


def test_a_receipt_can_be_looked_up(client, plan):
    report = {
        "plan": plan.digest,
        "report_id": ID,
        "answers": {"copied": 1, "fair": [3], "often": [0]},
    }
    answer = client.post(
        "/api/v1/studies/exam-honesty/reports", json.dumps(report), content_type="application/json"
    )
    found = client.get(f"/api/v1/receipts/{answer.json()['receipt']}").json()
    assert found == {"accepted": True, "day": answer.json()["accepted_on"]}


@pytest.mark.parametrize("receipt", ["0000-0000-0000", "nonsense"])
def test_a_receipt_nobody_has_was_not_accepted(client, db, receipt):
    assert client.get(f"/api/v1/receipts/{receipt}").json() == {"accepted": False}
