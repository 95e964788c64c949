"""Gather the texts to translate, and compile what is translated.

    python -m tools.gather_messages        # gather and compile
    python -m tools.gather_messages ar     # begin a catalogue of the form in one more language

What respondents are told is a catalogue of its own, `locale/form/<tag>.po`; what else the site
says is in `locale/<language>/LC_MESSAGES/django.po`. A text that moves from one to the other takes
its translation along.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

from babel import Locale
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.plurals import get_plural
from babel.messages.pofile import read_po, write_po
from babel.plural import to_gettext
from django.utils.translation import to_locale

from surveys.catalogues import wrong_plurals

HOUSE = Path(__file__).parent.parent
LANGUAGES = ("zh_Hans",)  # of the site
# Where the words of the form stand, and of letters to whom a study asks; and days, which both say.
FORM = (
    "templates/intake",
    "templates/invited/letter.html",
    "templates/invited/letter.txt",
    "surveys/invited/letters.py",
    "templates/results/poster.html",
    "surveys/results/invitations.py",
    "surveys/form_words.py",
)
SHARED = ("surveys/design/days.py",)
LEFT_OUT = (".venv", "node_modules", "var", "tests", *FORM)
TWO = "nplurals=2; plural=(n != 1);", "nplurals=2; plural=(n > 1);"
OPTIONS = ("makemessages", "--no-wrap", "--add-location", "file")


def form_catalogues(house: Path = HOUSE) -> list[Path]:
    return sorted((house / "locale" / "form").glob("*.po"))


def compiled(path: Path) -> Path:
    """Return where Django finds what a form's catalogue is compiled to."""
    return path.parent / to_locale(path.stem) / "LC_MESSAGES" / "django.mo"


def read(path: Path) -> Catalog:
    return read_po(BytesIO(path.read_bytes()))


def gather(house: Path = HOUSE) -> None:
    said = _said_on_the_form(house)
    known = {language: read(of_site(house, language)) for language in LANGUAGES}
    for path in form_catalogues(house):
        catalogue, site = read(path), known.get(to_locale(path.stem))
        catalogue.update(said, no_fuzzy_matching=True, update_creation_date=False)
        catalogue.obsolete.clear()
        for message in catalogue:
            if message.id and not any(_forms(message)):
                message.flags.discard("fuzzy")  # it was of one number before, or of several
            before = site and message.id and site.get(message.id, message.context)
            if before and not any(_forms(message)) and not before.fuzzy:
                message.string = before.string
        with path.open("wb") as file:
            write_po(file, catalogue, width=0)
        _compile(path, compiled(path))
    each = (*_each("-l", LANGUAGES), *_each("-i", LEFT_OUT))
    _run(house, "manage.py", *OPTIONS, "--no-obsolete", *each)
    for language in LANGUAGES:
        path = of_site(house, language)
        _compile(path, path.with_suffix(".mo"))


def of_site(house: Path, language: str) -> Path:
    return house / "locale" / language / "LC_MESSAGES" / "django.po"


def _forms(message: Message) -> list[str]:
    return [message.string] if isinstance(message.string, str) else list(message.string or [])


def _said_on_the_form(house: Path) -> Catalog:
    """Return what pages and code tell respondents now, without any translation."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in (*FORM, *SHARED):
            (folder / part).parent.mkdir(parents=True, exist_ok=True)
            copy: Callable[[Path, Path], object] = (
                shutil.copytree if (house / part).is_dir() else shutil.copy
            )
            copy(house / part, folder / part)
        (folder / "locale").mkdir()
        _run(folder, "-m", "django", *OPTIONS, "-l", "en")
        return read(of_site(folder, "en"))


def _each(option: str, values: tuple[str, ...]) -> Iterator[str]:
    return (word for value in values for word in (option, value))


def _run(folder: Path, *command: str) -> None:
    without = {k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"}
    command = (sys.executable, *command)
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env=without)


def _compile(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    catalogue = read(source)
    for message in list(catalogue):
        if message.id and not all(_forms(message)):
            catalogue.delete(message.id, message.context)
    with target.open("wb") as file:
        write_mo(file, catalogue)


def begin(tag: str, house: Path = HOUSE) -> None:
    """Begin a catalogue of the form, with every sentence and the plural forms of its language."""
    made = read(house / "locale" / "form" / "en.po")
    made.header_comment = (
        f"# What respondents are told, in {Locale.parse(tag, sep='-').english_name}."
    )
    made.mime_headers = [("Language", tag), ("Plural-Forms", plural_forms(tag))]
    for message in made:
        if message.pluralizable:
            message.string = ("",) * made.num_plurals
    with (house / "locale" / "form" / f"{tag}.po").open("wb") as file:
        write_po(file, made, width=0)


def plural_forms(tag: str) -> str:
    """Return a header that parts numbers as CLDR does, in the forms that translators know."""
    locale = Locale.parse(tag, sep="-")
    usual = get_plural(locale).plural_forms, *TWO, to_gettext(locale.plural_form)
    return next(each for each in usual if not wrong_plurals(_with_forms(each), tag))


def _with_forms(header: str) -> Catalog:
    made = Catalog()
    made.mime_headers = [("Plural-Forms", header)]
    return made


if __name__ == "__main__":
    for tag in sys.argv[1:]:
        begin(tag)
    gather()
