"""Pages and files of a study that asked a list in strata."""

import html
import json

import pytest
from django.template.loader import render_to_string
from msgspec.structs import replace

from surveys.design import services as design
from surveys.plan.strata import weights
from surveys.releases.selectors import publications_of
from surveys.results.exports.rows import export_rows
from surveys.results.methods import methods_of
from surveys.results.questions import JointIntervals, results_of
from tests.conftest import NOW, TODAY
from tests.surveys.releases.test_strata import answer, opened, published
from tests.surveys.results.test_methods import metadata_of


def text_of(client, path):
    return " ".join(html.unescape(client.get(path).content.decode()).split())


@pytest.fixture
def release(db):
    plan = opened(results="public")
    answer(plan)
    return published(plan)


def test_a_page_says_each_group_and_all_as_they_came(release):
    (first, *_) = results_of(release)
    labels = [row.label for row in first.by_stratum.tables[0].rows]
    assert labels == [
        "Arts: 80 answers, 100 invited",
        "Law: 90 answers, 300 invited",
        "Medicine: 60 answers, 600 invited",
        "All responses, unweighted",
        "All, weighted",
    ]
    whole = first.by_stratum.tables[0].rows[-1].number.value
    assert whole == pytest.approx(100 * first.rows[0].number.value)
    assert first.by_stratum.unheard == first.by_stratum.off_at_most == ""


def test_the_page_has_it_under_how(client, release):
    text = text_of(client, f"/results/{release.request.plan.study.slug}/")
    assert "By group of the list, and as they came" in text
    assert "Holt and Smith 1979" in text
    assert "Weighted to the invited list" in text


def test_numbers_without_parts_say_that_they_are_of_all_as_they_came(release):
    plan, content = release.request.plan, replace(release.content, strata=())
    said = render_to_string("results/as_came.html", {"plan": plan, "content": content})
    assert "Unweighted: groups of the list with a higher response rate" in " ".join(said.split())


def test_all_at_once_widens_the_groups_too(release):
    together = JointIntervals.of(release)
    (alone, *_), (wider, *_) = results_of(release), results_of(release, together)
    for one, other in zip(
        alone.by_stratum.tables[0].rows, wider.by_stratum.tables[0].rows, strict=True
    ):
        assert other.number.high - other.number.low > one.number.high - one.number.low


def test_several_groups_told_as_one_say_how_far_off_that_can_be(db):
    plan = opened()
    answer(plan, (20, 90, 0), (2, 45, 0))
    (first, *_) = results_of(published(plan))
    assert first.by_stratum.tables[0].rows[0].label == "Arts + Law: 110 answers, 400 invited"
    assert first.by_stratum.unheard == "Medicine"
    off = weights([100, 300, 600], [(20, 90, 0)]).off_at_most
    assert first.by_stratum.off_at_most == f"{100 * float(off):.1f}"


def test_a_file_has_each_groups_counts_and_none_of_what_is_put_together(release):
    rows = export_rows(publications_of(release.request.plan.study))
    whole = [row for row in rows if not row.stratum]
    assert {row.noisy_count for row in whole} == {None}
    arts = [row for row in rows if row.stratum == "Arts"]
    assert len(arts) == len(whole)
    assert {row.weight for row in arts} == {0.1}
    assert {row.n for row in arts} == {80}
    assert sum(row.noisy_count for row in arts if row.question == "copied") is not None


def test_a_study_without_a_list_has_no_such_columns_filled(db):
    from surveys.demo.services import answer_as_browsers
    from tests.conftest import QUESTIONS, STUDY

    draft = design.draft_study(study={**STUDY, "widest": 100}, questions=QUESTIONS)
    plan = design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)
    truths = [{"copied": i % 2, "fair": i % 5, "often": i % 4} for i in range(60)]
    answer_as_browsers(plan, truths, TODAY)
    release = published(plan)
    assert results_of(release)[0].by_stratum is None
    rows = export_rows(publications_of(plan.study))
    assert all(row.noisy_count is not None and not row.stratum for row in rows)
    assert json.dumps([row.weight for row in rows]) == json.dumps([None] * len(rows))


def test_what_analyse_makes_of_the_file_are_the_numbers_of_the_page(client, release, tmp_path):
    from surveys.planning.published import analysed

    study = release.request.plan.study
    (first, *_) = results_of(release)
    path = tmp_path / "study.json"
    path.write_bytes(client.get(f"/results/{study.slug}/export.json").content)
    again = analysed(str(path), "copied", 0.95)
    assert again.n == 230
    for row, estimate in zip(first.rows, (again.estimates[1], again.estimates[0]), strict=True):
        assert estimate.value == pytest.approx(row.figure.estimate, abs=1e-12)
        assert [estimate.low, estimate.high] == pytest.approx([*row.figure.interval], abs=1e-9)


def test_the_methods_text_says_that_a_list_was_invited(release):
    text = methods_of(metadata_of(release.request.plan))["section"]
    assert "1,000 people on a list were invited, and each could answer once" in text
    assert "Anyone with the link" not in text
