"""Open a budget, charge it, and write down every act that touches it.

Whatever is written stands or falls with the transaction it is written in, and is one row of the
chain. Locks are taken in one order, so that no two transactions wait for each other: budgets by id,
then the head of the chain. A transaction that charges more than once, or charges and opens, first
holds all its budgets with `lock`.
"""

import datetime
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from dpengine.privacy import Cost, Neighbours, round_up
from surveys.ledger import chain, terms
from surveys.ledger.amounts import Amount, capped, exact_amount, lowered
from surveys.ledger.fields import moment_of, written
from surveys.ledger.models import (
    LONGEST_READING,
    Budget,
    DeltaField,
    Entry,
    EpsilonField,
    Head,
    Kind,
    RhoField,
    Side,
    Total,
)
from surveys.ledger.reads import to_text
from surveys.ledger.refusals import BadAmount, Mismatch, Overspent, Refused, Retired, TooFast
from surveys.ledger.selectors import account_of
from surveys.ledger.totals import Running
from surveys.ledger.verification import faults as faults
from surveys.messages import message

__all__ = ["BadAmount", "Mismatch", "Overspent", "Refused", "Retired", "TooFast"]

READS_TOO_MUCH = message(
    "What this reads takes more than %(most)s characters to say: ask about fewer questions. "
    "Nothing was published."
)
OPENED_WITH_STUDY = message("opened with its study")
DELTA_TOO_LARGE = message(
    "δ must be below 1 in %(n)s people; it is %(delta)s. Nothing was published."
)


@transaction.atomic
def open_budget(
    *,
    name: str,
    unit: str,
    neighbours: str,
    epsilon: Amount | None = None,
    rho: Amount | None = None,
    delta: Amount = 0,
    side: str = Side.CENTRAL,
    fixed_parts: bool = False,
    counts: str | None = None,
    within: Budget | None = None,
    holder: str | None = None,
    who: str,
    now: datetime.datetime,
    why: str = OPENED_WITH_STUDY(),
) -> Budget:
    """Open a budget with a cap on ε or (ρ, δ), or on either: ε with a δ, of mechanisms, to which
    as much comes for ρ. A name that is taken is an IntegrityError.

    One that counts what answers lose has a cap on ε, no parts, and change-one neighbours.
    """
    if (epsilon is None) == (rho is None):
        raise BadAmount(_("A cap is either an ε, or a ρ with a δ."))
    cap_delta = exact_amount("δ of the cap", delta, DeltaField)
    if not 0 <= cap_delta < 1:
        text = _("δ of the cap must be from 0 to below 1; it is %(delta)s.")
        raise BadAmount(text % {"delta": written(cap_delta)})
    cap = None if epsilon is None else capped("cap", epsilon, EpsilonField)
    budget = Budget(
        name=name,
        side=Side(side),
        unit=unit,
        neighbours=Neighbours(neighbours),
        fixed_parts=fixed_parts,
        counts=counts,
        within=within,
        holder=holder,
        epsilon=None if cap_delta else cap,
        pure_epsilon=cap if cap_delta else None,
        rho=None if rho is None else capped("cap", rho, RhoField),
        delta=cap_delta,
    )
    if cap is not None and budget.is_either:
        budget.rho = capped("ρ of the cap", Fraction(budget.rho_at(cap)), RhoField)
    if counts and (not budget.is_pure or fixed_parts or neighbours != Neighbours.CHANGE_ONE):
        raise BadAmount(_("Losses of answers are counted in ε, of all people, change-one only."))
    budget.clean_fields()
    budget.save(force_insert=True)
    _act(budget, what=terms.OPENED, old="", new=terms.opening_of(budget), why=why, who=who, now=now)
    return budget


@transaction.atomic
def open_share(
    *, study_id: int, holder: str, cap: Amount, who: str, now: datetime.datetime, why: str
) -> Budget:
    """Open one person's share of a study's budget on the study's own terms: only then do charges
    mean the same to both.

    The study's is held meanwhile: a charge to it is done before this one opens, or finds it. A
    second share of the same person is an IntegrityError.
    """
    (study,) = lock(study_id)
    return open_budget(
        name=f"researcher:{holder}@{study.name}",
        unit=study.unit,
        neighbours=study.neighbours,
        fixed_parts=study.fixed_parts,
        counts=study.counts,
        within=study,
        holder=holder,
        **{"epsilon" if study.measure == "ε" else "rho": cap, "delta": study.delta},
        who=who,
        now=now,
        why=why,
    )


