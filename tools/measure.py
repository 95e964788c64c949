"""The house in numbers, against its ceilings: a feature that needs more says what goes.

    python tools/measure.py            what there is; it ends with 1 where a ceiling is too low
    python tools/measure.py --write    set the ceilings of statements to what there is, in tens

A statement is one of Python's, without docstrings and imports, so that neither wrapping nor
deleting words changes the count; expressions a statement keep lines from being squeezed. Rooms are
the folders of `dpengine` and `surveys`, and the modules beside them.
"""

import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

HOUSE = Path(__file__).parent.parent
CEILINGS = Path(__file__).with_name("ceilings.toml")
SQUEEZE = 1.03  # how many more expressions a statement may have than when it was first counted
Counts = dict[str, int]


def modules(root: str, house: Path = HOUSE) -> Iterator[Path]:
    found = (path.relative_to(house) for path in sorted((house / root).rglob("*.py")))
    return (path for path in found if "migrations" not in path.parts)


def room(path: Path) -> str:
    return "/".join(path.parts[:2]) if len(path.parts) > 2 else f"{path.parts[0]}/*.py"


def statements(tree: ast.AST) -> int:
    scopes = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    firsts = [node.body[0] for node in ast.walk(tree) if isinstance(node, scopes) and node.body]
    texts = {id(each) for each in firsts if isinstance(each, ast.Expr) and _is_text(each.value)}
    left_out = ast.Import | ast.ImportFrom
    return sum(
        isinstance(node, ast.stmt) and not isinstance(node, left_out) and id(node) not in texts
        for node in ast.walk(tree)
    )


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def counted(house: Path = HOUSE) -> tuple[Counts, dict[str, float]]:
    """Return statements of each room and lines of what is no Python; and, of each of the two roots,
    how many expressions a statement has.
    """
    counts: Counter[str] = Counter()
    expressions = {}
    for root in ("dpengine", "surveys"):
        found = [
            (path, ast.parse((house / path).read_text(encoding="utf-8")))
            for path in modules(root, house)
        ]
        for path, tree in found:
            counts[room(path)] += statements(tree)
        held = sum(isinstance(node, ast.expr) for _path, tree in found for node in ast.walk(tree))
        expressions[root] = round(held / sum(statements(tree) for _path, tree in found), 2)
    counts["templates"] = lines(house, "templates", "*.html")
    counts["scripts"] = lines(
        house, "surveys", "*.js", lambda path: not {"vendor", "form"} & set(path.parts)
    )
    return dict(counts), expressions


def lines(
    house: Path, root: str, pattern: str, fits: Callable[[Path], object] = lambda path: True
) -> int:
    found = (path for path in (house / root).rglob(pattern) if fits(path.relative_to(house)))
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in found)


def over(
    found: tuple[Counts, dict[str, float]], ceilings: dict[str, dict[str, float]]
) -> list[str]:
    """Return what is over its ceiling, or has none."""
    (counts, expressions), told = found, []
    for kind, values in (("counts", counts), ("expressions", expressions)):
        squeeze = SQUEEZE if kind == "expressions" else 1
        for name, value in values.items():
            most = ceilings.get(kind, {}).get(name)
            if most is None:
                told.append(f"{name}: {value}, and no ceiling in {CEILINGS.name}")
            elif value > most * squeeze:
                told.append(f"{name}: {value}, {most * squeeze:g} at most ({kind})")
    return told


def main(words: list[str]) -> int:
    counts, expressions = counted()
    if words == ["--write"]:
        written = ["# Written by tools/measure.py --write. A ceiling that rises needs a reason in"]
        written += ["# its commit.", "", "[counts]"]
        written += [f'"{name}" = {-10 * (-counts[name] // 10)}' for name in sorted(counts)]
        first = tomllib.loads(CEILINGS.read_text(encoding="utf-8"))["expressions"]
        written += ["", "[expressions]", *(f"{name} = {first[name]}" for name in expressions)]
        CEILINGS.write_text("\n".join([*written, ""]), encoding="utf-8")
    for name, count in sorted(counts.items(), key=lambda pair: -pair[1]):
        print(f"{count:6} {name}")
    told = over((counts, expressions), tomllib.loads(CEILINGS.read_text(encoding="utf-8")))
    for each in told:
        print(f"over its ceiling: {each}", file=sys.stderr)
    return min(len(told), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
