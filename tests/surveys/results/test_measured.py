"""Numbers, months, several ticks and matrices: what the demo study of every kind publishes, as
pages show it.
"""

import re
from dataclasses import replace

import msgspec
import pytest
from django.template.loader import render_to_string

from dpengine.estimates import Variance
from surveys.charts.intervals import half_widths
from surveys.releases import selectors as releases
from surveys.releases.models import Release, Step
from surveys.results.exports.rows import export_rows
from surveys.results.measured import NumberResult
from surveys.results.questions import Result, blocks_of, results_of
from surveys.results.templatetags.numbers import interval
from tests.surveys.results.every import publish_every_kind

pytestmark = pytest.mark.django_db


@pytest.fixture
def made() -> Release | Step:
    plan = publish_every_kind()
    return releases.by_rule_of(plan.study)[0]


def of(made: Release | Step, kind: str) -> Result | NumberResult:
    return next(each for each in results_of(made) if each.question.kind == kind)


def test_every_kind_of_question_has_its_picture(made: Release | Step) -> None:
    kinds = [each.question.kind for each in results_of(made)]
    assert kinds == [question.kind for question in made.request.plan.content.questions]
    for each in results_of(made):
        if isinstance(each, NumberResult):
            assert each.mean is not None or each.columns
        else:
            assert len(each.rows) == len(each.question.choices)


def test_a_mean_is_the_published_one_with_bars_within_one_another(made: Release | Step) -> None:
    found = next(
        each
        for each in results_of(made)
        if isinstance(each, NumberResult) and each.scale and not each.columns
    )
    part = next(each for each in made.content.questions if each.name == found.question.name)
    assert found.mean is not None
    assert part.mean is not None
    assert float(found.mean.value.replace("−", "-")) == pytest.approx(part.mean.estimate, abs=0.06)
    drawn = interval(found.mean.number, found.scale)["row"]
    widths = [float(bar.width[:-1]) for bar in drawn.bars]
    assert len(widths) > 1
    assert widths == sorted(widths, reverse=True)


def test_statements_of_one_group_are_one_chart_on_one_scale(made: Release | Step) -> None:
    (matrix,) = [block for block in blocks_of(results_of(made)) if block.scale]
    assert len(matrix.results) > 1
    assert {result.scale for result in matrix.results if isinstance(result, Result)} == {
        matrix.scale
    }


def test_statements_stay_together_where_a_translation_says_something_else_above_each(
    made: Release | Step,
) -> None:
    """The form has them so, by the group's name."""
    results = results_of(made)
    before = [len(block.results) for block in blocks_of(results)]
    at = max(place for place, each in enumerate(results) if each.question.group)
    question = results[at].question
    group = msgspec.structs.replace(question.group, text="Something else")
    question = msgspec.structs.replace(question, group=group)
    results[at] = replace(results[at], question=question)
    assert [len(block.results) for block in blocks_of(results)] == before


def test_shares_of_several_ticks_are_not_made_to_add_up(made: Release | Step) -> None:
    found = of(made, "multiple")
    assert isinstance(found, Result)
    assert found.odds is not None
    own, other = float(found.odds.own), float(found.odds.other)
    assert found.contrast == pytest.approx((own - other) / len(found.rows), rel=1e-4)


def test_who_was_not_asked_is_shown_as_such_and_left_out_of_shares_among_those_asked(
    made: Release | Step,
) -> None:
    found = next(
        each for each in results_of(made) if isinstance(each, Result) and each.question.skipped
    )
    assert [row.label for row in found.rows if row.is_not_asked] == [found.question.choices[-1]]
    assert [part.label for part in found.among_asked] == [row.label for row in found.rows[:-1]]
    for part in found.among_asked:
        assert 0 <= float(part.low) <= float(part.high) <= 100


def test_files_have_a_line_for_every_option_range_quartile_and_mean(made: Release | Step) -> None:
    lines = export_rows(releases.publications_of(made.request.plan.study))
    for part in made.content.questions:
        own = [line for line in lines if line.question == part.name]
        expected = len(part.choices) + len(part.ranges) + len(part.quartiles) + bool(part.mean)
        assert len(own) == expected > 0
        for line in own:
            assert line.low - 1e-9 <= line.estimate <= line.high + 1e-9  # type: ignore[operator]


@pytest.mark.parametrize(
    "sampling", [None, 0.0, 1e-12], ids=["now", "drawn once", "next to nothing"]
)
def test_a_part_that_cannot_be_told_apart_is_said_so_and_is_never_0(
    made: Release | Step, sampling: float | None
) -> None:
    """The reports of a number differ no more than the device makes them: that is not a doubt of
    0.
    """
    number = next(
        part for part in made.numbers["questions"] if part.get("mean") and not part.get("is_month")
    )
    number["mean"]["variance"]["sampling"] = sampling
    (found,) = [each for each in results_of(made) if each.question.name == number["name"]]
    assert isinstance(found, NumberResult)
    assert found.doubts["s"] == ""
    assert float(found.doubts["d"]) > 0
    page = render_to_string("results/measured.html", {"result": found, "plan": made.request.plan})
    assert "in the next line" in page
    assert "± 0" not in page


@pytest.mark.parametrize(("scale", "is_said"), [(0.5, True), (0.0, False)])
def test_chance_added_to_the_total_is_a_part_only_where_some_was_added(
    made: Release | Step, scale: float, is_said: bool
) -> None:
    number = next(part for part in made.numbers["questions"] if part.get("mean"))
    number["mechanism"]["scale"] = scale
    (found,) = [each for each in results_of(made) if each.question.name == number["name"]]
    page = render_to_string("results/measured.html", {"result": found, "plan": made.request.plan})
    assert "and randomising on devices" in page
    assert ("and noise added to the total" in page) == is_said


def test_a_share_at_the_edge_has_no_part_of_its_own_for_sampling(made: Release | Step) -> None:
    yes_no = next(part for part in made.numbers["questions"] if len(part.get("choices", ())) == 2)
    for choice in yes_no["choices"]:
        choice["variance"]["sampling"] = None
    (found,) = [each for each in results_of(made) if each.question.name == yes_no["name"]]
    assert isinstance(found, Result)
    page = render_to_string(
        "results/result.html",
        {"result": found, "plan": made.request.plan, "made": made, "each": {}},
    )
    assert "in the next column" in page
    assert not re.search(r"± 0(\.0+)?\b(?!\.)", page)


def test_a_narrow_interval_is_shown_in_two_digits() -> None:
    assert half_widths(0.034, Variance(1.0, 0.0, 3.0), 1) == {
        "s": "0.017",
        "d": "0.017",
        "p": "0.034",
    }
    assert half_widths(3.4, Variance(0.0, 1.0, 3.0), 1) == {"s": "", "d": "1.7", "p": "3.4"}
