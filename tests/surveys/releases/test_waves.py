"""Studies in waves, from the draft to what is published of each: fresh draws, kept keys, and those
of older days whose cap was for one wave.
"""

import datetime
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from django.test import Client

from dpengine.bounds import ln_above
from surveys.aggregation import services as aggregation
from surveys.demo.services import answer_as_browsers
from surveys.design import services as design, waves
from surveys.design.drafts import new_draft, save_study
from surveys.design.models import Plan, Study
from surveys.design.refusals import CannotOpen
from surveys.ledger import selectors as ledger
from surveys.ledger.verification import faults
from surveys.people import services as people
from surveys.people.models import Role
from surveys.releases import services
from surveys.releases.models import Release
from tests.conftest import NOW, TODAY, known_as

BY: dict[str, Any] = {"who": "olga", "now": NOW}
PEOPLE = 240
TEXTS = {
    "title": "Once a year",
    "organisation": "Brightwater College",
    "purpose": "To see a trend.",
    "contact": "asks@example.org",
    "language": "en",
    "expected": 300,
}
COPIED = {"name": "copied", "kind": "yes_no", "text": "Have you copied?", "label": "Copied"}

pytestmark = pytest.mark.django_db


def drafted(**fields: Any) -> Study:
    study = new_draft(texts=TEXTS, questions=[COPIED])
    for name, value in fields.items():
        setattr(study, name, value)
    save_study(study=study, fields=list(fields), why="as planned", **BY)
    study.refresh_from_db()
    return study


def held(study: Study, yes: int = 40) -> Plan:
    """Open a wave, have people answer, and close it."""
    plan = design.open_study(study_id=study.pk, why="A test.", **BY)
    answer_as_browsers(plan, [{"copied": int(i < yes)} for i in range(PEOPLE)], TODAY)
    aggregation.sweep_all(today=TODAY)
    return design.close_plan(plan_id=plan.pk, today=TODAY)


def published(study: Study, yes: int = 40) -> Release:
    """Hold a wave, publish it, and let the study live on or end as it must."""
    release = services.publish_if_due(plan=held(study, yes), now=NOW)
    assert release is not None
    services.retire_spent(now=NOW)
    return release


def spent(study: Study) -> Decimal:
    study.refresh_from_db()
    assert study.budget_id is not None
    return ledger.account(study.budget_id).amount_spent


def owner_of(study: Study) -> Client:
    user = known_as("olga")
    people.share(study=study, user=user, role=Role.OWNER)
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.parametrize("count", [2, 3])
def test_fresh_waves_are_each_published_as_they_came_within_the_cap(count: int) -> None:
    study = drafted(waves=count)
    for wave in range(1, count + 1):
        study = study if wave == 1 else design.begin_wave(study_id=study.pk)
        release = published(study, 30 + wave)
        assert release.request.plan.wave == wave
        loss = release.request.plan.content.loss
        assert Fraction(spent(study)) <= wave * ln_above(loss) + Fraction(wave, 10**9)
        assert not any(each.mechanism.scale for each in release.content.questions)
        assert not study.is_retired
    assert Decimal("1.99") < spent(study) <= 2
    assert faults() == []


def test_a_second_kept_wave_is_charged_in_full_and_a_first_one_as_it_contracts() -> None:
    study = drafted(waves=2, draws="kept")
    published(study)
    first = spent(study)
    study = design.begin_wave(study_id=study.pk)
    published(study)
    assert (first, spent(study)) == (1, 2)
    assert not study.is_retired or "cap" in study.retired_because
    assert faults() == []


def test_nothing_retires_because_a_wave_opened() -> None:
    """The fault of old: the first wave took all of the cap, and the second ended its study."""
    for fields in ({"waves": 2}, {"waves": 2, "draws": "kept"}):
        study = drafted(**fields)
        published(study)
        study = design.begin_wave(study_id=study.pk)
        design.open_study(study_id=study.pk, why="A test.", **BY)
        for minutes in (1, 2):
            services.retire_spent(now=NOW + datetime.timedelta(minutes=minutes))
        study.refresh_from_db()
        assert not study.is_retired


