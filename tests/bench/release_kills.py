"""Workers that are killed at a random moment of a release, and what is left behind.

Every run, a researcher confirms a request in the browser; a worker begins to publish it and is
killed with SIGKILL after a random time. Then the sweep that looks for lost requests does its round,
and the researcher confirms the same request again. After every kill no more may be published than
is paid for; at the end every request has exactly one release and one charge, and the second
confirmation shows the numbers of the first.

    python -m tests.bench.release_kills [--runs 500]

In a database of its own: SQLite in a folder that is thrown away, or the PostgreSQL that
DATABASE_URL names.
"""

import argparse
import contextlib
import datetime
import os
import random
import re
import signal
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from tests.bench.report import save, table
from tests.bench.site import fresh_site

SEED = 20260511  # of the moments at which workers are killed; noise comes from the mechanisms
MOMENTS = ("began", "drawn", "charged", "stored", "committed")
LONGER = 1.3  # times what a release usually takes: some workers live to its end
PEOPLE = 60
FULL = 500  # runs, of which figures are kept


@dataclass
class Found:
    """What was seen over all runs."""

    moments: Counter[str] = field(default_factory=Counter)
    unpaid: int = 0  # times that more was published than paid for
    not_one: int = 0  # requests without exactly one release and one charge
    other_numbers: int = 0  # second confirmations that showed something else
    seconds: float = 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    runs = parser.parse_args().runs
    with fresh_site():
        found = kill(runs)
    report(found, runs)
    if found.unpaid or found.not_one or found.other_numbers:
        raise SystemExit("a killed worker left something behind")


def kill(runs: int) -> Found:
    """Kill a worker in every run; return what was found."""
    from django.test import Client, override_settings

    chance, found = random.Random(SEED), Found()
    plan, user = make_study(runs)
    began = time.monotonic()
    with (
        override_settings(ALLOWED_HOSTS=["testserver"]),
        mock.patch("surveys.releases.services._tell_a_worker"),
    ):
        client = Client()
        client.force_login(user)
        usual = usual_seconds(client)
        for run in range(runs):
            one_run(client, plan, run, chance.uniform(0, LONGER * usual), found)
    found.seconds = time.monotonic() - began
    return found


def make_study(runs: int) -> tuple[Any, Any]:
    """Return a study on request whose cap pays for every run, and somebody who may ask."""
    from decimal import Decimal

    from surveys.demo.services import ensure_study
    from surveys.design.models import SiteLimits
    from surveys.people import services as people
    from surveys.people.models import Role
    from tests.surveys.releases.conftest import QUESTIONS, STUDY, answer

    now = datetime.datetime.now(datetime.UTC)
    SiteLimits.objects.update_or_create(pk=1, defaults={"cap_ceiling": 20})
    plan, _ = ensure_study({**STUDY, "cap": Decimal(20)}, QUESTIONS, now)
    answer(plan, PEOPLE)
    user = people.ensure_user(username="mira", password="a long enough password")
    people.share(study=plan.study, user=user, role=Role.ANALYST)
    return plan, user


def usual_seconds(client: Any) -> float:
    """Return how long a worker takes for a release that nobody disturbs: the middle of five."""
    taken = []
    for number in range(5):
        with begun(confirm(client, f"0.00{number + 1}").pk) as (_, said):
            start = time.monotonic()
            for _moment in MOMENTS[1:]:
                os.read(said, 1)
            taken.append(time.monotonic() - start)
    return sorted(taken)[2]


def one_run(client: Any, plan: Any, run: int, delay: float, found: Found) -> None:
    from surveys.releases import services
    from surveys.releases.models import Release

    epsilon = f"{0.01 + run / 10**6:.6f}"  # each run asks for something else
    request = confirm(client, epsilon)
    found.moments[worker_killed_after(delay, request.pk)] += 1
    found.unpaid += spent_beyond_charged(plan) > 0
    services.publish_asked(now=datetime.datetime.now(datetime.UTC) + datetime.timedelta(minutes=1))
    numbers = Release.objects.get(request=request).numbers
    found.not_one += charges_and_releases(request) != (1, 1)
    again = confirm(client, epsilon)
    services.try_to_publish(request_id=again.pk, now=datetime.datetime.now(datetime.UTC))
    found.other_numbers += again != request or Release.objects.get(request=again).numbers != numbers
    found.not_one += charges_and_releases(request) != (1, 1)


