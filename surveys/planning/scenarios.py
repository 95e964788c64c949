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
from surveys.design import selectors as design, terms
from surveys.design.models import Question, Study
from surveys.design.questions import content_of
from surveys.planning.precision import Precision, PublicationNoise, noise_of, precision_of
from surveys.planning.questions import PlannedQuestion, QuestionAtEpsilon, is_on_request

USUAL_ANSWERS = 1000  # where a draft does not say how many it expects


@dataclass(frozen=True)
class Scenario:
    question: PlannedQuestion
    noise: Callable[[QuestionAtEpsilon], PublicationNoise]
    at: Fraction  # the share that is planned for
    limits: tuple[Decimal, Decimal]  # of ε

    def precision(self, n: int, epsilon: Decimal) -> Precision:
        question = self.question.at(epsilon)
        return precision_of(question, self.noise(question), n, self.at)


class PlannedStudy:
    """A study and what is planned of it."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.questions = list(study.questions.all())
        self.expected = study.expected or USUAL_ANSWERS
        self.publication = terms.publication(study)
        self.limits = terms.allowed_epsilon(study, design.site_limits())
        self.on_request = [each for each in self.questions if is_on_request(each)]
        # those that a publication is shared by: all but numbers sent as given
        self.counted = [each for each in self.questions if each not in self.on_request]
        self.protected = [each for each in self.questions if _is_protected(each)]
        # those whose only protection is the publication's noise
        self.central_only = [each for each in self.counted if not _is_protected(each)]

    def scenario(self, question: Question, at: Fraction) -> Scenario:
        planned = PlannedQuestion(question, Neighbours(self.study.neighbours))
        others = [loss_of(other) for other in self.counted if other is not question]
        noise = partial(noise_of, others=others, terms=self.publication)
        return Scenario(planned, noise, at, self.limits)


def loss_of(question: Question) -> Loss:
    """Return e^ε₀ of an answer to a drafted question; None if no device changes it."""
    try:
        return content_of(question).loss
    except (ValueError, TypeError):
        return None  # it cannot be asked yet


def _is_protected(question: Question) -> bool:
    return question.protection == Question.Protection.DEVICE
