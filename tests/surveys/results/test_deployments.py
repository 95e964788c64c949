"""The entries for a register elsewhere: valid against its schema, which is kept beside its
licence in tests/data.
"""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.test import Client
from jsonschema import Draft202012Validator, FormatChecker

from surveys.design import services
from surveys.design.models import Plan
from tests.costs import pure
from tests.surveys.results import kinds
from tests.surveys.results.kinds import KINDS
from tests.surveys.results.small import NOW, open_small

pytestmark = pytest.mark.django_db
SCHEMA = yaml.safe_load(
    (Path(__file__).parents[2] / "data" / "registry" / "deployments-schema.yaml").read_text()
)
VALIDATOR = Draft202012Validator(SCHEMA, format_checker=FormatChecker())


def entry_of(client: Client, plan: Plan) -> dict[str, Any]:
    response = client.get(f"/registry/{plan.study.slug}.yaml")
    assert response.headers["Content-Type"].startswith("application/yaml")
    found: dict[str, Any] = yaml.safe_load(response.content)
    return found


@pytest.mark.parametrize("make", KINDS)
def test_every_study_is_a_valid_entry(client: Client, make: Callable[[], Plan]) -> None:
    found = VALIDATOR.iter_errors(entry_of(client, make()))
    assert [f"{error.json_path}: {error.message}" for error in found] == []


def test_the_schema_refuses_keys_of_our_own() -> None:
    """Why cap and burn rate stand in a text."""
    basic = dict.fromkeys(
        SCHEMA["properties"]["deployment"]["properties"]["basic"]["required"], "x"
    )
    entry = {
        "url_slug": "x",
        "status": "Draft",
        "tier": 1,
        "deployment": {"basic": basic, "burn_rate": 1},
    }
    assert "burn_rate" in "".join(
        error.message for error in Draft202012Validator(SCHEMA).iter_errors(entry)
    )


def test_cap_burn_rate_and_link_are_where_the_schema_has_room(client: Client) -> None:
    found = entry_of(client, kinds.mixed())["deployment"]
    details = found["deployment_model"]["release_type_details"]
    assert "Cap: ε 3 or ρ 0.175749908 and δ 0.0000005. Spent: ρ 0.0" in details
    assert "Burn rate: ρ 0.0" in details
    assert "It ends on 2026-08-09" in details
    assert "/registry/mixed.json" in found["administrative"]["sources"]


@pytest.mark.parametrize(
    ("make", "model", "variant"),
    [
        (kinds.plain, "Local", "Pure DP"),
        (kinds.mixed, "Varies", "Zero-concentrated DP"),
        (kinds.given, "Central", "Pure DP"),
    ],
)
def test_who_is_trusted_follows_from_the_protections(
    client: Client, make: Callable[[], Plan], model: str, variant: str
) -> None:
    found = entry_of(client, make())["deployment"]
    assert found["deployment_model"]["model_name"] == model
    assert found["dp_variant"]["variant_name"] == variant
    assert ("∞" in found["privacy_loss"]["privacy_parameters_details"]) == (model != "Local")


def test_the_parameters_are_the_cap(client: Client) -> None:
    assert entry_of(client, kinds.plain())["deployment"]["privacy_loss"]["privacy_parameters"] == {
        "epsilon": 2.0
    }
    mixed = entry_of(client, kinds.mixed())["deployment"]["privacy_loss"]["privacy_parameters"]
    assert mixed["delta"] == 1e-6
    assert 2.99 < mixed["epsilon"] <= 3
    assert 0.17 < mixed["rho"] < 0.19


def test_one_release_is_said_only_of_a_study_that_made_no_other(client: Client) -> None:
    plan = open_small(rule="when-closed", release_epsilon="0.1")
    released = lambda: entry_of(client, plan)["deployment"]["deployment_model"]["release_type"]  # noqa: E731
    assert released() == "One release"
    for number in range(2):
        kinds.charge(plan, pure(Fraction(1, 10)), number, NOW)
    assert released() == "Many releases"


def test_readers_are_bounded_by_one_wave_s_answers_and_by_those_of_no_more(
    client: Client,
) -> None:
    """A kept key repeats draws: what several waves of answers lose together has no bound."""
    first = open_small(waves=2, draws="kept")
    details = lambda: entry_of(client, first)["deployment"]["privacy_loss"][  # noqa: E731
        "privacy_parameters_details"
    ]
    assert "which readers of the publications cannot pass either" in details()
    services.close_plan(plan_id=first.pk, today=NOW.date())
    services.begin_wave(study_id=first.study_id)
    services.open_study(why="A test.", study_id=first.study_id, who="admin", now=NOW)
    assert "cannot pass" not in details()
    assert "whether it changed has no ε" in details()


def test_a_model_is_called_local_only_where_the_stated_loss_holds_locally(client: Client) -> None:
    """Answers lose 1.5 on the device: a cap of 1 is a promise to readers, not towards who runs
    the site.
    """
    plan = open_small(cap="1")
    found = entry_of(client, plan)["deployment"]
    assert found["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0}
    assert found["deployment_model"]["model_name"] == "Varies"
