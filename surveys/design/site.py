"""The site's limits: nobody opens a study outside them.

Whoever needs more changes the limits, with a reason, for all studies alike; a wave that is open
stays as it is. Locks are taken in one order: a study, its Plan, its panel, these limits, budgets,
the head of the ledger's chain.
"""

import datetime
from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from dpengine.privacy import LARGEST_EPSILON, plain
from surveys.design.models import MIN_EPSILON, SiteLimits
from surveys.design.refusals import NotDecided, Refused
from surveys.ledger import services as ledger
from surveys.ledger.models import Entry
from surveys.messages import message

ONE = 1  # the only row
MAX_ANSWER_EPSILON = Decimal(8)  # no browser answers a Plan whose answers lose more than e^8 in all
OF_SITE = message("site: %(term)s")
FIELDS = {  # in the ledger's words, which are hashed
    "epsilon_floor": OF_SITE(term=message("least ε of one answer", fills="term")()),
    "epsilon_ceiling": OF_SITE(term=message("greatest ε of one answer", fills="term")()),
    "person_floor": OF_SITE(term=message("least ε of one person", fills="term")()),
    "person_ceiling": OF_SITE(term=message("greatest ε of one person", fills="term")()),
    "cap_ceiling": OF_SITE(
        term=message("greatest cap for all publications of a study, ε", fills="term")()
    ),
}


def usual_limits() -> SiteLimits:
    """Return the limits of a site whose admin has set none. Not saved."""
    limits = SiteLimits(pk=ONE)
    limits.clean_fields()
    return limits


def site_limits() -> SiteLimits:
    """Return what every draft and every opening of the site is held to, as it is now."""
    return SiteLimits.objects.filter(pk=ONE).first() or usual_limits()


def hold_limits() -> SiteLimits:
    """Hold the limits, so that they stay what an opening was checked against."""
    SiteLimits.objects.get_or_create(pk=ONE)
    return SiteLimits.objects.select_for_update().get(pk=ONE)


def problems_of_limits(
    *,
    epsilon_floor: Decimal,
    epsilon_ceiling: Decimal,
    person_floor: Decimal,
    person_ceiling: Decimal,
    cap_ceiling: Decimal,
) -> dict[str, str]:
    """Return what of new limits cannot be, by field; nothing if all can."""
    problems = _problems_of_bounds("epsilon", epsilon_floor, epsilon_ceiling)
    problems |= _problems_of_bounds("person", person_floor, person_ceiling)
    if not (cap_ceiling.is_finite() and MIN_EPSILON <= cap_ceiling <= LARGEST_EPSILON):
        text = _("The greatest cap must be %(least)s to %(most)s; it is %(asked)s.")
        parts = {"least": MIN_EPSILON, "most": Decimal(LARGEST_EPSILON), "asked": cap_ceiling}
        problems["cap_ceiling"] = text % parts
    return problems


def _problems_of_bounds(of: str, floor: Decimal, ceiling: Decimal) -> dict[str, str]:
    """Return what of the least and the greatest ε of an answer, or of a person, cannot be."""
    parts = {"most": MAX_ANSWER_EPSILON}
    if not (floor.is_finite() and MIN_EPSILON <= floor <= MAX_ANSWER_EPSILON):
        text = _("The minimum ε must be %(least)s to %(most)s; it is %(asked)s.")
        return {f"{of}_floor": text % {**parts, "least": MIN_EPSILON, "asked": floor}}
    if not (ceiling.is_finite() and floor <= ceiling <= MAX_ANSWER_EPSILON):
        text = _("The maximum ε must be %(least)s, the minimum, to %(most)s; it is %(asked)s.")
        return {f"{of}_ceiling": text % {**parts, "least": plain(floor), "asked": ceiling}}
    return {}


@transaction.atomic
def set_site_limits(
    *, who: str, why: str, now: datetime.datetime, **limits_wanted: Decimal
) -> list[Entry]:
    """Change the site's limits, a row of the ledger for each: those of FIELDS that are given. What
    is open stays as it is.
    """
    limits = hold_limits()
    before = {name: getattr(limits, name) for name in FIELDS}
    new = before | limits_wanted
    if problems := problems_of_limits(**new):
        raise NotDecided(problems)
    changed = [name for name in FIELDS if before[name] != new[name]]
    if not changed:
        raise Refused(_("The limits are these already. Nothing was changed."))
    SiteLimits.objects.filter(pk=ONE).update(**{name: new[name] for name in changed})
    return [
        ledger.record(
            what=FIELDS[name],
            old=f"{plain(before[name])}",
            new=f"{plain(new[name])}",
            why=why,
            who=who,
            now=now,
        )
        for name in changed
    ]
