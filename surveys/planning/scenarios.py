"""A study as it is planned: its questions by how they are protected, and what is drawn as one."""

from dpengine.local.blocks import Set
from surveys.design import blocks, documents, selectors as design, terms
from surveys.design.models import Question, Study
from surveys.design.sharing import USUAL_EXPECTED


class PlannedStudy:
    """A study and what is planned of it."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.questions = list(study.questions.all())
        self.expected = study.expected or USUAL_EXPECTED
        self.sets = documents.sets_of_names(study, self.questions)
        self.limits = terms.allowed_epsilon(study, design.site_limits())
        self.protected = [
            each for each in self.questions if each.protection == Question.Protection.DEVICE
        ]

    @property
    def kept(self) -> list[Set]:
        """Return the places of protected questions that are drawn as one: a condition and what
        follows from it, and what stays together.
        """
        return blocks.staying(self.questions, self.protected)
