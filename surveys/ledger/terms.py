"""What rows say of a budget, in words: its opening, its lower caps, its limit for a week, its end.

The same words are written by services and compared by verification, so that a budget whose cap was changed behind the
ledger's back contradicts its rows.
"""

import re

from surveys.ledger.fields import written
from surveys.ledger.models import Budget

OPENED, LOWERED, LIMITED, RETIRED = "opened", "lowered the cap", "set the weekly limit", "retired"
NAMES = (OPENED, LOWERED, LIMITED, RETIRED)
UNLIMITED, OPEN = "no limit", "no end"
SHARE = re.compile("researcher:(.+)@(study:.+)")  # the name of a share: whose, and of which budget


def opening_of(budget: Budget) -> str:
    return f"{lasting_of(budget)}; {cap_of(budget)}"


def lasting_of(budget: Budget) -> str:
    """Return what never changes of a budget."""
    parts = ", fixed parts" if budget.fixed_parts else ""
    return f"{budget.side}, {budget.unit}, {budget.neighbours}{parts}"


def cap_of(budget: Budget) -> str:
    if budget.is_pure:
        return f"ε {written(budget.epsilon)}"
    return f"ρ {written(budget.rho)}, δ {written(budget.delta)}"


def limit_of(budget: Budget) -> str:
    return UNLIMITED if budget.weekly is None else f"{budget.measure} {written(budget.weekly)} in any seven days"


def end_of(budget: Budget) -> str:
    return OPEN if budget.retired_on is None else f"retired on {budget.retired_on}"
