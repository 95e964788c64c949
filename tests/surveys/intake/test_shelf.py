"""However many studies there are, and however few of them are kept: a report finds its Plan."""

import datetime
import itertools
import json
import random

import pytest

from surveys.design import selectors, services as design
from surveys.intake import posts, shelf as shelves
from tests.conftest import NOW, QUESTIONS, STUDY

KEPT, STUDIES = 2, 5


@pytest.fixture
def plans(db, monkeypatch):
    monkeypatch.setattr(shelves, "SIZE", KEPT)
    drafts = [
        design.draft_study(study={**STUDY, "slug": f"study-{at}"}, questions=QUESTIONS)
        for at in range(STUDIES)
    ]
    return [
        design.open_study(why="A test.", study_id=each.pk, who="ada", now=NOW) for each in drafts
    ]


def entered(plan, number):
    answers = {"copied": number % 2, "fair": [number % 5], "often": [0]}
    said = {"plan": plan.digest, "report_id": f"{number:032x}", "answers": answers}
    return posts.enter(plan.study.slug, json.dumps(said).encode())


def test_no_report_is_refused_for_what_is_not_kept(plans):
    chance, numbers = random.Random(1), itertools.count()
    for size in (1, 2, 3, 5, 8, 13) * 3:  # more Plans in a group than are kept, too
        group = [entered(chance.choice(plans), next(numbers)) for _ in range(size)]
        assert [each.status for each in posts.answer_all(group)] == [201] * size
        assert len(posts.shelf.plans) <= KEPT


def test_what_is_not_there_is_refused_all_the_same(plans):
    known, nowhere = entered(plans[0], 1), posts.enter("nowhere", b"{}")
    other = posts.enter(plans[1].study.slug, json.dumps({"plan": plans[0].digest}).encode())
    strange = entered(plans[0], 2)
    strange.slug = plans[1].study.slug  # whose Plan it does not name
    found = posts.answer_all([known, nowhere, other, strange])
    assert [each.status for each in found] == [201, 404, 422, 409]


@pytest.mark.parametrize(("field", "found"), [("zone", "Atlantis/Nowhere"), ("document", "{}")])
def test_a_report_whose_plan_cannot_be_read_is_refused_alone(plans, monkeypatch, field, found):
    """By whatever stops it: a zone that this machine's database has not, a document."""
    fetched = selectors.plans_of

    def plans_of(digests):
        every = list(fetched(digests))
        for each in every:
            each.closes_on = NOW.date() + datetime.timedelta(days=9999)
            if each.pk == plans[0].pk:
                setattr(each, field, found)
        return every

    monkeypatch.setattr(selectors, "plans_of", plans_of)
    group = [entered(plans[at], at) for at in (1, 0, 2)]
    assert [each.status for each in posts.answer_all(group)] == [201, 503, 201]
    assert all(each.wait == posts.AGAIN for each in posts.answer_all([entered(plans[0], 3)]))
