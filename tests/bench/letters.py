"""Letters to people on a list, as fast as a real server of letters on this machine takes them:
letters a minute, with three kills of the worker in the middle, and reminders.

    python -m tests.bench.letters [people]

5,001 people in three strata unless told otherwise, a quarter of whom have fetched a ticket before
the reminder. The worker is a process of its own. It fails if anybody had two of the same letter, if
somebody who had none is not named as doubtful, or if the reminder went to any other than those
without a ticket.
"""

import datetime
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from typing import Any

from tests.bench.report import save, table
from tests.bench.site import fresh_site
from tests.patience import became

DAY = datetime.timedelta(days=1)
TEXTS = {"en": {"subject": "Hello", "text": "Hello {name},\n\n{link}"}}
STRATA = ("Arts", "Law", "Medicine")


def main() -> None:
    people = int(sys.argv[1]) if sys.argv[1:] else 5001
    with fresh_site():
        from aiosmtpd.controller import Controller

        from tests.ports import free_port
        from tests.surveys.invited.conftest import Sink

        sink = Sink()
        server = Controller(sink, hostname="127.0.0.1", port=free_port())
        server.start()
        os.environ |= {
            "EMAIL_URL": f"smtp://127.0.0.1:{server.port}",
            "CANDOR_LETTERS_A_SECOND": "0",
        }
        try:
            rows = [killed(sink, plan := opened(people)), reminded(sink, plan)]
        finally:
            server.stop(no_assert=True)
    table(f"Letters to {people:,} people", rows)
    save(f"letters {people}", rows)


def opened(people: int) -> Any:
    from surveys.design.drafts import new_draft
    from surveys.invited import services
    from tests.surveys.drafting.conftest import COPIED, TEXTS as STUDY
    from tests.surveys.invited.conftest import entries

    study = new_draft(
        texts={**STUDY, "is_invited": True, "expected": 60}, questions=[{**COPIED, "epsilon": 1}]
    )
    services.add_people(study_id=study.pk, entries=entries(people // 3, STRATA))
    return services.launch(study=study, why="A test.", who="olga", now=now())


def now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def worker() -> "subprocess.Popen[bytes]":
    module = "tests.surveys.invited.worker"
    return subprocess.Popen([sys.executable, "-m", module], stdout=subprocess.DEVNULL)


def addresses(people: Any) -> set[str]:
    from surveys.invited import selectors
    from surveys.invited.models import Person

    study = Person.objects.first().study
    return {entry.address for _, entry in selectors.people_of(study, people)}


def killed(sink: Any, plan: Any) -> dict[str, Any]:
    """Send the invitation, killing the worker after each fifth."""
    from surveys.invited import selectors, sending
    from surveys.invited.models import Person

    letter = schedule(plan, reminds=False, day=now().date())
    everybody, seconds = addresses(Person.objects.all()), 0.0
    for kill in (1, 2, 3, 4):
        began, before, running = time.monotonic(), len(sink.letters), worker()
        if kill < 4:
            least = len(everybody) * kill // 5
            assert became(lambda least=least: len(sink.letters) >= least)
            os.kill(running.pid, signal.SIGKILL)
        assert running.wait() == (0 if kill == 4 else -signal.SIGKILL)
        if kill == 4:
            seconds, last = time.monotonic() - began, len(sink.letters) - before
    had = Counter(sink.to())
    doubtful = addresses(selectors.doubtful(letter))
    assert max(had.values()) == 1, "somebody had two"
    assert everybody - set(had) <= doubtful, "somebody who had none is not named"
    assert len(doubtful) <= 3
    letter.refresh_from_db()
    sending.decide(letter, again=False)
    sink.letters.clear()
    return {"letter": "invitation", "sent": len(had), "doubtful": len(doubtful)} | {
        "a minute": round(60 * last / seconds)
    }


def reminded(sink: Any, plan: Any) -> dict[str, Any]:
    from surveys.invited.keys import Chest
    from surveys.invited.models import Person
    from surveys.issuer.models import Mark

    chest = Chest(plan.study_id)
    came = list(Person.objects.order_by("digest")[: Person.objects.count() // 4])
    for each in came:
        own = bytes.fromhex(chest.reference(plan.digest, each.reference))
        Mark.objects.create(invitation_id=own, blinded=b"b" * 32)
    from surveys.invited.models import Letter

    letter = schedule(plan, reminds=True, day=now().date() + DAY)
    Letter.objects.filter(pk=letter.pk).update(state=Letter.State.GOES)
    began = time.monotonic()
    assert worker().wait() == 0
    seconds = time.monotonic() - began
    expected = sorted(addresses(Person.objects.all()) - addresses(came))
    assert sink.to() == expected, "the reminder went to others"
    return {"letter": "reminder", "sent": len(expected), "doubtful": 0} | {
        "a minute": round(60 * len(expected) / seconds)
    }


def schedule(plan: Any, *, reminds: bool, day: datetime.date) -> Any:
    from surveys.invited import sending

    site = "https://candor.example.org"
    return sending.schedule(
        plan=plan, texts=TEXTS, reminds=reminds, origin=site, day=day, today=now().date()
    )


if __name__ == "__main__":
    main()
