"""The catalogues: every text that shows is in them and translated, and what is served is what
was written.
"""

import re
import shutil
import subprocess
import sys
from collections import Counter
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po

HOUSE = Path(__file__).parent.parent
LANGUAGES = ("zh_Hans",)
# “%%” is a sign, which a language may say in words: “10 in 100” is 10%.
PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|(?<!%)%[sd]|\{\w*(?::[^}]*)?\}")
TAG = re.compile(r"</?[a-z][a-z0-9]*")


def catalogue(language: str, house: Path = HOUSE) -> Catalog:
    with (house / "locale" / language / "LC_MESSAGES" / "django.po").open("rb") as file:
        return read_po(file)


def messages(found: Catalog) -> dict[tuple[str | None, str], Message]:
    return {(text(message.context), first(message.id)): message for message in found if message.id}


def text(context: str | bytes | None) -> str | None:
    """Return a context as text: the reader of compiled catalogues leaves it as bytes."""
    return context.decode() if isinstance(context, bytes) else context


def first(text: str | tuple[str, ...] | list[str]) -> str:
    return text if isinstance(text, str) else text[0]


def forms(text: str | tuple[str, ...] | list[str]) -> list[str]:
    return [text] if isinstance(text, str) else list(text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_translated_and_none_is_a_guess(language):
    missing = [
        m.id for m in messages(catalogue(language)).values() if not all(forms(m.string)) or m.fuzzy
    ]
    assert missing == []


@pytest.mark.parametrize("wrong", ["changed by chance", "} times. Over", "}, randomised again"])
def test_no_text_says_what_the_house_has_another_word_for(wrong):
    said = [form for one in messages(catalogue(LANGUAGES[0])).values() for form in forms(one.id)]
    assert [each for each in said if wrong in each.replace(")s", "}")] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_keeps_what_is_put_in_and_how_it_is_marked_up(language):
    wrong = []
    for message in messages(catalogue(language)).values():
        last = forms(message.id)[-1]  # what more than one is said with, which has its number
        for string in forms(message.string):
            for kept in (PLACEHOLDER, TAG):
                if Counter(kept.findall(string)) != Counter(kept.findall(last)):
                    wrong.append((last, string))
    assert wrong == []


def test_the_catalogues_hold_what_the_code_and_the_pages_say(tmp_path):
    for name in ("surveys", "dpengine", "templates", "locale"):
        shutil.copytree(
            HOUSE / name,
            tmp_path / name,
            ignore=shutil.ignore_patterns("*.js", "vendor", "__pycache__"),
        )
    shutil.copy(HOUSE / "manage.py", tmp_path)
    command = [sys.executable, "manage.py", "makemessages", "--no-obsolete", "--no-wrap"]
    languages = [word for language in LANGUAGES for word in ("-l", language)]
    subprocess.run([*command, *languages], cwd=tmp_path, check=True, capture_output=True)
    for language in LANGUAGES:
        assert set(messages(catalogue(language))) == set(messages(catalogue(language, tmp_path))), (
            "run make messages, then translate what is new"
        )


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_served_is_what_was_written(language):
    compiled = read_mo(
        BytesIO((HOUSE / "locale" / language / "LC_MESSAGES" / "django.mo").read_bytes())
    )
    written = {key: forms(m.string) for key, m in messages(catalogue(language)).items()}
    assert {key: forms(m.string) for key, m in messages(compiled).items()} == written, (
        "run make messages"
    )