def test_a_study_whose_cap_was_for_one_wave_is_told_so_and_does_not_end_by_another() -> None:
    """As studies were begun before waves were planned: one publication has the whole cap."""
    study = drafted()
    Study.objects.filter(pk=study.pk).update(draws="")
    study.refresh_from_db()
    published(study)
    assert spent(study) == 2
    said = waves.problem_of_next(study)
    assert "Nothing could be published of wave 2" in said
    assert "make a new study" in said
    with pytest.raises(CannotOpen, match="Nothing could be published of wave 2"):
        design.begin_wave(study_id=study.pk)
    Study.objects.filter(pk=study.pk).update(wave=2)  # as a draft that was begun before
    with pytest.raises(CannotOpen, match="Nothing could be published of wave 2"):
        design.open_study(study_id=study.pk, why="A test.", **BY)
    services.retire_spent(now=NOW)
    study.refresh_from_db()
    assert not study.is_retired


def test_the_next_wave_is_offered_where_it_can_be_and_else_is_a_way_out() -> None:
    study = drafted(waves=2)
    client = owner_of(study)
    pages = ("launch/", "", "collect/")
    published(study)
    for page in pages:
        said = client.get(f"/studies/{study.slug}/{page}").content.decode()
        assert "Begin the next wave" in said, page
    assert client.post(f"/studies/{study.slug}/launch/next/").status_code == 302
    study.refresh_from_db()
    published(study)
    for page in pages:
        said = client.get(f"/studies/{study.slug}/{page}").content.decode()
        assert "Begin the next wave" not in said, page
    assert "make a new study" in client.get(f"/studies/{study.slug}/launch/").content.decode()
    refused = client.post(f"/studies/{study.slug}/launch/next/")
    assert refused.status_code == 409


def test_a_wave_that_cannot_pay_is_refused_before_it_opens_and_says_what_helps() -> None:
    study = drafted(waves=2)
    client = owner_of(study)
    published(study)
    assert spent(study) == 1
    design.lower_cap(study_id=study.pk, new=Decimal("1.5"), why="less", **BY)
    client.post(f"/studies/{study.slug}/launch/next/")
    page = client.get(f"/studies/{study.slug}/launch/").content.decode()
    assert re.search(r"costs ε 1, and ε 0\.5\d* of the cap of 1\.5\d* is left", page)
    assert "Lower the cost of one release" in page
    with pytest.raises(CannotOpen, match="Lower the cost of one release"):
        design.open_study(study_id=study.pk, why="A test.", **BY)
    Study.objects.filter(pk=study.pk).update(release_epsilon=Decimal("0.5"))
    study.refresh_from_db()
    published(study)
    assert spent(study) == Decimal("1.5")


def test_what_the_cap_pays_for_still_is_said_of_what_is_left() -> None:
    study = drafted(waves=2, draws="kept")
    client = owner_of(study)
    published(study)
    design.begin_wave(study_id=study.pk)
    page = " ".join(client.get(f"/studies/{study.slug}/limits/").content.decode().split())
    assert "of the cap of 2, 1 is left, which pays for one more" in page


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"waves": 2}, "2 are planned; each randomises all answers again"),
        ({"waves": 2, "draws": "kept"}, "2 are planned; devices keep a key"),
        ({}, "one is planned"),
    ],
)
def test_everybody_reads_how_many_waves_are_planned_and_how(
    client: Client, fields: dict[str, Any], told: str
) -> None:
    study = drafted(**fields)
    owner = owner_of(study)
    launch = " ".join(owner.get(f"/studies/{study.slug}/launch/").content.decode().split())
    assert told in launch
    assert ("Precision over several waves" in launch) == bool(fields)
    assert (
        "Precision over several waves"
        in owner.get(f"/studies/{study.slug}/limits/").content.decode()
    )
    published(study)
    registry = client.get(f"/registry/{study.slug}/").content.decode()
    assert told in registry
    assert f'class="waves" value="{fields.get("waves", 1)}"' in registry
    methods = " ".join(owner.get(f"/studies/{study.slug}/methods/").content.decode().split())
    assert ("wave 1 of 2 planned" in methods) == bool(fields)
