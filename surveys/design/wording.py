"""What the terms of a study mean, in sentences for whoever sets them; never from data."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.formats import date_format
from django.utils.translation import gettext as _, ngettext

from dpengine.bounds import exp_above
from dpengine.privacy import LARGEST_EPSILON, epsilon_above, plain
from surveys.design import days, terms
from surveys.design.models import Panel, Plan, Rule, Study, Unit
from surveys.guesses import even_guess, even_guess_within
from surveys.ledger import selectors as ledger
from surveys.plan.content import PlanContent
from surveys.plan.records import ONE_ANSWER, n_is_public, people_in


def cap_means(capped: Study | Panel, loss: Fraction | None = None) -> str:
    """Say what the cap does to a reader's odds, and what its δ adds.

    `loss` is e^ε of all answers of one person, where all are changed on the device: a first wave's
    readers learn no more. Later waves may repeat draws, and the cap alone holds for all of them.
    """
    about = {"whom": whom(capped.unit)}
    if loss is not None and (most := _most_lost(capped, loss)) and most < capped.cap:
        of_wave = _(
            "Someone who knows all other answers, and was 50 in 100 sure of something about "
            "%(whom)s, can become at most %(sure)s in 100 sure from all releases of this wave: "
            "devices reveal no more. Later waves add to that, up to the cap."
        ) % {"sure": even_guess(loss), **about}
        return f"{of_wave} {_delta_means(capped)}"
    cap, delta = capped.cap, Fraction(capped.cap_delta)
    sure = even_guess_within(cap, delta)  # twin of cleartext.js
    parts = {"sure": sure, "people": people_in(capped.unit), **about}
    if not n_is_public(capped.neighbours):
        growth = Fraction(exp_above(Fraction(cap)))
        parts["answer"] = even_guess_within(2 * cap, min(delta * (1 + growth), Fraction(1)))
        odds = _(
            "Someone who knows all other answers, and was 50 in 100 sure whether one person took "
            "part, can become at most %(sure)s in 100 sure from all releases. Of what "
            "that person answered: %(answer)s in 100."
        )
        if parts["people"] != 1:
            odds = _(
                "Someone who knows all other answers, and was 50 in 100 sure whether a household "
                "of at most %(people)s people took part, can become at most %(sure)s in 100 sure "
                "from all releases. Of what they answered: %(answer)s in 100."
            )
    else:
        odds = _(
            "Someone who knows all other answers, and was 50 in 100 sure of something about "
            "%(whom)s, can become at most %(sure)s in 100 sure from all releases."
        )
    return f"{odds % parts} {_delta_means(capped)}"


def whom(unit: str) -> str:
    """Return whom, or what of them, publications protect: what a loss by them is about."""
    if unit == ONE_ANSWER:
        return _("one answer of a person")
    if (people := people_in(unit)) > 1:
        return _("a household of at most %(people)s people") % {"people": people}
    return _("one person")


def of_person(content: PlanContent) -> str:
    """Say what one person can lose where one of their answers is protected; else nothing."""
    if content.unit != ONE_ANSWER:
        return ""
    return ngettext(
        "One person gives %(answers)s such answer.",
        "One person gives up to %(answers)s such answers, and all of them together can lose as "
        "many times as much.",
        content.answers,
    ) % {"answers": content.answers}


def readers_of_given(content: PlanContent) -> str:
    """Say what all publications let a reader know of one person's answers that are sent as given;
    nothing where there are none. Twin of cleartext.js.
    """
    if not content.cleartext:
        return ""
    answers = len(content.cleartext) if content.unit == ONE_ANSWER else 1
    caps = max(content.waves, 1) if content.unit == Unit.RESPONDENT_IN_WAVE else 1
    lost = caps * answers * Decimal(content.caps.central_epsilon)
    lost *= 1 if content.n_is_public else 2
    delta = caps * Fraction(content.caps.central_delta or 0)
    if not content.n_is_public:
        delta *= 1 + exp_above(Fraction(lost) / 2)
    return _(
        "Someone who knows all other people’s answers can guess these of one "
        "person from all releases together: right at most %(sure)s times in 100 "
        "(ε %(sum)s)."
    ) % {
        "sure": even_guess_within(min(lost, LARGEST_EPSILON), min(delta, Fraction(1))),
        "sum": plain(lost),
    }


def neighbours_of(content: PlanContent) -> str:
    """Say what two neighbouring sets of answers differ in."""
    if content.unit == ONE_ANSWER:
        return _(
            "one person answers one question, with those that follow from it, differently; how "
            "many answered is public"
        )
    if content.people == 1:
        if content.n_is_public:
            return _("one person answers differently; how many answered is public")
        return _("one person more or less; how many took part is published with noise only")
    parts = {"people": content.people}
    if content.n_is_public:
        text = _(
            "the people of one household, at most %(people)s, answer differently; how many "
            "answered is public"
        )
    else:
        text = _(
            "one household of at most %(people)s people more or less; how many took part is "
            "published with noise only"
        )
    return text % parts


def _delta_means(capped: Study | Panel) -> str:
    if isinstance(capped, Study) and terms.counts_answers(capped):
        return _("Without a δ this always holds. What answers lost once is not charged again.")
    if not terms.is_concentrated(capped):
        return _("Without a δ this always holds, and costs add up: two publications of ε 1 are 2.")
    most = int(1 / (100 * Fraction(capped.cap_delta)))
    return _(
        "With this δ that bound holds on average, and in rare cases it does not: %(beyond)s. It is "
        "fit for up to %(most)s answers: then "
        "that happens to "
        "one person in fifty such studies at most. In return, many publications cost less than "
        "their sum."
    ) % {"beyond": beyond_cap(capped.cap_delta), "most": f"{most:,}"}


def beyond_cap(delta: str) -> str:
    """Say what the δ of a cap lets through: beyond 2·e^ε with a chance of 2δ at most."""
    return _(
        "odds can grow to more than twice what the cap says, with a chance of %(chance)s at most"
    ) % {"chance": twice(Fraction(delta))}


def twice(delta: Fraction) -> str:
    """Return 2δ for people, rounded up."""
    return _("1 in %(many)s") % {"many": f"{int(1 / (2 * delta)):,}"}


def _most_lost(capped: Study | Panel, loss: Fraction) -> Decimal | None:
    """Return the ε of all that devices give away; None where charges do not count that."""
    if not isinstance(capped, Study) or not terms.counts_answers(capped):
        return None
    return epsilon_above(loss, 2)


def waves_of(content: PlanContent) -> str:
    """Say how many waves are planned, and how chance falls in them."""
    if not content.waves:
        return _(
            "its first Plan was made before Plans said how many; a device that kept its key then "
            "sends an unchanged answer the same way again"
        )
    if content.waves == 1:
        return _("one is planned")
    if content.keeps_key:
        text = _(
            "%(waves)s are planned; devices keep a key, and an unchanged answer is sent the same "
            "way again. That an answer changed can be seen."
        )
    else:
        text = _(
            "%(waves)s are planned; each randomises all answers again. All of them together give "
            "away ε %(epsilon)s of one person at most."
        )
    return text % {"waves": content.waves, "epsilon": epsilon_above(content.loss_of_waves, 2)}


def rule_means(study: Study, loss: Fraction | None = None) -> str:
    """Say when something is published, and what it costs; `loss` as in `cap_means`."""
    amounts = {"cost": plain(study.release_epsilon), "cap": plain(study.cap)}
    if study.release_epsilon > study.cap:
        return (
            _(
                "One publication costs ε %(cost)s, which is more than the cap of %(cap)s: "
                "nothing would ever be published."
            )
            % amounts
        )
    if loss is not None and (most := _most_lost(study, loss)):
        amounts["cost"] = plain(min(study.release_epsilon, most))
    amounts["left"], times = _left_for(study)
    if terms.counts_answers(study) and study.rule in (Rule.WHEN_CLOSED, Rule.EVERY):
        return _counted_means(study, amounts)
    match study.rule:
        case Rule.EVERY:
            return _every_means(study, times, amounts)
        case Rule.CONTINUAL if terms.is_concentrated(study):
            return _continual_means(study)
        case Rule.CONTINUAL:
            return _("This rule needs a cap with a δ: choose one above.")
        case Rule.ON_REQUEST:
            return (
                _(
                    "Nothing is published until a researcher asks. "
                    "By itself, a query costs up to ε %(cost)s of the cap of %(cap)s."
                )
                % amounts
            )
        case _:
            return _when_closed_means(study, times, amounts)


def _left_for(study: Study) -> tuple[Decimal, int]:
    """Return the ε that is left of the cap, and for how many publications it pays."""
    if study.budget_id is None:
        return plain(study.cap), terms.publications_paid(study)
    account = ledger.account(study.budget_id)
    sign = "ρ" if terms.is_concentrated(study) else account.budget.measure
    left = max(account.left_in(sign), Decimal(0))
    return plain(account.left_in(account.measure)), terms.publications_paid(study, left)


def _when_closed_means(study: Study, times: int, amounts: Mapping[str, Decimal]) -> str:
    parts = {**amounts, "times": f"{times:,}"}
    if study.budget_id is None:
        return (
            ngettext(
                "One publication when a wave has closed, for ε %(cost)s: the cap of %(cap)s pays "
                "for one of them.",
                "One publication when a wave has closed, for ε %(cost)s: "
                "the cap of %(cap)s pays for %(times)s of them.",
                times,
            )
            % parts
        )
    if not times:
        return (
            _(
                "One publication when a wave has closed, for ε %(cost)s: of the cap of %(cap)s, "
                "%(left)s is left, which does not pay for one more."
            )
            % parts
        )
    return (
        ngettext(
            "One publication when a wave has closed, for ε %(cost)s: of the cap of %(cap)s, "
            "%(left)s is left, which pays for one more.",
            "One publication when a wave has closed, for ε %(cost)s: of the cap of %(cap)s, "
            "%(left)s is left, which pays for %(times)s more.",
            times,
        )
        % parts
    )


def _counted_means(study: Study, amounts: dict[str, Decimal]) -> str:
    """Say the same where charges are what answers lose: nothing is lost twice."""
    if study.rule == Rule.WHEN_CLOSED and study.planned > 1:
        return _(
            "One publication when each of the %(waves)s waves has closed, for at most ε %(cost)s "
            "each of the cap of %(cap)s; %(left)s of it is left."
        ) % {**amounts, "waves": study.planned}
    if study.rule == Rule.WHEN_CLOSED:
        return (
            _(
                "One publication when this wave has closed, for at most ε %(cost)s of the cap of "
                "%(cap)s."
            )
            % amounts
        )
    return _(
        "One publication %(span)s, for at most ε %(cost)s of the cap of %(cap)s: what answers lost "
        "already is not charged again."
    ) % {**amounts, "span": hours_said(study.hours)}


def _every_means(study: Study, times: int, amounts: dict[str, Decimal]) -> str:
    if study.budget_id is not None:
        return _(
            "One publication %(span)s, for ε %(cost)s each: of the cap of %(cap)s, %(left)s is "
            "left, which pays for %(times)s more."
        ) % {**amounts, "span": hours_said(study.hours), "times": f"{times:,}"}
    return ngettext(
        "One publication %(span)s, for ε %(cost)s each: the cap of %(cap)s pays for one, all "
        "waves together.",
        "One publication %(span)s, for ε %(cost)s each: the cap of %(cap)s pays for %(times)s, "
        "all waves together.",
        times,
    ) % {**amounts, "span": hours_said(study.hours), "times": f"{times:,}"}


def _continual_means(study: Study) -> str:
    days = Fraction(study.hours * study.horizon, 24)
    rho = terms.rho_within(study.release_epsilon, study.cap_delta)
    return _(
        "%(times)d publications, one %(span)s: %(days)s in all. All are paid on the first "
        "day, with ε %(cost)s (ρ %(rho)s), and each is free after that. Their error grows with "
        "the logarithm of their number: paid one by one with the same ε, it would grow with the "
        "square root."
    ) % {
        "times": study.horizon,
        "span": hours_said(study.hours),
        "days": _days(days),
        "cost": plain(study.release_epsilon),
        "rho": f"{rho:f}",
    }


def people_of(n: int, content: PlanContent) -> str:
    """Return how many there are: “about” so many where that is published with noise only."""
    said = intcomma(n)
    return said if content.n_is_public else _("about %(n)s") % {"n": said}


def hours_said(hours: int) -> str:
    if hours % 24:
        return ngettext("every hour", "every %(count)d hours", hours) % {"count": hours}
    return ngettext("every day", "every %(count)d days", hours // 24) % {"count": hours // 24}


def panel_means(panel: Panel) -> str:
    """Say what the cap on all answers of one person does."""
    sure = even_guess_within(panel.local_cap)
    return _(
        "Opening a wave uses the part of ε %(cap)s that its answers lose on the "
        "device. A wave that does not fit is not opened. From everything "
        "randomised that one person ever sent to these studies, someone 50 in 100"
        " sure can become at most %(sure)s in 100 sure."
    ) % {"cap": plain(panel.local_cap), "sure": sure}


def spending(budget_id: int | None) -> str:
    """Say what the ledger says of a budget."""
    if budget_id is None:
        return _("Nothing can be spent before the first wave opens.")
    statement = ledger.Statement(ledger.account(budget_id))
    sign, budget = statement.measure, statement.account.budget
    sentences = [
        _("%(sign)s %(spent)s of %(cap)s is spent, %(left)s is left.")
        % {
            "sign": sign,
            "spent": statement.spent,
            "cap": statement.cap,
            "left": f"{statement.left} {statement.or_left}".strip(),
        }
    ]
    if budget.weekly is not None:
        weekly = {"sign": budget.measure, "weekly": plain(budget.weekly)}
        sentences.append(_("At most %(sign)s %(weekly)s in any seven days.") % weekly)
    if budget.retired_on is not None:
        sentences.append(
            _("Ended on %(day)s.") % {"day": date_format(budget.retired_on, "DATE_FORMAT")}
        )
    return " ".join(sentences)


def retiring_means(study: Study) -> list[str]:
    """Say what retiring a study does, for whoever is about to do it."""
    return [
        _(
            "The study takes no further responses. A wave that is collecting "
            "closes now, and it is the last one."
        ),
        _("Nothing is published ever again, not even what the cap could still pay for."),
        _(
            "Answers that are kept, sealed or not, and their counts are erased within minutes; "
            "backups keep theirs, "
            "and PostgreSQL’s own log does until it is written over."
        ),
        _(
            "Releases stay, and so do the ledger, the Plans, the number of "
            "responses and every receipt."
        ),
        " ".join([_("This cannot be undone."), spending(study.budget_id)]),
    ]


def lowering_means(capped: Study | Panel, cap: Decimal) -> list[str]:
    """Say what lowering a cap does."""
    fall = _("The cap is ε %(cap)s now. It can fall, not below what is spent, and never rise.") % {
        "cap": plain(cap)
    }
    if isinstance(capped, Study):
        reached = _("When it is used up, the study ends.")
    else:
        reached = _("When it is reached, nothing more is charged to it.")
    return [
        f"{fall} {reached}",
        _(
            "Releases stay. A wave that is collecting goes on. Without enough "
            "budget, nothing more is published."
        ),
        _("Everyone can read in the ledger who lowered it, when, from what to what, and why."),
    ]


def _days(days: Fraction) -> str:
    whole = int(days)
    if not whole:
        return _("less than a day")
    return ngettext("%(days)s day", "%(days)s days", whole) % {"days": f"{whole:,}"}


@dataclass(frozen=True, slots=True)
class StudyStatus:
    """Where a study stands, in words."""

    state: str
    since: str  # or until
    text: str  # both
    is_live: bool = False

    @classmethod
    def of(cls, study: Study, plan: Plan | None) -> "StudyStatus":
        if study.retired_on:
            day = date_format(study.retired_on)
            return cls(_("Ended"), day, _("Ended %(day)s") % {"day": day})
        if plan is None:
            return cls(_("Draft"), "", _("Draft of wave %(wave)s") % {"wave": study.wave})
        if plan.closed_on:
            day = date_format(plan.closed_on)
            return cls(_("Closed"), day, _("Closed %(day)s") % {"day": day})
        if plan.closes_on:
            parts = {"day": days.told(plan.closes_on, plan.zone)}
            until, text = _("until %(day)s") % parts, _("Open until %(day)s") % parts
            return cls(_("Open"), until, text, is_live=True)
        since = _("since %(day)s") % {"day": date_format(plan.opened_on)}
        return cls(_("Open"), since, _("Open"), is_live=True)
