import json

import pytest

from tests.covered import main, reached, room


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("dpengine/bounds.py", "dpengine"),
        ("dpengine/local/subset.py", "dpengine"),
        ("dpengine/cli/main.py", "dpengine/cli"),
        ("surveys/ledger/templatetags/facts.py", "surveys/ledger"),
        ("surveys/urls.py", "surveys"),
    ],
)
def test_a_file_is_of_its_room(path, name):
    assert room(path) == name


def test_lines_and_branches_count_alike_and_a_room_below_its_least_fails(tmp_path, capsys):
    half = {
        "executed_lines": [1, 2],
        "missing_lines": [3],
        "executed_branches": [],
        "missing_branches": [[2, 0]],
    }
    whole = {**half, "missing_lines": [], "missing_branches": []}
    files = {"dpengine/bounds.py": half, "surveys/ledger/chain.py": whole}
    left = ["dpengine/bounds.py:3", "dpengine/bounds.py:2→end"]
    assert reached(files) == {"dpengine": (50, left), "surveys/ledger": (100, [])}
    found = tmp_path / "covered.json"
    found.write_text(json.dumps({"files": files}))
    assert main(found) == 1
    told = capsys.readouterr().out
    assert all(each in told for each in left)
    found.write_text(json.dumps({"files": {"dpengine/bounds.py": whole}}))
    assert main(found) == 0
