"""The scripts that a respondent's browser runs, and their hashes: whoever keeps them can see when one changes.

form/*.js is what runs: the modules of intake/ in one piece, without comments (surveys/intake/bundles.py). The modules
are served as written too, for people to read.
"""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage

FOLDER, MADE = "intake", "form"


@dataclass(frozen=True, slots=True)
class Script:
    name: str  # such as intake/form.js
    path: str  # on this site
    sha256: str


@cache
def served() -> tuple[Script, ...]:
    """Return every script of the form, in order of name. They change only with the site."""
    folder = finders.find(FOLDER)
    if not isinstance(folder, str):
        raise RuntimeError(f"no static folder named {FOLDER}")
    names = sorted([f"{FOLDER}/{file.name}" for file in Path(folder).glob("*.js")] + _made())
    return tuple(
        Script(name, staticfiles_storage.url(name), hashlib.sha256(_bytes(name)).hexdigest()) for name in names
    )


def digest() -> str:
    """Return one hash for all: of the lines that `sha256sum form/*.js intake/*.js` prints."""
    lines = "".join(f"{script.sha256}  {script.name}\n" for script in served())
    return hashlib.sha256(lines.encode()).hexdigest()


def _made() -> list[str]:
    """Return what was put together when files were collected; nothing before that."""
    if not staticfiles_storage.exists(MADE):
        return []
    return [f"{MADE}/{name}" for name in staticfiles_storage.listdir(MADE)[1] if name.endswith(".js")]


def _bytes(name: str) -> bytes:
    """Read a file as it is served: what was collected at start, or where it was written if nothing was yet."""
    if staticfiles_storage.exists(name):
        with staticfiles_storage.open(name) as file:
            return bytes(file.read())
    return Path(str(finders.find(name))).read_bytes()
