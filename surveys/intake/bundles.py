"""The form's script and style as phones get them: one file each, so that a slow line is waited for
once.

esbuild makes them of the modules in static/intake/ and of three style sheets; it leaves out
comments, spaces and what is never called, and shortens names. What it made is committed, in
static/form/ with its SHA-256, so the site needs no Node; a test makes it again and compares every
byte. After a change to a module:

    make bundle

`plain.js` and `kinds.js` leave out what only some Plans need, and fetch it should such a Plan come.
"""

import hashlib
import subprocess
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
STYLE, STYLES = "form.css", ("tokens.css", "base.css", "form.css")
SUMS = "SHA256SUMS"  # as `sha256sum` writes and checks them

ROOM = Path(__file__).parent
STATIC, SHEETS = ROOM / "static", ROOM.parent / "static" / "candor"
MODULES = STATIC / "intake"
ESBUILD = ROOM.parent.parent / "node_modules" / ".bin" / "esbuild"
# Names are shortened too (3.5 KB of 22): what people read is the modules, which make these bytes
# again.
SMALL = ("--minify", "--charset=utf8", "--legal-comments=none", "--log-level=warning")
# no file outside intake/ has a say
SCRIPT = ("--bundle", "--format=esm", "--target=es2022", "--tsconfig-raw={}")


def least(needed: Set[str]) -> str:
    """Return the script with the fewest modules that has all of these."""
    return next(name for name, left_out in SCRIPTS.items() if not needed & left_out)


def build(static: Path = STATIC) -> None:
    """Make form/ of the modules in intake/, both in this folder: where it lies changes no byte."""
    made = static / FOLDER
    made.mkdir(exist_ok=True)
    for name, left_out in SCRIPTS.items():
        apart = [f"--external:./intake/{module}.js" for module in sorted(left_out)]
        esbuild("intake/form.js", *SCRIPT, *apart, f"--outfile={FOLDER}/{name}", at=static)
    (made / STYLE).write_bytes(
        esbuild("--loader=css", given=b"".join((SHEETS / name).read_bytes() for name in STYLES))
    )
    sums = [
        f"{hashlib.sha256((made / name).read_bytes()).hexdigest()}  {FOLDER}/{name}\n"
        for name in sorted([*SCRIPTS, STYLE])
    ]
    (made / SUMS).write_text("".join(sums))


def esbuild(*words: str, at: Path = STATIC, given: bytes = b"") -> bytes:
    """Run it; what it says of a fault is on standard error."""
    return subprocess.run(
        [ESBUILD, *words, *SMALL], cwd=at, input=given, stdout=subprocess.PIPE, check=True
    ).stdout


if __name__ == "__main__":
    build()
