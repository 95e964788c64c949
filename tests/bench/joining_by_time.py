"""Who sees both connections: how many fetches and reports are joined rightly by time alone.

People    2,000 on one day, fetching at even chance in 8 hours, in one stratum, or in three of
          unequal size (which the ticket tells). Answering takes a median of 4 minutes (log-normal, σ .5).
Sent      at once; at moments of a grid that each page counts from its own fetching, every 15
          minutes; at common moments of the clock, every so many minutes as a launch sets for so many
          strata; in a second phase, on another day, at even chance in 8 hours.
Insider   sees both times of everybody to the second, knows all laws, and takes the assignment that
          is most likely (Hungarian), stratum by stratum.
Printed   percent joined rightly, mean of RUNS, beside 1/people in the stratum: what who knows
          nothing has.

    python -m tests.bench.joining_by_time [runs]
"""

import sys
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt
import scipy

from surveys.plan.invited import minutes_between
from tests.bench.report import save, table

Floats = npt.NDArray[np.float64]
PEOPLE, HOURS = 2000, 8
STRATA = {"one stratum": (1.0,), "three strata": (0.6, 0.3, 0.1)}
MEDIAN, SPREAD, JITTER = 240.0, 0.5, 20.0  # seconds; of ln
RUNS, SEED, NEVER = 5, 20_261_124, 1e6

Likelihood = Callable[
    [Floats, Floats, float], Floats
]  # of a fetch and a report being one person's: −log


def at_once(fetched: Floats, taken: Floats, step: float, chance: np.random.Generator) -> Floats:
    return fetched + taken


def own_grid(fetched: Floats, taken: Floats, step: float, chance: np.random.Generator) -> Floats:
    return fetched + np.ceil(taken / step) * step + chance.random(len(taken))


def common(fetched: Floats, taken: Floats, step: float, chance: np.random.Generator) -> Floats:
    return np.ceil((fetched + taken) / step) * step + JITTER * chance.random(len(taken))


def second_phase(
    fetched: Floats, taken: Floats, step: float, chance: np.random.Generator
) -> Floats:
    return 86_400 + chance.random(len(taken)) * HOURS * 3600


def _of_time(taken: Floats) -> Floats:
    """Return −log of the density of a time taken, up to a constant."""
    log = np.log(np.maximum(taken, 1e-3))
    return np.where(taken > 0, log + (log - np.log(MEDIAN)) ** 2 / (2 * SPREAD**2), NEVER)


def _within(least: Floats, most: Floats) -> Floats:
    """Return −log of the chance of a time within limits."""
    ends = [
        scipy.special.ndtr(np.log(np.maximum(end, 1e-3) / MEDIAN) / SPREAD) for end in (least, most)
    ]
    return -np.log(np.maximum(ends[1] - ends[0], 1e-300))


def likely_at_once(fetched: Floats, sent: Floats, step: float) -> Floats:
    return _of_time(sent[None] - fetched[:, None])


def likely_own_grid(fetched: Floats, sent: Floats, step: float) -> Floats:
    steps, rest = np.divmod(sent[None] - fetched[:, None], step)
    return np.where(rest < 1, _within((steps - 1) * step, steps * step), NEVER)


def likely_common(fetched: Floats, sent: Floats, step: float) -> Floats:
    moment = np.floor(sent / step)[None] * step
    return _within(moment - step - fetched[:, None], moment - fetched[:, None])


def likely_second_phase(fetched: Floats, sent: Floats, step: float) -> Floats:
    return np.zeros((len(fetched), len(sent)))


WAYS = {
    "at once": (at_once, likely_at_once),
    "a grid from the fetch on": (own_grid, likely_own_grid),
    "common moments": (common, likely_common),
    "second phase": (second_phase, likely_second_phase),
}


def joined(way: str, strata: Sequence[float], chance: np.random.Generator) -> int:
    """Return how many are joined rightly; who knows nothing joins one a stratum, on average."""
    send, likely = WAYS[way]
    step = 60.0 * minutes_between(len(strata))
    right = 0
    for part in strata:
        people = round(PEOPLE * part)
        fetched = chance.random(people) * HOURS * 3600
        taken = MEDIAN * np.exp(SPREAD * chance.standard_normal(people))
        sent = send(fetched, taken, step, chance)
        order = chance.permutation(people)  # else ties would be joined as they were made
        rows, columns = scipy.optimize.linear_sum_assignment(likely(fetched, sent[order], step))
        right += int((order[columns] == rows).sum())
    return right


def main(runs: int = RUNS) -> None:
    chance = np.random.default_rng(SEED)
    rows = []
    for (name, strata), way in product(STRATA.items(), WAYS):
        right = float(np.mean([joined(way, strata, chance) for _ in range(runs)]))
        by_chance = 100 * len(strata) / PEOPLE
        rows.append(
            {"list": name, "sent": way, "right %": 100 * right / PEOPLE, "by chance %": by_chance}
        )
    table(f"Joined by time: {PEOPLE:,} people in {HOURS} hours, {runs} runs", rows)
    save("joining_by_time", rows)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
