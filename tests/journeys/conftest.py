import hashlib
import json
import os
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.journeys.respondent import Visit, visit
from tests.journeys.site import Site, prepared, running_site
from tests.patience import PATIENCE
from tests.services import find_chromium

OPEN = "medicines-and-help"  # a study of the demo that takes answers
QUIET = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
]


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of all processes of this run."""
    own = tmp_path_factory.getbasetemp()
    return (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "prepared"


@pytest.fixture(scope="session")
def bare(shared: Path) -> Site:
    """What a site has when it is made, to be copied: nothing starts with migrations."""
    return prepared(shared)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[Site]:
    """The site as `make run` starts it, demo and all; sweeping every second."""
    demo = prepared(shared, demo=True)
    with running_site(tmp_path_factory.mktemp("site"), demo, CANDOR_DEMO="1") as found:
        yield found


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    # Playwright's loop runs in this thread from here on. Tests of the same process that use the
    # database are not in it.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=QUIET)
        expect.set_options(timeout=1000 * PATIENCE)
        for make in ("new_context", "new_page"):
            setattr(browser, make, patient(getattr(browser, make)))
        yield browser
        browser.close()


def patient(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return what makes contexts or pages, with patience for all that is awaited in them."""

    def made(**options: Any) -> Any:
        found = make(**options)
        found.set_default_timeout(1000 * PATIENCE)
        return found

    return made


@pytest.fixture(scope="session")
def served(site: Site) -> bytes:
    """The open demo study's Plan: its bytes, as the site serves them."""
    with urllib.request.urlopen(f"{site.base}/api/v1/studies/{OPEN}/plan") as response:
        found: bytes = response.read()
        return found


@pytest.fixture(scope="session")
def plan(served: bytes) -> Any:
    return json.loads(served)


@pytest.fixture(scope="session")
def link(site: Site, served: bytes) -> str:
    return f"{site.base}/s/{OPEN}/#{hashlib.sha256(served).hexdigest()}"


@pytest.fixture
def guest(chromium: Browser) -> Iterator[Visit]:
    found = visit(chromium)
    yield found
    found.context.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path
