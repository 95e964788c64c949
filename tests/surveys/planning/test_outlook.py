"""What will be learned: told before anything is irreversible, and as it comes out."""

import random
import re
from contextlib import nullcontext
from decimal import Decimal
from math import exp, sqrt

import pytest

from dpengine.estimates import CONFIDENCE, normal_quantile
from surveys.design import documents, services
from surveys.design.drafts import new_draft, save_study
from surveys.design.models import Study
from surveys.design.refusals import CannotOpen
from surveys.invited import services as invited
from surveys.invited.lists import Entry as OnList
from surveys.ledger.models import Entry
from surveys.people.models import Role
from surveys.planning.outlook import WANTED, Outlook, outlook
from surveys.planning.population import population_of, usual
from surveys.planning.rehearsal import Rehearsal
from tests.conftest import NOW
from tests.surveys.drafting.conftest import TEXTS, client_of

SIX = [{"kind": "yes_no", "text": f"Did you {at}?", "label": f"Did {at}"} for at in range(6)]
DAYS = {"kind": "number", "least": 0, "most": 30, "unit": "days", "text": "Days?", "label": "Days"}
GIVEN = {**SIX[0], "name": "given", "protection": "publication"}
LINE = re.compile(r'<data class="outlook" value="([\d.]+)" data-n="(\d+)"\s+data-least="(\d+)"')


def drafted(questions=SIX, **texts):
    return new_draft(texts={**TEXTS, **texts}, questions=questions)


def of(study, n=None):
    return outlook(documents.compose(study), n or study.expected)


def by_hand(n, epsilon=2):
    """Return ± of a question of two that a third of people send as one of four answers."""
    truth = exp(epsilon) / (exp(epsilon) + 3)
    return 100 * normal_quantile(CONFIDENCE) * sqrt(3 / 4 / n) / (truth - (1 - truth) / 3)


@pytest.mark.parametrize("n", [100, 300, 800, 5000])
def test_six_questions_by_default_are_worked_out_by_hand(db, n):
    found = of(drafted(expected=n))
    assert 100 * found.part == pytest.approx(by_hand(n), rel=0.06)
    assert [each.part for each in found.questions] == [found.part] * 6
    assert found.is_little == (n < 140)


def test_it_is_said_in_a_line_with_what_would_be_enough(db):
    assert of(drafted(expected=300)).said == (
        "With 300 responses, every result has a margin of error of ± 17 points. For ± 10 points "
        "you need 810."
    )
    mixed = of(drafted([*SIX, DAYS, {**SIX[0], "kind": "single", "choices": "A\nB\nC\nD\nE"}]))
    assert "the widest margin of error is ± 24 points (“Did 0”)." in mixed.said
    assert of(drafted([DAYS], expected=20)).said.endswith("For a tenth of the scale you need 180.")
    assert of(drafted(expected=800)).said == (
        "With 800 responses, every result has a margin of error of ± 10 points."
    )
    assert of(drafted(expected=5000)).said == (
        "With 5,000 responses, every result has a margin of error of ± 3.9 points."
    )


@pytest.mark.parametrize("questions", [SIX, [DAYS], [*SIX[:2], DAYS], [GIVEN, *SIX[:1]]])
def test_what_is_enough_is_enough_and_a_tenth_less_is_not(db, questions):
    found = of(drafted(questions, expected=50))
    content = found.content
    enough = Outlook(content, found.enough)
    assert not enough.is_too_few
    assert enough.part <= WANTED
    less = Outlook(content, int(found.enough * 0.9))
    assert less.is_too_few or less.part > WANTED


def test_a_mean_is_little_where_it_is_wider_than_a_quarter_of_its_range(db):
    study = drafted([DAYS])
    wide, narrow = (Outlook(documents.compose(study), n) for n in (20, 100))
    assert wide.is_little
    assert wide.widest.precision.half > 30 / 4
    assert not narrow.is_little
    assert narrow.widest.precision.half <= 30 / 4


def test_noise_of_publications_counts_and_so_does_what_the_cap_pays(db):
    study = drafted(expected=800)
    free = of(study).part
    study.release_epsilon = Decimal("0.25")
    save_study(study=study, fields=["release_epsilon"], who="ada", now=NOW)
    assert of(study).part > 1.1 * free


def test_nothing_follows_from_what_came(db):
    """A Plan, a draft and a count: the same Plan and n say the same, whatever was answered."""
    study = drafted()
    before = of(study)
    plan = services.open_study(study_id=study.pk, why="A test.", who="ada", now=NOW)
    assert outlook(plan.content, 300).said == before.said
    assert outlook(plan.content, 300).value == before.value


def test_with_no_response_nothing_is_worked_out_of_none(db):
    assert Outlook(documents.compose(drafted()), 0).said.startswith("No responses yet.")


def test_numbers_that_only_queries_tell_of_are_not_promised(db):
    study = drafted([{**DAYS, "protection": "publication"}])
    Study.objects.filter(pk=study.pk).update(rule="on-request")
    found = of(Study.objects.get(pk=study.pk))
    assert found.widest is None
    assert found.said == "What you learn depends on the queries that you make."


def test_what_comes_out_is_as_wide_as_was_promised(db):
    """The novice's study, rehearsed: every interval beside the one that was told before."""
    content = documents.compose(drafted(expected=300))
    promised = outlook(content, 300).part
    population = population_of(content, {each.name: usual(each) for each in content.questions})
    words = random.Random(26)
    found = Rehearsal(content, population).run(300, lambda: words.getrandbits(32))
    halves = [(each.high - each.low) / 2 for own in found.values() for each in own]
    assert sum(halves) / len(halves) == pytest.approx(promised, rel=0.1)


