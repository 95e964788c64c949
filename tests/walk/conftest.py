"""A site for a walk: its people, its clock, its worker, and nobody who slows down who answers."""

import os
from collections.abc import Collection, Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.urls import get_resolver

from surveys.celery import app
from surveys.design.site import set_site_limits
from surveys.intake import door
from surveys.people import services as people
from tests.simulator.acts import Free
from tests.walk import clock, studies

COMMIT = studies.commit()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Walk what the commit draws; all with CANDOR_WALK=all; by name whatever is named."""
    if config.option.keyword or os.environ.get("CANDOR_WALK") == "all":
        return
    drawn = studies.walked(COMMIT)
    others = [item for item in items if _is_left_out(item, drawn)]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in others]


def _is_left_out(item: pytest.Item, drawn: Collection[str]) -> bool:
    """Tell whether only the whole walk has time for a test."""
    study = _study(item)
    return item.path.stem == "test_insider" or bool(study and study.name not in drawn)


def _study(item: pytest.Item) -> studies.Wanted | None:
    """Return the study that a test walks. Tests of other folders pass here too."""
    wanted = item.callspec.params.get("wanted") if hasattr(item, "callspec") else None
    return wanted if isinstance(wanted, studies.Wanted) else None


def pytest_report_header() -> str:
    return f"walk: of the array what commit {COMMIT[:12]} draws; CANDOR_WALK=all walks it whole"


@pytest.fixture
def site(db: None, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[None]:
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    app.loader.import_default_modules()
    assert get_resolver().url_patterns  # all views are there, to be given the clock
    eager = {"task_always_eager": True, "task_eager_propagates": True}
    before = {name: app.conf[name] for name in eager}
    app.conf.update(eager)
    monkeypatch.setattr(door, "brake", Free())
    people.ensure_user(username="researcher", password=None)
    people.ensure_user(username="colleague", password=None)
    people.ensure_user(username="admin", password=None, is_site_admin=True)
    with clock.walking():
        for floor in (
            "0.02",
            "0.01",
        ):  # rows of the ledger before a study's: no two numbers coincide
            own = {"who": "admin", "why": "Others came first.", "now": clock.Clock.now()}
            set_site_limits(epsilon_floor=Decimal(floor), **own)
        yield
    app.conf.update(before)
