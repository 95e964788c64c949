"""The scripts that a respondent's browser runs, and their hashes: whoever keeps them can see when one changes."""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage

FOLDER = "intake"


@dataclass(frozen=True, slots=True)
class Script:
    name: str  # such as intake/form.js
    path: str  # on this site
    sha256: str


@cache
def served() -> tuple[Script, ...]:
    """Return every script of the form, in order of name. They are sent as written and change only with the site."""
    folder = finders.find(FOLDER)
    if not isinstance(folder, str):
        raise RuntimeError(f"no static folder named {FOLDER}")
    names = sorted(f"{FOLDER}/{file.name}" for file in Path(folder).glob("*.js"))
    return tuple(
        Script(name, staticfiles_storage.url(name), hashlib.sha256(_bytes(name)).hexdigest()) for name in names
    )


def digest() -> str:
    """Return one hash for all: of the lines that `sha256sum intake/*.js` prints."""
    lines = "".join(f"{script.sha256}  {script.name}\n" for script in served())
    return hashlib.sha256(lines.encode()).hexdigest()


def _bytes(name: str) -> bytes:
    """Read a file as it is served: what was collected at start, or where it was written if nothing was yet."""
    if staticfiles_storage.exists(name):
        with staticfiles_storage.open(name) as file:
            return bytes(file.read())
    return Path(str(finders.find(name))).read_bytes()
