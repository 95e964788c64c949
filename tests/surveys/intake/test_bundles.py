"""The form's script in one piece: the modules as they are written, without what need not travel."""

import json
import subprocess
import sys

import pytest

from surveys.intake import bundles
from surveys.intake.bundles import CSS_SPACED, CSS_TOKEN, SPACED, TOKEN, bundle, stripped, tight

KEPT = [
    "const url = 'https://example.org'; const two = \"/* not a comment */\";",
    "const path = `/s/${slug}//${[`one`, '/* two */'].join()}`;",
    "const half = a / b / c;",
    "const ends = text.replace(/^#|[/'\"]/g, '');",
    "if (!/\\/\\*/.test(text)) return;",
    "const [, whole = ''] = /^(\\d+)/.exec(text) ?? [];",
]


@pytest.mark.parametrize("line", KEPT)
def test_what_looks_like_a_comment_inside_a_text_stays(line):
    assert stripped(f"{line} // gone\n", TOKEN).rstrip() == line


def test_comments_blank_lines_and_indentation_go():
    text = "/** Says why. */\n\nexport const a = /** @type {Any} */ (b); // more\n\n  /* and\n  more */\n  return a;\n"
    assert stripped(text, TOKEN) == "export const a = (b);\nreturn a;\n"


def test_a_template_over_several_lines_keeps_its_lines():
    text = "const a = `one\n\n    two`;\n"
    assert stripped(text, TOKEN) == text


def test_style_loses_its_comments_only():
    style = '.a::before { content: "/* · */"; }\n'
    assert stripped(f"/* why */\n{style}\n", CSS_TOKEN) == style


def test_spaces_go_where_a_mark_parts_the_words_and_stay_in_texts():
    text = "const f = (a, b) => { return a + `x = ${ b } , y` + ' , '.replace(/a, b/, b); };\n"
    assert tight(text, SPACED) == "const f=(a,b)=>{return a + `x = ${ b } , y` + ' , '.replace(/a, b/,b);};\n"
    style = '@media (min-width: 30rem) { .a :is(b, i)::before { content: " : , "; inset: calc(1px + 2px) 0; } }'
    assert tight(style, CSS_SPACED) == (
        '@media (min-width:30rem){.a :is(b,i)::before{content:" : , ";inset:calc(1px + 2px) 0;}}'
    )


@pytest.mark.parametrize(
    ("needed", "name"),
    [(set(), "plain.js"), ({"one_of"}, "kinds.js"), ({"number", "given"}, "full.js"), ({"pictures"}, "full.js")],
)
def test_a_plan_gets_the_least_script_that_has_what_it_needs(needed, name):
    assert bundles.least(needed) == name


def test_modules_stand_after_what_they_need_and_share_no_names():
    modules = {
        "form": "import { twice as double } from './sums.js';\nimport * as sums from './sums.js';\n"
        "const secret = 1;\nconsole.log(double(sums.one));\n",
        "sums": "const secret = 2;\nexport const one = 1;\nexport function twice(n) {\nreturn secret * n;\n}\n",
    }
    made = bundle(modules, "form", set(modules))
    assert subprocess.run(["node", "-e", made], capture_output=True, text=True, check=True).stdout == "2\n"


def test_what_is_left_out_is_fetched_only_when_it_is_asked_for():
    modules = {"form": "const rare = await_(import('./rare.js'));\n", "rare": "export const one = 1;\n"}
    assert "import('../intake/rare.js')" in bundle(modules, "form", {"form"})
    assert "await_($rare)" in bundle(modules, "form", {"form", "rare"})


@pytest.mark.parametrize("name", bundles.SCRIPTS)
def test_the_scripts_hold_every_module_that_they_should_and_parse(name):
    made = bundles.script(name)
    checked = ["node", "--input-type=module", "--check"]
    assert subprocess.run(checked, input=made, capture_output=True, text=True).stderr == ""
    left_out = bundles.SCRIPTS[name]
    assert not [module for module in left_out if f"const ${module}=" in made]
    assert all(f"const ${module}=" in made for module in ("verify", "words", "table", "subset", "channel", "report"))
    assert "/*" not in made
    assert "import {" not in made


def test_the_same_modules_give_the_same_bytes_every_time():
    command = [sys.executable, "-m", "surveys.intake.bundles", "full.js"]
    seeds = [{"PYTHONHASHSEED": seed} for seed in "123"]
    assert len({subprocess.run(command, capture_output=True, check=True, env=seed).stdout for seed in seeds}) == 1


def test_the_vectors_hold_for_the_randomiser_as_it_is_sent(tmp_path):
    """One draw of each kind with given words, in the bundle and in the modules."""
    modules = {path.stem: stripped(path.read_text(), TOKEN) for path in bundles.MODULES.glob("*.js")}
    made = bundle(modules, "channel", set(modules))
    draws = [
        [1, {"kind": "table", "weights": [[3, 1], [1, 3]]}],
        [2, {"kind": "subset", "choices": 5, "size": 2, "keep": 2**31}],
        [[0, 2], {"kind": "one_of", "options": 4, "keep": 2**31}],
        [7, {"kind": "number", "grid": [0, 10], "weights": [[3, 1], [1, 3]]}],
    ]
    ask = (
        f"const questions = {json.dumps([{'channel': channel} for _, channel in draws])};"
        "await prepare({ questions });"
        "let next = 0; const words = () => (next = (next * 1664525 + 1013904223) % 2 ** 32);"
        f"console.log(JSON.stringify({json.dumps(draws)}.map((draw) => randomise(...draw, words))));"
    )
    sent = f"{made}const {{ prepare, randomise }} = $channel;{ask}"
    written = f"import {{ prepare, randomise }} from '{bundles.MODULES}/channel.js';{ask}"
    outputs = [
        subprocess.run(["node", "--input-type=module"], input=text, capture_output=True, text=True, check=True).stdout
        for text in (sent, written)
    ]
    assert outputs[0] == outputs[1] != ""
