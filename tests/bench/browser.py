"""The device's half: time of one answer in Node and Chromium, a million draws against exact
chances, modules' size.

Draws      χ² of what Node's own generator gave against the exact law, a fraction for every report.
           Where subsets are too many to list: whether the answer is held, and how alike the other m
           = k − 1 choices are. Those that are drawn beside it are exchangeable: s of m, with
           variance λ_s = s/m·(1 − s/m)·m/(m − 1) of a contrast, so Σ(count − mean)² / (n·E λ) is χ²
           with m − 1 degrees of freedom. Nothing is seeded: a p-value below 10⁻⁶ comes once in
           100,000 runs of this bench.
Vectors    Every case of tests/vectors replayed in Chromium, as tests/journeys/test_vectors.py does.

    python -m tests.bench.browser
"""

import gzip
import json
import subprocess
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright
from scipy.special import chdtrc

from dpengine.local.one_of import OneOf
from dpengine.local.subset import Subset
from dpengine.local.table import Table
from dpengine.randomness import WORD
from tests.bench.report import save, table
from tests.journeys.conftest import QUIET
from tests.journeys.modules import HOUSE, module_page
from tests.services import find_chromium

DRAWS, DRAWS_OF_MANY = 1_000_000, 100_000  # the second where one answer has hundreds of choices
LEAST_P = 1e-6
MODULES = HOUSE / "surveys/intake/static/intake"
RANDOMISER = ("words", "table", "subset", "one_of", "number", "channel", "verify")

Case = dict[str, Any]


def main() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=QUIET)
        with module_page(browser) as page:
            chromium = page.evaluate(
                "async (cases) => (await import('/tests/bench/browser.js')).times(cases)", CASES
            )
            vectors = [
                replayed(page, file) for file in sorted((HOUSE / "tests/vectors").glob("*.json"))
            ]
        browser.close()
    speeds = [speed(*found) for found in zip(CASES, node("times", CASES), chromium, strict=True)]
    draws = [drawn(case) for case in CASES]
    sizes = [
        {"module": name, "bytes": len(source(name)), "gzipped": gzipped(name)} for name in shipped()
    ]
    sizes.append(
        {
            "module": "all together",
            "bytes": sum(row["bytes"] for row in sizes),
            "gzipped": gzipped(*shipped()),
        }
    )
    for name, title, rows in [
        ("browser_times", "One answer, microseconds", speeds),
        ("browser_draws", "Draws in Node against exact chances", draws),
        ("browser_vectors", "Shared vectors in Chromium", vectors),
        ("browser_sizes", "The randomiser's modules, bytes", sizes),
    ]:
        table(title, rows)
        save(name, rows)


