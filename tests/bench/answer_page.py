"""How long a phone waits for the answer page: a slow line and a slow processor, a browser without a
past.

Line       1.6 Mbit/s down, 0.75 Mbit/s up, 150 ms of latency; processor four times slower
           (Chromium's own throttles).
Painted    First contentful paint, from the start of navigation.
Ready      The welcome stands with its odds, checked, and “Start” can be pressed: what can be read
           before is the title.
           The Plan is verified by then, and its questions are drawn.
Asked      From the press of “Start” until the first question stands.
Blocked    Longest task of the main thread until “Start” can be pressed.
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

PRESS = """() => new Promise((resolve) => {
  const began = performance.now();
  new MutationObserver(() => {
    if (document.querySelector('fieldset')) resolve(performance.now() - began);
  }).observe(document, { childList: true, subtree: true });
  document.querySelector('[data-do=start]').click();
})"""


def main() -> None:
    with (
        tempfile.TemporaryDirectory(prefix="candor-bench-") as folder,
        running_site(Path(folder), CANDOR_DEMO="1") as site,
        sync_playwright() as playwright,
    ):
        links = open_studies(
            site,
            every_kind("largest", chinese=True, questions=[*QUESTIONS, *GIVEN]),
            *(eight(drawn) for drawn in (0, 2)),
        )
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=QUIET)
        pages = {
            "three questions": f"{site.base}/s/medicines-and-help/",
            "nine, of every kind": links["largest"],
            "the same, in Chinese": links["largest"].replace("/#", "/zh-hans/#"),
            "eight, all asked": links["eight-0"],
            "eight, two of four pairs drawn": links["eight-2"],
        }
        rows = [
            {"Plan": name, **median([visited(browser, url) for _ in range(VISITS)])}
            for name, url in pages.items()
        ]
        browser.close()
    table("The answer page on a slow phone, milliseconds", rows)
    save("answer_page", rows)


def eight(drawn: int) -> Any:
    """Return a study of eight yes/no questions: everybody is asked all, or each person draws so
    many of four pairs, and each pair is sent as one answer.
    """
    pairs = {"together": "pair{}"} if drawn else {}
    study = every_kind(
        f"eight-{drawn}",
        questions=[
            {
                "name": f"q{at}",
                "kind": "yes_no",
                "text": f"Have you ever done the thing of which question {at} asks?",
                "label": f"Thing {at}",
                **{name: value.format(at // 2) for name, value in pairs.items()},
            }
            for at in range(8)
        ],
    )
    study["study"] |= {"asked": drawn} if drawn else {}
    return study


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
    found["asked"] = page.evaluate(PRESS)
    context.close()
    return found


def median(visits: list[dict[str, Any]]) -> dict[str, int]:
    return {name: round(statistics.median(visit[name] for visit in visits)) for name in visits[0]}


if __name__ == "__main__":
    main()
