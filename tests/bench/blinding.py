"""A ticket in the browser: the bytes of its module, tickets crossed with an independent
implementation of RFC 9474, and how long a slow phone takes to blind and to unblind.

python -m tests.bench.blinding [1000]
"""

import gzip
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tests import tickets
from tests.bench.report import save, table
from tests.journeys.conftest import QUIET
from tests.journeys.site import running_site
from tests.services import find_chromium
from tools import bundle

SLOWER = 4  # times
TRIES = 20
SIGNED = """async ([key, digest]) => {
  const { prepare } = await import('/static/intake/ticket.js');
  const begun = performance.now();
  const own = await prepare(key, digest);
  return { ...own, took: performance.now() - begun };
}"""
FINISHED = """async ([key, digest, prefix, factor, signed]) => {
  const { finalize, messageOf } = await import('/static/intake/ticket.js');
  const begun = performance.now();
  await finalize(key, messageOf(prefix, digest), factor, signed);
  return performance.now() - begun;
}"""


def main(many: int) -> None:
    small = bundle.esbuild("intake/ticket.js", *bundle.SCRIPT)
    node = ["node", "tests/bench/crossed.js", str(many)]
    good = json.loads(subprocess.run(node, capture_output=True, text=True, check=True).stdout)
    rows: list[dict[str, Any]] = [
        {"what": "the module, minified and gzipped, bytes", "found": len(gzip.compress(small, 9))},
        {"what": f"ours taken by the peer, of {many:,}", "found": good["ours"]},
        {"what": f"the peer’s taken by us, of {many:,}", "found": good["theirs"]},
    ]
    rows += timed()
    table(f"Tickets in the browser (times: CPU ÷ {SLOWER}, medians of {TRIES})", rows)
    save("blinding", rows)
    assert good == {"ours": many, "theirs": many}


def timed() -> list[dict[str, Any]]:
    found = []
    with (
        tempfile.TemporaryDirectory(prefix="candor-bench-") as folder,
        running_site(Path(folder)) as site,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=QUIET)
        page = browser.new_context(bypass_csp=True).new_page()
        page.goto(f"{site.base}/registry/")
        slow = page.context.new_cdp_session(page)
        slow.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        for bits in (2048, 4096):
            key, digest = tickets.new_key(bits), "ab" * 32
            both: list[tuple[float, float]] = []
            for _ in range(TRIES):
                own = page.evaluate(SIGNED, [key.modulus, digest])
                number = pow(int(own["blinded"], 16), key.d, int(key.modulus, 16))
                signed = f"{number:0{len(key.modulus)}x}"
                given = [key.modulus, digest, own["prefix"], own["factor"], signed]
                both.append((own["took"], page.evaluate(FINISHED, given)))
            for what, times in zip(
                ("blind", "unblind and verify"), zip(*both, strict=True), strict=True
            ):
                shown = round(statistics.median(times), 1)
                found.append({"what": f"{bits} bits: {what}, ms", "found": shown})
        browser.close()
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