# On pages


@pytest.fixture
def novice(db):
    study = drafted(expected=300)
    return client_of("nora", Role.OWNER, study), study


def line(page):
    (found,) = LINE.findall(page.content.decode())
    return found


def test_build_launch_collect_and_close_say_the_same(novice):
    client, study = novice
    build, launch = (client.get(f"/studies/exam-honesty/{at}/") for at in ("build", "launch"))
    told = line(build)
    assert told == line(launch) == (of(study).value, "300", "100")
    assert "Why ask, if the results" not in launch.content.decode()
    seen = launch.context["seen"]
    assert client.post("/studies/exam-honesty/launch/", {"seen": seen}).status_code == 302
    assert line(client.get("/studies/exam-honesty/collect/")) == told
    assert "With 300 responses" in client.get("/studies/exam-honesty/collect/").content.decode()


def test_a_launch_that_would_tell_next_to_nothing_needs_a_reason_which_is_kept(novice):
    client, study = novice
    study.expected = 60
    save_study(study=study, fields=["expected"], who="nora", now=NOW)
    page = client.get("/studies/exam-honesty/launch/")
    assert float(line(page)[0]) > 25
    assert "Why ask, if the results will say so little?" in page.content.decode()
    seen = page.context["seen"]
    refused = client.post("/studies/exam-honesty/launch/", {"seen": seen, "why": " "})
    assert refused.status_code == 409
    assert "would say next to nothing" in refused.content.decode()
    assert Study.objects.get(pk=study.pk).plan is None
    client.post("/studies/exam-honesty/launch/", {"seen": seen, "why": "A class tries it out."})
    assert Study.objects.get(pk=study.pk).plan.is_open
    assert Entry.objects.get(what="opened wave 1").why == "A class tries it out."


def test_the_service_that_opens_a_wave_asks_for_the_reason_whoever_calls_it(db):
    study = drafted(expected=60)
    with pytest.raises(CannotOpen, match="would say next to nothing"):
        invited.launch(study=study, who="ada", now=NOW)
    assert study.plan is None
    assert invited.launch(study=study, why="A class.", who="ada", now=NOW).is_open
    assert Entry.objects.get(what="opened wave 1").why == "A class."


def test_of_a_list_no_more_are_counted_than_are_on_it(db):
    study = drafted(expected=300, is_invited=True)
    client = client_of("nora", Role.OWNER, study)
    assert line(client.get("/studies/exam-honesty/build/"))[1] == "300", "nobody is on it yet"
    for more, said in ((40, "40 people are on your list. With 40 responses, every"), (260, "")):
        on_it = [OnList(f"p{at}.of.{more}@example.org") for at in range(more)]
        assert invited.add_people(study_id=study.pk, entries=on_it) == []
        for at in ("build", "launch"):
            page = client.get(f"/studies/exam-honesty/{at}/")
            assert line(page)[1] == str(more if said else 300)
            assert said in page.content.decode()
            assert ("on your list" in page.content.decode()) == bool(said)
        few = pytest.raises(CannotOpen, match="nothing is published before 100 answers")
        with few if said else nullcontext():
            plan = invited.launch(study=study, who="nora", now=NOW)
    assert plan.is_open


def test_a_reason_that_is_not_needed_is_not_kept(novice):
    client, _study = novice
    seen = client.get("/studies/exam-honesty/launch/").context["seen"]
    client.post("/studies/exam-honesty/launch/", {"seen": seen, "why": "because"})
    assert Entry.objects.get(what="opened wave 1").why == "wave 1 begins"


@pytest.mark.parametrize(("came", "warns"), [(0, True), (40, True), (120, True), (300, False)])
def test_closing_warns_first_where_what_came_tells_next_to_nothing(
    novice, monkeypatch, came, warns
):
    client, study = novice
    plan = services.open_study(study_id=study.pk, why="A test.", who="nora", now=NOW)
    monkeypatch.setattr("surveys.releases.selectors.answers_so_far", lambda plan: came)
    for how in ({}, {"sure": ""}):
        send = client.post if how else client.get
        address = "launch/close/" if how else "launch/"
        page = send(f"/studies/exam-honesty/{address}", how)
        assert line(page)[1:] == (str(came), "100")
        wastes = "Closing now wastes people’s answers" in page.content.decode()
        assert wastes == (warns and came > 0)
    plan.refresh_from_db()
    assert plan.is_open, "nothing is closed before it was confirmed"
    keep = re.search(
        r'<a class="button( plain)?"\s+href="[^"]+">\s*Keep it open', page.content.decode()
    )
    assert bool(keep[1]) != warns, "the quiet button is the one that wastes"
    client.post("/studies/exam-honesty/launch/close/", {"sure": "1"})
    plan.refresh_from_db()
    assert not plan.is_open


def test_where_taking_part_is_hidden_closing_says_what_was_expected(db, monkeypatch):
    study = drafted(expected=300)
    Study.objects.filter(pk=study.pk).update(neighbours="add-remove")
    save_study(study=Study.objects.get(pk=study.pk), fields=["title"], who="nora", now=NOW)
    services.open_study(study_id=study.pk, why="A test.", who="nora", now=NOW)
    monkeypatch.setattr("surveys.releases.selectors.answers_so_far", lambda plan: 1 / 0)
    page = client_of("nora", Role.OWNER, study).get("/studies/exam-honesty/launch/")
    assert line(page)[1] == "300"
