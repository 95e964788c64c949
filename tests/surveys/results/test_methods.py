"""Methods texts: every figure in them is the Plan's, the ledger's or the release's."""

from decimal import Decimal
from fractions import Fraction

import pytest
from django.test import Client

import dpengine
from surveys.design.models import Plan
from surveys.releases import selectors as releases
from surveys.results.metadata import Metadata, shown_epsilon
from surveys.results.methods import methods_of
from tests.surveys.results.small import answer, open_small, publish

pytestmark = pytest.mark.django_db


def metadata_of(plan: Plan) -> Metadata:
    made = releases.by_rule_of(plan.study)
    return Metadata(plan, made[0] if made else None, "https://example.org/registry/small/")


def test_the_sentence_names_answers_local_loss_cost_and_plan(published: Plan) -> None:
    text = methods_of(metadata_of(published))["sentence"]
    for part in (
        "120 answers",
        "Aldermoor",
        "ε = 1.5 for a whole form",
        "ε = 0.7024",
        published.digest[:12],
    ):
        assert part in text


def test_each_length_says_more_than_the_one_before(published: Plan) -> None:
    texts = methods_of(metadata_of(published))
    assert len(texts["sentence"]) < len(texts["paragraph"]) < len(texts["section"])


def test_the_section_has_the_exact_loss_of_every_question(published: Plan) -> None:
    text = methods_of(metadata_of(published))["section"]
    for question in published.content.questions:
        top, bottom = question.loss.as_integer_ratio()
        assert (
            f"– {question.label}: ε = {shown_epsilon(question.loss)}, e^ε = {top}/{bottom} "
            f"exactly." in text
        )


def test_it_says_what_is_not_protected_and_promises_no_honesty(published: Plan) -> None:
    text = methods_of(metadata_of(published))["section"]
    assert "What is not protected" in text
    assert "does not make answers more honest" in text


def test_only_what_was_used_is_cited(published: Plan) -> None:
    text = methods_of(metadata_of(published))["section"]
    assert "Warner, S. L. (1965)" in text
    assert "discrete Gaussian for differential privacy" not in text
    assert "Bun, M., & Steinke" not in text
    assert f"Candor {dpengine.__version__} " in text
    assert published.digest in text


def test_before_anything_is_published_it_says_so(plan: Plan) -> None:
    texts = methods_of(metadata_of(plan))
    assert "No numbers of this wave have been published by its rule yet." in texts["section"]
    assert "Estimation" not in texts["section"]
    assert "were published" not in texts["sentence"]


@pytest.mark.parametrize("length", ["sentence", "section"])
def test_where_no_noise_was_added_none_is_said_or_cited(db: None, length: str) -> None:
    """At a cap of all that the devices gave away, numbers are published as they came."""
    plan = open_small(cap=Decimal(8), release_epsilon=Decimal(8))
    answer(plan)
    publish(plan)
    text = methods_of(metadata_of(plan))[length]
    assert "ε = 1.5" in text
    assert "further noise at" not in text
    assert "OpenDP" not in text
    assert "Calibrating noise" not in text
    told = {"sentence": "without further noise, at ε = 1.5", "section": "as they came"}
    assert told[length] in text


def test_where_noise_was_added_it_is_said_and_cited(published: Plan) -> None:
    texts = methods_of(metadata_of(published))
    assert "further noise at ε = 0.7024" in texts["sentence"]
    assert "noise drawn by OpenDP" in texts["section"]
    assert "Calibrating noise" in texts["section"]


def test_an_epsilon_is_shown_rounded_up() -> None:
    assert shown_epsilon(Fraction(3)) == "1.099"
    assert shown_epsilon(Fraction(3, 2)) == "0.406"


def test_no_sign_of_formatting_is_left_over(published: Plan) -> None:
    text = methods_of(metadata_of(published))["section"]
    assert "%(" not in text
    assert "%%" not in text


def test_the_page_has_all_three_and_each_as_plain_text(member: Client, published: Plan) -> None:
    texts = methods_of(metadata_of(published))
    page = member.get("/studies/small/methods/")
    assert page.status_code == 200
    plain = member.get("/studies/small/methods/?plain=sentence")
    assert plain.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert plain.content.decode() == texts["sentence"] + "\n"
    assert member.get("/studies/small/methods/?plain=poem").status_code == 404


def test_a_cap_that_holds_either_way_is_said_with_both_ways(db: None) -> None:
    plan = open_small(cap_delta=Decimal("0.000001"))
    said = (
        "capped at ε = 2, δ = 0.000001: by the sum of ε, or as concentrated differential privacy "
        "(ρ = 0.0834; Bun and Steinke 2016), whichever holds."
    )
    assert said in methods_of(metadata_of(plan))["section"]
    assert plan.study.budget is not None
    plan.study.budget.pure_epsilon = None  # as in an older one
    older = methods_of(metadata_of(plan))["section"]
    assert "composed as concentrated differential privacy (Bun" in older
    assert "whichever" not in older
