"""Open a study, close it, begin its next wave, lower its cap, retire it.

Every act that touches ε is a row of the ledger, with who did it, when, and why; a draft has a
history of its own, and an opening is one row. Locks are taken in one order: study, its Plan, its
panel, budgets (the ledger says in which order), so that no two of these wait for each other.
"""

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from dpengine.privacy import plain
from surveys import clock
from surveys.design import days, launch, news, site, terms, waves
from surveys.design.drafts import Fields
from surveys.design.locks import hold, lock_draft, refuse_retired
from surveys.design.models import Panel, Plan, Question, Study, Unit
from surveys.design.readiness import Readiness
from surveys.design.refusals import CannotOpen, Refused
from surveys.design.summaries import summarise
from surveys.isolation import isolate_failures
from surveys.ledger import selectors as accounts, services as ledger
from surveys.ledger.models import Budget, Side
from surveys.messages import message
from surveys.plan.content import ANSWERS, Invited, PlanContent, canonical, digest, read
from surveys.zones import UTC

RULE = message("the study's rule")()  # who retires a study, when nobody does
RETIREMENT_CAME = message("the day of its retirement came")
CAP_REACHED = message("its cap is reached")
MAX_REASON = Study._meta.get_field("retired_because").max_length or 0


@transaction.atomic
def draft_study(*, study: Fields, questions: list[Fields]) -> Study:
    """Make a study with its questions, in order; one of the same name is returned as it is."""
    draft, is_new = Study.objects.get_or_create(slug=study["slug"], defaults=study)
    for position, question in enumerate(questions if is_new else [], start=1):
        Question.objects.create(study=draft, position=position, **question)
    return draft


@transaction.atomic
def open_study(
    *,
    study_id: int,
    who: str,
    now: datetime.datetime,
    seen: str = "",
    why: str = "",
    tells_little: Callable[[PlanContent, int | None], bool] | None = None,
    invited: Invited | None = None,
) -> Plan:
    """Freeze the draft into a Plan and begin to take answers.

    `seen` is the fingerprint of the draft that was looked at, if any; `why`, the reason that is
    needed, and kept, where a person gives away more than is usual (`launch.needs_reason`), and
    where its Plan `tells_little` with as many answers as are expected, whatever they are;
    `invited`, the list of people whom it asks, with keys that were made for it. Keys are no part of
    what was looked at.

    From here on nothing about this wave can change. The study's central budget is opened with its
    first wave and its cap holds for all of them. In a panel the wave's local ε is charged first: if
    it cannot be paid, nothing opens.
    """
    study, today = lock_draft(study_id=study_id), days.day_in(UTC, now)
    launch.hold_panel(study)
    # whoever changes the site's limits waits until this wave has opened
    draft = Readiness(study, invited, site.hold_limits())
    launch.refuse_unready(study, draft.problems(now))
    launch.refuse_list(study, invited)
    document = canonical(draft.content)
    if seen and seen != launch.fingerprint(read(document)):
        raise CannotOpen(
            _("The draft has changed since you looked at it. Nothing was opened: look at it again.")
        )
    is_little = tells_little is not None and tells_little(read(document), study.expected)
    launch.refuse_without_reason(study, read(document), why, tells_little=is_little)
    launch.pay_panel(study, document, who=who, now=now)
    if study.budget is None:
        study.budget = launch.open_budget(
            study,
            f"study:{study.slug}",
            unit=study.unit,
            counts_answers=read(document).publication.counts == ANSWERS,
            who=who,
            now=now,
        )
        study.save(update_fields=["budget"])
    plan = Plan.objects.create(
        study=study,
        wave=study.wave,
        document=document,
        digest=digest(document),
        opened_on=today,
        closes_on=_last_day(study),
        begins_on=study.begins_on,
        zone=study.zone,
        closes_at=study.closes_at,
        stratum_closes_at=study.stratum_closes_at,
    )
    summarise(plan)
    launch.record_opening(plan, why=why, tells_little=is_little, who=who, now=now)
    launch.record_more_given(study, now=now)
    return plan


