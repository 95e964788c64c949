"""A study as it is planned: its questions by how they are protected, and what is drawn as one."""

from dpengine.contraction import Loss
from dpengine.local.blocks import Set
from dpengine.local.ways import Importance
from dpengine.privacy import Neighbours
from surveys.design import blocks, documents, selectors as design, terms
from surveys.design.models import Question, Study
from surveys.design.questions import content_of
from surveys.planning.goal import Topic
from surveys.planning.questions import PlannedQuestion, is_on_request

USUAL_ANSWERS = 1000  # where a draft does not say how many it expects


class PlannedStudy:
    """A study and what is planned of it."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.questions = list(study.questions.all())
        self.expected = study.expected or USUAL_ANSWERS
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
        places = {each.name: at for at, each in enumerate(self.protected)}
        drawn = blocks.blocks(self.questions, sent_apart=True)
        found = [tuple(places[name] for name in block.questions) for block in drawn]
        return [block for block in found if len(block) > 1]

    def topic(self, question: Question, importance: Importance) -> Topic:
        """Return what a question asks for. ValueError says why it cannot be asked yet."""
        return Topic.of(PlannedQuestion(question, Neighbours(self.study.neighbours)), importance)


def loss_of(question: Question) -> Loss:
    """Return e^ε₀ of an answer to a drafted question; None if no device changes it."""
    try:
        return content_of(question).loss
    except (ValueError, TypeError):
        return None  # it cannot be asked yet


def _is_protected(question: Question) -> bool:
    return question.protection == Question.Protection.DEVICE
