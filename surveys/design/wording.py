"""What the terms of a study mean, in sentences for whoever sets them. Numbers come from the terms, never from data."""

import datetime
from decimal import Decimal
from fractions import Fraction

from dpengine.privacy import exponential_below, guess_at_most, plain
from surveys.design import terms
from surveys.design.models import Delta, Panel, Rule, Study
from surveys.design.queries import of_hundred
from surveys.ledger import queries as ledger


def cap_means(capped: Study | Panel) -> str:
    """Say what the cap does to a reader's odds, and what its δ adds."""
    sure = of_hundred(guess_at_most(Fraction(exponential_below(capped.cap))))
    odds = (
        f"Who was 50 in 100 sure of something about one person can become at most {sure} in 100 sure by reading "
        f"everything that is ever published, whatever else they know."
    )
    return f"{odds} {_delta_means(capped)}"


def _delta_means(capped: Study | Panel) -> str:
    if not terms.is_concentrated(capped):
        return "Without a δ this always holds, and costs add up: two publications of ε 1 are 2."
    chance = Delta(capped.cap_delta).label
    most = int(1 / (100 * Fraction(capped.cap_delta)))
    return (
        f"With this δ it can fail, with a chance of {chance} at most: fit for up to {most:,} answers, where it fails "
        f"for one person in a hundred such studies at most. In return, many publications cost less than their sum."
    )


def rule_means(study: Study) -> str:
    """Say when something is published, and what it costs."""
    cost, cap = plain(study.release_epsilon), plain(study.cap)
    if study.release_epsilon > study.cap:
        return f"One publication costs ε {cost}, which is more than the cap of {cap}: nothing would ever be published."
    times = _times(terms.publications_paid(study))
    match study.rule:
        case Rule.EVERY:
            span = hours_said(study.hours)
            return f"One publication {span}, for ε {cost} each: the cap of {cap} pays for {times}, all waves together."
        case Rule.CONTINUAL if terms.is_concentrated(study):
            return _continual_means(study)
        case Rule.CONTINUAL:
            return "This rule needs a cap with a δ: choose one above."
        case Rule.ON_REQUEST:
            return f"Nothing is published until a researcher asks. A request costs up to ε {cost} of the cap of {cap}."
        case _:
            return f"One publication when a wave has closed, for ε {cost}: the cap of {cap} pays for {times} of them."


def _continual_means(study: Study) -> str:
    days = Fraction(study.hours * study.horizon, 24)
    rho = terms.rho_within(study.release_epsilon, study.cap_delta)
    return (
        f"{study.horizon} publications, one {hours_said(study.hours)}: {_days(days)} in all. All are paid on the first "
        f"day, with ε {plain(study.release_epsilon)} (ρ {rho:f}), and each is free after that. Their error grows with "
        f"the logarithm of their number: paid one by one with the same ε, it would grow with the square root."
    )


def hours_said(hours: int) -> str:
    if hours % 24:
        return f"every {hours} hours" if hours > 1 else "every hour"
    return f"every {hours // 24} days" if hours > 24 else "every day"


def panel_means(panel: Panel) -> str:
    """Say what the cap on all answers of one person does."""
    sure = of_hundred(guess_at_most(Fraction(exponential_below(panel.local_cap))))
    return (
        f"Opening a wave uses of ε {plain(panel.local_cap)} what its answers lose on the device; one that does not fit "
        f"is not opened. Who was 50 in 100 sure of something about one person can become at most {sure} in 100 sure by "
        f"seeing everything that person ever sent to these studies, changed by chance as it was."
    )


def spending(budget_id: int | None) -> str:
    """Say what the ledger says of a budget."""
    if budget_id is None:
        return "Nothing can be spent before the first wave opens."
    statement = ledger.Statement(ledger.account(budget_id))
    sign, budget = statement.measure, statement.account.budget
    weekly = f" At most {sign} {plain(budget.weekly)} in any seven days." if budget.weekly is not None else ""
    retired = f" Retired on {day_said(budget.retired_on)}." if budget.retired_on is not None else ""
    return f"{sign} {statement.spent} of {statement.cap} is spent, {statement.left} is left.{weekly}{retired}"


def retiring_means(study: Study) -> list[str]:
    """Say what retiring a study does, for whoever is about to do it."""
    return [
        "No answer is taken any more; a wave that is collecting closes now. There is no further wave.",
        "Nothing is published ever again, not even what the cap could still pay for.",
        "Answers that are kept, sealed or not, and their counts are erased within minutes; backups keep theirs, "
        "and PostgreSQL’s own log does until it is written over.",
        "What was published stays, and so do the ledger, the Plans, the number of answers and every receipt.",
        f"This cannot be undone. {spending(study.budget_id)}",
    ]


def lowering_means(capped: Study | Panel, cap: Decimal) -> list[str]:
    """Say what lowering a cap does."""
    reached = "the study is retired" if isinstance(capped, Study) else "nothing more is charged to it"
    return [
        f"The cap is ε {plain(cap)} now. It can fall, not below what is spent, and never rise. When it is reached, "
        f"{reached}.",
        "What was published stays. A wave that collects goes on; what can no longer be paid for is not published.",
        "Everyone can read in the ledger who lowered it, when, from what to what, and why.",
    ]


def limiting_means(study: Study) -> list[str]:
    return [
        "A publication that would pass the limit waits until a week after those before it. The cap stays what it is.",
        f"Leave it empty for no limit. {spending(study.budget_id)}",
    ]


def day_said(day: datetime.date | None) -> str:
    return f"{day:%-d %B %Y}" if day else ""


def _days(days: Fraction) -> str:
    whole = int(days)
    return f"{whole:,} day{'' if whole == 1 else 's'}" if whole else "less than a day"


def _times(count: int) -> str:
    return "one" if count == 1 else f"{count:,}"
