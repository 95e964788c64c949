"""docs/sentences.md gives reasons for sentences that the form says, and for no others."""

import re

from babel.messages.pofile import read_po
from django.conf import settings

from surveys.catalogues import forms

TEXT = (settings.BASE_DIR / "docs" / "sentences.md").read_text()
ROWS = [row.split(" | ")[0][2:] for row in TEXT.splitlines() if row.startswith("| ")]
SENTENCES = [row for row in ROWS if row != "sentence"]


def test_each_sentence_is_one_of_the_form():
    with (settings.BASE_DIR / "locale" / "form" / "en.po").open("rb") as file:
        said = [text for message in read_po(file) for text in forms(message.id)]
    assert len(SENTENCES) > 25
    assert [each for each in SENTENCES if not any(each in text for text in said)] == []


def test_what_it_points_at_is_there():
    paths = re.findall(r"`((?:surveys|dpengine)/[\w/.]+)`", TEXT)
    scripts = re.findall(r"`(\w+\.js)`", TEXT)
    house = settings.BASE_DIR
    assert [each for each in paths if not (house / each).exists()] == []
    modules = house / "surveys" / "intake" / "static" / "intake"
    assert [each for each in scripts if not (modules / each).exists()] == []
