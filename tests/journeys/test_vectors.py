"""Chromium obeys the vectors that Python and Node obey: every case, with the modules as they are
shipped.
"""

import json
from pathlib import Path

import pytest

from tests.journeys.modules import module_page

VECTORS = sorted((Path(__file__).parent.parent / "vectors").glob("*.json"))
FILES = [
    file for file in VECTORS if file.stem not in ("tickets", "bounds")
]  # tests/browser/ has them: ticket.test.js, device_ledger.test.js
FAILURES = "async (cases) => (await import('/tests/browser/replay.js')).failures(cases)"


@pytest.fixture(scope="module")
def page(chromium):
    with module_page(chromium) as found:
        yield found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_chromium_agrees_with_python_in_every_case(page, file):
    cases = json.loads(file.read_text())
    assert cases
    # as a Plan is read
    assert page.evaluate(f"(text) => ({FAILURES})(JSON.parse(text))", file.read_text()) == []


def test_there_are_vectors_of_every_kind():
    assert {"table", "subset", "losses", "plans"} <= {file.stem for file in FILES}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("table", {"report": 9}),
        ("subset", {"words": []}),
        ("losses", {"loss": [7, 5]}),
        ("plans", {"accepted": None}),
    ],
)
def test_a_case_that_is_broken_is_found(page, name, change):
    """Else the tests above could pass by comparing nothing."""
    [file] = [file for file in FILES if file.stem == name]
    case = json.loads(file.read_text())[0]
    [failure] = page.evaluate(FAILURES, [{**case, **change}])
    assert failure.startswith(f"{case['name']}: ")
