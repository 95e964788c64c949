"""Say which texts of the site have no translation, or one that is no longer of what is said.

    python tools/check_translations.py

`make release` asks it. A page shows English where a text is not translated yet, so that whoever
changes an English sentence needs no other language. What respondents read, on the form and in
letters, is held by `make test`.
"""

import re
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

from babel.messages.catalog import Catalog, Message

HOUSE = Path(__file__).parent.parent
sys.path[:0] = [str(HOUSE)]

from surveys.catalogues import Key, forms, messages  # noqa: E402
from tools.gather_messages import LANGUAGES, form_catalogues, gather, of_site, read  # noqa: E402

# Where the site's own texts stand that respondents read too, and letters to who has an account.
FOR_RESPONDENTS = re.compile(
    r"templates/(account/email|language|guess_heads|odds_)"
    r"|surveys/(plan|guesses|zones)"
    r"|surveys/design/(questions|calendars|days|wording)"
    r"|surveys/people/(adapter|audit|invitations)"
)


def catalogue(language: str, house: Path = HOUSE) -> Catalog:
    return read(of_site(house, language))


def is_for_respondents(message: Message) -> bool:
    return any(FOR_RESPONDENTS.match(path) for path, _line in message.locations)


def is_translated(message: Message) -> bool:
    return all(forms(message.string)) and not message.fuzzy


@cache
def said_now() -> dict[str, dict[Key, Message]]:
    """Return what code and pages say now, by catalogue, with what of it is translated."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("surveys", "dpengine", "templates", "locale"):
            left_out = shutil.ignore_patterns("*.js", "vendor", "__pycache__")
            shutil.copytree(HOUSE / name, Path(folder) / name, ignore=left_out)
        shutil.copy(HOUSE / "manage.py", folder)
        gather(Path(folder))
        form = {path.stem: messages(read(path)) for path in form_catalogues(Path(folder))}
        return form | {each: messages(catalogue(each, Path(folder))) for each in LANGUAGES}


def main() -> int:
    missing = [
        f"{name}: {', '.join(path for path, _line in message.locations)}: {key[1]}"
        for name, said in said_now().items()
        for key, message in said.items()
        if name != "en" and not is_translated(message)
    ]
    print("\n".join([*missing, f"{len(missing)} texts are not translated"]))
    return min(len(missing), 1)


if __name__ == "__main__":
    sys.exit(main())
