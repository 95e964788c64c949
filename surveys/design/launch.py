"""What opening a wave takes: a fit draft, its Plan, and a panel that can pay for its answers.

Each step is taken in the transaction of `services.open_study`, which holds the study.
"""

import datetime
from collections.abc import Sequence
from fractions import Fraction

from django.utils.translation import gettext as _
from msgspec.structs import replace

from dpengine.privacy import Cost, epsilon_above, plain
from surveys.design import terms
from surveys.design.models import Panel, Plan, Question, Study, Unit
from surveys.design.readiness import Problem
from surveys.design.refusals import CannotOpen
from surveys.guesses import LIKELY, even_guess
from surveys.ledger import services as ledger
from surveys.ledger.models import Budget, Counts, Entry, Side
from surveys.messages import message
from surveys.plan import content as plans
from surveys.plan.content import Invited, PlanContent, canonical, digest, read

# What the ledger says of an opening
OPENED_WAVE, WAVE_BEGINS = message("opened wave %(wave)s"), message("wave %(wave)s begins")
OPENED = message(
    "Plan %(digest)s; one person's answers: ε %(epsilon)s; publication: %(rule)s, ε %(amount)s; "
    "all publications: %(cap)s; one answer: ε %(least)s to %(most)s"
)
OPENED_IN_CLEAR = message(
    "Plan %(digest)s; one person's answers: ε %(epsilon)s and answers sent as given; publication: "
    "%(rule)s, ε %(amount)s; all publications: %(cap)s; one answer: ε %(least)s to %(most)s"
)
RULES = (
    message("when-closed", fills="rule"),
    message("every", fills="rule"),
    message("continual", fills="rule"),
    message("on-request", fills="rule"),
)
ANSWERS = message("Answers of wave %(wave)s of %(study)s")
ON_THE_DEVICE = message("each answer changed on the device, as the Plan says")
ALL_ANSWERS = message("all answers of one person in this wave")
IN_CLEAR = message("%(study)s: where answers are sent as given")
IN_CLEAR_LIMITS = message("cap %(cap)s at most, %(count)s answers at least")

MAX_WHY: int = Entry._meta.get_field("why").max_length or 0
SAID_AT_ONCE = 3  # problems of a draft


def hold_panel(study: Study) -> None:
    """Hold a study's panel: whoever edits its terms waits until its budgets are open."""
    if study.panel_id is not None:
        study.panel = Panel.objects.select_for_update().get(pk=study.panel_id)


def refuse_unready(study: Study, problems: Sequence[Problem]) -> None:
    """Refuse a draft for the first things that are wrong with it."""
    if problems:
        raise cannot_open(study, " ".join(map(str, problems[:SAID_AT_ONCE])))


def cannot_open(study: Study, problem: str) -> CannotOpen:
    text = _("“%(study)s” cannot be opened. %(problem)s")
    return CannotOpen(text % {"study": study, "problem": problem})


def refuse_list(study: Study, invited: Invited | None) -> None:
    """Refuse a list where there is none, or none where there is one; a key that signed before."""
    if bool(study.is_invited) != (invited is not None):
        expected = _("a list of people") if study.is_invited else _("no list of people")
        raise cannot_open(study, _("It expected %(expected)s.") % {"expected": expected})
    if invited is None:
        return
    lists = Plan.objects.filter(document__contains='"invited"').values_list("document", flat=True)
    keys = [stratum.key for stratum in invited.strata]
    if any(key in document for document in lists.iterator() for key in keys):
        raise cannot_open(study, _("A key for its tickets was used before: make new ones."))


def fingerprint(content: PlanContent) -> str:
    """Return the digest of a draft: of the Plan that it makes, before keys are made for it."""
    if content.invited is None:
        return digest(canonical(content))
    strata = [replace(each, key="") for each in content.invited.strata]
    return digest(canonical(replace(content, invited=replace(content.invited, strata=strata))))


def needs_reason(content: PlanContent) -> bool:
    """Tell whether opening asks why: a guess about a person can be right over 95 times in 100, from
    all that they send in the waves that are planned.
    """
    return content.loss_of_waves > LIKELY


