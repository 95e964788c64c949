"""The form's script and style as phones get them: one file each, so that a slow line is waited for once.

A script is the modules of static/intake/ put one after another, each in a function of its own, without comments,
indentation and spaces around marks; nothing is renamed or rewritten (a template inside a template must hold no
comment). `plain.js` and `kinds.js` leave out what only some Plans need. The modules are served too, as written: whoever
reads them can make the same bytes and compare (the registry has their hashes):

    python -m surveys.intake.bundles plain.js | sha256sum
"""

import re
import sys
from collections.abc import Iterator, Mapping, Set
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from whitenoise.storage import CompressedStaticFilesStorage

FOLDER = "form"  # of what is made, beside intake/
ENTRY = "form"
RARE = frozenset({"given", "number", "one_of", "pictures"})
SCRIPTS = {
    "plain.js": RARE,
    "kinds.js": frozenset({"given", "pictures"}),
    "full.js": frozenset[str](),
}  # and the modules that each leaves out
STYLE, STYLES = "form.css", ("candor/tokens.css", "candor/base.css", "candor/form.css")

HOUSE = Path(__file__).parent.parent
MODULES = HOUSE / "intake" / "static" / "intake"
# What must stay as it is (strings, templates, expressions), and what need not travel (comments, indentation, spaces).
KEPT = (
    r"""(?P<kept>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`"""
    r"""|(?:(?<=[(,=:!&|?{;\[\n])|(?<=[(,=:!&|?{;\[] ))/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/)"""
)
TOKEN = re.compile(KEPT + r"|(?P<gone>/\*.*?\*/\s*|[ \t]*//[^\n]*)|(?P<line>\s*\n\s*)", re.DOTALL)
SPACED = re.compile(KEPT + r"| *(?:=>|[=!]==|&&|\|\||\?\?|[<>]=?|[=,{}():;?*]) *", re.DOTALL)
CSS_TOKEN = re.compile(r"""(?P<kept>"[^"\n]*")|(?P<gone>/\*.*?\*/\s*)|(?P<line>\s*\n\s*)""", re.DOTALL)
CSS_SPACED = re.compile(r"""(?P<kept>"[^"\n]*")|\s*[{};,]\s*|(?<=[\w-]): +""")
IMPORT = re.compile(r"^import (?:\* as (?P<all>\w+)|\{(?P<some>[^}]*)\}) from '\./(?P<module>\w+)\.js';$", re.MULTILINE)
LATER = re.compile(r"import\('\./(\w+)\.js'\)")
EXPORT = re.compile(r"^export (?=(?:const|async function|function|class) (\w+))", re.MULTILINE)


def script(name: str) -> str:
    """Return a script of the form."""
    modules = {path.stem: stripped(path.read_text(), TOKEN) for path in MODULES.glob("*.js")}
    return tight(bundle(modules, ENTRY, set(modules) - SCRIPTS[name]), SPACED)


def least(needed: Set[str]) -> str:
    """Return the script with the fewest modules that has all of these."""
    return next(name for name, left_out in SCRIPTS.items() if not needed & left_out)


def style(read: Mapping[str, str]) -> str:
    """Return the form's style from the sheets it is made of, by name."""
    return tight("".join(stripped(read[name], CSS_TOKEN) for name in STYLES), CSS_SPACED)


def stripped(text: str, token: re.Pattern[str]) -> str:
    """Return a text without comments and indentation."""
    kept = token.sub(lambda found: found["kept"] or ("\n" if found["line"] else ""), text)
    return kept.strip() + "\n"


def tight(text: str, token: re.Pattern[str]) -> str:
    """Return a text without the spaces that only part marks from words."""
    return token.sub(lambda found: found["kept"] or found[0].strip(), text)


def bundle(modules: Mapping[str, str], entry: str, within: set[str]) -> str:
    """Put modules one after another, what is needed first. What lies outside `within` is fetched if it is asked for."""
    order = TopologicalSorter[str]()
    waiting, seen = [entry], {entry}
    while waiting:
        name = waiting.pop()
        needs = {*(found["module"] for found in IMPORT.finditer(modules[name])), *LATER.findall(modules[name])} & within
        order.add(name, *sorted(needs))  # the same bytes every time
        waiting += sorted(needs - seen)
        seen |= needs
    return "".join(_wrapped(name, modules[name], within) for name in order.static_order())


def _wrapped(name: str, text: str, within: set[str]) -> str:
    exports = ", ".join(EXPORT.findall(text))
    body = LATER.sub(lambda found: f"${found[1]}" if found[1] in within else f"import('../intake/{found[1]}.js')", text)
    body = EXPORT.sub("", IMPORT.sub(_taken, body))
    return f"const ${name} = (() => {{\n{body}return {{ {exports} }};\n}})();\n"


def _taken(found: re.Match[str]) -> str:
    names = found["all"] or "{" + found["some"].replace(" as ", ": ") + "}"
    return f"const {names} = ${found['module']};"


class FormStorage(CompressedStaticFilesStorage):  # type: ignore[misc]  # which has no types of its own
    """Static files, and beside them, once they are collected, those of the form in one piece."""

    def post_process(self, paths: dict[str, Any], dry_run: bool = False, **options: Any) -> Iterator[Any]:
        if dry_run:
            return
        made = {f"{FOLDER}/{name}": script(name) for name in SCRIPTS}
        made[f"{FOLDER}/{STYLE}"] = style({name: Path(self.path(name)).read_text() for name in STYLES})
        for name, text in made.items():
            target = Path(self.path(name))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        yield from super().post_process({**paths, **dict.fromkeys(made)}, dry_run, **options)


if __name__ == "__main__":
    sys.stdout.write(script(sys.argv[1]))
