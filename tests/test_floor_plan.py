"""The walls of the house: who may use whom, and through which door. The drawing is in docs/design.md."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

HOUSE = Path(__file__).parent.parent
VALUES = {"dpengine.privacy", "dpengine.estimates"}  # value types, open to every room
WINDOWS = {"surveys.design", "surveys.ledger", "surveys.releases", "surveys.planning", "surveys.people"}
WALLS = {  # room: what it may import of the house, besides itself
    "dpengine.randomness": set(),
    "dpengine.privacy": set(),
    "dpengine.estimates": set(),
    "dpengine.local": {"dpengine.randomness", *VALUES},
    "dpengine.central": {"dpengine.randomness", *VALUES},
    "dpengine.accounting": {"dpengine.randomness", *VALUES},
    "dpengine.inference": VALUES,
    "surveys.ledger": {"dpengine.accounting", *VALUES},
    "surveys.design": {"dpengine.local", "dpengine.accounting", "surveys.ledger", *VALUES},
    "surveys.intake": {"dpengine.local", "surveys.design", *VALUES},
    "surveys.aggregation": {"dpengine.local", "dpengine.inference", "dpengine.randomness", "surveys.design",
                            "surveys.intake", *VALUES},
    "surveys.releases": {"dpengine.central", "surveys.design", "surveys.aggregation", "surveys.ledger", *VALUES},
    "surveys.planning": {"dpengine", "surveys.design", "surveys.aggregation.tallies", "surveys.people"},
    "surveys.people": {"surveys.design", "surveys.ledger", *VALUES},
    "surveys.operations": {"surveys.intake", "surveys.aggregation", "surveys.releases", "surveys.ledger",
                           "surveys.design", "surveys.people"},
    "surveys.drafting": {*WINDOWS, *VALUES, "surveys.intake.queries"},  # its words of a form's page
    "surveys.limits": {"dpengine.accounting", *WINDOWS, *VALUES},
    "surveys.dashboard": {*WINDOWS, *VALUES},
    "surveys.api": {*WINDOWS, *VALUES},
    "surveys.registry": {"dpengine.accounting", *WINDOWS, *VALUES},
    "surveys.demo": {"dpengine.local", "dpengine.randomness", "surveys.design", "surveys.intake", "surveys.aggregation",
                     "surveys.releases", "surveys.people"},
}  # fmt: skip
DOORS = {"services", "queries", "models"}  # between the rooms of `surveys`; the hall's modules have none
PLAIN_WORDS = {"surveys.design.documents", "surveys.design.wording", "surveys.intake.reports",
               "surveys.aggregation.tallies"}  # fmt: skip  # no rows: open too
FORBIDDEN = {  # module: the only rooms that may use it
    "opendp": {"dpengine.central"},
    "django": {"surveys"},
    "celery": {"surveys"},
    "random": set(),
    "numpy.random": set(),
    "datetime": {"surveys"},
    "time": {"surveys"},
    "logging": {"surveys"},
    "pathlib": {"surveys"},
    "os": {"dpengine.randomness", "surveys.operations", "surveys"},
    "secrets": {"surveys.settings", "surveys.demo"},
}


def files() -> Iterator[Path]:
    for top in ("dpengine", "surveys"):
        yield from (HOUSE / top).rglob("*.py")


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(HOUSE).with_suffix("").parts).removesuffix(".__init__")


def room_of(module: str) -> str:
    return ".".join(module.split(".")[:2])


def imports(path: Path) -> Iterator[str]:
    """Every module or name that a file imports, dotted, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def inside(name: str, houses: set[str]) -> bool:
    return any(name == house or name.startswith(f"{house}.") for house in houses)


def is_hall(module: str) -> bool:
    return room_of(module) not in WALLS and not module.startswith("dpengine.")


@pytest.mark.parametrize("path", list(files()), ids=module_of)
def test_a_room_uses_only_the_rooms_it_may_and_enters_by_their_doors(path):
    room = room_of(module_of(path))
    for name in imports(path):
        if not name.startswith(("surveys.", "dpengine.")) or is_hall(name) or room_of(name) == room:
            continue
        if not is_hall(room):
            assert inside(name, WALLS[room]), f"{room} may not use {name}"
        if name.startswith("surveys.") and not is_hall(room) and not inside(name, PLAIN_WORDS):
            assert name.split(".")[2] in DOORS, f"{room} enters {name} by a window"


@pytest.mark.parametrize("path", list(files()), ids=module_of)
def test_chance_clocks_and_frameworks_stay_where_they_belong(path):
    module = module_of(path)
    for name in imports(path):
        for kept, rooms in FORBIDDEN.items():
            if inside(name, {kept}):
                assert inside(module, rooms), f"{module} may not use {name}"


@pytest.mark.parametrize("path", [path for path in files() if module_of(path).startswith("surveys.")], ids=module_of)
def test_no_room_queries_a_neighbours_model(path):
    room = room_of(module_of(path))
    foreign = {
        name.rsplit(".", 1)[1]
        for name in imports(path)
        if ".models." in name and name.startswith("surveys.") and room_of(name) != room
    }
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and node.attr == "objects" and isinstance(node.value, ast.Name):
            assert node.value.id not in foreign, f"{room} calls {node.value.id}.objects"


def test_every_room_of_the_drawing_is_there_and_no_other():
    rooms = {f"surveys.{path.parent.name}" for path in (HOUSE / "surveys").glob("*/__init__.py")}
    rooms |= {f"dpengine.{path.parent.name}" for path in (HOUSE / "dpengine").glob("*/__init__.py")}
    rooms |= {f"dpengine.{path.stem}" for path in (HOUSE / "dpengine").glob("*.py") if path.stem != "__init__"}
    assert rooms == set(WALLS)
