"""Questions that nobody has written, at any ε, and publications of a pure one."""

import copy
from dataclasses import dataclass
from decimal import Decimal
from typing import Self

from dpengine.privacy import Neighbours
from surveys.design.goal import Topic
from surveys.design.models import Question
from surveys.design.questions import content_of
from surveys.plan.content import ANSWERS, COMMON, PublicationTerms
from surveys.planning.questions import QuestionAtEpsilon


def pure(epsilon: str) -> PublicationTerms:
    """Return the terms of a publication that costs a pure ε, and is made once."""
    return PublicationTerms(
        epsilon=epsilon,
        rule="when-closed",
        smallest_batch=1,
        counts=ANSWERS,
        accounting=COMMON,
    )


@dataclass(frozen=True)
class PlannedQuestion:
    """A question that may have any ε. Its row need not be saved."""

    row: Question
    neighbours: Neighbours = Neighbours.CHANGE_ONE

    @classmethod
    def made_up(
        cls,
        kind: str,
        *,
        choices: int = 5,
        least: int = 0,
        most: int = 100,
        wanted: str = "",
        neighbours: Neighbours = Neighbours.CHANGE_ONE,
    ) -> Self:
        """Return a question of this kind that nobody has written yet."""
        row = Topic(kind, choices, least, most, wanted).row
        return cls(row, neighbours)

    def at(self, epsilon: Decimal) -> QuestionAtEpsilon:
        """Return the question with the channel that would be frozen at this ε. ValueError says
        why there is none.
        """
        row = copy.copy(self.row)
        row.epsilon, row.together = epsilon, ""  # by itself
        return QuestionAtEpsilon(content_of(row), self.neighbours)
