"""Methods texts: every figure in them is the Plan's, the ledger's or the release's."""

import pytest
from django.test import Client

from surveys.dashboard.facts import Facts, shown_epsilon, version
from surveys.dashboard.methods import methods_of
from surveys.design.models import Plan
from surveys.releases import queries as releases

pytestmark = pytest.mark.django_db


def facts(plan: Plan) -> Facts:
    made = releases.by_rule_of(plan.study)
    return Facts(plan, made[0] if made else None, "https://example.org/registry/small/")


def test_the_sentence_names_answers_local_loss_cost_and_plan(published: Plan) -> None:
    said = methods_of(facts(published)).sentence
    for part in ("120 answers", "Aldermoor", "ε = 1.5 for a whole form", "ε = 0.75", published.digest[:12]):
        assert part in said


def test_each_length_says_more_than_the_one_before(published: Plan) -> None:
    found = methods_of(facts(published))
    assert len(found.sentence) < len(found.paragraph) < len(found.section)


def test_the_section_has_the_exact_loss_of_every_question(published: Plan) -> None:
    said = methods_of(facts(published)).section
    for question in published.content["questions"]:
        top, bottom = question["loss"]
        assert f"– {question['label']}: ε = {shown_epsilon(question['loss'])}, e^ε = {top}/{bottom} exactly." in said


def test_it_says_what_is_not_protected_and_promises_no_honesty(published: Plan) -> None:
    said = methods_of(facts(published)).section
    assert "What is not protected" in said
    assert "does not make answers more honest" in said


def test_only_what_was_used_is_cited(published: Plan) -> None:
    said = methods_of(facts(published)).section
    assert "Warner, S. L. (1965)" in said
    assert "discrete Gaussian for differential privacy" not in said
    assert "Bun, M., & Steinke" not in said
    assert f"Candor {version()} " in said
    assert published.digest in said


def test_before_anything_is_published_it_says_so(plan: Plan) -> None:
    found = methods_of(facts(plan))
    assert "No numbers of this wave have been published by its rule yet." in found.section
    assert "Estimation" not in found.section
    assert "were published" not in found.sentence


def test_an_epsilon_is_shown_rounded_up() -> None:
    assert shown_epsilon([3, 1]) == "1.099"
    assert shown_epsilon(["3", "2"]) == "0.406"


def test_no_sign_of_formatting_is_left_over(published: Plan) -> None:
    said = methods_of(facts(published)).section
    assert "%(" not in said
    assert "%%" not in said


def test_the_page_has_all_three_and_each_as_plain_text(member: Client, published: Plan) -> None:
    found = methods_of(facts(published))
    page = member.get("/studies/small/methods/")
    assert page.status_code == 200
    plain = member.get("/studies/small/methods/?plain=sentence")
    assert plain.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert plain.content.decode() == found.sentence + "\n"
    assert member.get("/studies/small/methods/?plain=poem").status_code == 404
