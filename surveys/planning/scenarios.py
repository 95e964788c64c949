"""A study as it is planned: its questions by how they are protected, and what is drawn as one."""

from dpengine.contraction import Loss
from dpengine.local.blocks import Set
from dpengine.local.ways import Importance
from surveys.design import blocks, documents, selectors as design, terms
from surveys.design.goal import Topic
from surveys.design.models import Question, Study
from surveys.design.questions import content_of
from surveys.design.sharing import USUAL_EXPECTED
from surveys.planning.questions import is_on_request


class PlannedStudy:
    """A study and what is planned of it."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.questions = list(study.questions.all())
        self.expected = study.expected or USUAL_EXPECTED
        self.sets = documents.sets_of_names(study, self.questions)
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

    @property
    def kept(self) -> list[Set]:
        """Return the places of protected questions that are drawn as one: a condition and what
        follows from it, and what stays together.
        """
        return blocks.staying(self.questions, self.protected)

    def topic(self, question: Question, importance: Importance) -> Topic:
        """Return what a question asks for. ValueError says why it cannot be asked yet."""
        return Topic.of(question, importance)


def loss_of(question: Question) -> Loss:
    """Return e^ε₀ of an answer to a drafted question; None if no device changes it."""
    try:
        return content_of(question).loss
    except (ValueError, TypeError):
        return None  # it cannot be asked yet


def _is_protected(question: Question) -> bool:
    return question.protection == Question.Protection.DEVICE
