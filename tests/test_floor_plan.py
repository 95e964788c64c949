"""The walls of the house: who may use whom, and through which door. The table is in
docs/design.md.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

HOUSE = Path(__file__).parent.parent
VALUES = {
    "dpengine.privacy",
    "dpengine.contraction",
    "dpengine.estimates",
    "dpengine.designs",
    "dpengine.bounds",
    "dpengine.checks",
    "dpengine.expressions",
    "dpengine.losses",
}  # value types, and what they are made with, open to every room
PLAN = "surveys.plan"  # what a Plan says: values without rows, open to every room of `surveys`
WINDOWS = {
    PLAN,
    "surveys.design",
    "surveys.ledger",
    "surveys.releases",
    "surveys.planning",
    "surveys.people",
    "surveys.charts",
}
WALLS = {  # room: what it may import of the house, besides itself
    "dpengine.randomness": set(),
    "dpengine.privacy": {"dpengine.bounds", "dpengine.checks", "dpengine.contraction"},
    "dpengine.contraction": {"dpengine.bounds", "dpengine.checks"},
    "dpengine.estimates": {"dpengine.checks"},
    "dpengine.designs": {"dpengine.checks"},
    "dpengine.checks": set(),
    "dpengine.expressions": {"dpengine.checks"},
    "dpengine.losses": {"dpengine.checks"},
    "dpengine.bounds": {"dpengine.checks"},
    "dpengine.local": {"dpengine.randomness", *VALUES},
    "dpengine.central": {"dpengine.randomness", *VALUES},
    "dpengine.accounting": {"dpengine.randomness", *VALUES},
    "dpengine.inference": VALUES,
    "dpengine.cli": {"dpengine"},
    "dpengine.__main__": {"dpengine.cli"},
    PLAN: {"dpengine.local", "dpengine.randomness", *VALUES},
    "surveys.charts": VALUES,
    "surveys.ledger": {"dpengine.accounting", *VALUES},
    "surveys.design": {"dpengine.local", "dpengine.accounting", PLAN, "surveys.ledger", *VALUES},
    "surveys.intake": {"dpengine.local", PLAN, "surveys.design", *VALUES},
    "surveys.issuer": {PLAN},
    "surveys.aggregation": {
        PLAN,
        "dpengine.local",
        "dpengine.inference",
        "dpengine.randomness",
        "surveys.design",
        "surveys.intake",
        *VALUES,
    },
    "surveys.releases": {
        PLAN,
        "dpengine.central",
        "surveys.design",
        "surveys.aggregation",
        "surveys.ledger",
        *VALUES,
    },
    "surveys.planning": {
        PLAN,
        "dpengine",
        "surveys.design",
        "surveys.people",
        "surveys.charts",
    },
    "surveys.people": {PLAN, "surveys.design", "surveys.ledger", *VALUES},
    "surveys.operations": {
        PLAN,
        "surveys.intake",
        "surveys.issuer",
        "surveys.aggregation",
        "surveys.releases",
        "surveys.ledger",
        "surveys.design",
        "surveys.people",
        "surveys.invited",
    },
    "surveys.invited": {
        PLAN,
        "surveys.design",
        "surveys.intake",
        "surveys.aggregation",
        "surveys.issuer",
        "surveys.planning",
        "surveys.people",
        "surveys.charts",
        *VALUES,
    },
    # its words of a form's page
    "surveys.drafting": {*WINDOWS, *VALUES, "surveys.intake.pages", "surveys.invited"},
    "surveys.limits": {"dpengine.accounting", *WINDOWS, *VALUES},
    "surveys.dashboard": {*WINDOWS, *VALUES, "surveys.invited"},
    "surveys.api": {*WINDOWS, *VALUES},
    "surveys.registry": {"dpengine.accounting", *WINDOWS, *VALUES, "surveys.invited"},
    "surveys.demo": {
        PLAN,
        "dpengine.local",
        "dpengine.randomness",
        "surveys.design",
        "surveys.intake",
        "surveys.aggregation",
        "surveys.releases",
        "surveys.people",
        "surveys.invited",
    },
}
# between the rooms of `surveys`; the hall's modules have none
DOORS = {"services", "selectors", "models"}
PUBLIC = {  # modules that are open as well
    "surveys.plan.combinations",
    "surveys.plan.content",
    "surveys.plan.drawing",
    "surveys.plan.invited",
    "surveys.plan.kinds",
    "surveys.plan.records",
    "surveys.plan.strata",
    "surveys.plan.tickets",
    "surveys.plan.verification",
    "surveys.design.calendars",
    "surveys.design.combinations",
    "surveys.design.documents",
    "surveys.design.blocks",
    "surveys.design.days",
    "surveys.design.drafts",
    "surveys.design.goal",
    "surveys.design.together",
    "surveys.design.launch",
    "surveys.design.limit_changes",
    "surveys.design.merging",
    "surveys.design.revisions",
    "surveys.design.sharing",
    "surveys.design.news",
    "surveys.design.panels",
    "surveys.design.pictures",
    "surveys.design.questions",
    "surveys.design.readiness",
    "surveys.design.refusals",
    "surveys.design.site",
    "surveys.design.summaries",
    "surveys.design.terms",
    "surveys.design.texts",
    "surveys.design.waves",
    "surveys.design.wording",
    "surveys.intake.digest_keys",
    "surveys.invited.keys",
    "surveys.invited.lists",
    "surveys.issuer.refusals",
    "surveys.intake.pages",
    "surveys.intake.report_tables",
    "surveys.intake.reports",
    "surveys.aggregation.contrasts",
    "surveys.aggregation.crosstabs",
    "surveys.aggregation.tallies",
    "surveys.aggregation.weighting",
    "surveys.releases.agenda",
    "surveys.releases.comparisons",
    "surveys.releases.covered",
    "surveys.releases.losses",
    "surveys.releases.numbers",
    "surveys.releases.reconstruction",
    "surveys.releases.queries.base",
    "surveys.releases.queries.parameters",
    "surveys.releases.verification",
    "surveys.charts.codes",
    "surveys.charts.scales",
    "surveys.charts.intervals",
}
FORBIDDEN = {  # module: the only rooms that may use it
    "opendp": {"dpengine.central"},
    "django": {"surveys"},  # but not its room `plan`
    "celery": {"surveys"},
    "random": set(),
    "numpy.random": set(),
    "datetime": {"surveys"},
    "time": {"surveys"},
    "logging": {"surveys"},
    "pathlib": {"surveys", "dpengine.cli"},
    "os": {"dpengine.randomness", "surveys.operations", "surveys"},
    "secrets": {"surveys.settings", "surveys.demo", "surveys.invited"},
}


NOT_IN_PLAN = {"django", "celery", "datetime", "time", "logging", "pathlib"}


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
        if name.startswith("surveys.") and not is_hall(room) and not inside(name, PUBLIC):
            assert name.split(".")[2] in DOORS, f"{room} enters {name} by a window"


@pytest.mark.parametrize("path", list(files()), ids=module_of)
def test_chance_clocks_and_frameworks_stay_where_they_belong(path):
    module = module_of(path)
    for name in imports(path):
        for kept, rooms in FORBIDDEN.items():
            if inside(name, {kept}):
                assert inside(module, rooms), f"{module} may not use {name}"
        assert not (inside(module, {PLAN}) and inside(name, NOT_IN_PLAN)), f"{module}: {name}"


@pytest.mark.parametrize(
    "path", [path for path in files() if module_of(path).startswith("surveys.")], ids=module_of
)
def test_no_room_queries_a_neighbours_model(path):
    room = room_of(module_of(path))
    foreign = {
        name.rsplit(".", 1)[1]
        for name in imports(path)
        if ".models." in name and name.startswith("surveys.") and room_of(name) != room
    }
    for node in ast.walk(ast.parse(path.read_text())):
        if (
            isinstance(node, ast.Attribute)
            and node.attr == "objects"
            and isinstance(node.value, ast.Name)
        ):
            assert node.value.id not in foreign, f"{room} calls {node.value.id}.objects"


def test_every_room_of_the_drawing_is_there_and_no_other():
    rooms = {f"surveys.{path.parent.name}" for path in (HOUSE / "surveys").glob("*/__init__.py")}
    rooms |= {f"dpengine.{path.parent.name}" for path in (HOUSE / "dpengine").glob("*/__init__.py")}
    rooms |= {
        f"dpengine.{path.stem}"
        for path in (HOUSE / "dpengine").glob("*.py")
        if path.stem != "__init__"
    }
    assert rooms == set(WALLS)
