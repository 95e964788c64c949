"""Every central mechanism that is audited (tests/dpengine/central) is one that somebody can use."""

import importlib

import pytest

from surveys.design.models import Rule
from tests.central_cases import all_cases


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.name)
def test_a_user_reaches_it_on_the_screen_it_names(case):
    where, _, name = case.screen.partition(": ")
    if where == "rule":
        assert name in Rule.values
        return
    assert where == "ask", case.screen
    module = importlib.import_module(f"surveys.releases.queries.{name}")
    assert any(getattr(found, "kind", None) == name for found in vars(module).values())
