"""How long a phone waits for the answer page: a slow line and a slow processor, a browser without a
past.

Line       1.6 Mbit/s down, 0.75 Mbit/s up, 150 ms of latency; processor four times slower
           (Chromium's own throttles).
Painted    First contentful paint, from the start of navigation.
Ready      The welcome stands with its odds, checked, and “Start” can be pressed: what can be read
           before is the title.
Blocked    Longest task of the main thread until then.
Bytes      As they travel, headers counted; the median of several visits for all of it.

    python -m tests.bench.answer_page
"""

import statistics
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from tests.bench.report import save, table
from tests.journeys.conftest import QUIET
from tests.journeys.every_kind import GIVEN, QUESTIONS, every_kind, open_studies
from tests.journeys.respondent import PHONE
from tests.journeys.site import running_site
from tests.services import find_chromium

VISITS = 5
SLOWER = 4
LINE = {
    "offline": False,
    "latency": 150,
    "downloadThroughput": 1.6e6 / 8,
    "uploadThroughput": 0.75e6 / 8,
}
WATCH = """
window.candorTimes = { ready: 0, blocked: 0 };
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) candorTimes.blocked = Math.max(candorTimes.blocked, duration);
}).observe({ type: 'longtask', buffered: true });
new MutationObserver(() => {
  if (!candorTimes.ready && document.querySelector('[data-do=start]')) candorTimes.ready = performance.now();
}).observe(document, { childList: true, subtree: true });
"""
TIMES = """() => ({
  painted: performance.getEntriesByName('first-contentful-paint')[0].startTime,
  ...candorTimes,
  requests: performance.getEntriesByType('resource').length + 1,
  bytes: [...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]
    .reduce((sum, { transferSize }) => sum + transferSize, 0),
})"""


def main() -> None:
    with (
        tempfile.TemporaryDirectory(prefix="candor-bench-") as folder,
        running_site(Path(folder), CANDOR_DEMO="1") as site,
        sync_playwright() as playwright,
    ):
        links = open_studies(
            site, every_kind("largest", chinese=True, questions=[*QUESTIONS, *GIVEN])
        )
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=QUIET)
        pages = {
            "three questions": f"{site.base}/s/medicines-and-help/",
            "nine, of every kind": links["largest"],
            "the same, in Chinese": links["largest"].replace("/#", "/zh-hans/#"),
        }
        rows = [
            {"Plan": name, **median([visited(browser, url) for _ in range(VISITS)])}
            for name, url in pages.items()
        ]
        browser.close()
    table("The answer page on a slow phone, milliseconds", rows)
    save("answer_page", rows)


def visited(browser: Browser, url: str) -> dict[str, Any]:
    context = browser.new_context(
        viewport=PHONE, device_scale_factor=2, is_mobile=True, has_touch=True
    )
    context.add_init_script(WATCH)
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", LINE)
    session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.goto(url)
    page.locator("[data-do=start]").wait_for()
    found: dict[str, Any] = page.evaluate(TIMES)
    context.close()
    return found


def median(visits: list[dict[str, Any]]) -> dict[str, int]:
    return {name: round(statistics.median(visit[name] for visit in visits)) for name in visits[0]}


if __name__ == "__main__":
    main()