def refuse_without_reason(
    study: Study, content: PlanContent, why: str, *, tells_little: bool
) -> None:
    """Refuse to open what gives away so much of a person, or tells so little, for no reason, or for
    too long a one.
    """
    if not (tells_little or needs_reason(content)):
        return
    if not why.strip() and not needs_reason(content):
        text = _(
            "With as many responses as you expect, the results would say next to nothing. Say why "
            "you ask all the same. Everyone can read the reason."
        )
        raise cannot_open(study, text)
    if not why.strip():
        text = _(
            "Say why one person must give away so much: a guess between two answers, from all that "
            "they send, could be right %(guess)s times in 100. Everyone can read the reason."
        )
        raise cannot_open(study, text % {"guess": even_guess(content.loss_of_waves)})
    if len(why.strip()) > MAX_WHY:
        text = _("The reason can have %(most)s characters at most; it has %(found)s.")
        raise cannot_open(study, text % {"most": MAX_WHY, "found": len(why.strip())})


def open_budget(
    capped: Study | Panel,
    name: str,
    *,
    unit: str,
    counts_answers: bool,
    who: str,
    now: datetime.datetime,
) -> Budget:
    """Open the central budget of a study or a panel.

    A record is in one wave for ever, so waves can be parts of it.
    """
    return ledger.open_budget(
        name=name,
        unit=unit,
        neighbours=capped.neighbours,
        epsilon=capped.cap,
        delta=Fraction(capped.cap_delta) / 2,  # of mechanisms that have one of their own
        fixed_parts=unit == Unit.RESPONDENT_IN_WAVE,
        counts=Counts.ANSWERS if counts_answers else None,
        who=who,
        now=now,
    )


def record_opening(
    plan: Plan, *, why: str, tells_little: bool, who: str, now: datetime.datetime
) -> None:
    """Write down what opened, and what held for the draft then: its history is its members' own.

    The reason is kept where one is needed.
    """
    is_reason_kept = tells_little or needs_reason(plan.content)
    study, publication = plan.study, plan.content.publication
    chance = f", δ {study.cap_delta}" if terms.is_concentrated(study) else ""
    opened = OPENED_IN_CLEAR if plan.content.cleartext else OPENED
    ledger.record(
        budget_id=study.budget_id,
        what=OPENED_WAVE(wave=plan.wave),
        old="",
        new=opened(
            digest=plan.digest,
            epsilon=plain(epsilon_above(plan.content.loss)),
            rule=publication.rule,
            amount=publication.epsilon,
            cap=f"ε {plain(study.cap)}{chance}",
            least=plain(study.epsilon_floor),
            most=plain(study.epsilon_ceiling),
        ),
        why=why.strip() if is_reason_kept else WAVE_BEGINS(wave=plan.wave),
        who=who,
        now=now,
    )


def pay_panel(study: Study, document: str, *, who: str, now: datetime.datetime) -> None:
    """Charge one person's answers in this wave to the panel: ten studies lose ten times."""
    panel = study.panel
    if panel is None:
        return
    if panel.central_budget_id is None or panel.local_budget_id is None:
        counts_answers = read(document).publication.counts == plans.ANSWERS
        local_budget_id = _open_budgets(panel, counts_answers=counts_answers, who=who, now=now)
    else:  # every budget that the opening touches is held before any row is written
        local_budget_id = panel.local_budget_id
        own = [] if study.budget_id is None else [study.budget_id]
        ledger.lock(panel.central_budget_id, local_budget_id, *own)
    if (loss := read(document).loss) == 1:  # nothing is changed on the device
        return
    ledger.charge(
        budget_ids=[local_budget_id],
        cost=Cost.pure(Fraction(epsilon_above(loss))),
        statistic=digest(document),
        reason=ANSWERS(wave=study.wave, study=study.slug),
        mechanism=ON_THE_DEVICE(),
        sensitivity=ALL_ANSWERS(),
        who=who,
        now=now,
    )


def _open_budgets(panel: Panel, *, counts_answers: bool, who: str, now: datetime.datetime) -> int:
    """Open the budgets of a panel, with its first study; return the one for answers."""
    panel.central_budget = open_budget(
        panel,
        f"panel:{panel.slug}",
        unit=panel.unit,
        counts_answers=counts_answers,
        who=who,
        now=now,
    )
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
    """Write down that the site's admin gave a study with cleartext answers more, and why."""
    questions = list(study.questions.all())
    asks = any(each.protection == Question.Protection.PUBLICATION for each in questions)
    usual = terms.usual_given_cap(study, questions), terms.GIVEN_BATCH
    limits = terms.given_limits(study, questions)
    if not asks or limits == usual:
        return
    old, new = (
        IN_CLEAR_LIMITS(cap=f"ε {plain(cap)}", count=batch) for cap, batch in (usual, limits)
    )
    ledger.record(
        budget_id=study.budget_id,
        what=IN_CLEAR(study=study.slug),
        old=old,
        new=new,
        why=f"{study.given_why}",
        who=f"{study.given_by}",
        now=now,
    )
