"""The terms of a study as its Plan states them and as the ledger holds them. Amounts are decimal strings.

A cap without a δ is pure: the ledger adds up ε. A cap (ε, δ) is kept as (ρ, δ/2): half of δ is for the conversion
of ρ to ε (Canonne, Kamath and Steinke 2020), half for mechanisms that have a δ of their own. Both roundings go
down, so whatever the ledger admits keeps the promise (ε, δ).

By hand    cap (2, 10⁻⁶): ρ = 0.083441717, δ of mechanisms 5·10⁻⁷. One publication of (1, 10⁻⁶) costs ρ = 0.022937446,
           so the cap pays for three, where adding up ε would pay for two.
"""

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from dpengine.accounting.concentrated import rho_of
from dpengine.privacy import Cost, plain
from surveys.design.kinds import PUBLICATION

if TYPE_CHECKING:
    from surveys.design.models import Panel, Question, SiteLimits, Study

RESERVED = {"ledger", "new"}  # /registry/ledger.json is the ledger of all studies, /studies/new/ begins one
GIVEN_CAP, GIVEN_BATCH = Decimal(1), 50  # for a study with answers sent as given, unless its site's admin gives more
LEAST_ASKED = Decimal("0.001")  # ε of the smallest publication that can be asked for: with less left, a cap is reached


def is_concentrated(capped: "Study | Panel") -> bool:
    return Fraction(capped.cap_delta) > 0


def rho_within(epsilon: Decimal, cap_delta: str) -> Decimal:
    """Return the ρ that keeps ε at half of a cap's δ."""
    return plain(rho_of(Fraction(epsilon), Fraction(cap_delta) / 2))


def caps(study: "Study") -> dict[str, Any]:
    """Return what all publications may ever lose."""
    stated = {"central_epsilon": f"{plain(study.cap)}"}
    if is_concentrated(study):
        stated["central_delta"] = str(study.cap_delta)
        stated["central_rho"] = f"{rho_within(study.cap, study.cap_delta):f}"
    if study.panel is not None:
        stated["panel"] = study.panel.slug
    return stated


def budget_cap(capped: "Study | Panel", epsilon: Decimal | None = None) -> dict[str, Any]:
    """Return the cap as the ledger takes it, at another ε if one is given."""
    epsilon = capped.cap if epsilon is None else epsilon
    if not is_concentrated(capped):
        return {"epsilon": epsilon}
    return {"rho": rho_within(epsilon, capped.cap_delta), "delta": Fraction(capped.cap_delta) / 2}


def publication(study: "Study") -> dict[str, Any]:
    """Return when and at what cost numbers are published."""
    rule = str(study.rule)
    return {
        "epsilon": f"{plain(study.release_epsilon)}",
        "rule": rule,
        "smallest_batch": study.smallest_batch,
        **({"hours": study.hours} if rule in ("every", "continual") else {}),
        **({"horizon": study.horizon} if rule == "continual" else {}),
        **({"rho": f"{rho_within(study.release_epsilon, study.cap_delta):f}"} if is_concentrated(study) else {}),
    }


