"""Make the form's scripts and its style (`surveys/intake/bundles.py`) of their modules.

    python -m tools.bundle    what `make bundle` runs

esbuild makes them of the modules in static/intake/ and of three style sheets; it leaves out
comments, spaces and what is never called, and shortens names.
"""

import hashlib
import subprocess
from pathlib import Path

from surveys.intake.bundles import FOLDER, SCRIPTS, STATIC

STYLE, STYLES = "form.css", ("tokens.css", "base.css", "form.css")
SUMS = "SHA256SUMS"  # as `sha256sum` writes and checks them
HOUSE = Path(__file__).parent.parent
SHEETS = HOUSE / "surveys" / "static" / "candor"
ESBUILD = HOUSE / "node_modules" / ".bin" / "esbuild"
# Names are shortened too (3.5 KB of 22): what people read is the modules, which make these bytes
# again.
SMALL = ("--minify", "--charset=utf8", "--legal-comments=none", "--log-level=warning")
# no file outside intake/ has a say
SCRIPT = ("--bundle", "--format=esm", "--target=es2022", "--tsconfig-raw={}")


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
