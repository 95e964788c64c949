"""What other rooms may ask: how precise a study's publications will be."""

from collections.abc import Sequence

from dpengine.privacy import Neighbours
from surveys.design import terms
from surveys.design.models import Study
from surveys.plan.content import PlanQuestion
from surveys.planning.precision import Precision as Precision, noise_of, precision_of
from surveys.planning.questions import HALF, QuestionAtEpsilon, is_on_request, others_of


def precisions(study: Study, contents: Sequence[PlanQuestion], n: int) -> dict[str, Precision]:
    """Return how precise one publication of n answers will be, by question: in the worst case, half
    say yes.

    `contents` are the Plan's questions, all of them; a number sent as given has none, for no rule
    publishes it.
    """
    published = [content for content in contents if not is_on_request(content)]
    publication = terms.publication(study)
    questions = [QuestionAtEpsilon(content, Neighbours(study.neighbours)) for content in published]
    return {
        question.content.name: precision_of(
            question, noise_of(question, others_of(question, questions), publication), n, HALF
        )
        for question in questions
    }
