"""Many at once, each with a connection of its own: people are added while a study is launched, three
workers send one letter while people are taken off and added, and fifty fetch by one code. On the
database of the environment. Prints what was heard and what is there as JSON.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

FETCHES, WORKERS = 50, 3


def at_once(*acts: Callable[[], Any]) -> list[Any]:
    """Return what each told, or the kind of what it raised."""
    from django.db import connection

    start, told = threading.Barrier(len(acts)), [None] * len(acts)

    def run(at: int) -> None:
        start.wait()
        try:
            told[at] = acts[at]()
        except Exception as error:
            told[at] = f"{type(error).__name__}: {error}"  # type: ignore[call-overload]
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(at,)) for at in range(len(acts))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return told


def until_free(act: Callable[[], Any]) -> Any:
    """Try again as a person does who is told that the list is read just now."""
    from surveys.erasing import InUse

    while True:
        with suppress(InUse):
            return act()
        time.sleep(0.01)


def launched_beside_imports() -> tuple[Any, dict[str, Any]]:
    from surveys.design.drafts import new_draft
    from surveys.invited import services
    from surveys.invited.models import Person
    from surveys.issuer import services as issuer
    from surveys.issuer.models import Code
    from tests.conftest import NOW
    from tests.surveys.drafting.conftest import COPIED, TEXTS
    from tests.surveys.invited.conftest import entries

    study = new_draft(
        texts={**TEXTS, "is_invited": True, "expected": 60}, questions=[{**COPIED, "epsilon": 1}]
    )
    everybody = entries(50)
    first = [each for each in everybody if int(each.name.split()[1]) < 30]
    rest = [each for each in everybody if each not in first]
    services.add_people(study_id=study.pk, entries=first)
    parts = [rest[at::4] for at in range(4)]
    _plan, *remarks = at_once(
        lambda: services.launch(study=study, why="A test.", who="olga", now=NOW).pk,
        *(lambda own=own: services.add_people(study_id=study.pk, entries=own) for own in parts),
        # two owners with the same file
        lambda: services.add_people(study_id=study.pk, entries=parts[0]),
    )
    plan = study.plan
    return plan, {
        "remarks": remarks if any(isinstance(each, str) for each in remarks) else [],
        "doubles": sum(map(len, remarks)),
        "people": Person.objects.count(),
        "invited": sum(each.invited for each in issuer.counts(plan.digest)),
        "codes": Code.objects.count(),
    }


def sent_beside_owners(plan: Any) -> dict[str, Any]:
    """Send a letter by workers that know of no turns, while owners change the list."""
    from django.core import mail

    from surveys.invited import selectors, sending, services
    from surveys.invited.keys import Chest
    from surveys.invited.lists import Entry
    from surveys.invited.models import Person
    from surveys.issuer.models import Code, Invitation
    from tests.conftest import TODAY

    mail.outbox = []
    texts = {"en": {"subject": "Hello", "text": "{link}"}}
    how = {"plan": plan, "texts": texts, "reminds": False, "origin": "https://candor.example.org"}
    letter = sending.schedule(**how, day=TODAY, today=TODAY)
    chest = Chest(plan.study_id)
    gone = list(Person.objects.order_by("reference").values_list("reference", flat=True)[5::6])
    late = [Entry(f"late{at}@example.org", stratum="Law") for at in range(10)]

    def work() -> int:
        return sending.Run(letter, time.monotonic() + 60, letter.day).go()

    def remove(references: list[str]) -> None:
        for each in references:
            until_free(
                lambda each=each: services.remove_person(study_id=plan.study_id, reference=each)
            )

    def add(own: list[Entry]) -> list[Any]:
        return services.add_people(study_id=plan.study_id, entries=own)

    *_sent, one, other, added, doubled = at_once(
        *[work] * WORKERS,
        lambda: remove(gone),
        lambda: remove(gone[::-1]),
        lambda: add(late),
        lambda: add(late),
    )
    named = [bytes.fromhex(chest.reference(plan.digest, each)) for each in gone]
    had = Counter(address for message in mail.outbox for address in message.to)
    there = {entry.address for _, entry in selectors.people_of(plan.study)}
    return {
        "wrong": [each for each in (one, other, added, doubled) if isinstance(each, str)],
        "added": sorted(map(len, (added, doubled))),
        "most": max(had.values()),
        "left out": len({each for each in there if not each.startswith("late")} - set(had)),
        "people": len(there),
        "stay counted": Invitation.objects.filter(pk__in=named).count() == len(gone),
        "codes of removed": Code.objects.filter(invitation__in=named).count(),
        "left a mark": locked(Person),
    }


def locked(model: Any) -> int:
    """Return how many rows of a table show that a transaction locked them."""
    from django.db import connection

    if connection.vendor != "postgresql":
        return 0
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {model._meta.db_table} WHERE xmax::text <> '0'")  # noqa: S608
        return int(cursor.fetchone()[0])


def removed_between(plan: Any) -> int:
    """Remove somebody after their code was drawn and before the issuer is told; return how many
    codes of theirs work.
    """
    from django.db import connection

    from surveys.invited import services
    from surveys.invited.keys import Chest
    from surveys.invited.models import Person
    from surveys.issuer import services as issuer
    from surveys.issuer.models import Code

    reference = Person.objects.order_by("reference")[0].reference
    named = bytes.fromhex(Chest(plan.study_id).reference(plan.digest, reference))

    def remove() -> None:
        gone = {"study_id": plan.study_id, "reference": reference}
        until_free(lambda: services.remove_person(**gone))
        connection.close()

    owner, invite = threading.Thread(target=remove), issuer.invite

    def later(digest: str, people: Any, **how: bool) -> None:
        owner.start()
        owner.join(2)  # as long as it may
        invite(digest, people, **how)

    issuer.invite = later
    services.new_codes(plan, Person.objects.filter(reference=reference), origin="")
    issuer.invite = invite
    owner.join()
    return Code.objects.filter(invitation=named).count()


def fetched_at_once(plan: Any) -> dict[str, Any]:
    from surveys.invited import services
    from surveys.invited.models import Person
    from surveys.issuer import fetching, services as issuer
    from tests import tickets

    someone = Person.objects.filter(stratum="Law")[:1]
    chosen = Person.objects.filter(pk__in=[each.pk for each in someone])
    (coded,) = services.new_codes(plan, chosen, origin="")
    _digest, at, code = coded.link.rpartition("#")[2].split(".")
    stratum = int(at)
    modulus = plan.content.invited.strata[stratum].key
    own = [tickets.blind(modulus, plan.digest).blinded for _ in range(FETCHES)]
    own[1] = own[0]

    def fetch(at: int) -> str:
        return fetching.issue(plan.digest, stratum, code, own[at]).hex()

    told = at_once(*(lambda at=at: fetch(at) for at in range(FETCHES)))
    signed = [each for each in told if not each.startswith("Refused")]
    return {
        "tickets": len(set(signed)),
        "refused": sum("expected the message for which" in each for each in told),
        "of the same": len(signed),
        "fetched": sum(each.fetched for each in issuer.counts(plan.digest)),
    }


if __name__ == "__main__":
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    settings.LETTERS_A_SECOND = 0
    call_command("migrate", verbosity=0)
    plan, launched = launched_beside_imports()
    found = {
        "launch": launched,
        "letter": sent_beside_owners(plan),
        "removed between": removed_between(plan),
        "code": fetched_at_once(plan),
    }
    print(json.dumps(found))
