"""What is planned, all but the three dials: a question, what a publication adds, a share, limits.

A study is planned question by question; its publication is shared by all that it counts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial

from dpengine.contraction import Loss
from dpengine.privacy import Neighbours
from surveys.design import documents, selectors as design, terms
from surveys.design.models import Question, Study
from surveys.design.questions import content_of
from surveys.planning.precision import Precision, PublicationNoise, noise_of, precision_of
from surveys.planning.questions import (
    PlannedQuestion,
    QuestionAtEpsilon,
    is_on_request,
    not_beside,
    part_asked,
)

USUAL_ANSWERS = 1000  # where a draft does not say how many it expects


@dataclass(frozen=True)
class Scenario:
    question: PlannedQuestion
    noise: Callable[[QuestionAtEpsilon], PublicationNoise]
    at: Fraction  # the share that is planned for
    limits: tuple[Decimal, Decimal]  # of ε
    asked: Fraction = Fraction(1)  # the share of people who are asked it

    def precision(self, n: int, epsilon: Decimal) -> Precision:
        question = self.question.at(epsilon)
        return self.precision_of(question, self.noise(question), n)

    def precision_of(
        self, question: QuestionAtEpsilon, noise: PublicationNoise, n: int
    ) -> Precision:
        """Return the precision of n people's answers, of whom some are asked."""
        return precision_of(question, noise, max(1, round(n * self.asked)), self.at)


class PlannedStudy:
    """A study and what is planned of it."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.questions = list(study.questions.all())
        self.expected = study.expected or USUAL_ANSWERS
        self.sets = documents.sets_of_names(study, self.questions)
        self.records = documents.records_of_names(study, self.questions)
        self.limits = terms.allowed_epsilon(study, design.site_limits())
        self.on_request = [each for each in self.questions if is_on_request(each)]
        # those that a publication is shared by: all but numbers sent as given
        self.counted = [each for each in self.questions if each not in self.on_request]
        self.publication = terms.publication(study).of_shares(
            study.unit, study.neighbours, len(self.counted)
        )
        self.protected = [each for each in self.questions if _is_protected(each)]
        # those whose only protection is the publication's noise
        self.central_only = [each for each in self.counted if not _is_protected(each)]

    def scenario(self, question: Question, at: Fraction) -> Scenario:
        planned = PlannedQuestion(question, Neighbours(self.study.neighbours))
        left_out = not_beside(question.name, self.records)
        beside = [
            other for other in self.counted if other is not question and other.name not in left_out
        ]
        others = [loss_of(other) for other in beside]
        noise = partial(noise_of, others=others, terms=self.publication)
        asked = part_asked(question.name, self.sets)
        return Scenario(planned, noise, at, self.limits, asked)


def loss_of(question: Question) -> Loss:
    """Return e^ε₀ of an answer to a drafted question; None if no device changes it."""
    try:
        return content_of(question).loss
    except (ValueError, TypeError):
        return None  # it cannot be asked yet


def _is_protected(question: Question) -> bool:
    return question.protection == Question.Protection.DEVICE
