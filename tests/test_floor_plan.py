"""The walls of the house: who may use whom, and through which door. The table is in
docs/design.md.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

HOUSE = Path(__file__).parent.parent
PLAN = "surveys.plan"  # what a Plan says: values without rows
# A room uses those below it, never one above or beside it.
LADDER: tuple[set[str], ...] = (
    {"dpengine.checks"},
    {
        "dpengine.bounds",
        "dpengine.designs",
        "dpengine.estimates",
        "dpengine.expressions",
        "dpengine.losses",
        "dpengine.randomness",
    },
    {"dpengine.contraction"},
    {"dpengine.privacy"},
    {"dpengine.local", "dpengine.central", "dpengine.accounting", "dpengine.inference"},
    {"dpengine.cli"},
    {PLAN},
    {"surveys.charts"},
    {"surveys.ledger"},
    {"surveys.design"},
    {"surveys.intake"},
    {"surveys.issuer"},
    {"surveys.aggregation"},
    {"surveys.releases"},
    {"surveys.people"},
    {"surveys.planning"},
    {"surveys.invited"},
    {
        "surveys.api",
        "surveys.demo",
        "surveys.drafting",
        "surveys.limits",
        "surveys.operations",
        "surveys.results",
    },
)
STEP = {room: step for step, rooms in enumerate(LADDER) for room in rooms}
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
    "surveys.design.words",
    "surveys.intake.digest_keys",
    "surveys.people.access",
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


def of(paths: Iterator[Path]) -> Iterator[tuple[str, str, str]]:
    """Every import: the module, its room, and what it imports."""
    for path in paths:
        module = module_of(path)
        yield from ((module, room_of(module), name) for name in imports(path))


def test_a_room_uses_only_those_below_it():
    found = [
        f"{module} may not use {name}"
        for module, room, name in of(files())
        if room_of(name) != room
        and room_of(name) in STEP
        and STEP.get(room, len(LADDER)) <= STEP[room_of(name)]
    ]
    assert found == []


def test_a_room_is_entered_by_its_doors():
    found = [
        f"{module} enters {name} by a window"
        for module, room, name in of(files())
        if room in STEP
        and room_of(name) in STEP
        and room_of(name) != room
        and name.startswith("surveys.")
        and not inside(name, PUBLIC)
        and name.split(".")[2] not in DOORS
    ]
    assert found == []


def test_chance_clocks_and_frameworks_stay_where_they_belong():
    found = [
        f"{module} may not use {name}"
        for module, _room, name in of(files())
        for kept, rooms in FORBIDDEN.items()
        if inside(name, {kept}) and not inside(module, rooms)
    ]
    found += [
        f"{module} may not use {name}"
        for module, _room, name in of(files())
        if inside(module, {PLAN}) and inside(name, NOT_IN_PLAN)
    ]
    assert found == []


def test_no_room_queries_a_neighbours_model():
    found = []
    for path in files():
        room = room_of(module_of(path))
        foreign = {
            name.rsplit(".", 1)[1]
            for name in imports(path)
            if ".models." in name and name.startswith("surveys.") and room_of(name) != room
        }
        found += [
            f"{module_of(path)} calls {node.value.id}.objects"
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Attribute)
            and node.attr == "objects"
            and isinstance(node.value, ast.Name)
            and node.value.id in foreign
        ]
    assert found == []


def test_every_room_of_the_drawing_is_there_and_no_other():
    rooms = {
        f"{top}.{path.parent.name}"
        for top in ("dpengine", "surveys")
        for path in (HOUSE / top).glob("*/__init__.py")
    }
    rooms |= {
        f"dpengine.{path.stem}"
        for path in (HOUSE / "dpengine").glob("*.py")
        if not path.stem.startswith("__")
    }
    assert rooms == set(STEP)