def confirm(client: Any, epsilon: str) -> Any:
    """Ask as a browser does: see the cost, then confirm; return the request."""
    from surveys.releases.models import Request

    path, form = (
        "/studies/on-request/ask/shares/",
        {"questions": ["copied", "year"], "epsilon": epsilon},
    )
    seen = re.search(r'name="confirmed" value="(\w+)"', client.post(path, form).content.decode())
    assert seen is not None, "expected what it would cost"
    answered = client.post(path, {**form, "confirmed": seen[1]})
    page = re.search(r"/(asked|releases)/(\w+)/", answered.headers["Location"])
    assert page is not None, (
        "expected the page of the request, or of the release that it got before"
    )
    return Request.objects.get(
        **{"digest" if page[1] == "asked" else "release__entry__number": page[2]}
    )


def worker_killed_after(delay: float, request_id: int) -> str:
    """Have a worker publish a request and kill it; return the last moment of the release that it
    reached.
    """
    with begun(request_id) as (pid, said):
        time.sleep(delay)
        os.kill(pid, signal.SIGKILL)
        reached = said_since(said)
    return MOMENTS[reached]


@contextlib.contextmanager
def begun(request_id: int) -> Iterator[tuple[int, int]]:
    """Have a worker begin to publish a request; give its process and where it says what it
    reached; kill it after.
    """
    from django.db import connections

    connections.close_all()  # a connection belongs to one process
    said, tell = os.pipe()
    if (pid := os.fork()) == 0:
        work(request_id, tell)
    os.read(said, 1)
    try:
        yield pid, said
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(tell)
        os.close(said)


def said_since(said: int) -> int:
    """Return how many moments were told by now, without waiting for another."""
    os.set_blocking(said, False)
    try:
        return len(os.read(said, len(MOMENTS)))
    except BlockingIOError:
        return 0


def work(request_id: int, tell: int) -> None:
    """Publish in a process of its own, telling which moment is reached; then wait to be killed."""
    from surveys.releases import services
    from surveys.releases.models import Release
    from surveys.releases.queries.shares import Shares

    def telling(act: Any) -> Any:
        def acted(*args: Any, **words: Any) -> Any:
            result = act(*args, **words)
            os.write(tell, b".")
            return result

        return acted

    Shares.draw = telling(Shares.draw)  # type: ignore[method-assign]
    services.charges.charge = telling(services.charges.charge)
    Release.save = telling(Release.save)  # type: ignore[method-assign]
    os.write(tell, b".")
    try:
        services.publish(request_id=request_id, now=datetime.datetime.now(datetime.UTC))
        os.write(tell, b".")
        time.sleep(600)
    finally:
        os._exit(1)


def spent_beyond_charged(plan: Any) -> Any:
    """Return the ε that releases lost beyond what the ledger has charged: never above 0."""
    from decimal import Decimal

    from surveys.ledger import selectors as ledger
    from surveys.releases.models import Release

    published = sum(Release.objects.values_list("entry__epsilon", flat=True), start=Decimal(0))
    return published - ledger.account(plan.study.budget_id).amount_spent


def charges_and_releases(request: Any) -> tuple[int, int]:
    from surveys.ledger.models import Entry
    from surveys.releases.models import Release

    return Entry.charges.filter(statistic=request.digest).count(), Release.objects.filter(
        request=request
    ).count()


def report(found: Found, runs: int) -> None:
    rows = [
        {
            "runs": runs,
            **{f"killed when {moment}": found.moments[moment] for moment in MOMENTS},
            "published unpaid": found.unpaid,
            "not exactly one": found.not_one,
            "other numbers": found.other_numbers,
            "seconds": round(found.seconds, 1),
        }
    ]
    table(f"{runs} workers killed at a random moment of a release", rows)
    if runs >= FULL:
        save("release kills", rows)


if __name__ == "__main__":
    main()
