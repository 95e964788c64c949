"""What other rooms may ask: how precise a study's publications will be."""

from collections.abc import Sequence

from dpengine.privacy import Neighbours
from surveys.design import terms
from surveys.design.models import Study
from surveys.plan.content import PlanQuestion
from surveys.planning.outlook import Outlook as Outlook, outlook as outlook
from surveys.plan.records import ONE_ANSWER, answers_of, n_is_public
from surveys.planning.precision import Precision as Precision, noise_of, precision_of
from surveys.planning.questions import (
    HALF,
    QuestionAtEpsilon,
    is_on_request,
    others_of,
    part_asked,
)
from surveys.planning.wishes import FreeWishes as FreeWishes, Planned as Planned


def precisions(
    study: Study,
    contents: Sequence[PlanQuestion],
    n: int,
    sets: Sequence[frozenset[str]] = (),
    only: str = "",
    weights: Sequence[int] = (),
) -> dict[str, Precision]:
    """Return how precise one publication of n answers will be, by question: in the worst case, half
    say yes.

    `contents` are the Plan's questions, all of them, even if `only` one is wanted; a number sent as
    given has none, for no rule publishes it, nor has what is sent as one answer where taking part
    is hidden, for no Plan has both. `sets` are those of which each device draws one, by their
    `weights` or each as likely: a question is answered by as many as are expected to be asked it.
    """
    published = [content for content in contents if not is_on_request(content)]
    publication = terms.publication(study).of_shares(study.unit, study.neighbours, len(published))
    questions = [QuestionAtEpsilon(content, Neighbours(study.neighbours)) for content in published]
    records = answers_of(contents) if study.unit == ONE_ANSWER else sets
    return {
        question.content.name: precision_of(
            question,
            noise_of(question, others_of(question, questions, records), publication),
            max(1, round(n * part_asked(question.content.name, sets, weights))),
            HALF,
        )
        for question in questions
        if only in ("", question.content.name)
        and (question.content.together is None or n_is_public(study.neighbours))
    }
