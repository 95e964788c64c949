"""The ledger for people: anyone may read it, find rows in it and check them; nobody can break it
by asking.
"""

import csv
import datetime
import hashlib
import io
import json
from decimal import Decimal
from fractions import Fraction

import pytest
from django.db import connection

from surveys.ledger import selectors as ledger, services
from surveys.ledger.models import Entry
from surveys.ledger.selectors import Filter
from tests.conftest import NOW
from tests.costs import pure

ADDRESSES = ("/ledger/", "/ledger.csv", "/ledger.json")


@pytest.fixture
def rows(plan):
    """Rows of a study, a panel, a researcher in the study, and the site; two charges."""
    study = plan.study.budget_id
    mine = budget("researcher:mira@study:exam-honesty")
    budget("panel:town")
    pay([study, mine], "0.3", 1, who="mira", reason="Shares of “copied”")
    pay([study], "0.5", 2, who="the study's rule", reason="Table")
    services.record(
        who="ada", now=at(3), what="site: greatest ε of one answer", old="8", new="2", why="=1+1"
    )


def document(client, address):
    return json.loads(client.get(address).getvalue())


def budget(name):
    known = {
        "unit": "respondent-in-study",
        "neighbours": "change-one",
        "epsilon": Fraction(2),
        "counts": "answers",
        "who": "ada",
    }
    return services.open_budget(name=name, now=NOW, **known).pk


def at(days):
    return NOW + datetime.timedelta(days=days)


def pay(ids, epsilon, day, *, who, reason):
    services.charge(
        budget_ids=ids,
        cost=pure(epsilon),
        statistic=f"{day}" * 64,
        reason=reason,
        mechanism="discrete Laplace",
        sensitivity="1",
        who=who,
        now=at(day),
    )


def found(**wanted):
    return list(ledger.positions(Filter(sort="oldest", **wanted)))


def test_anyone_reads_it_without_an_account_or_a_cookie(client, rows):
    for address in (*ADDRESSES, "/ledger/1/"):
        answer = client.get(address)
        assert answer.status_code == 200
        assert not answer.cookies


def test_it_shows_nothing_that_the_public_file_does_not_have(client, rows):
    public = {row["position"]: row for row in document(client, "/registry/ledger.json")["rows"]}
    for row in document(client, "/ledger.json")["rows"]:
        assert row.pop("sound") is True
        assert row == public[row["position"]]


@pytest.mark.parametrize(
    ("wanted", "positions"),
    [
        ({"whose": "site"}, [8]),
        ({"whose": "panel"}, [4]),
        ({"whose": "researcher"}, [3, 6]),
        ({"study": "exam-honesty"}, [1, 2, 3, 5, 6, 7]),
        ({"study": "exam"}, []),
        ({"kind": "charge"}, [5, 6, 7]),
        ({"kind": "charge", "who": "mira"}, [5, 6]),
        ({"text": "shares COPIED"}, [5, 6]),
        ({"text": "town"}, [4]),
        ({"since": at(2).date()}, [7, 8]),
        ({"until": at(1).date(), "kind": "charge"}, [5, 6]),
        ({"least": Decimal("0.4")}, [7]),
        ({"most": Decimal("0.4")}, [5, 6]),
    ],
    ids=str,
)
def test_rows_are_found_by(rows, wanted, positions):
    assert found(**wanted) == positions


@pytest.mark.parametrize(
    ("sort", "first"),
    [("newest", 8), ("oldest", 1), ("who", 8), ("nonsense", 8), ("digest", 8)],
    ids=str,
)
def test_rows_are_sorted_by(rows, sort, first):
    assert ledger.positions(Filter(sort=sort)).first() == first


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize(
    "query",
    [
        "q=%27%20OR%201=1--",
        "q=%25&who=%00",
        "study=%27%3BDROP%20TABLE%20ledger_entry",
        "sort=budget__name&whose=budget__researcher",
        "since=9999-12-31&until=9999-12-31",
        "since=0001-01-01",
        "since=yesterday&until=31.12.2026",
        "least=NaN&most=Infinity",
        "least=1e999999&most=-5",
        "least=0.0000000000000000001",
        "page=0",
        "page=-1",
        "page=99999999999999999999",
        "page=x",
        "q=" + "a%20" * 200,
        "kind=charge&kind=act",
    ],
)
def test_no_question_breaks_it(client, rows, address, query):
    assert client.get(f"{address}?{query}").status_code == 200


