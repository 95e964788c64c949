"""The four items of an extended crosswise survey on doping, by constants of each row.

P(same) = (1 − p) + (2p − 1)·π, p .2 for one half of the respondents and .8 for the other, so that
one share has to explain two reported ones: G², df = 1. The published analysis of these data (github
MaartenCruyff/wada, `logistic`) maximises the same likelihood; it takes its G² with two degrees of
freedom, which is one too many.

    python -m tests.bench.wada
"""

import csv
from pathlib import Path
from typing import Any

import numpy as np

from dpengine.inference.shares import Share, binary_share
from tests.bench.report import save, table

FILE = Path(__file__).parent.parent / "data" / "wada_monkey.csv"
ITEMS = ("tested", "supplements", "psychoactive", "doping")


def main() -> None:
    rows = [row_of(item, share_of(item)) for item in ITEMS]
    table("Extended crosswise survey (wada_monkey.csv), 95 % intervals", rows)
    save("wada", rows)


def share_of(item: str) -> Share:
    """Return the share of one item's yes."""
    with FILE.open() as file:
        answers = [
            (int(row[f"{item}_same"]), float(row[f"{item}_p"])) for row in csv.DictReader(file)
        ]
    same, p = np.array(answers).T
    return binary_share(same, 1 - p, 2 * p - 1)


def row_of(item: str, share: Share) -> dict[str, Any]:
    return {
        "item": item,
        "n": share.n,
        "estimate": share.moment,
        "likeliest": share.maximum_likelihood,
        "s.e.": share.standard_error,
        "low": share.interval[0],
        "high": share.interval[1],
        "G2": share.fit.g2,
        "df": share.fit.df,
        "p": share.fit.p,
        "alarm": "yes" if share.warnings else "no",
    }


if __name__ == "__main__":
    main()
