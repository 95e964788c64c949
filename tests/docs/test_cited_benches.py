"""Every bench that a document cites is there, and runs in `make walk`."""

import ast
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.bench import branch_times
from tests.bench.browser import module

HOUSE = Path(__file__).parent.parent.parent
DOCUMENTS = [HOUSE / "README.md", *sorted((HOUSE / "docs").rglob("*.md"))]
CITED = sorted(
    {
        name
        for document in DOCUMENTS
        for name in re.findall(r"tests[./]bench[./]([a-z_]+)", document.read_text())
    }
)


@pytest.mark.parametrize("name", CITED)
def test_a_cited_bench_can_be_run_by_its_name(name):
    tree = ast.parse((HOUSE / f"tests/bench/{name}.py").read_text())
    guards = [ast.unparse(each.test) for each in tree.body if isinstance(each, ast.If)]
    assert "__name__ == '__main__'" in guards


def test_make_walk_runs_all_of_them():
    done = subprocess.run(
        ["make", "-n", "-o", "services", "walk-benches"],
        cwd=HOUSE,
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.search(r"for name in ([a-z_ ]+); do", done.stdout)
    assert found is not None
    assert found[1].split() == CITED
    assert re.search(r"^walk:.*walk-benches", (HOUSE / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("way", branch_times.WAYS[:3], ids=lambda way: way.name)
def test_times_of_branches_are_watched_through_the_form_s_own_module(way):
    """It could not run for five days: the form's module had come to want a function."""
    chance = np.random.default_rng(1)
    people = [branch_times.person(way, bool(at % 2), chance) for at in range(20)]
    plan = branch_times.plan_of(way)
    seen = module("branch_times", "watch", plan, people)
    assert len(seen) == 20
    minutes = 4 if way.waits else 0
    for each, person in zip(seen, people, strict=True):
        waited = each["sent"] - each["loads"][-1]
        assert waited > 0
        if minutes:
            assert waited % 60 == pytest.approx(0, abs=1e-6)
        elif person["sleeps"] is None and person["closed"] is None:
            assert waited == pytest.approx(person["took"])