@pytest.mark.parametrize("query", ["kind=charges", "whose=foo"])
def test_a_choice_that_is_none_narrows_nothing(client, rows, query):
    everything = document(client, "/ledger.json")["rows"]
    assert document(client, f"/ledger.json?{query}")["rows"] == everything != []


def test_what_is_typed_is_escaped_and_kept(client, rows):
    page = client.get(
        "/ledger/", {"q": "<script>alert(1)</script>", "since": "yesterday"}
    ).content.decode()
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "This must be a day, such as 2026-12-31." in page
    assert 'value="yesterday"' in page


def test_a_wildcard_is_a_letter_like_any_other(rows):
    assert found(text="%") == []
    assert found(text="_") == []


def test_pages_keep_what_was_asked_for(client, rows):
    for number in range(30):
        services.record(
            who="ada", now=at(4), what=f"site: note {number}", old="", new="", why="many"
        )
    first = client.get("/ledger/", {"q": "many", "sort": "oldest"}).content.decode()
    assert "30 rows" in first
    assert 'href="?q=many&amp;sort=oldest&amp;page=2"' in first
    second = client.get("/ledger/", {"q": "many", "sort": "oldest", "page": "2"}).content.decode()
    assert "note 29" in second
    assert "note 24<" not in second


def test_where_nothing_is_found_the_page_says_so(client, rows):
    assert "No row fits" in client.get("/ledger/", {"q": "zzzz"}).content.decode()


def test_an_empty_ledger_says_so(client, db):
    assert "Nothing is written yet" in client.get("/ledger/").content.decode()


def test_a_row_can_be_checked_by_hand(client, rows):
    row = ledger.read([5])[0]
    assert hashlib.sha256(row.canonical.encode()).hexdigest() == row.digest
    assert json.loads(row.canonical)["previous"] == ledger.read([4])[0].digest
    page = client.get("/ledger/5/").content.decode()
    assert "Checked just now: it holds" in page
    assert row.digest in page
    assert 'href="/ledger/4/"' in page
    assert 'href="/ledger/6/"' in page


@pytest.mark.parametrize("number", ["0", "9", "999999999999", "9223372036854775808"])
def test_a_row_that_is_not_there_is_not_found(client, rows, number):
    assert client.get(f"/ledger/{number}/").status_code == 404


@pytest.mark.engine("sqlite")
def test_a_changed_row_is_shown_as_changed_and_the_others_still_read(client, rows):
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER ledger_entry_no_update")
        cursor.execute("UPDATE ledger_entry SET who = 'nobody' WHERE position = 5")
        cursor.execute("UPDATE ledger_entry SET at = 'x' WHERE position = 2")
    assert "it does not hold" in client.get("/ledger/5/").content.decode()
    assert "it does not hold" in client.get("/ledger/2/").content.decode()
    page = client.get("/ledger/").content.decode()
    assert page.count("does not hold") == 2
    assert [row["sound"] for row in document(client, "/ledger.json")["rows"]].count(False) == 2


@pytest.mark.engine("sqlite")
def test_a_row_that_was_written_anew_with_its_digest_is_shown_by_the_one_after_it(rows):
    document = {**ledger.read([5])[0].document, "who": "nobody"}
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    forged = hashlib.sha256(text.encode()).hexdigest()
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER ledger_entry_no_update")
        cursor.execute(
            "UPDATE ledger_entry SET who = 'nobody', digest = %s WHERE position = 5", [forged]
        )
    assert [row.is_sound for row in ledger.read([5, 6, 7])] == [True, False, True]


def test_the_table_has_every_column_and_no_formula(client, rows):
    text = b"".join(client.get("/ledger.csv", {"sort": "oldest"}).streaming_content).decode()
    table = list(csv.DictReader(io.StringIO(text)))
    assert len(table) == 8
    assert set(table[0]) == {field.name for field in Entry._meta.concrete_fields}
    assert table[4]["reason"] == "Shares of “copied”"
    assert table[7]["why"] == "'=1+1"


def test_the_table_keeps_to_what_was_asked_for(client, rows):
    text = b"".join(client.get("/ledger.csv", {"kind": "charge"}).streaming_content).decode()
    assert len(text.splitlines()) == 4
