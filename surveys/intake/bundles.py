"""The form's script and style as phones get them: one file each, so that a slow line is waited for
once.

What is made of the modules in static/intake/ (`tools/bundle.py`) is committed, in static/form/ with
its SHA-256, so the site needs no Node; a test makes it again and compares every byte.

`plain.js` and `kinds.js` leave out what only some Plans need, and fetch it should such a Plan come.
"""

from collections.abc import Set
from pathlib import Path

FOLDER = "form"  # of what is made, beside intake/
RARE = frozenset({"cleartext", "distribution", "drawn", "invited", "number", "one_of", "pictures"})
# and the modules that each leaves out
SCRIPTS = {
    "plain.js": RARE,
    "kinds.js": frozenset({"cleartext", "drawn", "invited", "pictures"}),
    "full.js": frozenset({"drawn", "invited"}),
    "drawn.js": frozenset({"invited"}),
    "invited.js": frozenset[str](),
}
STATIC = Path(__file__).parent / "static"
MODULES = STATIC / "intake"


def least(needed: Set[str]) -> str:
    """Return the script with the fewest modules that has all of these."""
    return next(name for name, left_out in SCRIPTS.items() if not needed & left_out)
