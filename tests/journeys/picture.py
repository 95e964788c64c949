"""Take the README's picture: the dashboard of the demo study, on a wide screen.

python -m tests.journeys.picture docs/dashboard.png
"""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.journeys.conftest import QUIET
from tests.journeys.site import running_site
from tests.services import find_chromium

WIDTH, HEIGHT = 1280, 1220


def take(target: Path) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="candor-picture-") as folder,
        sync_playwright() as playwright,
        running_site(Path(folder), CANDOR_DEMO="1") as site,
    ):
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=QUIET)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(f"{site.base}/results/health-and-habits/")
        page.screenshot(path=target)
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/dashboard.png"))
