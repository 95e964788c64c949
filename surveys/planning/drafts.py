"""A study as the planner sees it: its questions as topics, the law of its publications, what one person gives away."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from dpengine.privacy import Neighbours
from surveys.design import queries as design
from surveys.design.models import Question, Study
from surveys.planning.dials import Setting
from surveys.planning.laws import Law, law_of
from surveys.planning.topics import Drawn, Topic, is_on_request

USUAL_ANSWERS = 1000  # where a draft does not say how many it expects


@dataclass(frozen=True)
class Planned:
    """A study and what is planned of it."""

    study: Study

    @cached_property
    def questions(self) -> list[Question]:
        return list(self.study.questions.all())

    @property
    def neighbours(self) -> Neighbours:
        return Neighbours(self.study.neighbours)

    @cached_property
    def publication(self) -> dict[str, Any]:
        return design.publication_terms(self.study)

    @cached_property
    def limits(self) -> tuple[Decimal, Decimal]:
        return design.allowed_epsilon(self.study)

    @cached_property
    def counted(self) -> list[Question]:
        """Return the questions that a publication is shared by: all but numbers sent as given."""
        return [each for each in self.questions if not _is_on_request(each)]

    @cached_property
    def on_request(self) -> list[Question]:
        return [each for each in self.questions if _is_on_request(each)]

    @cached_property
    def protected(self) -> list[Question]:
        return [each for each in self.questions if each.protection == Question.Protection.DEVICE]

    @property
    def expected(self) -> int:
        return self.study.expected or USUAL_ANSWERS

    def law(self, drawn: Drawn) -> Law:
        return law_of(drawn.tally, len(self.counted), self.publication)

    def setting(self, question: Question, at: Fraction) -> Setting:
        return Setting(Topic(question, self.neighbours), self.law, at, self.limits)


def _is_on_request(question: Question) -> bool:
    return is_on_request({"kind": question.kind, "protection": question.protection})