def _last_day(study: Study) -> datetime.date | None:
    """Return the last day of a wave: answers that come on the day of retirement would be erased
    unread.
    """
    if study.closes_on is None and study.retires_on is not None:
        last = study.retires_on - days.ONE
        is_later = days.ends_at(last, study.zone) > days.begins_at(study.retires_on, UTC)
        return last - days.ONE if is_later else last
    return study.closes_on


@transaction.atomic
def close_plan(*, plan_id: int, today: datetime.date) -> Plan:
    """Take no more answers in this wave. Closing twice changes nothing."""
    plan = Plan.objects.select_for_update().get(pk=plan_id)
    if plan.is_open:
        plan.closed_on = today
        plan.save(update_fields=["closed_on"])
    return plan


def close_due(*, now: datetime.datetime) -> list[int]:
    """Close every wave whose last day has passed, and all that left a device on it has come;
    return their ids.
    """

    def close_if_due(plan: Plan) -> int | None:
        return close_plan(plan_id=plan.pk, today=now.date()).pk if plan.is_past_grace(now) else None

    if clock.doubt():
        return []
    due = Plan.objects.filter(closed_on=None, closes_on__lte=now.date() + days.ONE).order_by()
    return [pk for pk in isolate_failures(due, close_if_due) if pk is not None]


@transaction.atomic
def begin_wave(*, study_id: int) -> Study:
    """Make the study a draft again, for its next wave, once the present one has closed."""
    study = hold(study_id)
    plan = study.plan
    refuse_retired(study, _("“%(study)s” ended on %(day)s: it has no further wave."))
    if plan is None:
        raise CannotOpen(
            _("“%(study)s” has not opened its wave %(wave)s yet: change the draft.")
            % {"study": study, "wave": study.wave}
        )
    if plan.is_open:
        raise CannotOpen(
            _("“%(study)s” is still collecting wave %(wave)s: close it first.")
            % {"study": study, "wave": study.wave}
        )
    if problem := waves.problem_of_next(study):
        raise CannotOpen(f"“{study}”: {problem}")
    study.wave += 1
    study.begins_on = study.closes_on = None
    study.save(update_fields=["wave", "begins_on", "closes_on"])
    return study


@transaction.atomic
def lower_cap(*, study_id: int, new: Decimal, who: str, why: str, now: datetime.datetime) -> Study:
    """Lower a study's cap for good, not below what is spent. What Plans say of it stays."""
    study = hold(study_id)
    if study.budget is None:
        raise Refused(
            _("“%(study)s” has not opened yet: change the cap in the draft.") % {"study": study}
        )
    _lower(study, "cap", study.budget, new, who=who, why=why, now=now)
    return study


@transaction.atomic
def lower_panel_cap(
    *, panel_id: int, side: Side, new: Decimal, who: str, why: str, now: datetime.datetime
) -> Panel:
    """Lower a panel's cap, for publications or for answers, for good."""
    panel = Panel.objects.select_for_update().get(pk=panel_id)
    is_local = side == Side.LOCAL
    budget = panel.local_budget if is_local else panel.central_budget
    if budget is None:
        raise Refused(
            _("“%(panel)s” has not met a study yet: change the cap itself.") % {"panel": panel}
        )
    _lower(panel, "local_cap" if is_local else "cap", budget, new, who=who, why=why, now=now)
    return panel


def _lower(capped: Study | Panel, field: str, budget: Budget, new: Decimal, **by: Any) -> None:
    """Lower a cap, and what the ledger holds of it, in its measure: its δ stays."""
    old: Decimal = getattr(capped, field)
    if not (new.is_finite() and 0 < new < old):
        raise Refused(
            _("The new cap must be above 0 and below %(cap)s; it is %(new)s. Nothing was changed.")
            % {"cap": plain(old), "new": new}
        )
    cap: dict[str, Any] = {
        "epsilon" if budget.measure == "ε" else "rho": terms.cap_in(budget, capped, new)
    }
    ledger.lower_cap(budget_id=budget.pk, **cap, **by)
    setattr(capped, field, new)
    capped.save(update_fields=[field])


