"""What a study has spent of its cap, how fast, and how long the rest lasts."""

import datetime
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from dpengine.privacy import plain, round_up
from surveys.design.models import Study
from surveys.ledger import queries as ledger
from surveys.ledger.queries import Statement


@dataclass(frozen=True, slots=True)
class Spending:
    """The account of a study, for people."""

    statement: Statement
    is_collecting: bool
    weekly: Decimal | None
    per_week: Decimal
    this_week: Decimal
    days_left: int | None  # at the present rate
    days_to_retirement: int | None
    alerts: list[str]

    @property
    def width(self) -> str:
        return self.statement.width


def of(study: Study, now: datetime.datetime) -> Spending | None:
    """Return a study's account; None before its first opening."""
    if study.budget_id is None:
        return None
    account = ledger.account(study.budget_id)
    burn, statement = account.burn(now), Statement(account)
    is_collecting = study.plan is not None and study.plan.is_open and not study.is_retired
    weekly = account.budget.weekly
    return Spending(
        statement=statement,
        weekly=None if weekly is None else plain(weekly),
        per_week=round_up(burn.per_week, statement.places),
        this_week=round_up(Fraction(burn.weeks[-1].amount), statement.places),
        is_collecting=is_collecting,
        days_left=account.days_left(now) if is_collecting else None,
        days_to_retirement=(study.retires_on - now.date()).days if study.retires_on else None,
        alerts=[alert.text for alert in account.alerts(now, study.retires_on if is_collecting else None)],
    )
