"""The terms of a study as its Plan states them, in decimal strings, and as the ledger holds them.

A cap without a δ is pure: the ledger adds up ε. A cap (ε, δ) is kept as ε or (ρ, δ/2), whichever
sum holds: half of δ is for the conversion of ρ to ε (Canonne, Kamath and Steinke 2020), half for
mechanisms that have a δ of their own. Both roundings go down, so whatever the ledger admits keeps
the promise (ε, δ). Budgets that are older hold by (ρ, δ/2) alone.

By hand    cap (2, 10⁻⁶): ρ = 0.083441717, δ of mechanisms 5·10⁻⁷. One publication of (1, 10⁻⁶)
           costs ρ = 0.022937446, so the cap pays for three, where adding up ε would pay for two.
"""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from dpengine.accounting.concentrated import rho_of
from dpengine.contraction import Noise
from dpengine.privacy import Cost, Neighbours, epsilon_above, plain, round_down
from surveys.design import blocks, combinations, days
from surveys.design.combinations import IN_WAVE
from surveys.plan.content import ANSWERS, COMMON, FRESH, KEPT, Caps, PlanContent, PublicationTerms
from surveys.plan.kinds import PUBLICATION
from surveys.plan.records import ONE_ANSWER, WHOLE, n_is_public
from surveys.zones import UTC

if TYPE_CHECKING:
    from surveys.design.models import Panel, Question, SiteLimits, Study
    from surveys.ledger.models import Budget

# /registry/ledger.json is the ledger of all studies, /studies/new/ begins one
RESERVED = {"ledger", "new"}
# for a study with answers sent in the clear, unless its site's admin gives more
GIVEN_CAP, GIVEN_BATCH = Decimal(1), 50
GIVEN_PLACES = 3  # decimals of a cap that many answers share
PANEL = "respondent-in-panel"  # whose people are respondents in each of its studies
WIDEST = 50  # percent of what is possible that an interval may cover, unless somebody confirms it
# ε of the smallest publication that can be asked for: with less left, a cap is reached
MIN_REQUEST = Decimal("0.001")
MOST_CHOICES = 6_000  # of all questions


def is_concentrated(capped: "Study | Panel") -> bool:
    return Fraction(capped.cap_delta) > 0


def rho_within(epsilon: Decimal, cap_delta: str) -> Decimal:
    """Return the ρ that keeps ε at half of a cap's δ."""
    return plain(rho_of(Fraction(epsilon), Fraction(cap_delta) / 2))


def caps(study: "Study") -> Caps:
    """Return what all publications may ever lose."""
    has_delta = is_concentrated(study)
    return Caps(
        central_epsilon=f"{plain(study.cap)}",
        central_delta=str(study.cap_delta) if has_delta else None,
        central_rho=f"{rho_within(study.cap, study.cap_delta):f}" if has_delta else None,
        panel=study.panel.slug if study.panel is not None else None,
    )


def cap_in(budget: "Budget", capped: "Study | Panel", epsilon: Decimal) -> Decimal:
    """Return a cap of ε in the measure of the budget that holds it: older ones may be in ρ."""
    return epsilon if budget.measure == "ε" else rho_within(epsilon, capped.cap_delta)


def counts_answers(study: "Study") -> bool:
    """Tell whether charges can be what answers lose through their devices' chance.

    Of a first wave, and of all whose draws are fresh: a later one may else repeat what was drawn.
    Of whole people, change-one; in ε. A study or a panel that was opened before counts what reports
    lose, as it began.
    """
    panel = study.panel
    return (
        (study.wave == 1 or study.is_fresh)
        and _can_count_answers(study, study.budget)
        and (panel is None or _can_count_answers(panel, panel.central_budget))
    )


def _can_count_answers(capped: "Study | Panel", budget: "Budget | None") -> bool:
    if budget is not None:
        return budget.counts_answers
    is_whole = capped.unit in (WHOLE, PANEL, ONE_ANSWER)
    is_whole = is_whole and capped.neighbours == Neighbours.CHANGE_ONE
    return is_whole and not is_concentrated(capped)


