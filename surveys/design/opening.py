"""What opening a wave takes: a draft that is fit, its Plan, and a panel that can pay for its answers.

Each step is taken in the transaction of `services.open_study`, which holds the study.
"""

import datetime
from fractions import Fraction
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from dpengine.privacy import Cost, epsilon_above, plain
from surveys.design import changes, documents, site, terms
from surveys.design.models import Panel, Plan, Question, SiteLimits, Study, Unit
from surveys.design.refusals import CannotOpen
from surveys.ledger import services as ledger
from surveys.ledger.models import Budget, Side

LASTING_TERMS = ("slug", "unit", "neighbours", "results")


def hold_panel(study: Study) -> None:
    """Hold a study's panel until the transaction ends: whoever edits its terms waits until its budgets are open."""
    if study.panel_id is not None:
        study.panel = Panel.objects.select_for_update().get(pk=study.panel_id)


def refuse_unfit(study: Study, today: datetime.date) -> None:
    """Refuse what can be told before the Plan is composed."""
    if not study.questions.exists():
        raise CannotOpen(_("“%(study)s” has no questions yet.") % {"study": study})
    if study.closes_on is not None and study.closes_on < today:
        text = _("“%(study)s” has its last day in the past: %(day)s.")
        raise CannotOpen(text % {"study": study, "day": study.closes_on})
    if study.retires_on is not None and study.retires_on <= today:
        text = _("“%(study)s” is to be retired on %(day)s: choose a day after today.")
        raise CannotOpen(text % {"study": study, "day": date_format(study.retires_on, "DATE_FORMAT")})
    for problem in terms.problems(study).values():
        raise _cannot_open(study, problem)
    _refuse_beyond_limits(study, site.hold_limits())


def _refuse_beyond_limits(study: Study, limits: SiteLimits) -> None:
    """Hold the draft to the site's limits as they are now: whoever changes them waits until this wave has opened."""
    if problem := terms.problem_of_cap(study, limits):
        raise _cannot_open(study, problem)
    for problem in terms.problems_of_given(study, study.questions.all()).values():
        raise _cannot_open(study, problem)
    for question in study.questions.filter(protection=Question.Protection.DEVICE):
        if problem := terms.problem_of_epsilon(study, question.epsilon, limits):
            parts = {"study": study, "question": question.name, "problem": problem}
            raise CannotOpen(_("“%(study)s”, %(question)s: %(problem)s") % parts)


def _cannot_open(study: Study, problem: str) -> CannotOpen:
    return CannotOpen(_("“%(study)s” cannot be opened. %(problem)s") % {"study": study, "problem": problem})


def frozen(study: Study) -> str:
    """Return the bytes of the Plan that the draft makes."""
    try:
        content = documents.compose(study)
        documents.verify(content)
    except (ValueError, documents.Unsound) as error:
        raise _cannot_open(study, str(error)) from error
    if (first := study.plans.first()) is not None:
        _refuse_changed_terms(first.content, content)
        _refuse_another_cap(study, first.content["caps"], content["caps"])
    return documents.canonical(content)


def _refuse_changed_terms(first: dict[str, Any], new: dict[str, Any]) -> None:
    """All waves of a study share its address, what its cap counts, and who may read the results."""
    for term in LASTING_TERMS:
        if first[term] != new[term]:
            parts = {"study": new["title"], "term": term, "then": first[term]}
            raise CannotOpen(_("“%(study)s”: %(term)s has been %(then)s since wave 1; it cannot change.") % parts)


def _refuse_another_cap(study: Study, first: dict[str, Any], new: dict[str, Any]) -> None:
    """The cap is what the ledger holds: it can have been lowered since wave 1, with a reason, and nothing else."""
    for term, text in (
        ("central_delta", _("“%(study)s”: the δ of the cap has been %(then)s since wave 1; it cannot change.")),
        ("panel", _("“%(study)s”: the panel has been %(then)s since wave 1; it cannot change.")),
    ):
        if first.get(term) != new.get(term):
            raise CannotOpen(text % {"study": study, "then": first.get(term, _(changes.NOTHING))})
    budget = study.budget
    if budget is not None and budget.cap != next(iter(terms.budget_cap(study).values())):
        text = _(
            "“%(study)s”: the cap in the ledger is %(sign)s %(cap)s, and not what the draft's ε %(draft)s makes. A cap "
            "can only be lowered, with a reason."
        )
        parts = {"sign": budget.measure, "cap": plain(budget.cap), "draft": plain(study.cap)}
        raise CannotOpen(text % {"study": study, **parts})


