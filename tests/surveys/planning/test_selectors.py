"""What other rooms are told of a study's precision."""

from decimal import Decimal

import pytest

from dpengine.privacy import Neighbours
from surveys.design.questions import content_of
from surveys.planning import selectors
from surveys.planning.precision import noise_of, precision_of
from surveys.planning.questions import HALF, QuestionAtEpsilon, others_of
from tests.surveys.planning.made_up import pure


@pytest.mark.django_db
def test_precisions_are_those_of_one_publication_of_all_of_it(draft):
    contents = [content_of(each) for each in draft.questions.all()]
    found = selectors.precisions(draft, contents, 1500)
    questions = [QuestionAtEpsilon(each, Neighbours.CHANGE_ONE) for each in contents]
    for question in questions:
        noise = noise_of(question, others_of(question, questions), pure(str(draft.release_epsilon)))
        precision = found[question.content.name]
        assert precision.half == precision_of(question, noise, 1500, HALF).half
        assert precision.unit == "points"


@pytest.mark.django_db
def test_a_dearer_publication_is_more_precise(draft):
    contents = [content_of(each) for each in draft.questions.all()]
    draft.release_epsilon = Decimal("0.25")
    usual = selectors.precisions(draft, contents, 1500)
    draft.release_epsilon = Decimal(1)
    dear = selectors.precisions(draft, contents, 1500)
    assert all(dear[name].half < usual[name].half for name in usual)
