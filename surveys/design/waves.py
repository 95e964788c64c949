"""What a later wave may take of its study: it is one of those that were planned, the cap can pay
for it, and a person loses no more in all of them than the first one said.

A wave that could publish nothing is refused before it opens, with what to change: open, it would
take answers for nothing, and its study would be found spent and retired.
"""

import math
from fractions import Fraction

from django.utils.translation import gettext as _, gettext_lazy
from msgspec.structs import replace

from dpengine.contraction import Noise, Reading
from dpengine.privacy import Cost, epsilon_above, plain
from surveys.design import changes, terms
from surveys.design.models import Plan, Rule, Study
from surveys.ledger import selectors as ledger
from surveys.plan.content import ANSWERS, FRESH, PlanContent

LASTING_TERMS = {  # and what people call them
    "slug": gettext_lazy("address"),
    "unit": gettext_lazy("one record"),
    "neighbours": gettext_lazy("what publications protect"),
    "results": gettext_lazy("who reads the numbers"),
    "waves": gettext_lazy("how many waves are planned"),
    "draws": gettext_lazy("chance in later waves"),
}
TOLD = 2  # decimals of a person's ε, rounded up, as everybody reads it


def problem(study: Study, content: PlanContent) -> tuple[str, str]:
    """Return why a wave that is drafted cannot open and what to change, after the field at which
    that is mended, if it is one; nothing of a first wave.
    """
    earlier = list(study.plans.filter(wave__lt=content.wave).order_by("wave"))
    if not earlier:
        return "", ""
    if found := _not_as_before(study, earlier[0].content, content) or _not_planned(content):
        return "", found
    if found := _more_of_a_person(earlier, content):
        return "person", found
    return "release_epsilon", _not_paid(study, content, _publication(content))


def problem_of_next(study: Study) -> str:
    """Return why there can be no wave after the newest one; nothing where there is none yet."""
    plan = study.plans.order_by("-wave").first()
    if plan is None:
        return ""
    content, publication = plan.content, plan.content.publication
    if content.draws != FRESH:
        publication = replace(publication, counts="", accounting=0)
    following = replace(content, wave=content.wave + 1, publication=publication)
    return _not_planned(following) or _not_paid(study, following, terms.smallest(following))


def _not_as_before(study: Study, first: PlanContent, content: PlanContent) -> str:
    """Say what all waves share, and this one has otherwise: address, unit, readers, list, cap."""
    lasting = [
        (said, *(_said(term, getattr(each, term)) for each in (first, content)))
        for term, said in LASTING_TERMS.items()
    ]
    caps = first.caps, content.caps
    lasting += [
        (_("the δ of the cap"), caps[0].central_delta, caps[1].central_delta),
        (_("the panel"), caps[0].panel, caps[1].panel),
    ]
    for term, then, now in lasting:
        if then != now:
            text = _(
                "All waves of a study have this alike, %(term)s: “%(then)s” since wave 1, and now "
                "“%(now)s”. Set it back, or make a new study."
            )
            parts = {"then": then or _(changes.NOTHING), "now": now or _(changes.NOTHING)}
            return text % {"term": term, **parts}
    if (first.invited is None) != (content.invited is None):
        return _("A list or an open link: this is fixed since wave 1.")
    budget = study.budget
    if budget is None or budget.cap == terms.cap_in(budget, study, study.cap):
        return ""
    return _(
        "The cap in the ledger is %(sign)s %(cap)s, and not what the draft's ε %(draft)s makes. A "
        "cap can only be lowered, with a reason."
    ) % {"sign": budget.measure, "cap": plain(budget.cap), "draft": plain(study.cap)}


def _said(term: str, value: object) -> object:
    """Return a term's value as forms say it."""
    return dict(Study._meta.get_field(term).flatchoices).get(value, value)  # type: ignore[union-attr]


def _not_planned(content: PlanContent) -> str:
    if not content.waves or content.wave <= content.waves:
        return ""
    if content.waves == 1:
        return _(
            "This study plans one wave, and a person’s ε is for that one. To ask again, make a new "
            "study and say there how many waves you plan."
        )
    return _(
        "This study plans %(waves)s waves, and a person’s ε is for those. To ask again, make a new "
        "study and say there how many waves you plan."
    ) % {"waves": content.waves}


def _more_of_a_person(earlier: list[Plan], content: PlanContent) -> str:
    """Say that a person would lose more in all waves than the first one said."""
    first = earlier[0].content
    if not first.waves:
        return ""
    lost = math.prod((plan.content.loss for plan in earlier), start=Fraction(1))
    following = content.waves - content.wave + 1
    said = epsilon_above(first.loss_of_waves, TOLD)
    if epsilon_above(lost * content.loss**following, TOLD) <= said:
        return ""
    text = _(
        "One person would give away ε %(found)s in all waves, and wave 1 said ε %(said)s at most. "
        "Lower the ε of some questions, or ask fewer."
    )
    found = epsilon_above(lost * content.loss**following, TOLD)
    return text % {"found": found, "said": said}


def _publication(content: PlanContent) -> list[Cost]:
    """Return what one publication of a wave by its rule costs: one of these is enough. Of what a
    researcher asks for, the least that can be asked.

    It costs what the Plan says, and no more than devices gave away, where that is counted.
    """
    publication = content.publication
    if publication.rule == Rule.ON_REQUEST:
        return terms.smallest(content)
    if publication.rho is not None:
        return [Cost.concentrated(Fraction(publication.rho))]
    epsilon, report = Fraction(publication.epsilon), f"{content.slug}/{content.wave}"
    as_said = Reading({report: None}, [Noise(frozenset([report]), epsilon)])
    costs = [Cost.pure_exactly(epsilon, as_said)]
    if publication.counts == ANSWERS and content.loss_of_record is not None:
        names = list(content.losses)
        noises = [Noise(frozenset([content.report_of(name)]), None) for name in names]
        most = Fraction(epsilon_above(content.loss_of_record))
        costs.append(Cost.pure_exactly(most, content.reading(names, noises)))
    return costs


def _not_paid(study: Study, content: PlanContent, costs: list[Cost]) -> str:
    """Say that study or panel cannot pay for what a wave publishes, and what would help."""
    panel = study.panel.central_budget_id if study.panel else None
    accounts = [ledger.account(each) for each in (study.budget_id, panel) if each is not None]
    for account in accounts:
        if not any(account.can_pay(cost, part=content.part) for cost in costs):
            return _way_out(account, content)
    return ""


def _way_out(account: ledger.Account, content: PlanContent) -> str:
    statement = ledger.Statement(account)
    parts = {
        "sign": statement.measure,
        "left": statement.left,
        "cap": statement.cap,
        "wave": content.wave,
        "cost": content.publication.epsilon,
    }
    if not any(account.can_pay(cost, part=content.part) for cost in terms.smallest(content)):
        return (
            _(
                "Nothing could be published of wave %(wave)s: %(sign)s %(left)s of the cap of "
                "%(cap)s is left, and a cap never rises. To ask again, make a new study and say "
                "there how many waves you plan."
            )
            % parts
        )
    return (
        _(
            "One publication of wave %(wave)s costs ε %(cost)s, and %(sign)s %(left)s of the cap "
            "of %(cap)s is left. Lower the cost of one release: Limits says how precise that is."
        )
        % parts
    )
