"""Say which texts of the site have no translation, or one that is no longer of what is said.

    python tools/check_translations.py

`make release` asks it. A page shows English where a text is not translated yet, so that whoever
changes an English sentence needs no other language. What respondents read, on the form and in
letters, is held by `make test`.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po

HOUSE = Path(__file__).parent.parent
LANGUAGES = ("zh_Hans",)
# Where texts of the form stand, and of letters to people whom a study asks or who have an account.
FOR_RESPONDENTS = re.compile(
    r"templates/(intake|account/email|invited/letter|language|guess_heads|odds_)"
    r"|surveys/(intake|plan|guesses|zones)"
    r"|surveys/design/(questions|calendars|days|wording)"
    r"|surveys/invited/(letters|sending)|surveys/people/(adapter|audit|invitations)"
)
Key = tuple[str | None, str]


def catalogue(language: str, house: Path = HOUSE) -> Catalog:
    with (house / "locale" / language / "LC_MESSAGES" / "django.po").open("rb") as file:
        return read_po(file)


def messages(found: Catalog) -> dict[Key, Message]:
    return {
        (_text(message.context), forms(message.id)[0]): message for message in found if message.id
    }


def _text(context: str | bytes | None) -> str | None:
    """Return a context as text: the reader of compiled catalogues leaves it as bytes."""
    return context.decode() if isinstance(context, bytes) else context


def forms(text: str | tuple[str, ...] | list[str]) -> list[str]:
    return [text] if isinstance(text, str) else list(text)


def is_for_respondents(message: Message) -> bool:
    return any(FOR_RESPONDENTS.match(path) for path, _line in message.locations)


def is_translated(message: Message) -> bool:
    return all(forms(message.string)) and not message.fuzzy


def said_now() -> dict[str, dict[Key, Message]]:
    """Return what code and pages say now, by language, with what of it is translated."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("surveys", "dpengine", "templates", "locale"):
            left_out = shutil.ignore_patterns("*.js", "vendor", "__pycache__")
            shutil.copytree(HOUSE / name, Path(folder) / name, ignore=left_out)
        shutil.copy(HOUSE / "manage.py", folder)
        options = ["--no-obsolete", "--no-wrap", "--add-location", "file"]
        words = [word for language in LANGUAGES for word in ("-l", language)]
        command = [sys.executable, "manage.py", "makemessages", *options, *words]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        return {language: messages(catalogue(language, Path(folder))) for language in LANGUAGES}


def main() -> int:
    missing = [
        f"{language}: {', '.join(path for path, _line in message.locations)}: {key[1]}"
        for language, said in said_now().items()
        for key, message in said.items()
        if not is_translated(message)
    ]
    print("\n".join([*missing, f"{len(missing)} texts are not translated"]))
    return min(len(missing), 1)


if __name__ == "__main__":
    sys.exit(main())