@transaction.atomic
def set_weekly_limit(
    *, study_id: int, weekly: Decimal | None, who: str, why: str, now: datetime.datetime
) -> Study:
    """Set what publications may cost in any seven days, in the cap's measure; None: no limit."""
    study = hold(study_id)
    if study.budget_id is None:
        raise Refused(
            _("“%(study)s” has not opened yet: set the limit when it has.") % {"study": study}
        )
    ledger.set_weekly_limit(budget_id=study.budget_id, weekly=weekly, who=who, why=why, now=now)
    return study


@transaction.atomic
def retire(*, study_id: int, because: str, who: str, now: datetime.datetime) -> Study:
    """Retire a study for good: no answers, no wave, no publication ever after.

    Retiring twice changes nothing. Its open wave closes and its budget with it, in this
    transaction; each room then erases what it holds.
    """
    study, because = hold(study_id), because.strip()
    if study.is_retired:
        return study
    if study.budget_id is None:
        raise Refused(
            _("“%(study)s” has never opened, so it cannot end. Delete the draft.")
            % {"study": study}
        )
    if not 1 <= len(because) <= MAX_REASON:
        raise Refused(
            _("Say why in 1 to %(most)s characters; there are %(count)s. The study goes on.")
            % {"most": MAX_REASON, "count": len(because)}
        )
    if doubt := clock.doubt():
        raise Refused(doubt)
    for plan_id in study.plans.filter(closed_on=None).values_list("pk", flat=True):
        close_plan(plan_id=plan_id, today=days.day_in(UTC, now))
    ledger.retire_budget(budget_id=study.budget_id, who=who, why=because, now=now)
    study.retired_on, study.retired_because = days.day_in(UTC, now), because
    study.save(update_fields=["retired_on", "retired_because"])
    return study


def retire_due(*, now: datetime.datetime) -> list[int]:
    """Retire every study whose day has come; return their ids."""
    if clock.doubt():
        return []
    due = Study.objects.filter(
        retired_on=None, retires_on__lte=days.day_in(UTC, now), budget__isnull=False
    )
    due = due.order_by()

    def retire_one(study: Study) -> int:
        return retire(study_id=study.pk, because=RETIREMENT_CAME(), who=RULE, now=now).pk

    return isolate_failures(due, retire_one)


def retire_spent(*, now: datetime.datetime, is_unfinished: Callable[[Study], bool]) -> list[int]:
    """Retire every study whose cap cannot pay the smallest publication; return their ids.

    Not one that still has to deliver what was paid for (`is_unfinished`: the room of releases
    knows), nor one whose waves each have a budget of their own, for the next wave begins with a
    full one. Only those are looked at that rows were written of since the last time, and those
    that were found spent then.
    """
    if clock.doubt():
        return []
    unseen = news.of(news.CAPS)

    def look(study: Study) -> None:
        if _is_spent(study):
            Study.objects.filter(pk=study.pk).update(spent_on=days.day_in(UTC, now))

    @transaction.atomic
    def retire_one(study: Study) -> int | None:
        hold(study.pk)
        # as every publication does: what was just paid for is seen
        ledger.lock(_budget_of(study.budget_id))
        if not _is_spent(study):  # a new wave has opened, and can be paid
            Study.objects.filter(pk=study.pk).update(spent_on=None)
            return None
        if is_unfinished(study):
            return None
        return retire(study_id=study.pk, because=CAP_REACHED(), who=RULE, now=now).pk

    living = unseen.studies.filter(retired_on=None, spent_on=None, budget__isnull=False)
    try:
        isolate_failures(living.exclude(unit=Unit.RESPONDENT_IN_WAVE), look)
        if unseen.start != unseen.end:
            with transaction.atomic():
                unseen.read()
    finally:  # one that cannot be looked at keeps none waiting
        spent = Study.objects.filter(retired_on=None, spent_on__isnull=False)
        retired = [pk for pk in isolate_failures(spent, retire_one) if pk is not None]
    return retired


def _is_spent(study: Study) -> bool:
    """Tell whether a study's cap is reached; then it stays so in this wave."""
    account = accounts.account(_budget_of(study.budget_id))
    plan = Plan.objects.filter(study=study).latest("wave")  # nothing is asked of earlier ones
    return not any(map(account.can_pay, terms.smallest(plan.content)))


def _budget_of(budget_id: int | None) -> int:
    if budget_id is None:
        raise RuntimeError("expected a budget, found none")
    return budget_id
