"""How fast packed reports are counted, on one core, and in how much memory; beside the fastest
peers in the same run.

Ours count what a batch holds: bytes. Peers count what their own clients made, as their aggregators
take it: a list of numbers, of index arrays or of 0/1 vectors. Each is timed as the best of a few
rounds. Every figure is first earned: the counts are compared with another way of counting, whole
and in two parts.

    python -m tests.bench.tally
"""

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client
from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

from dpengine.local.subset import Subset
from dpengine.local.table import Table
from tests.bench.report import save, table

SEED = 20261121  # people and their reports, not protection
EPSILON = 1.0
ROUNDS = 7
# tallied by ours
REPORTS = {
    "table": 20_000_000,
    "wide table": 20_000_000,
    10: 20_000_000,
    100: 8_000_000,
    1024: 2_000_000,
}
LEAST = {10: 100e6, 100: 50e6, 1024: 15e6}  # reports/s; of a table, half of a bare bincount
MOST_BYTES = 150  # a report, at k = 1024
PEERS_REPORTS = 10_000  # tallied by each peer; their speed does not depend on it
SLOW_REPORTS = 200  # of peers that hash every choice for every report
SMALL = (10, 100, 1000, 10_000)  # reports of a sweep

Channel = Table | Subset


@dataclass(frozen=True)
class Peer:
    name: str
    reports: int
    tally: Callable[[], Any]


def main() -> None:
    rows, beside = [], []
    for what, number in REPORTS.items():
        row, peers = measured(what, number)
        rows.append(row)
        beside += peers
    table(
        f"Tally of packed reports, one core, millions of reports a second (epsilon {EPSILON:g})",
        rows,
    )
    table("Peers' aggregators on their own clients' reports", beside)
    small = [small_batches(what) for what in REPORTS]
    table("Tally of a small batch, microseconds", small)
    save("tally", rows)
    save("tally_peers", beside)
    save("tally_small", small)


def title(what: str | int) -> str:
    return what if isinstance(what, str) else f"subset k = {what}"


def channel_of(what: str | int) -> Channel:
    """Return the channel to tally: 5 or 300 reports, packed in one byte or two, or the best
    subsets of so many.
    """
    if isinstance(what, int):
        return Subset.for_epsilon(what, Decimal(str(EPSILON)))
    answers, reports = (5, 5) if what == "table" else (13, 300)
    return Table(tuple(tuple(3 if i == j else 1 for j in range(reports)) for i in range(answers)))