def lock(*budget_ids: int) -> list[Budget]:
    """Hold budgets until the transaction ends: nobody else spends what was seen to be left."""
    budgets = list(Budget.objects.select_for_update().filter(pk__in=budget_ids).order_by("pk"))
    if missing := set(budget_ids) - {budget.pk for budget in budgets}:
        raise Budget.DoesNotExist(f"no budget {min(missing)}")
    return budgets


@transaction.atomic
def charge(
    *,
    budget_ids: Iterable[int],
    cost: Cost,
    statistic: str,
    reason: str,
    mechanism: str,
    sensitivity: str,
    part: str = "",
    who: str,
    now: datetime.datetime,
    n: int | None = None,
    draw: Callable[[], str] | None = None,
) -> list[Entry]:
    """Add one row to each budget, of what this adds to it, or raise a Refused and change nothing.

    Must be called inside the transaction that draws and stores what is paid for. The budgets are
    locked until it ends, so that of any number of charges at once each sees those before. `draw` is
    called when every budget can pay; its SHA-256 of what was drawn stands in the rows. `n`, where
    it is public, refuses a δ of 1/n or more: such a mechanism may publish somebody's answers whole.
    """
    if n is not None and cost.delta * n >= 1:
        delta = written(round_up(cost.delta, DeltaField.places))
        raise BadAmount(DELTA_TOO_LARGE.said(n=f"{n:,}", delta=delta))
    budgets = lock(*budget_ids)
    _refuse_different(budgets)
    costs = [account_of(budget).admitted(cost, part, now) for budget in budgets]
    reads = to_text(cost.reading) if cost.reading else ""
    if len(reads) > LONGEST_READING and any(budget.counts_answers for budget in budgets):
        raise BadAmount(READS_TOO_MUCH.said(most=f"{LONGEST_READING:,}"))
    published = draw() if draw else None
    return [
        _append(
            kind=Kind.CHARGE,
            budget=budget,
            epsilon=None if paid.epsilon is None else round_up(paid.epsilon, EpsilonField.places),
            reads=reads if paid.reading else None,
            rho=round_up(paid.rho, RhoField.places),
            delta=round_up(paid.delta, DeltaField.places),
            statistic=statistic,
            reason=reason,
            mechanism=mechanism,
            sensitivity=sensitivity,
            part=part,
            published=published,
            who=who,
            at=now,
        )
        for budget, paid in zip(budgets, costs, strict=True)
    ]


def _refuse_different(budgets: list[Budget]) -> None:
    """Refuse to charge one cost to budgets for which it does not mean the same."""
    if not budgets:
        raise Mismatch(_("A charge needs a budget."))
    first, *others = budgets
    for budget in others:
        if _counts(budget) != _counts(first):
            text = _(
                "“%(one)s” counts %(its)s; “%(other)s” counts %(others)s. "
                "One cost cannot be both. Nothing was published."
            )
            counts = {"its": terms.lasting_of(first), "others": terms.lasting_of(budget)}
            raise Mismatch(text % {"one": first, "other": budget, **counts})


def _counts(budget: Budget) -> tuple[str | None, ...]:
    """Return what a cost means to a budget: in a study, its panel's people are its respondents."""
    unit = "respondent-in-study" if budget.unit == "respondent-in-panel" else budget.unit
    return budget.side, unit, budget.neighbours, budget.counts


@transaction.atomic
def record(
    *,
    who: str,
    now: datetime.datetime,
    what: str,
    old: str,
    new: str,
    why: str,
    budget_id: int | None = None,
    published: str | None = None,
) -> Entry:
    """Write down an act that touches ε, of a budget or the site, or what was published."""
    if what in terms.NAMES:
        raise ValueError(f"what must not be “{what}”, which the ledger writes itself")
    budget = None if budget_id is None else lock(budget_id)[0]
    return _act(budget, what=what, old=old, new=new, why=why, who=who, now=now, published=published)


