import json
import re

import pytest

from surveys.intake import receipts as numbers

ID = "0f" * 16
NOBODY = "0000-0000-0000"


@pytest.fixture
def accepted(client, plan):
    report = {
        "plan": plan.digest,
        "report_id": ID,
        "answers": {"copied": 1, "fair": [3], "often": [0]},
    }
    answer = client.post(
        "/api/v1/studies/exam-honesty/reports", json.dumps(report), content_type="application/json"
    )
    return answer.json()


def look_up(client, typed, address="/receipts/"):
    return client.post(address, {"receipt": typed})


def test_a_receipt_is_looked_up_and_tells_the_day_only(client, accepted):
    page = look_up(client, accepted["receipt"])
    assert (page.context["day"].isoformat(), page.status_code) == (accepted["accepted_on"], 200)
    assert "Accepted" in page.content.decode()
    assert "exam-honesty" not in page.content.decode()


@pytest.mark.parametrize(
    "written", [str.lower, lambda number: number.replace("-", " "), lambda number: f"  {number}\n"]
)
def test_it_forgives_how_people_copy(client, accepted, written):
    assert look_up(client, written(accepted["receipt"])).context["day"] is not None


def test_a_receipt_nobody_has_was_not_accepted(client, db):
    page = look_up(client, NOBODY)
    assert page.status_code == 200
    assert "No answer with this receipt was accepted" in page.content.decode()
    assert NOBODY in page.content.decode()


@pytest.mark.parametrize(
    ("typed", "problem"),
    [("", "blank"), ("   ", "blank"), ("CN4F", "malformed"), ("☃" * 500, "malformed")],
)
def test_what_is_no_receipt_is_said_at_the_field_and_on_top(client, db, typed, problem):
    page = look_up(client, typed)
    text = page.content.decode()
    assert (page.context["problem"], page.status_code) == (problem, 422)
    assert 'aria-invalid="true"' in text
    assert "receipt-error" in re.search(r'aria-describedby="([^"]*)"', text).group(1)
    assert 'role="alert" tabindex="-1" autofocus' in text


def test_what_was_typed_stays_and_is_shown_as_text(client, db):
    text = look_up(client, '"><script>x').content.decode()
    assert "&quot;&gt;&lt;script&gt;x" in text
    assert "<script>x" not in text


def test_a_receipt_in_the_address_is_not_read(client, accepted):
    page = client.get("/receipts/", {"receipt": accepted["receipt"]})
    assert page.context["day"] is None
    assert accepted["receipt"] not in page.content.decode()


@pytest.mark.parametrize("address", ["/receipts/", "/my/", "/receipts/zh-hans/", "/my/en/"])
def test_the_pages_set_no_cookie_are_kept_nowhere_and_pass_no_address_on(client, db, address):
    page = client.get(address)
    assert page.status_code == 200
    assert not page.cookies
    assert (page["Cache-Control"], page["Referrer-Policy"]) == ("no-store", "no-referrer")


def test_a_look_up_needs_no_cookie(client, accepted):
    strict = type(client)(enforce_csrf_checks=True)
    page = strict.post("/receipts/", {"receipt": accepted["receipt"]})
    assert page.status_code == 200
    assert not page.cookies


def test_the_language_is_in_the_address(client, db):
    assert client.get("/my/zh-hans/")["Content-Language"] == "zh-hans"
    assert (
        client.get("/my/", headers={"accept-language": "zh-CN,zh;q=0.9"})["Content-Language"]
        == "zh-hans"
    )
    assert client.get("/my/tlh/").status_code == 404


def test_the_statement_s_page_holds_nothing_of_anyone(client, accepted):
    page = client.get("/my/en/").content.decode()
    assert accepted["receipt"] not in page
    assert page == client.get("/my/en/").content.decode()


def test_only_looking_is_possible(client, db):
    assert client.post("/my/").status_code == 405
    assert client.delete("/receipts/").status_code == 405
    assert numbers.prefix(NOBODY) is not None
