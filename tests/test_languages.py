"""The catalogues: what respondents read is in them and translated, and what is served is what was
written. Pages of the site show English where a text is not translated yet: `make release` asks.
"""

import re
from collections import Counter
from io import BytesIO

import pytest
from babel.messages.mofile import read_mo

from tools.check_translations import (
    HOUSE,
    LANGUAGES,
    catalogue,
    forms,
    is_for_respondents,
    is_translated,
    messages,
    said_now,
)

# “%%” is a sign, which a language may say in words: “10 in 100” is 10%.
PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|(?<!%)%[sd]|\{\w*(?::[^}]*)?\}")
TAG = re.compile(r"</?[a-z][a-z0-9]*")


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
    said = [form for one in messages(catalogue(LANGUAGES[0])).values() for form in forms(one.id)]
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
    for language, said in said_now().items():
        written = messages(catalogue(language))
        missing = [key for key, each in said.items() if is_for_respondents(each)]
        assert [key for key in missing if key not in written] == [], (
            "run make messages, then translate what is new"
        )


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_served_is_what_was_written(language):
    compiled = read_mo(
        BytesIO((HOUSE / "locale" / language / "LC_MESSAGES" / "django.mo").read_bytes())
    )
    found = messages(catalogue(language)).items()
    written = {key: forms(each.string) for key, each in found if is_translated(each)}
    assert {key: forms(m.string) for key, m in messages(compiled).items()} == written, (
        "run make messages"
    )
