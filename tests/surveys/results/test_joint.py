"""Windows on a study that sends some questions as one answer: each is shown by its view."""

import json
from fractions import Fraction
from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from surveys.aggregation import selectors as aggregation, services as sweeps
from surveys.demo.services import answer_as_browsers
from surveys.design import services as design
from surveys.drafting.plan_text import term_lines
from surveys.people import services as people
from surveys.people.models import Role
from surveys.planning.population import population_of, usual
from surveys.planning.rehearsal import Rehearsal
from surveys.releases import selectors, services
from surveys.results.exports.rows import export_rows
from surveys.results.questions import results_of
from tests.conftest import NOW, STUDY, TODAY

PEOPLE = 300
JOINT = ("copied", "caught", "late")


@pytest.fixture
def published(joint):
    truth = {"copied": 1, "caught": 0, "fair": 2, "often": 1, "late": 0, "year": 1}
    answer_as_browsers(joint, [truth] * PEOPLE, TODAY)
    design.close_plan(plan_id=joint.pk, today=TODAY)
    sweeps.sweep_all(today=TODAY)
    joint.refresh_from_db()
    services.publish_if_due(plan=joint, now=NOW)
    return joint


def test_an_export_has_what_it_takes_to_estimate_each_share_again(published):
    (publication,) = selectors.publications_of(published.study)
    rows = [row for row in export_rows([publication]) if row.question in JOINT]
    assert len(rows) == 2 + 3 + 2
    for row in rows:
        again = (row.noisy_count / row.n - row.odds_other) / (row.odds_own - row.odds_other)
        assert 100 * again == pytest.approx(row.estimate)
        assert row.local_epsilon == pytest.approx(2, abs=0.01)


def test_results_and_the_interface_show_each_question(published, client):
    (publication,) = selectors.publications_of(published.study)
    n = aggregation.reports_in(published, 1, ["late"])
    shown = {each.question.name: each for each in results_of(publication.release)}
    assert {shown[name].n for name in JOINT} == {n}
    (release,) = client.get("/api/v1/studies/joint/releases").json()["releases"]
    assert {each["name"] for each in release["questions"]} == {*JOINT, "fair", "often", "year"}
    registered = client.get("/registry/joint.json").json()
    late = next(each for each in registered["waves"][0]["questions"] if each["name"] == "late")
    assert late["sent_in"] == "theft"
    assert late["channel"]["kind"] == "subset"
    assert late["loss"] == registered["waves"][0]["loss"]


def exported(study, client, researcher, folder):
    """Return where a study's published numbers are, as a member takes them along."""
    people.share(study=study, user=researcher, role=Role.ANALYST)
    client.force_login(researcher)
    path = folder / "export.json"
    path.write_bytes(client.get(f"/studies/{study.slug}/export.json").content)
    return path


def analysed(path, *options):
    said = StringIO()
    call_command("analyse", str(path), "--design", "plan", *options, stdout=said)
    return said.getvalue()


def test_analyse_says_of_an_export_what_the_dashboard_shows(
    published, client, researcher, tmp_path
):
    path = exported(published.study, client, researcher, tmp_path)
    rows = json.loads(path.read_text())["rows"]
    asked = {row["question"] for row in rows if row["noisy_count"] is not None}
    assert asked == {*JOINT, "fair", "often", "year"}
    for name in sorted(asked):
        own = [row for row in rows if row["question"] == name]
        found = json.loads(analysed(path, "--outcome", name, "--json"))
        assert found["n"] == own[0]["n"]
        assert found["choices"] == [row["label"] for row in own]
        assert found["estimate"] == pytest.approx([row["estimate"] / 100 for row in own])
        ends = [[row["low"] / 100, row["high"] / 100] for row in own]
        assert np.array(found["interval"]) == pytest.approx(np.array(ends))
        assert np.all(np.diff(found["interval"]) > 0)
    text = analysed(path, "--outcome", "late")
    assert text.startswith(f"late: {own_n(rows, 'late')} reports, ε = 2")
    assert " to " in text.splitlines()[1]