def publication(study: "Study") -> PublicationTerms:
    """Return when and at what cost numbers are published."""
    rho = rho_within(study.release_epsilon, study.cap_delta) if is_concentrated(study) else None
    return PublicationTerms(
        epsilon=f"{plain(study.release_epsilon)}",
        rule=str(study.rule),
        counts=ANSWERS if counts_answers(study) else "",
        accounting=COMMON if counts_answers(study) else 0,
        widest=(study.widest or WIDEST) % 100,
        smallest_batch=study.smallest_batch,
        hours=study.hours if study.rule in ("every", "continual") else 0,
        horizon=study.horizon if study.rule == "continual" else 0,
        rho=None if rho is None else f"{rho:f}",
    )


def smallest(content: PlanContent) -> list[Cost]:
    """Return what the smallest publications of each question that can be asked for cost.

    One of answers that lost all already, because they were published as they came, costs nothing.
    """
    least, costs = Fraction(MIN_REQUEST), []
    for name in content.losses:
        strength = content.publication.noise_within(content.question(name), least)
        noise = Noise(frozenset([content.report_of(name)]), strength)
        costs.append(Cost.pure_exactly(content.people * least, content.reading([name], [noise])))
    return costs


def draws(study: "Study") -> str:
    """Return how chance falls in a study's waves, as its Plan says it."""
    if not study.says_waves:
        return ""
    return FRESH if study.is_fresh else KEPT


def in_a_wave(study: "Study", epsilon: Decimal) -> Decimal:
    """Return what one wave has of what a person may lose in all that are planned: an equal part
    where each is drawn anew; all of it where an answer that stays is sent alike again.
    """
    if not study.is_fresh or study.planned == 1:
        return epsilon
    return round_down(Fraction(epsilon) / study.planned)


def in_all_waves(study: "Study", epsilon: Decimal) -> Decimal:
    """Return the reverse: what a person may lose in all waves, of what one wave has."""
    return epsilon * max(study.planned, 1) if study.is_fresh else epsilon


def usual_cost(study: "Study", cap: Decimal | None = None) -> Decimal:
    """Return what one publication costs, unless somebody says otherwise: an equal part of the cap
    for each wave.
    """
    return round_down(Fraction(study.cap if cap is None else cap) / max(study.planned, 1))


