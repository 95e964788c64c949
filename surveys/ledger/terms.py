"""What rows say of a budget, in words: its opening, its lower caps, its limit for a week, its end.

The same words are written by services and compared by verification, so that a budget whose cap was
changed behind the ledger's back contradicts its rows.
"""

import re

from surveys.ledger.fields import written
from surveys.ledger.models import Budget
from surveys.messages import message

OPENED, LOWERED = message("opened")(), message("lowered the cap")()
LIMITED, RETIRED = message("set the weekly limit")(), message("retired")()
NAMES = (OPENED, LOWERED, LIMITED, RETIRED)
UNLIMITED, OPEN = message("no limit")(), message("no end")()
EPSILON, RHO_AND_DELTA = message("ε %(epsilon)s"), message("ρ %(rho)s, δ %(delta)s")
EITHER = message("ε %(epsilon)s or ρ %(rho)s, δ %(delta)s")
WEEKLY = message("%(cap)s in any seven days")
ENDED = message("retired on %(day)s")
LASTING = (  # by what a budget counts: `_way`
    message("%(side)s, %(record)s, %(neighbours)s"),
    message("%(side)s, %(record)s, %(neighbours)s, fixed parts"),
    message("%(side)s, %(record)s, %(neighbours)s, losses of answers"),
)
OPENING = (
    message("%(side)s, %(record)s, %(neighbours)s; %(cap)s"),
    message("%(side)s, %(record)s, %(neighbours)s, fixed parts; %(cap)s"),
    message("%(side)s, %(record)s, %(neighbours)s, losses of answers; %(cap)s"),
)
COUNTED = (  # what a budget counts
    message("central", fills="side"),
    message("local", fills="side"),
    message("respondent-in-study", fills="record"),
    message("respondent-in-wave", fills="record"),
    message("respondent-in-panel", fills="record"),
    message("answer-in-study", fills="record"),
    message("household-of-2", fills="record"),
    message("household-of-3", fills="record"),
    message("household-of-4", fills="record"),
    message("household-of-5", fills="record"),
    message("change-one", fills="neighbours"),
    message("add-remove", fills="neighbours"),
)
SHARE = re.compile("researcher:(.+)@(study:.+)")  # the name of a share: whose, and of which budget


def opening_of(budget: Budget) -> str:
    return OPENING[_way(budget)](**_counted(budget), cap=cap_of(budget))


def lasting_of(budget: Budget) -> str:
    """Return what never changes of a budget."""
    return LASTING[_way(budget)](**_counted(budget))


def _way(budget: Budget) -> int:
    return 2 if budget.counts_answers else int(budget.fixed_parts)


def _counted(budget: Budget) -> dict[str, str]:
    return {"side": budget.side, "record": budget.unit, "neighbours": budget.neighbours}


def cap_of(budget: Budget) -> str:
    if budget.is_pure:
        return EPSILON(epsilon=written(budget.epsilon))
    amounts = {"rho": written(budget.rho), "delta": written(budget.delta)}
    if budget.pure_epsilon is not None:
        return EITHER(epsilon=written(budget.pure_epsilon), **amounts)
    return RHO_AND_DELTA(**amounts)


def limit_of(budget: Budget) -> str:
    if budget.weekly is None:
        return UNLIMITED
    return WEEKLY(cap=f"{budget.measure} {written(budget.weekly)}")


def end_of(budget: Budget) -> str:
    return OPEN if budget.retired_on is None else ENDED(day=budget.retired_on)


def of(budget: Budget) -> tuple[str, ...]:
    """Return the terms of a budget as they stand, in the order of their `NAMES`."""
    return lasting_of(budget), cap_of(budget), limit_of(budget), end_of(budget)
