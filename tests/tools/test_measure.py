"""Statements are counted alike however they are wrapped or told, and what is over its ceiling, or
has none, is named.
"""

import ast

import pytest

from tools import measure
from tools.measure import HOUSE, counted, over, room, statements


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("import a\nfrom b import c\n", 0),
        ('"""What it is."""\n', 0),
        ('def f():\n    """What it does."""\n    return 1\n', 2),
        ("def f():\n    return 1\n", 2),
        ("x = f(\n    1,\n    2,\n)\n", 1),
        ("if a:\n    b = 1\nelse:\n    b = 2\n", 3),
        ('f("text")\n"text"\n', 2),
    ],
)
def test_statements_are_counted_without_texts_and_imports(code, count):
    assert statements(ast.parse(code)) == count


def test_rooms_and_templates_are_counted(tmp_path):
    for name, text in {
        "dpengine/a.py": "x = 1\n",
        "surveys/b/c/d.py": "x = 1\ny = 2\n",
        "surveys/b/migrations/0001.py": "x = 1\n",
        "surveys/b/static/a.js": "a;\nb;\n",
        "surveys/b/static/form/made.js": "a;\n",
        "templates/b/c.html": "<p>\n</p>\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    counts, _expressions = counted(tmp_path)
    assert counts == {"dpengine/*.py": 1, "surveys/b": 2, "templates": 2, "scripts": 2}
    assert room((tmp_path / "surveys" / "e.py").relative_to(tmp_path)) == "surveys/*.py"


def test_what_is_over_its_ceiling_is_named():
    ceilings = {"counts": {"a": 10, "b": 10}, "expressions": {"dpengine": 8.0}}
    assert over(({"a": 10, "b": 9}, {"dpengine": 8.24}), ceilings) == []
    told = over(({"a": 11, "c": 1}, {"dpengine": 8.25}), ceilings)
    assert [each.split(":")[0] for each in told] == ["a", "c", "dpengine"]
    assert "11, 10 at most" in told[0]


def test_the_house_has_a_ceiling_for_each_room():
    counts, _expressions = counted()
    text = (HOUSE / "tools" / "ceilings.toml").read_text(encoding="utf-8")
    assert [name for name in counts if f'"{name}" = ' not in text] == []


def test_writing_ceilings_does_not_allow_denser_statements(tmp_path, monkeypatch, capsys):
    ceilings = tmp_path / "ceilings.toml"
    monkeypatch.setattr(measure, "CEILINGS", ceilings)
    ceilings.write_text("[counts]\n[expressions]\ndpengine = 1.5\nsurveys = 1.25\n")
    assert measure.main(["--write"]) == 1
    assert "dpengine = 1.5\nsurveys = 1.25\n" in ceilings.read_text()
    assert "surveys: " in capsys.readouterr().err
