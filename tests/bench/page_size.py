"""What a respondent's phone downloads: every byte of the answer page over the wire, for a Plan of
each sort.

At most 40,000 bytes for any Plan of which everybody is asked everything (pictures are the study's
own and not counted), as gzip sends them. The draw of questions takes some 1,800 more.

python -m tests.bench.page_size
"""

import gzip
import tempfile
import urllib.request
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.bench.report import save, table
from tests.journeys.conftest import QUIET
from tests.journeys.every_kind import GIVEN, QUESTIONS, every_kind, open_studies
from tests.journeys.respondent import visit
from tests.journeys.site import Site, running_site
from tests.services import find_chromium

MODULES = Path("surveys/intake/static/intake")
RANDOMISER = ("words", "expect", "table", "subset", "channels", "verify")
LIMIT = 40_000


def main() -> None:
    with (
        tempfile.TemporaryDirectory(prefix="candor-bench-") as folder,
        running_site(Path(folder), CANDOR_DEMO="1") as site,
    ):
        rows = measure(site)
    together = gzip.compress(
        b"".join((MODULES / f"{name}.js").read_bytes() for name in RANDOMISER), 9
    )
    rows.append(
        {
            "what": f"{', '.join(RANDOMISER)} together, gzipped",
            "plain": len(together),
            "largest": "",
        }
    )
    table(f"The answer page, bytes of bodies over the wire (at most {LIMIT:,})", rows)
    save("page_size", rows)


def measure(site: Site) -> list[dict[str, str | int]]:
    """Return every address that the page loads for a plain Plan, and for one of all kinds in two
    languages.
    """
    open_studies(
        site, every_kind("largest", chinese=True, picture=True, questions=[*QUESTIONS, *GIVEN])
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=QUIET)
        plain, largest = (loaded(browser, site, slug) for slug in ("medicines-and-help", "largest"))
        browser.close()
    rows: list[dict[str, str | int]] = [
        {"what": name, "plain": plain.get(name, 0), "largest": largest.get(name, 0)}
        for name in sorted({*plain, *largest}, key=lambda name: -largest.get(name, 0))
    ]
    return [
        *rows,
        {"what": "the whole page", "plain": sum(plain.values()), "largest": sum(largest.values())},
    ]


def loaded(browser: Browser, site: Site, slug: str) -> dict[str, int]:
    guest = visit(browser)
    guest.page.goto(f"{site.base}/s/{slug}/")
    guest.page.get_by_role("button", name="Start").wait_for()
    addresses = [request.url for request in guest.requests if "/pictures/" not in request.url]
    guest.context.close()
    return {
        url.removeprefix(site.base).replace(f"/{slug}/", "/…/"): wire_bytes(url)
        for url in addresses
    }


def wire_bytes(url: str) -> int:
    request = urllib.request.Request(url, headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(request) as response:
        return len(response.read())


if __name__ == "__main__":
    main()
