"""The form's script in one piece: made of the modules by esbuild, committed, served without
Node.
"""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from surveys.intake import bundles
from tools import bundle

# What a minifier that is no parser spoils: marks, spaces and comments inside texts, expressions and
# templates.
TRICKY = """
const told = (x) => { return /"/.test(x) ? "a , b" : "c"; };
const half = (a, b, c) => a / b / c; // gone
const seen = `x = ${ [`one`, '/* two */'].map((text) => `${ text /* gone */ } , `).join() }

    end`;
console.log(JSON.stringify([told('"'), told(''), half(8, 2, 2), seen, "a /* b */ // c".replace(/[/'"]\\*? /g, ' ; ')]));
"""


def in_node(script):
    return subprocess.run(
        ["node", "--input-type=module"], input=script, capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture
def made_again(tmp_path):
    shutil.copytree(bundles.MODULES, tmp_path / "intake")
    bundle.build(tmp_path)
    return tmp_path / bundles.FOLDER


def test_what_is_committed_is_what_the_modules_give_byte_for_byte(made_again):
    committed = bundles.STATIC / bundles.FOLDER
    names = {file.name for file in committed.iterdir()}
    assert names == {*bundles.SCRIPTS, bundle.STYLE, bundle.SUMS}
    stale = [
        name
        for name in sorted(names)
        if (made_again / name).read_bytes() != (committed / name).read_bytes()
    ]
    assert not stale, f"{stale}: a module or a sheet changed; run `make bundle`"


def test_the_committed_files_have_their_fingerprints():
    checked = ["sha256sum", "--check", "--strict", f"{bundles.FOLDER}/{bundle.SUMS}"]
    said = subprocess.run(
        checked, cwd=bundles.STATIC, capture_output=True, text=True, check=True
    ).stdout
    assert said.count(": OK") == len(bundles.SCRIPTS) + 1


def test_a_script_without_spaces_says_what_it_said():
    small = bundle.esbuild("--loader=js", given=TRICKY.encode()).decode()
    assert "gone" not in small
    assert in_node(small) == in_node(TRICKY) != ""


@pytest.mark.parametrize(
    ("needed", "name"),
    [
        (set(), "plain.js"),
        ({"one_of"}, "kinds.js"),
        ({"number", "cleartext"}, "full.js"),
        ({"pictures"}, "full.js"),
        ({"drawn"}, "drawn.js"),
        ({"invited"}, "invited.js"),
    ],
)
def test_a_plan_gets_the_least_script_that_has_what_it_needs(needed, name):
    assert bundles.least(needed) == name


@pytest.mark.parametrize(("name", "left_out"), bundles.SCRIPTS.items())
def test_a_script_fetches_what_it_leaves_out_and_nothing_else(name, left_out):
    file = bundles.STATIC / bundles.FOLDER / name
    fetched = set(re.findall(r'\bimport\(?"([^"]+)"', file.read_text()))
    assert fetched == {f"../intake/{module}.js" for module in left_out}
    assert all((file.parent / path).is_file() for path in fetched)


def test_production_serves_them_without_node(tmp_path):
    words = [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity=0"]
    home = bundle.HOUSE
    environment = {**os.environ, "PATH": "", "CANDOR_DATA": str(tmp_path)}
    subprocess.run(words, cwd=home, env=environment, check=True)
    for name in (*bundles.SCRIPTS, bundle.STYLE):
        served = tmp_path / "static" / bundles.FOLDER / name
        assert served.read_bytes() == (bundles.STATIC / bundles.FOLDER / name).read_bytes()
        assert served.with_name(f"{name}.gz").is_file()


def test_the_vectors_hold_for_the_randomiser_as_it_is_sent():
    """One draw of each kind with given words, in one piece and in the modules."""
    draws = [
        [1, {"kind": "table", "weights": [[3, 1], [1, 3]]}],
        [2, {"kind": "subset", "choices": 5, "size": 2, "keep": 2**31}],
        [[0, 2], {"kind": "one_of", "options": 4, "keep": 2**31}],
        [7, {"kind": "number", "grid": [0, 10], "weights": [[3, 1], [1, 3]]}],
    ]
    written = (
        f"import {{ prepare, randomise }} from '{bundles.MODULES}/channels.js';"
        f"const questions = {json.dumps([{'channel': channel} for _, channel in draws])};"
        "await prepare({ questions });"
        "let next = 0; const words = () => (next = (next * 1664525 + 1013904223) % 2 ** 32);"
        f"console.log(JSON.stringify({json.dumps(draws)}.map(([answer, channel]) => "
        f"randomise({{ channel }}, answer, words))));"
    )
    sent = bundle.esbuild(*bundle.SCRIPT, given=written.encode()).decode()
    assert "import" not in sent
    assert in_node(sent) == in_node(written) != ""
