"""The catalogues: what respondents read is in them and translated, and what is served is what was
written. Pages of the site show English where a text is not translated yet: `make release` asks.
"""

import json
import re
import subprocess
from collections import Counter
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import read_mo
from django.utils.translation import gettext, ngettext, pgettext

from surveys import languages
from surveys.catalogues import MOST, forms, messages, plural_of, problems
from tools.check_translations import (
    HOUSE,
    catalogue,
    is_for_respondents,
    is_translated,
    said_now,
)
from tools.gather_messages import (
    LANGUAGES,
    begin,
    compiled,
    form_catalogues,
    of_site,
    plural_forms,
    read,
)

# “%%” is a sign, which a language may say in words: “10 in 100” is 10%.
PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|(?<!%)%[sd]|\{\w*(?::[^}]*)?\}")
TAG = re.compile(r"</?[a-z][a-z0-9]*")
PLANNED = ["en", "zh-hans", "zh-hant", "es", "fr", "de", "pt", "ru", "ar", "hi", "ja", "tr"]
PAGE = "./surveys/intake/static/intake/page.js"  # and of what a browser runs, one function
PICK = f"""
import {{ readFileSync }} from 'node:fs';
import {{ keepForm }} from '{PAGE}';
const form = (of, at) => ({{ dataset: {{ of }}, childNodes: [at] }});
const pick = ([lang, samples, numbers]) => numbers.map((n) => {{
  let kept;
  globalThis.document = {{ documentElement: {{ lang }} }};
  const sentence = {{ dataset: {{ n: 'n' }}, children: samples.map(form) }};
  keepForm({{ ...sentence, replaceChildren: (...nodes) => ([kept] = nodes) }}, {{ n }});
  return kept;
}});
console.log(JSON.stringify(JSON.parse(readFileSync(0, 'utf8')).map(pick)));
"""
FORM = {path.stem: path for path in form_catalogues()}
SITE = {language: of_site(HOUSE, language) for language in LANGUAGES}
WRITTEN = {**SITE, **{f"form of {tag}": path for tag, path in FORM.items()}}


@pytest.mark.parametrize("tag", sorted(set(FORM) - {languages.SOURCE}))
def test_the_form_is_whole_in_every_language(tag):
    assert problems(read(FORM[tag]), read(FORM[languages.SOURCE]), tag) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_for_respondents_is_translated_and_none_is_a_guess(language):
    missing = [
        m.id
        for m in messages(catalogue(language)).values()
        if is_for_respondents(m) and not is_translated(m)
    ]
    assert missing == []


@pytest.mark.parametrize("wrong", ["changed by chance", "} times. Over", "}, randomised again"])
def test_no_text_says_what_the_house_has_another_word_for(wrong):
    said = [
        form
        for path in (SITE[LANGUAGES[0]], FORM[languages.SOURCE])
        for one in messages(read(path)).values()
        for form in forms(one.id)
    ]
    assert [each for each in said if wrong in each.replace(")s", "}")] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_keeps_what_is_put_in_and_how_it_is_marked_up(language):
    wrong = []
    for message in filter(is_translated, messages(catalogue(language)).values()):
        last = forms(message.id)[-1]  # what more than one is said with, which has its number
        for string in forms(message.string):
            for kept in (PLACEHOLDER, TAG):
                if Counter(kept.findall(string)) != Counter(kept.findall(last)):
                    wrong.append((last, string))
    assert wrong == []


def test_the_catalogues_hold_what_respondents_are_told():
    for name, said in said_now().items():
        written = messages(read(SITE.get(name) or FORM[name]))
        missing = [key for key, each in said.items() if name in FORM or is_for_respondents(each)]
        assert [key for key in missing if key not in written] == [], (
            "run make messages, then translate what is new"
        )
        if name in FORM:
            assert list(written) == list(said), "run make messages"


@pytest.mark.parametrize("path", WRITTEN.values(), ids=WRITTEN)
def test_what_is_served_is_what_was_written(path: Path):
    served = compiled(path) if path in FORM.values() else path.with_suffix(".mo")
    found = messages(read(path)).items()
    written = {key: forms(each.string) for key, each in found if is_translated(each)}
    told = messages(read_mo(BytesIO(served.read_bytes()))).items()
    assert {key: forms(m.string) for key, m in told} == written, "run make messages"


@pytest.mark.parametrize("tag", FORM)
def test_the_form_says_its_own_words_whatever_else_the_site_says(tag):
    """Catalogues of Django, of its apps and of the site have some of these sentences too."""
    own = read(FORM[tag])
    with languages.speaking(tag):
        for (context, sentence), message in messages(own).items():
            of_one = plural_of(own)(1) if message.pluralizable else 0
            told = forms(message.string)[of_one] or sentence
            if message.pluralizable:
                assert ngettext(*message.id, 1) == told
            else:
                assert (pgettext(context, sentence) if context else gettext(sentence)) == told


def picked(*asked):
    """Return which forms the browser's script picks, of tags, samples and numbers."""
    command = ["node", "--input-type=module", "-e", PICK]
    said = subprocess.run(
        command, cwd=HOUSE, input=json.dumps(asked), check=True, capture_output=True, text=True
    )
    return json.loads(said.stdout)


def test_the_browser_picks_the_plural_form_that_gettext_picks():
    numbers, asked, expected = [*range(2, MOST + 1)], [], []
    for tag in PLANNED:
        header = Catalog()
        header.mime_headers = [("Plural-Forms", plural_forms(tag))]
        plural = plural_of(read(FORM[tag]) if tag in FORM else header)
        forms_of = [plural(number) for number in numbers]
        seen = sorted(set(forms_of))
        asked.append((tag, [numbers[forms_of.index(form)] for form in seen], numbers))
        expected.append([seen.index(form) for form in forms_of])
    assert dict(zip(PLANNED, picked(*asked), strict=True)) == dict(
        zip(PLANNED, expected, strict=True)
    )
    assert len({tuple(each) for each in expected}) >= 3


def test_a_number_that_no_sample_is_said_like_takes_the_last_form():
    assert picked(("ru", [2, 5], [21, 22, 25])) == [[1, 0, 1]]
    assert picked(("cy", [2, 3, 6, 4], [6, 100])) == [[2, 3]]
    assert picked(("qps", [2], [0, 1, 2, 3])) == [[0, 0, 0, 0]]


def test_a_new_catalogue_begins_with_every_sentence_and_its_own_plural_forms(tmp_path):
    folder = tmp_path / "locale" / "form"
    folder.mkdir(parents=True)
    (folder / "en.po").write_bytes(FORM["en"].read_bytes())
    begin("ar", tmp_path)
    made = read(folder / "ar.po")
    assert (made.num_plurals, str(made.locale)) == (6, "ar")
    wrong = problems(made, read(FORM["en"]), "ar")
    assert len(wrong) == len(messages(made)) == len(messages(read(FORM["en"])))
    assert all(each.endswith(": not translated") for each in wrong)