def publications_paid(study: "Study") -> int:
    """Return how many publications (for `continual`: whole horizons) the cap pays for, if each costs the same."""
    if is_concentrated(study):
        return int(rho_within(study.cap, study.cap_delta) // rho_within(study.release_epsilon, study.cap_delta))
    return int(study.cap // study.release_epsilon)


def least_cost() -> Cost:
    """Return the cost of the smallest publication that can be asked for."""
    return Cost.pure(Fraction(LEAST_ASKED))


def problems(study: "Study") -> dict[str, str]:
    """Return what of a study's terms cannot be, by field; nothing if all can."""
    found = {**_problems_of_publication(study), **_problems_of_days(study), **_problems_of_limits(study)}
    text = _("“%(slug)s” is a file of the registry; choose another.")
    taken = {"slug": text % {"slug": study.slug}} if study.slug in RESERVED else {}
    return found | taken | _problems_of_panel(study)


def _problems_of_publication(study: "Study") -> dict[str, str]:
    if study.rule == "continual" and not is_concentrated(study):
        return {"rule": _("Publications paid on the first day need a cap with a δ; it is a cap without one.")}
    if study.cap is None or study.release_epsilon is None or study.release_epsilon <= study.cap:
        return {}
    cap, cost = _said(study.cap), _said(study.release_epsilon)
    text = _("One publication must cost at most the cap of %(cap)s; it is %(cost)s.")
    return {"release_epsilon": text % {"cap": cap, "cost": cost}}


def _problems_of_days(study: "Study") -> dict[str, str]:
    if study.retires_on is None or study.closes_on is None or study.closes_on < study.retires_on:
        return {}
    text = _("Retirement must come after the last day of collecting, %(last)s; it is %(day)s.")
    last, day = (date_format(each, "DATE_FORMAT") for each in (study.closes_on, study.retires_on))
    return {"retires_on": text % {"last": last, "day": day}}


def _problems_of_limits(study: "Study") -> dict[str, str]:
    floor, ceiling = study.epsilon_floor, study.epsilon_ceiling
    if floor is None or ceiling is None or floor <= ceiling:
        return {}
    text = _("The greatest ε must be at least the least one, %(least)s; it is %(most)s.")
    return {"epsilon_ceiling": text % {"least": _said(floor), "most": _said(ceiling)}}


def _problems_of_panel(study: "Study") -> dict[str, str]:
    """A charge goes to study and panel alike, so both must count the same thing."""
    if study.panel is None:
        return {}
    if study.unit != "respondent-in-study":
        text = _("A study of a panel must count one person in all waves; it is %(unit)s.")
        return {"unit": text % {"unit": study.get_unit_display()}}
    if study.neighbours != study.panel.neighbours:
        text = _("Neighbours must be those of the panel, %(panel)s; it is %(study)s.")
        return {"neighbours": text % {"panel": study.panel.neighbours, "study": study.neighbours}}
    if is_concentrated(study) and not is_concentrated(study.panel):
        text = _("δ must be none in a panel whose cap has none; the panel pays for mechanisms without one.")
        return {"cap_delta": text}
    return {}


def allowed_epsilon(study: "Study", limits: "SiteLimits") -> tuple[Decimal, Decimal]:
    """Return the least and the greatest ε an answer of this study may have: its own limits and the site's both hold."""
    return max(study.epsilon_floor, limits.epsilon_floor), min(study.epsilon_ceiling, limits.epsilon_ceiling)


def problem_of_epsilon(study: "Study", epsilon: Decimal, limits: "SiteLimits") -> str:
    """Return why an answer of this study may not have this ε, or nothing if it may."""
    floor, ceiling = allowed_epsilon(study, limits)
    if floor <= epsilon <= ceiling:
        return ""
    text = _("ε must be between %(least)s and %(most)s; it is %(epsilon)s.")
    return text % {"least": _said(floor), "most": _said(ceiling), "epsilon": _said(epsilon)}


def problem_of_cap(study: "Study", limits: "SiteLimits") -> str:
    """Return why a study may not open with its cap, or nothing if it may."""
    if study.cap is None or study.cap <= limits.cap_ceiling:
        return ""
    text = _("The cap must be at most the site’s limit of %(most)s; it is %(cap)s.")
    return text % {"most": _said(limits.cap_ceiling), "cap": _said(study.cap)}


def given_limits(study: "Study") -> tuple[Decimal, int]:
    """Return the greatest cap and the least batch where answers are sent as given; others than usual need a reason.

    Who knows all answers but one (nine of ten are their own) learns the last one from a total as far as the cap lets
    them: at ε = 8 with 3,999 guesses of 4,000 right, at ε = 1 with 73.2 of 100 at most (queries.guess_of_readers).
    """
    if not study.given_why:
        return GIVEN_CAP, GIVEN_BATCH
    cap = GIVEN_CAP if study.given_cap is None else study.given_cap
    return cap, GIVEN_BATCH if study.given_batch is None else study.given_batch


def problems_of_given(study: "Study", questions: Iterable["Question"]) -> dict[str, str]:
    """Return what of a study's terms cannot be if one of its questions is sent as given, by field."""
    if not any(question.protection == PUBLICATION for question in questions):
        return {}
    cap, batch = given_limits(study)
    found = {}
    if study.cap is not None and study.cap > cap:
        text = _(
            "Where answers are sent as given, the cap must be ε %(most)s at most; it is %(cap)s. The site’s admin can "
            "give this study more, with a reason."
        )
        found["cap"] = text % {"most": _said(cap), "cap": _said(study.cap)}
    if study.smallest_batch is not None and study.smallest_batch < batch:
        text = _(
            "Where answers are sent as given, nothing is published before %(least)s answers; it is %(batch)s. The "
            "site’s admin can allow this study fewer, with a reason."
        )
        found["smallest_batch"] = text % {"least": batch, "batch": study.smallest_batch}
    return found


def fit_given(study: "Study") -> list[str]:
    """Bring a study's terms within what answers sent as given need; return the fields that are no longer as they were.

    Its cap stays once the ledger holds it: then it is refused instead.
    """
    cap, batch = given_limits(study)
    fits = {"smallest_batch": max(study.smallest_batch, batch)}
    if study.budget_id is None:
        fits |= {"cap": min(study.cap, cap), "release_epsilon": min(study.release_epsilon, cap)}
    changed = [name for name, value in fits.items() if getattr(study, name) != value]
    for name in changed:
        setattr(study, name, fits[name])
    return changed


def _said(amount: Decimal | int) -> str:
    return str(plain(Decimal(amount)))  # a default that was never saved is an int