def open_budget(capped: Study | Panel, name: str, *, unit: str, who: str, now: datetime.datetime) -> Budget:
    """Open the central budget of a study or a panel. A record is in one wave for ever, so waves can be parts of it."""
    return ledger.open_budget(
        name=name,
        unit=unit,
        neighbours=capped.neighbours,
        **terms.budget_cap(capped),
        fixed_parts=unit == Unit.RESPONDENT_IN_WAVE,
        who=who,
        now=now,
    )


def record_opening(plan: Plan, *, who: str, now: datetime.datetime) -> None:
    loss, publication = documents.loss_of_plan(plan.content), plan.content["publication"]
    given = " and answers sent as given" if documents.given(plan.content) else ""
    ledger.record(
        budget_id=plan.study.budget_id,
        what=f"opened wave {plan.wave}",
        old="",
        new=f"Plan {plan.digest}; one person's answers: ε {_said(loss)}{given}; "
        f"publication: {publication['rule']}, ε {publication['epsilon']}; {_bounds(plan.study)}",
        why=f"wave {plan.wave} begins",
        who=who,
        now=now,
    )


def _bounds(study: Study) -> str:
    """Return what held for the draft when it opened: its history is its members' own."""
    chance = f", δ {study.cap_delta}" if terms.is_concentrated(study) else ""
    least, most = plain(study.epsilon_floor), plain(study.epsilon_ceiling)
    return f"all publications: ε {plain(study.cap)}{chance}; one answer: ε {least} to {most}"


def pay_panel(study: Study, document: str, *, who: str, now: datetime.datetime) -> None:
    """Charge what one person's answers lose in this wave to the panel: who meets ten studies loses ten times."""
    if study.panel is None:
        return
    local_budget_id = _hold_budgets(study, study.panel, who=who, now=now)
    loss = documents.loss_of_plan(documents.read(document))
    if loss == 1:  # nothing is changed on the device
        return
    ledger.charge(
        budget_ids=[local_budget_id],
        cost=Cost.pure(Fraction(epsilon_above(loss))),
        statistic=documents.digest(document),
        reason=f"Answers of wave {study.wave} of {study.slug}",
        mechanism="each answer changed on the device, as the Plan says",
        sensitivity="all answers of one person in this wave",
        who=who,
        now=now,
    )


def _hold_budgets(study: Study, panel: Panel, *, who: str, now: datetime.datetime) -> int:
    """Hold every budget that the opening touches, before any row is written; return the panel's own for answers.

    The first study of a panel to open opens the panel's budgets.
    """
    if panel.central_budget_id is None or panel.local_budget_id is None:
        return _open_budgets(panel, who=who, now=now)
    own = [] if study.budget_id is None else [study.budget_id]
    ledger.lock(panel.central_budget_id, panel.local_budget_id, *own)
    return panel.local_budget_id


def _open_budgets(panel: Panel, *, who: str, now: datetime.datetime) -> int:
    panel.central_budget = open_budget(panel, f"panel:{panel.slug}", unit=panel.unit, who=who, now=now)
    panel.local_budget = ledger.open_budget(
        name=f"panel:{panel.slug}:answers",
        unit=panel.unit,
        neighbours=panel.neighbours,
        epsilon=panel.local_cap,
        side=Side.LOCAL,
        who=who,
        now=now,
    )
    panel.save(update_fields=["central_budget", "local_budget"])
    return panel.local_budget.pk


def record_more_given(study: Study, *, now: datetime.datetime) -> None:
    """Write down that the site's admin gave a study with answers sent as given more than is usual, and why."""
    asks = study.questions.filter(protection=Question.Protection.PUBLICATION).exists()
    usual, found = (terms.GIVEN_CAP, terms.GIVEN_BATCH), terms.given_limits(study)
    if not asks or found == usual:
        return
    old, new = (f"cap ε {plain(cap)} at most, {batch} answers at least" for cap, batch in (usual, found))
    what = f"{study.slug}: where answers are sent as given"
    why, who = f"{study.given_why}", f"{study.given_by}"
    ledger.record(budget_id=study.budget_id, what=what, old=old, new=new, why=why, who=who, now=now)


def _said(loss: Fraction) -> str:
    return str(plain(epsilon_above(loss)))
