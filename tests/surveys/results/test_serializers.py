"""The registry's documents: valid against their schemas, and checkable by a stranger who has
nothing else.
"""

import hashlib
import html
import json
import re
import subprocess
import sys
import urllib.parse
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from jsonschema import Draft202012Validator, FormatChecker

from surveys.design.models import Plan
from surveys.ledger import selectors as ledger
from surveys.releases import selectors as releases
from surveys.results import serializers
from surveys.results.views.registry import SCHEMAS
from tests.costs import pure
from tests.surveys.results import kinds
from tests.surveys.results.kinds import KINDS
from tests.surveys.results.small import answer, open_small, publish

pytestmark = pytest.mark.django_db


def validator(name: str, part: str = "") -> Draft202012Validator:
    schema = json.loads((SCHEMAS / f"{name}.json").read_text())
    if part:
        schema["$ref"] = f"#/$defs/{part}"
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema, format_checker=FormatChecker())


def get(client: Client, path: str) -> dict[str, Any]:
    response = client.get(path)
    assert response.status_code == 200
    found: dict[str, Any] = json.loads(response.getvalue())
    return found


@pytest.mark.parametrize("make", KINDS)
def test_every_study_has_a_document_that_fits_its_schema(
    client: Client, make: Callable[[], Plan]
) -> None:
    document = get(client, f"/registry/{make().study.slug}.json")
    errors = [
        f"{error.json_path}: {error.message}"
        for error in validator("study-5").iter_errors(document)
    ]
    assert errors == []


@pytest.mark.parametrize(
    "break_it",
    [
        lambda document: document.pop("burn"),
        lambda document: document.update(more=1),
        lambda document: document["central"].update(cap=0.5),
        lambda document: document["waves"][0]["questions"][0].pop("channel"),
    ],
)
def test_the_schema_refuses_what_is_missing_added_or_rounded(
    client: Client, break_it: Callable[[dict[str, Any]], Any]
) -> None:
    document = get(client, f"/registry/{kinds.plain().study.slug}.json")
    break_it(document)
    assert not validator("study-5").is_valid(document)


def test_all_schemas_and_no_others_are_served() -> None:
    assert {path.stem for path in SCHEMAS.glob("*")} == set(serializers.SCHEMAS)


def test_a_stranger_can_verify_the_whole_chain(client: Client) -> None:
    """With nothing but the document and what it says of itself."""
    kinds.plain(), kinds.mixed()
    document = get(client, "/registry/ledger.json")
    assert list(validator("ledger-3").iter_errors(document)) == []
    before = "0" * 64
    for row in document["rows"]:
        digest = row.pop("digest")
        canonical = json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert row["previous"] == before
        assert digest == hashlib.sha256(canonical.encode()).hexdigest()
        before = digest
    assert before == document["head"]
    assert len(document["rows"]) == document["length"]


def test_the_ledger_is_served_in_ascii_with_its_keys_in_order(client: Client) -> None:
    """Byte for byte: people keep the file, and compare it with a later one."""
    kinds.unpublished()
    head, length = ledger.head()
    document = {
        "format": "candor-ledger/3",
        "head": head,
        "length": length,
        "check": serializers.HOW_TO_CHECK,
        "rows": list(ledger.documents(length)),
    }
    whole = client.get("/registry/ledger.json")
    assert whole.getvalue() == json.dumps(document, indent=1).encode()
    about = get(client, "/registry/small.json")["ledger"]
    assert list(about) == ["format", "head", "length", "budget", "check", "rows"]


