"""One person's ε, shared equally by what a device can ask of them, until an ε is set by hand.

`person` of a draft says the whole; without one each question keeps an ε of its own. The shares are
filled into the questions whenever the draft changes (`drafts.editing`), so that whoever reads a
question finds its ε there. A person sends as many answers at most as are in the largest set that a
device can draw, so that the product of their losses is at most e^ε: a channel loses at most its
share, which is rounded down. Questions that are sent as one answer have its share.

By hand    ε 2 and four questions: 0.5 each. Asked two of them: 1 each. A fifth question: 0.4 each.
           Two of the five sent as one answer, everybody asked everything: 0.5 each.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpengine.privacy import round_down
from surveys.design import documents, site, terms
from surveys.design.models import Question, SiteLimits, Study

USUAL_PERSON = Decimal(2)


def usual_person(limits: SiteLimits) -> Decimal:
    """Return the ε that a person has in a new study of this site."""
    person: Decimal = min(max(USUAL_PERSON, limits.person_floor), limits.person_ceiling)
    return person


def part_of(person: Decimal, study: Study, questions: Sequence[Question]) -> Decimal:
    """Return each question's share of a person's ε, whether or not the study allows it."""
    sets = documents.sets_of_names(study, questions)
    sent_in = {each.name: each.together or each.name for each in questions if _is_on_device(each)}
    sent = max(len({sent_in[name] for name in each}) for each in sets or [frozenset(sent_in)])
    share: Decimal = round_down(Fraction(person) / max(1, sent))
    return share


def parts(study: Study, typed: Question | None = None) -> dict[str, Decimal]:
    """Return the ε of each question of a draft that is changed on the device, one of them as it was
    typed: its share, and no more than one answer may lose. Nothing where each has an ε of its own.

    A share below the least is not raised, for then a person would lose more than is said: the
    question is refused by name.
    """
    if study.person is None:
        return {}
    questions = list(study.questions.all())
    if typed is not None:
        same = {typed.pk, typed.name}
        questions = [each for each in questions if not {each.pk, each.name} & same] + [typed]
    ceiling = terms.allowed_epsilon(study, site.present_limits())[1]
    part = min(part_of(study.person, study, questions), ceiling)
    return {each.name: part for each in questions if _is_on_device(each)}


def share(study: Study) -> None:
    """Fill its share into each question of a saved draft that is changed on the device."""
    if shares := parts(study):
        on_device = study.questions.filter(name__in=shares)
        epsilon = next(iter(shares.values()))
        on_device.exclude(epsilon=epsilon).update(epsilon=epsilon)


def _is_on_device(question: Question) -> bool:
    return question.protection == Question.Protection.DEVICE


def follow(study: Study, person: Decimal, changed: Sequence[str]) -> dict[str, Any]:
    """Return the terms that were a person's ε and follow it to another: nobody set them apart."""
    if study.person is None or study.budget_id is not None or "cap" in changed:
        return {}
    if study.cap != study.person:
        return {}
    cap = min(person, site.present_limits().cap_ceiling)
    return {"cap": cap} | ({"release_epsilon": cap} if study.release_epsilon == study.cap else {})