@transaction.atomic
def lower_cap(
    *,
    budget_id: int,
    epsilon: Amount | None = None,
    rho: Amount | None = None,
    delta: Amount | None = None,
    who: str,
    now: datetime.datetime,
    why: str,
) -> Entry:
    """Lower a cap of ε, ρ or δ: never below what is spent, and never to be raised again. Of a cap
    on either, ρ falls with ε, and δ stays.
    """
    budget = _living(budget_id)
    old, is_in_epsilon = terms.cap_of(budget), budget.measure == "ε"
    foreign = (rho, delta) if is_in_epsilon else (epsilon,)
    if any(amount is not None for amount in foreign):
        text = _("“%(budget)s” has its cap in ε. Nothing was changed.")
        if not is_in_epsilon:
            text = _("“%(budget)s” has its cap in ρ and δ. Nothing was changed.")
        raise BadAmount(text % {"budget": budget})
    if budget.is_either:
        cap = lowered("ε", epsilon, budget.cap, EpsilonField)
        budget.rho = capped("ρ of the cap", Fraction(budget.rho_at(cap)), RhoField)
        budget.pure_epsilon = cap
    elif budget.is_pure:
        budget.epsilon = lowered("ε", epsilon, budget.epsilon, EpsilonField)
    else:
        budget.rho = lowered("ρ", rho, budget.rho, RhoField)
        budget.delta = lowered("δ", delta, budget.delta, DeltaField)
    if terms.cap_of(budget) == old:
        raise BadAmount(_("The cap is %(cap)s already. Nothing was changed.") % {"cap": old})
    if not budget.filter.holds(account_of(budget).charges):
        text = _("More than %(cap)s is used already. To stop all use, end the budget.")
        raise BadAmount(text % {"cap": terms.cap_of(budget)})
    Budget.objects.filter(pk=budget.pk).update(
        epsilon=budget.epsilon,
        pure_epsilon=budget.pure_epsilon,
        rho=budget.rho,
        delta=budget.delta,
    )
    return _act(
        budget, what=terms.LOWERED, old=old, new=terms.cap_of(budget), why=why, who=who, now=now
    )


@transaction.atomic
def set_weekly_limit(
    *, budget_id: int, weekly: Amount | None, who: str, now: datetime.datetime, why: str
) -> Entry:
    """Set what any seven days may cost, in the budget's own measure; None for no such limit."""
    budget = _living(budget_id)
    field = EpsilonField if budget.measure == "ε" else RhoField
    old = terms.limit_of(budget)
    budget.weekly = None if weekly is None else capped("weekly limit", weekly, field)
    Budget.objects.filter(pk=budget.pk).update(weekly=budget.weekly)
    return _act(
        budget, what=terms.LIMITED, old=old, new=terms.limit_of(budget), why=why, who=who, now=now
    )


@transaction.atomic
def retire_budget(*, budget_id: int, who: str, now: datetime.datetime, why: str) -> Entry:
    """Close a budget for good: nothing is charged to it again. Twice changes nothing."""
    budget = lock(budget_id)[0]
    if budget.retired_on is not None:
        return Entry.objects.get(budget=budget, kind=Kind.ACT, what=terms.RETIRED)
    old = terms.end_of(budget)
    budget.retired_on = now.astimezone(datetime.UTC).date()
    Budget.objects.filter(pk=budget.pk).update(retired_on=budget.retired_on)
    return _act(
        budget, what=terms.RETIRED, old=old, new=terms.end_of(budget), why=why, who=who, now=now
    )


def _living(budget_id: int) -> Budget:
    budget = lock(budget_id)[0]
    if budget.retired_on is not None:
        raise Retired(budget)
    return budget


def _act(budget: Budget | None, *, why: str, now: datetime.datetime, **act: str | None) -> Entry:
    if not why.strip():
        raise Refused(_("Say why: everyone can read it in the ledger. Nothing was changed."))
    return _append(kind=Kind.ACT, budget=budget, why=why.strip(), at=now, **act)


def _append(**columns: Any) -> Entry:
    """Add one row to the end of the chain, which is held until the transaction ends, and to what
    its budget's charges add up to: the budget is held too.
    """
    head = Head.objects.select_for_update().get()
    budget = columns["budget"]
    last = budget and Entry.objects.filter(budget=budget).order_by("-number").first()
    entry = Entry(
        position=head.length + 1,
        number=budget and ((last and last.number) or 0) + 1,
        previous=head.digest,
        **columns,
    )
    entry.clean_fields(exclude=["digest"])
    entry.digest = chain.digest_of(chain.document_of(entry))
    if entry.kind == Kind.CHARGE:
        _count(budget, entry)
    entry.save(force_insert=True)
    Head.objects.filter(pk=head.pk).update(length=entry.position, digest=entry.digest)
    return entry


def _count(budget: Budget, entry: Entry) -> None:
    """Add a charge to its budget's total."""
    total = Total.objects.filter(budget=budget).first()
    running = Running.of(total.columns if total else None)
    running.add(chain.columns_of(entry), counts_answers=budget.counts_answers)
    values = {**running.columns, "first_at": moment_of(running.first_at)}
    Total(budget=budget, **values).save(force_insert=total is None)
