"""What one record is, which publications protect: a person, one answer of theirs, or a household;
and whether it is protected too that somebody took part.

One answer is what is given to one question and to all that follow from it: who answers the first
otherwise may have to answer the rest otherwise, so that less would be no set of answers that
anybody can give. The ticks of one question are one answer.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpengine.local.blocks import together
from dpengine.privacy import Neighbours

if TYPE_CHECKING:
    from surveys.plan.content import PlanQuestion

WHOLE = "respondent-in-study"  # a unit: all that a person answers
ONE_ANSWER = "answer-in-study"  # a unit: one answer of a person, in all waves
HOUSEHOLD = re.compile("household-of-([2-9])")  # a unit: at most so many people


def people_in(unit: str) -> int:
    """Return how many people one record of this unit is, at most."""
    household = HOUSEHOLD.fullmatch(unit)
    return int(household[1]) if household else 1


def n_is_public(neighbours: str) -> bool:
    """Tell whether how many took part is public, and exact: else it is protected as well."""
    return neighbours != Neighbours.ADD_REMOVE


def answers_of(questions: Sequence["PlanQuestion"]) -> list[frozenset[str]]:
    """Return the names of each question with what follows from it, or is sent with it as one."""
    names = [each.name for each in questions]
    first = {each.sent_in: each.name for each in reversed(questions)}  # of what is sent as one
    links = [(each.name, each.asked_if.question) for each in questions if each.asked_if]
    links += [
        (each.name, other) for each in questions for other in (each.follows, first[each.sent_in])
    ]
    return [frozenset(group) for group in together(names, links)]


def most_answers(questions: Sequence["PlanQuestion"], sets: Sequence[frozenset[str]]) -> int:
    """Return how many answers one person gives at most, asked one of these sets of what is changed
    on the device; none: all.
    """
    found = answers_of(questions)
    given = {each.name for each in questions if each.is_cleartext}
    held = [each | given for each in sets] or [frozenset[str]().union(*found)]
    return max(sum(not each.isdisjoint(asked) for each in found) for asked in held)