def own_n(rows, name):
    return next(row["n"] for row in rows if row["question"] == name)


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        ({}, ["--outcome", "none"], "expected a question, .*late.*; got 'none'"),
        ({}, ["--outcome", "late", "--by", "copied"], "--by has no meaning with --design plan"),
        (
            {},
            ["--outcome", "late", "--confidence", "1"],
            "--confidence must be above 0 and below 1",
        ),
        ({"rows": []}, ["--outcome", "late"], "expected published counts of 'late', got none"),
        ({"plan": None}, ["--outcome", "late"], "plan: Expected"),
    ],
)
def test_an_export_that_cannot_be_analysed_is_refused_by_name(
    published, client, researcher, tmp_path, change, options, said
):
    path = exported(published.study, client, researcher, tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(CommandError, match=said):
        analysed(path, *options)


def test_a_file_that_is_no_export_is_refused(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,1\n")
    with pytest.raises(CommandError, match="expected a study’s published numbers"):
        analysed(path, "--outcome", "a")


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("/studies/joint/", "people, whom devices picked at random."),
        ("/studies/joint/over-time/", ""),
        ("/studies/joint/compare/", ""),
        ("/studies/joint/export.csv", ""),
        ("/studies/joint/methods/", "are sent as one, through one channel"),
        ("/studies/joint/limits/", ""),
        ("/studies/joint/collect/poster/en/", ""),
        ("/studies/joint/ask/", ""),
        ("/studies/joint/ask/shares/", ""),
        ("/registry/joint.yaml", ""),
        ("/registry/joint/", "are sent as one answer: the loss of each is the loss of all"),
        ("/s/joint/", "randomised answers, some sent as one"),
    ],
)
def test_pages_open(published, client, researcher, address, text):
    people.share(study=published.study, user=researcher, role=Role.ANALYST)
    client.force_login(researcher)
    page = client.get(address)
    assert page.status_code == 200
    assert text in " ".join(page.content.decode().split())


def test_a_rehearsal_sends_one_answer_for_them(joint):
    content = joint.content
    shares = {each.name: usual(each) for each in content.questions}
    rehearsal = Rehearsal(content, population_of(content, shares))
    found = rehearsal.run(400)
    assert set(found) == {each.name for each in content.questions}
    for estimate in found["late"]:
        assert abs(estimate.value - 0.5) < 5 * estimate.standard_error


@pytest.fixture
def declining(db):
    """A study of three questions: two are sent as one answer, and declined as one."""
    own = {"kind": "yes_no", "epsilon": "2", "together": "theft", "may_decline": True}
    questions = [
        {**own, "name": "took", "text": "Have you taken things?", "label": "Took"},
        {**own, "name": "saw", "text": "Have you seen it?", "label": "Saw"},
        {"name": "late", "kind": "yes_no", "text": "Late?", "label": "Late", "epsilon": "1"},
    ]
    more = {"slug": "declining", "cap": 5, "release_epsilon": 5}
    draft = design.draft_study(study={**STUDY, **more}, questions=questions)
    return design.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)


def test_of_what_is_declined_as_one_everything_published_is_a_share_of_everybody(
    declining, client, researcher
):
    """Of 3,000 people 900 decline, on either of both questions."""
    said = [(1, 0)] * 700 + [(0, 0)] * 1100 + [(1, 1)] * 300 + [(2, 2)] * 500 + [(0, 2)] * 400
    truths = [{"took": took, "saw": saw, "late": 1} for took, saw in said]
    answer_as_browsers(declining, truths, TODAY)
    design.close_plan(plan_id=declining.pk, today=TODAY)
    sweeps.sweep_all(today=TODAY)
    declining.refresh_from_db()
    release = services.publish_if_due(plan=declining, now=NOW)
    assert release.content.n == len(said)
    shares = {"took": [1100, 1000, 900], "saw": [1800, 300, 900]}
    for numbers in (each for each in release.content.questions if each.name in shares):
        assert [each.choice for each in numbers.choices] == ["No", "Yes", "Prefer not to say"]
        assert sum(each.noisy_count for each in numbers.choices) == len(said), "one cell a report"
        for found, count in zip(numbers.choices, shares[numbers.name], strict=True):
            share = count / len(said)
            assert abs(found.estimate - share) < 5.5 * found.standard_error
    (publication,) = selectors.publications_of(declining.study)
    rows = [row for row in export_rows([publication]) if row.question in shares]
    assert len(rows) == 2 * 3
    for row in rows:
        again = (row.noisy_count / row.n - row.odds_other) / (row.odds_own - row.odds_other)
        assert 100 * again == pytest.approx(row.estimate)
    assert len({row.odds_other for row in rows}) == 2, "of declining, and of all else"
    people.share(study=declining.study, user=researcher, role=Role.ANALYST)
    client.force_login(researcher)
    methods = client.get("/studies/declining/methods/").content.decode()
    assert "Who declines one of the questions that are sent as one declines them all." in methods
    told = dict(term_lines(declining.content))
    assert told["declined.theft"] == ("Declined as one", "“Took”, “Saw”")


def test_a_rehearsal_of_what_is_declined_as_one_is_not_off(declining):
    content = declining.content
    shares = {each.name: usual(each) for each in content.questions}
    shares["took"] = [5000, 4000, 1000]
    population = population_of(content, shares)
    found = Rehearsal(content, population).run(3000)
    truths = population.truths()
    assert truths["saw"][2] == truths["took"][2] == Fraction(1, 10)
    for name in ("took", "saw"):
        for estimate, truth in zip(found[name], truths[name], strict=True):
            assert abs(estimate.value - float(truth)) < 5.5 * estimate.standard_error