def publications_paid(study: "Study", left: Decimal | None = None) -> int:
    """Return how many publications (for `continual`: whole horizons) the cap pays for, or what is
    `left` of it, in its own measure.
    """
    cap, cost = study.cap, study.release_epsilon
    if is_concentrated(study):
        cap, cost = (rho_within(epsilon, study.cap_delta) for epsilon in (cap, cost))
    return max(0, int((cap if left is None else left) // cost))


def problem_of_waves(study: "Study") -> str:
    """Return why the cap cannot pay for all waves that are planned, before the first; or nothing.

    A wave whose numbers are published only as somebody asks has no cost that is known.
    """
    each, planned = study.release_epsilon, study.planned
    if study.wave > 1 or planned < 2 or study.rule == "on-request" or study.unit == IN_WAVE:
        return ""
    if study.cap is None or each is None or publications_paid(study) >= planned:
        return ""
    text = _(
        "%(waves)s waves are planned, and the cap of %(cap)s does not pay for a publication of ε "
        "%(cost)s in each. Let one publication cost %(most)s at most, or plan fewer waves."
    )
    most = _text(usual_cost(study))
    return text % {"waves": planned, "cap": _text(study.cap), "cost": _text(each), "most": most}


def problems(study: "Study") -> dict[str, str]:
    """Return what of a study's terms cannot be, by field; nothing if all can."""
    own = dict(_problems_alone(study))
    return own | problems_of_panel(study) | dict(combinations.problems(combinations.chosen(study)))


def _problems_alone(study: "Study") -> "Iterator[tuple[str, str]]":
    """Yield which amounts and days do not go together, each with its field."""
    cap, cost = study.cap, study.release_epsilon
    floor, ceiling = study.epsilon_floor, study.epsilon_ceiling
    begins, closes, retires = study.begins_on, study.closes_on, study.retires_on
    if cap is not None and cost is not None and cost > cap:
        yield (
            "release_epsilon",
            _("One publication must cost at most the cap of %(cap)s; it is %(cost)s.")
            % {"cap": _text(cap), "cost": _text(cost)},
        )
    # a last day ends in the study's zone, and retirement comes at midnight in UTC
    if closes and retires and days.ends_at(closes, study.zone) > days.begins_at(retires, UTC):
        yield (
            "retires_on",
            _("The study must end after the last day of collecting, %(last)s, but ends on %(day)s.")
            % {"last": days.told(closes, study.zone), "day": days.told(retires, UTC)},
        )
    if begins and closes and closes < begins:
        first, day = (date_format(each, "DATE_FORMAT") for each in (begins, closes))
        yield (
            "closes_on",
            _("The last day must not be before the first, %(first)s; it is %(day)s.")
            % {"first": first, "day": day},
        )
    if begins and retires and begins >= retires:
        yield (
            "begins_on",
            _("The first day must be before the end of the study, %(day)s.")
            % {"day": date_format(retires, "DATE_FORMAT")},
        )
    if floor is not None and ceiling is not None and floor > ceiling:
        yield (
            "epsilon_ceiling",
            _("The maximum ε must be at least the minimum, %(least)s; it is %(most)s.")
            % {"least": _text(floor), "most": _text(ceiling)},
        )
    if study.slug in RESERVED:
        yield (
            "slug",
            _("“%(slug)s” is a file of the registry; choose another.") % {"slug": study.slug},
        )


def problems_of_panel(study: "Study") -> dict[str, str]:
    """A charge goes to study and panel alike, so both must count the same thing."""
    if study.panel is None:
        return {}
    if study.neighbours != study.panel.neighbours:
        text = _("Neighbours must be those of the panel, %(panel)s; it is %(study)s.")
        return {"neighbours": text % {"panel": study.panel.neighbours, "study": study.neighbours}}
    if is_concentrated(study) and not is_concentrated(study.panel):
        text = _(
            "δ must be none in a panel whose cap has none; the panel pays for mechanisms without "
            "one."
        )
        return {"cap_delta": text}
    return {}


def allowed_epsilon(study: "Study", limits: "SiteLimits") -> tuple[Decimal, Decimal]:
    """Return the least and the greatest ε of an answer that the study and the site allow."""
    floor = max(study.epsilon_floor, limits.epsilon_floor)
    return floor, min(study.epsilon_ceiling, limits.epsilon_ceiling)


def problem_of_epsilon(study: "Study", epsilon: Decimal, limits: "SiteLimits") -> str:
    """Return why an answer of this study may not have this ε, or nothing if it may."""
    floor, ceiling = allowed_epsilon(study, limits)
    if floor <= epsilon <= ceiling:
        return ""
    return _("ε must be between %(least)s and %(most)s; it is %(epsilon)s.") % {
        "least": _text(floor),
        "most": _text(ceiling),
        "epsilon": _text(epsilon),
    }


def problem_of_person(content: PlanContent, limits: "SiteLimits") -> str:
    """Return why one person may not give away so much, or so little, on this site; or nothing.

    Of what devices change, in all waves that are planned; where they change nothing, there is no ε.
    """
    found, floor, ceiling = (
        epsilon_above(content.loss_of_waves, 2),
        limits.person_floor,
        limits.person_ceiling,
    )
    if content.loss == 1 or floor <= found <= ceiling:
        return ""
    return _(
        "What one person gives away must be ε %(least)s to %(most)s on this site; it is %(found)s."
    ) % {"least": _text(floor), "most": _text(ceiling), "found": _text(found)}


def problem_of_cap(study: "Study", limits: "SiteLimits") -> str:
    """Return why a study may not open with its cap, or nothing if it may."""
    if study.cap is None or study.cap <= limits.cap_ceiling:
        return ""
    return _("The cap must be at most the site’s limit of %(most)s; it is %(cap)s.") % {
        "most": _text(limits.cap_ceiling),
        "cap": _text(study.cap),
    }


def named_problems(
    study: "Study", questions: "Iterable[Question]", limits: "SiteLimits"
) -> list[tuple[str, str]]:
    """Return what of a study's terms cannot be, with its questions and on its site, each with its
    field; "" where it is the questions'.
    """
    questions = list(questions)
    alone = (
        ("cap", problem_of_cap(study, limits)),
        ("waves", problem_of_waves(study)),
        ("asked", blocks.problem_of_asked(study, questions)),
        ("", blocks.problem_of_weights(questions)),
        ("", problem_of_choices(questions)),
    )
    found = [
        *problems(study).items(),
        *combinations.of_questions(study, questions),
        *alone,
        *problems_of_given(study, questions).items(),
    ]
    return [(field, problem) for field, problem in found if problem]


def problem_of_choices(questions: "Iterable[Question]") -> str | None:
    """Return what is wrong where questions have too many choices in all: each is a row of the
    results, which anybody may ask for, as often as they like.
    """
    found = sum(len(question.options) for question in questions)
    if found <= MOST_CHOICES:
        return None
    return _("All questions together have %(most)s choices at most; these have %(found)s.") % {
        "most": f"{MOST_CHOICES:,}",
        "found": f"{found:,}",
    }


def given_answers(study: "Study", questions: "Iterable[Question]") -> int:
    """Return how often the cap holds for what one person sends as given: for each such answer where
    one answer is protected, in each wave that is planned where a wave has a cap of its own, else
    once, for it holds for the person.
    """
    if study.unit == IN_WAVE:
        return max(study.planned, 1)
    given = sum(question.protection == PUBLICATION for question in questions)
    return max(given, 1) if study.unit == ONE_ANSWER else 1


def usual_given_cap(study: "Study", questions: "Iterable[Question]") -> Decimal:
    """Return the greatest cap where answers are sent as given, without a reason.

    Who knows all answers but those of one person (nine of ten people are their own) learns these
    from totals as far as the cap lets them: at ε = 8 with 3,999 guesses of 4,000 right, at ε = 1
    with 74 of 100 at most (guesses.even_guess_within). Where whether somebody took part is
    protected, half of it: another answer is one person less and one more. Where one answer is
    protected, the same question asked in other words is one answer more: 40 of them at ε = 1 each
    gave the answer in 300 of 300 tries. So given answers × cap is 1 at most for one person; and
    waves × cap, where each wave has a cap of its own: the same question can be asked in each.
    """
    cap = GIVEN_CAP if n_is_public(study.neighbours) else GIVEN_CAP / 2
    return plain(round_down(Fraction(cap) / given_answers(study, questions), GIVEN_PLACES))


def given_limits(study: "Study", questions: "Iterable[Question]") -> tuple[Decimal, int]:
    """Return the greatest cap and the least batch where answers are sent as given, as the site's
    admin gave them with a reason, or as usual.
    """
    usual = usual_given_cap(study, questions)
    if not study.given_why:
        return usual, GIVEN_BATCH
    cap = usual if study.given_cap is None else study.given_cap
    return cap, GIVEN_BATCH if study.given_batch is None else study.given_batch


def problems_of_given(study: "Study", questions: "Iterable[Question]") -> dict[str, str]:
    """Return what cannot be, by field, if one of a study's questions is sent as given."""
    questions = list(questions)
    if not any(question.protection == PUBLICATION for question in questions):
        return {}
    (cap, batch), answers = given_limits(study, questions), given_answers(study, questions)
    reasons = {}
    if study.cap is not None and study.cap > cap:
        text = _(
            "If answers are not randomised, the cap must be ε %(most)s at most; "
            "it is %(cap)s. The site’s admin can give this study more, with a "
            "reason."
        )
        reasons["cap"] = text % {"most": _text(cap), "cap": _text(study.cap)}
        if answers > 1:
            text = _(
                "It holds for each of a person’s %(count)s answers that are not "
                "randomised: together they lose ε %(sum)s."
            )
            if study.unit == IN_WAVE:
                text = _(
                    "It holds anew in each of the %(count)s waves: in all of them one person loses "
                    "ε %(sum)s."
                )
            sum_of = {"count": answers, "sum": _text(answers * study.cap)}
            reasons["cap"] = f"{reasons['cap']} {text % sum_of}"
    if study.smallest_batch is not None and study.smallest_batch < batch:
        text = _(
            "If answers are not randomised, nothing is published before %(least)s"
            " responses; it is %(batch)s. The site’s admin can allow this study "
            "fewer, with a reason."
        )
        reasons["smallest_batch"] = text % {"least": batch, "batch": study.smallest_batch}
    return reasons


def least_batch(study: "Study") -> int:
    """Return the least batch that a saved draft may have for what it sends as given; 0: any."""
    questions = study.questions.all()
    is_given = any(question.protection == PUBLICATION for question in questions)
    return given_limits(study, questions)[1] if is_given else 0


def fit_given(study: "Study") -> None:
    """Bring a study's terms within what answers sent as given need, not saved.

    Its cap stays once the ledger holds it: then it is refused instead.
    """
    cap, batch = given_limits(study, study.questions.all())
    study.smallest_batch = max(study.smallest_batch, batch)
    if study.budget_id is None:
        study.cap = min(study.cap, cap)
        study.release_epsilon = min(study.release_epsilon, cap)


def _text(amount: Decimal | int) -> str:
    return str(plain(Decimal(amount)))  # a default that was never saved is an int