def test_segments_are_the_whole_ledger_and_a_full_one_is_for_good(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "SEGMENT", 3)
    kinds.plain(), kinds.mixed()
    whole, index = get(client, "/registry/ledger.json"), get(client, "/registry/ledger/index.json")
    assert (index["head"], index["length"]) == (whole["head"], whole["length"])
    assert (index["segments"], index["whole"]) == (-(-whole["length"] // 3), whole["length"] // 3)
    rows = []
    for number in range(1, index["segments"] + 1):
        address = index["segment"].format(number=number)
        answer = client.get(address)
        assert list(validator("ledger-3", "segment").iter_errors(answer.json())) == []
        is_whole = number <= index["whole"]
        assert ("immutable" in answer["Cache-Control"]) == is_whole
        assert ("max-age=60" in answer["Cache-Control"]) == (not is_whole)
        rows += answer.json()["rows"]
    assert rows == whole["rows"]
    for number in (0, index["segments"] + 1, 10**17):
        assert client.get(f"/registry/ledger/{number}.json").status_code == 404


def test_a_full_segment_keeps_its_bytes_when_rows_come(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "SEGMENT", 2)
    kinds.plain()
    before = client.get("/registry/ledger/1.json").content
    kinds.mixed()
    assert client.get("/registry/ledger/1.json").content == before


def test_the_index_is_what_its_schema_says(client: Client) -> None:
    kinds.plain()
    index = get(client, "/registry/ledger/index.json")
    assert list(validator("ledger-3", "index").iter_errors(index)) == []
    assert index["segment"] == "http://testserver/registry/ledger/{number}.json"


def checked(client: Client, document: dict[str, Any], *files: str) -> str:
    """Return what the script on the page of promises says of a ledger, as a stranger would run
    it.
    """
    page = client.get("/promises/").content.decode()
    found = re.search(r'<code id="check-ledger">(.*?)</code>', page, re.DOTALL)
    assert found
    script = html.unescape(found[1])
    done = subprocess.run(
        [sys.executable, "-I", "-c", script, *files],
        input=json.dumps(document),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def test_the_script_on_the_page_of_promises_finds_what_was_changed(client: Client) -> None:
    kinds.plain()
    document = get(client, "/registry/ledger.json")
    assert checked(client, document) == f"{document['length']} rows, end {document['head']}\n"
    first, last = document["rows"][0], document["rows"][-1] | {"epsilon": "0.1"}
    for wrong, message in [
        (
            document | {"rows": [first | {"why": "another"}, *document["rows"][1:]]},
            "row 1 was changed\n",
        ),
        (
            document | {"rows": [*document["rows"][:-1], last]},
            f"row {last['position']} was changed\n",
        ),
        (document | {"rows": document["rows"][1:]}, "a row before row 2 is missing\n"),
        (document | {"rows": document["rows"][:-1]}, "the end was cut\n"),
        (
            document | {"rows": document["rows"][:-1], "length": document["length"] - 1},
            "the end was cut\n",
        ),
    ]:
        assert checked(client, wrong) == message


def test_a_studys_document_has_the_rows_about_its_own_budget_only(client: Client) -> None:
    small, mixed = kinds.plain(), kinds.mixed()
    document = get(client, f"/registry/{mixed.study.slug}.json")["ledger"]
    assert (
        {row["budget"] for row in document["rows"]}
        == {f"study:{mixed.study.slug}"}
        != {f"study:{small.study.slug}"}
    )
    assert [row["kind"] for row in document["rows"]].count("charge") == 2


def test_a_cap_with_a_delta_is_said_as_it_is_kept_and_as_it_is_promised(client: Client) -> None:
    central = get(client, f"/registry/{kinds.mixed().study.slug}.json")["central"]
    assert central["measure"] == "rho"
    assert Decimal(central["spent"]) == Decimal("0.0625")  # ½·¼² + 1/32
    assert central["or"] == {"measure": "epsilon", "cap": "3", "left": None}
    assert Decimal(central["promised"]["epsilon"]) == 3
    assert Decimal(central["promised"]["delta"]) == Decimal(kinds.DELTA)
    found = central["accountants"]
    assert all(
        Decimal(found[name]) > 0 for name in ("basic", "advanced", "optimal", "zcdp", "renyi")
    )
    assert Decimal(found["delta"]) == Decimal(kinds.DELTA)


def test_what_is_sent_as_given_is_infinite_towards_who_runs_the_site(client: Client) -> None:
    document = get(client, f"/registry/{kinds.mixed().study.slug}.json")
    assert document["local"]["infinite"]
    assert document["local"]["sent_as_given"] == ["pay"]
    assert [question["infinite"] for question in document["waves"][0]["questions"]] == [
        False,
        False,
        True,
    ]
    # not the smaller loss of the other answers
    assert document["readers"] == document["central"]["promised"]
    assert {household["local"] for household in document["households"]} == {None}
    assert "sent-as-given" in document["not_protected"]


def test_people_at_risk_are_delta_times_the_answers(client: Client) -> None:
    found = get(client, f"/registry/{kinds.plain().study.slug}.json")["at_risk"]
    assert found == {
        "people": 12,
        "delta": "0",
        "expected": ["0", "1"],
        "advised_delta": ["1", "1200"],
    }


def test_a_batch_is_amplified_by_its_own_size(client: Client) -> None:
    """A dozen reports of a coin with ε = 1 hide it a little, and the answer to two questions
    less.
    """
    found = get(client, f"/registry/{kinds.plain().study.slug}.json")["shuffled"]
    assert [batch["reports"] for batch in found] == [12]
    assert Decimal("0.7") < Decimal(found[0]["questions"]["moon"]) < 1
    assert Decimal(found[0]["questions"]["moon"]) < Decimal(found[0]["together"])


def test_no_crowd_hides_a_row_that_holds_an_answer_as_given(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(releases, "batch_sizes", lambda plan: [100, 300, 200])
    changed, mixed = kinds.unpublished(), kinds.mixed()
    found = get(client, f"/registry/{changed.study.slug}.json")["shuffled"]
    assert [batch["reports"] for batch in found] == [100, 300]
    assert get(client, f"/registry/{mixed.study.slug}.json")["shuffled"] == []


def test_the_scripts_hashes_are_those_of_what_is_served(client: Client) -> None:
    found = get(client, f"/registry/{kinds.unpublished().study.slug}.json")["scripts"]
    lines = "".join(f"{file['sha256']}  {file['name']}\n" for file in found["files"])
    assert found["digest"] == hashlib.sha256(lines.encode()).hexdigest()
    assert "intake/form.js" in [file["name"] for file in found["files"]]
    for file in found["files"]:
        path = Path(str(finders.find(file["name"])))
        assert file["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert urllib.parse.urlsplit(file["path"]).path.endswith(path.name)


def test_a_retired_study_says_so_and_keeps_its_ledger(client: Client) -> None:
    document = get(client, f"/registry/{kinds.retired().study.slug}.json")
    assert document["state"] == "retired"
    assert document["retirement"]["because"] == "It was time."
    assert len(document["charges"]) == 1
    assert document["shuffled"] == []  # its batches are erased


def test_the_burn_rate_is_what_the_ledger_says(client: Client) -> None:
    plan = kinds.unpublished()
    kinds.charge(plan, pure(Fraction(1, 2)), 1, kinds.datetime.datetime.now(kinds.datetime.UTC))
    found = get(client, f"/registry/{plan.study.slug}.json")["burn"]
    assert found["weeks"][-1]["amount"] == "0.5"
    assert (found["per_week"], found["days_left"]) == ("0.5", 21)


def for_everyone() -> Plan:
    """Return a study whose numbers everybody may read, published."""
    plan = open_small(smallest_batch=kinds.PEOPLE, results="public")
    answer(plan, kinds.PEOPLE)
    publish(plan)
    return plan


def published_of(client: Client, plan: Plan) -> dict[str, Any]:
    return get(client, f"/api/v1/studies/{plan.study.slug}/published")


def test_a_stranger_can_hash_all_that_was_published_and_find_it_in_the_chain(
    client: Client,
) -> None:
    plan = for_everyone()
    rows = {row["position"]: row for row in get(client, "/registry/ledger.json")["rows"]}
    published = published_of(client, plan)["published"]
    assert len(published) == 1
    for each in published:
        text = json.dumps(
            each["document"], sort_keys=True, separators=(",", ":"), ensure_ascii=False
        )
        assert (
            hashlib.sha256(text.encode()).hexdigest()
            == each["sha256"]
            == rows[each["row"]]["published"]
        )
    shown = get(client, f"/registry/{plan.study.slug}.json")
    assert [cover["sha256"] for each in shown["releases"] for cover in each["vouched"]] == [
        each["sha256"] for each in published
    ]
    assert {charge["row"]: charge["published"] for charge in shown["charges"]} == {
        each["row"]: each["sha256"] for each in published
    }
    numbers = get(client, f"/api/v1/studies/{plan.study.slug}/releases")["releases"][0]
    document = published[0]["document"]["numbers"]
    assert numbers["n"] == document["n"]
    assert numbers["questions"] == document["questions"]


def test_the_script_on_the_page_of_promises_finds_numbers_that_were_changed(
    client: Client, tmp_path: Path
) -> None:
    plan = for_everyone()
    document, published, file = (
        get(client, "/registry/ledger.json"),
        published_of(client, plan),
        tmp_path / "n.json",
    )
    file.write_text(json.dumps(published))
    assert (
        checked(client, document, str(file))
        == f"{document['length']} rows, end {document['head']}\n"
    )
    first = published["published"][0]
    first["document"]["numbers"]["n"] += 1
    file.write_text(json.dumps(published))
    assert (
        checked(client, document, str(file)) == f"what row {first['row']} published was changed\n"
    )
    first["document"]["numbers"]["n"] -= 1
    for wrong, said in (
        ([], "is gone"),
        ([{**first, "document": {}}, first], "was changed"),
        ([first, first], "was changed"),  # listed twice
    ):
        file.write_text(json.dumps({**published, "published": wrong}))
        assert checked(client, document, str(file)) == f"what row {first['row']} published {said}\n"


def test_numbers_for_a_team_only_are_not_given_to_strangers_nor_told_by_their_digest(
    client: Client,
) -> None:
    """Without the salt a stranger could try all counts of a few people."""
    plan = kinds.plain()
    made = releases.publications_of(plan.study)[0].release
    assert made is not None
    assert client.get(f"/api/v1/studies/{plan.study.slug}/published").status_code == 404
    assert re.fullmatch("[0-9a-f]{32}", made.salt or "")
    assert made.salt not in client.get(f"/registry/{plan.study.slug}.json").content.decode()
    assert made.salt not in client.get("/registry/ledger.json").getvalue().decode()
