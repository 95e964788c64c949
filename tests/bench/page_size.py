"""What a respondent's phone downloads: every byte of the answer page over the wire, and the randomiser's modules alone.

python -m tests.bench.page_size
"""

import gzip
import tempfile
import urllib.request
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.bench.report import save, table
from tests.journeys.conftest import QUIET
from tests.journeys.respondent import visit
from tests.journeys.site import running_site
from tests.services import find_chromium

MODULES = Path("surveys/intake/static/intake")
RANDOMISER = ("words", "table", "subset", "channel", "verify")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="candor-bench-") as folder:
        rows = measure(Path(folder))
    rows.sort(key=lambda row: -int(row["bytes"]))
    together = gzip.compress(b"".join((MODULES / f"{name}.js").read_bytes() for name in RANDOMISER), 9)
    rows.append({"what": "the whole page", "bytes": sum(int(row["bytes"]) for row in rows)})
    rows.append({"what": f"{', '.join(RANDOMISER)} together, gzipped", "bytes": len(together)})
    table("The answer page, bytes of bodies over the wire", rows)
    save("page_size", rows)


def measure(folder: Path) -> list[dict[str, str | int]]:
    """Return every address that the page loads, with the bytes of its body as they travel."""
    with running_site(folder, CANDOR_DEMO="1") as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=QUIET)
        guest = visit(browser)
        guest.page.goto(f"{site.base}/s/medicines-and-help/")
        guest.page.get_by_role("button", name="Start").wait_for()
        addresses = [request.url for request in guest.requests]
        browser.close()
        return [{"what": url.removeprefix(site.base), "bytes": wire_bytes(url)} for url in addresses]


def wire_bytes(url: str) -> int:
    request = urllib.request.Request(url, headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(request) as response:
        return len(response.read())


if __name__ == "__main__":
    main()