def cases() -> list[Case]:
    """Return channels of every kind at ε = 1, each with an answer."""
    one = Decimal(1)
    uneven = Table(((5, 3, 2), (2, 6, 2), (1, 3, 6)))
    found = [
        ("coin", Table.coin(), 1),
        ("table 3 x 3", uneven, 1),
        ("table, binary", Table.binary(one), 0),
    ]
    found += [(f"subset k = {k}", Subset.for_epsilon(k, one), k // 3) for k in (10, 100, 1024)]
    found += [(f"one of {m}", OneOf.for_epsilon(m, one), list(range(0, m, 3))) for m in (5, 100)]
    return [
        {"name": name, "channel": channel.document(), "answer": answer}
        for name, channel, answer in found
    ]


def number_cases() -> list[Case]:
    """Return numbers too, answers at and between the points of the grid; none while the browser
    has no such module.
    """
    if "number" not in shipped():
        return []
    from dpengine.local.number import NumberChannel  # once the browser can have one

    channel = NumberChannel.for_epsilon(Decimal(1), Decimal(0), Decimal(120), 120).document()
    return [
        {"name": f"number, {answer} of 120", "channel": channel, "answer": answer}
        for answer in (0, 37)
    ]


def shipped() -> list[str]:
    return [name for name in RANDOMISER if (MODULES / f"{name}.js").is_file()]


def source(*names: str) -> bytes:
    return b"".join((MODULES / f"{name}.js").read_bytes() for name in names)


def gzipped(*names: str) -> int:
    return len(gzip.compress(source(*names), 9))


def node(function: str, *given: Any) -> Any:
    """Call a function of browser.js in Node."""
    return module("browser", function, *given)


def module(name: str, function: str, *given: Any) -> Any:
    """Call a function of a script of this folder in Node."""
    script = (
        "import { readFileSync } from 'node:fs';"
        f"const bench = await import({json.dumps(str(HOUSE / f'tests/bench/{name}.js'))});"
        f"console.log(JSON.stringify(await bench.{function}(...JSON.parse(readFileSync(0)))));"
    )
    words = ["node", "--input-type=module", "-e", script]
    return json.loads(
        subprocess.run(
            words, input=json.dumps(given), capture_output=True, text=True, check=True
        ).stdout
    )


def speed(case: Case, in_node: dict[str, float], in_chromium: dict[str, float]) -> dict[str, Any]:
    engines = (("Node", in_node), ("Chromium", in_chromium))
    return {"answer": case["name"]} | {
        f"{engine}, {what}": round(1e6 * seconds[which], 2)
        for engine, seconds in engines
        for what, which in (("each", "each"), ("the first", "first"))
    }


def drawn(case: Case) -> dict[str, Any]:
    """Draw, and return the p-value of what came."""
    channel, many = case["channel"], case["channel"].get("choices", 0) > 10
    draws = DRAWS_OF_MANY if case["channel"].get("choices", 0) > 100 else DRAWS
    if many:
        counts = np.array(node("holders", case, draws))
        found = [
            own_choice(channel, case["answer"], counts, draws),
            other_choices(channel, case["answer"], counts, draws),
        ]
        tested = "answer held; others alike"
    else:
        counts = node("reports", case, draws)
        found = [all_reports(law(channel, case["answer"]), counts, draws)]
        tested = f"{found[0][1] + 1} reports"
    ps = [float(chdtrc(freedom, statistic)) for statistic, freedom in found]
    return {
        "answer": case["name"],
        "draws": draws,
        "tested": tested,
        "chi-square": "; ".join(f"{statistic:.1f}" for statistic, _ in found),
        "freedom": "; ".join(str(freedom) for _, freedom in found),
        "p": "; ".join(f"{p:.3f}" for p in ps),
        "as it should": "yes" if min(ps) >= LEAST_P else "NO",
    }


def all_reports(chances: dict[str, float], counts: dict[str, int], draws: int) -> tuple[float, int]:
    if extra := counts.keys() - chances.keys():
        raise AssertionError(f"{len(extra)} reports came that cannot")
    squares = [
        (counts.get(report, 0) - draws * chance) ** 2 / (draws * chance)
        for report, chance in chances.items()
    ]
    return sum(squares), len(chances) - 1


def law(channel: dict[str, Any], answer: Any) -> dict[str, float]:
    """Return the chance of every report, by its JSON."""
    return {"table": table_law, "subset": subset_law, "one_of": one_of_law, "number": number_law}[
        channel["kind"]
    ](channel, answer)


def table_law(channel: dict[str, Any], answer: int) -> dict[str, float]:
    row = channel["weights"][answer]
    return {str(report): weight / sum(row) for report, weight in enumerate(row)}


def subset_law(channel: dict[str, Any], answer: int) -> dict[str, float]:
    subsets = [list(held) for held in combinations(range(channel["choices"]), channel["size"])]
    rows = Subset(channel["choices"], channel["size"], channel["keep"]).probabilities(subsets)
    return {
        as_json(held): float(chance) for held, chance in zip(subsets, rows[answer], strict=True)
    }


def one_of_law(channel: dict[str, Any], answer: list[int]) -> dict[str, float]:
    keep, options = channel["keep"] / WORD, channel["options"]
    return {
        as_json([option, bit]): (keep if bit == (option in answer) else 1 - keep) / options
        for option in range(options)
        for bit in (0, 1)
    }


def number_law(channel: dict[str, Any], answer: int) -> dict[str, float]:
    """Return the mixture of the two rows between whose points the answer lies."""
    share = [
        np.interp(answer, channel["grid"], column) for column in np.transpose(channel["weights"])
    ]
    return {
        str(report): float(weight) / sum(channel["weights"][0])
        for report, weight in enumerate(share)
    }


def as_json(report: list[int]) -> str:
    return json.dumps(report, separators=(",", ":"))


def own_choice(
    channel: dict[str, Any], answer: int, counts: np.ndarray, draws: int
) -> tuple[float, int]:
    chance = channel["keep"] / WORD
    return float((counts[answer] - draws * chance) ** 2 / (draws * chance * (1 - chance))), 1


def other_choices(
    channel: dict[str, Any], answer: int, counts: np.ndarray, draws: int
) -> tuple[float, int]:
    others, m = np.delete(counts, answer), channel["choices"] - 1
    kept = channel["keep"] / WORD
    contrast = [s / m * (1 - s / m) * m / (m - 1) for s in (channel["size"] - 1, channel["size"])]
    spread = kept * contrast[0] + (1 - kept) * contrast[1]
    return float(((others - others.mean()) ** 2).sum() / (draws * spread)), m - 1


def replayed(page: Any, file: Path) -> dict[str, Any]:
    found = json.loads(file.read_text())
    wrong = page.evaluate(
        "async (cases) => (await import('/tests/browser/replay.js')).failures(cases)", found
    )
    return {"vectors": file.stem, "cases": len(found), "wrong": len(wrong)}


CASES = cases() + number_cases()

if __name__ == "__main__":
    main()
