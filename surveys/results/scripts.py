"""The scripts that a respondent's browser runs, and their hashes: whoever keeps them can see when
one changes.

form/*.js is what a study's page runs, made by esbuild from the modules of intake/
(tools/bundle.py). The modules are served as written too: two other pages run some of
them, and people read them.
"""

import hashlib
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage

FOLDERS = ("form", "intake")


@cache
def served() -> list[dict[str, str]]:
    """Return every script of the form, in order of its name (such as intake/form.js), with its path
    on this site and its hash. They change only with the site.
    """
    names = [
        f"{folder}/{file.name}"
        for folder in FOLDERS
        for file in sorted(Path(_found(folder)).glob("*.js"))
    ]
    return [
        {
            "name": name,
            "path": staticfiles_storage.url(name),
            "sha256": hashlib.sha256(_bytes(name)).hexdigest(),
        }
        for name in names
    ]


def digest() -> str:
    """Return one hash for all: of the lines that `sha256sum form/*.js intake/*.js` prints."""
    lines = "".join(f"{script['sha256']}  {script['name']}\n" for script in served())
    return hashlib.sha256(lines.encode()).hexdigest()


def _found(name: str) -> str:
    """Return where a static file or folder was written."""
    path = finders.find(name)
    if not isinstance(path, str):
        raise RuntimeError(f"no static file or folder named {name}")
    return path


def _bytes(name: str) -> bytes:
    """Read a file as it is served: what was collected at start, or where it was written if
    nothing was yet.
    """
    if staticfiles_storage.exists(name):
        with staticfiles_storage.open(name) as file:
            return bytes(file.read())
    return Path(_found(name)).read_bytes()
