"""Forty schedules of faults on each engine; ten thousand are in the benches.

python -m tests.bench.simulator again SEED      plays one again, looked at after every step
"""

import pytest

from tests.bench.budget_races import engine
from tests.bench.simulator import ENGINES, begin, command, said
from tests.services import or_skip

SCHEDULES = 40


@pytest.mark.parametrize("name", ENGINES)
def test_whatever_crashes_nothing_is_lost_counted_twice_or_unpaid(name):
    """Which seeds break something, and what, is on standard error."""
    first = 1 + SCHEDULES * ENGINES.index(name)
    with or_skip(lambda: engine(name)) as environment:
        found = said(begin(command("here", SCHEDULES, first), environment))
    assert found["broken"] == 0
    assert found["schedules"] == SCHEDULES
    assert found["faults"] > 3 * SCHEDULES  # they were there
    assert found["side by side"] > SCHEDULES
    assert found["of one budget"] > SCHEDULES / 2
    assert found["drawn"] > SCHEDULES / 2
    assert found["retired"] > SCHEDULES / 20