def measured(what: str | int, number: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    channel = channel_of(what)
    packed = packed_reports(channel, number)
    merged = checked(channel, packed)
    ours = number / fastest(lambda: channel.tally(packed))
    bare = (
        number / fastest(lambda: np.bincount(as_array(channel, packed)))
        if isinstance(channel, Table)
        else None
    )
    found = [(peer.name, peer.reports / fastest(peer.tally, 2)) for peer in peers_of(channel)]
    best = max(found, key=lambda one: one[1])
    held = memory(channel, packed) / number
    least = bare / 2 if bare else LEAST[what]
    row = {
        "what": title(what),
        "reports": number,
        "ours M/s": ours / 1e6,
        "at least": least / 1e6,
        "bare bincount": bare / 1e6 if bare else "",
        "bytes a report": held,
        "parts add up": merged,
        "fastest peer": best[0],
        "peer M/s": best[1] / 1e6,
        "as fast": f"{ours / best[1]:,.0f} x",
        "kept": "yes"
        if ours >= least and merged and (what != 1024 or held <= MOST_BYTES)
        else "NO",
    }
    return row, [{"what": row["what"], "peer": name, "M/s": rate / 1e6} for name, rate in found]


def packed_reports(channel: Channel, number: int) -> bytes:
    """Return reports with the channel's own law, packed: a few thousand different ones, in
    random order.
    """
    chance = np.random.default_rng([SEED, channel.choices])
    few = min(number, 4096)
    answers = chance.integers(channel.choices, size=few)
    if isinstance(channel, Table):
        law = np.array(channel.weights) / channel.total
        reports = [chance.choice(channel.reports, p=law[answer]) for answer in answers]
    else:
        reports = [subset_report(channel, answer, chance) for answer in answers]
    rows = np.frombuffer(channel.pack(reports), dtype=np.uint8).reshape(few, channel.width)
    return rows[chance.integers(few, size=number)].tobytes()


def subset_report(channel: Subset, answer: int, chance: np.random.Generator) -> list[int]:
    kept = int(chance.random() * 2**32 < channel.keep)
    others = chance.permutation(channel.choices - 1)[: channel.size - kept]
    return sorted([answer] * kept + [int(other + (other >= answer)) for other in others])


def as_array(channel: Channel, packed: bytes) -> np.ndarray:
    return np.frombuffer(packed, dtype=f"<u{channel.width}")


def checked(channel: Channel, packed: bytes) -> bool:
    """Tell whether the tally is right, and that of two parts, uneven ones, adds up to it."""
    cut = (len(packed) // channel.width) // 3 * channel.width
    parts = np.add(channel.tally(packed[:cut]), channel.tally(packed[cut:]))
    whole = channel.tally(packed)
    return whole == parts.tolist() == plain_tally(channel, packed)


def plain_tally(channel: Channel, packed: bytes) -> list[int]:
    if isinstance(channel, Table):
        array = as_array(channel, packed)
        return [int((array == report).sum()) for report in range(channel.reports)]
    rows = np.frombuffer(packed, dtype=np.uint8).reshape(-1, channel.width)
    return [
        int((rows[:, choice // 8] >> (7 - choice % 8) & 1).sum())
        for choice in range(channel.choices)
    ]


def memory(channel: Channel, packed: bytes) -> int:
    """Return the bytes that a tally needs: those it is given, and the most that it takes
    besides.
    """
    tracemalloc.start()
    channel.tally(packed)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return len(packed) + most


def fastest(run: Callable[[], Any], rounds: int = ROUNDS) -> float:
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def peers_of(channel: Channel) -> list[Peer]:
    """Return aggregators for as many choices, with reports of their own clients."""
    k = channel.reports if isinstance(channel, Table) else channel.choices
    answers = np.random.default_rng([SEED, k, 1]).integers(k, size=PEERS_REPORTS).tolist()
    if isinstance(channel, Table):
        return [
            multi_freq("GRR", GRR_Aggregator_MI, [GRR_Client(a, k, EPSILON) for a in answers], k),
            pure("direct encoding", DEClient(EPSILON, k), lambda: DEServer(EPSILON, k), answers),
        ]
    return [
        multi_freq(
            "subset selection", SS_Aggregator_MI, [SS_Client(a, k, EPSILON) for a in answers], k
        ),
        multi_freq(
            "optimal unary", UE_Aggregator_MI, [UE_Client(a, k, EPSILON, True) for a in answers]
        ),
        pure(
            "optimal unary", UEClient(EPSILON, k, True), lambda: UEServer(EPSILON, k, True), answers
        ),
        pure(
            "optimal local hashing",
            LHClient(EPSILON, k, use_olh=True),
            lambda: LHServer(EPSILON, k, use_olh=True),
            answers[:SLOW_REPORTS],
        ),
    ]


def multi_freq(name: str, aggregate: Callable[..., Any], reports: list, *choices: int) -> Peer:
    return Peer(
        f"multi-freq-ldpy {name}", len(reports), lambda: aggregate(reports, *choices, EPSILON)
    )


def pure(name: str, client: Any, server: Callable[[], Any], answers: list[int]) -> Peer:
    reports = [client.privatise(answer + 1) for answer in answers]  # their answers begin at 1
    return Peer(f"pure-ldp {name}", len(reports), lambda: server().aggregate_all(reports))


def small_batches(what: str | int) -> dict[str, Any]:
    channel = channel_of(what)
    packed = packed_reports(channel, max(SMALL))
    times = {n: fastest(lambda n=n: channel.tally(packed[: n * channel.width]), 50) for n in SMALL}
    return {"what": title(what)} | {
        f"{n:,} reports": round(1e6 * seconds) for n, seconds in times.items()
    }


if __name__ == "__main__":
    main()
