"""Eight people save one page of a draft at once: on the database of the environment. Prints what was
answered and what is there as JSON.
"""

import json
import threading
from collections import Counter
from typing import Any

TYPED = {
    "title": "Honest exams",
    "organisation": "Brightwater",
    "purpose": "To know.",
    "contact": "o@example.org",
    "hours": "48",
    "smallest_batch": "200",
    "expected": "900",
    "widest": "40",
}


def saved_at_once(study: Any, changes: list[dict[str, str]]) -> Counter[int]:
    """Have each change typed into the page as it is now, and all of them sent at once."""
    from django.db import connection

    from surveys.people.models import Role
    from tests.surveys.drafting.conftest import client_of
    from tests.surveys.drafting.test_conflicts import read

    address, answered = f"/studies/{study.slug}/build/texts/", Counter[int]()
    start = threading.Barrier(len(changes))

    def send(client: Any, fields: dict[str, str]) -> None:
        try:
            start.wait()
            answered[client.post(address, fields).status_code] += 1
        finally:
            connection.close()

    threads = []
    for place, change in enumerate(changes):
        client = client_of(f"editor{place}", Role.EDITOR, study)
        fields = {**read(client, address), **change}
        threads.append(threading.Thread(target=send, args=(client, fields)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answered


def race() -> dict[str, Any]:
    """Race with a field each, and then all for the same one."""
    from surveys.design.drafts import new_draft
    from surveys.design.models import Study
    from tests.surveys.drafting.conftest import TEXTS

    study = new_draft(texts=TEXTS)
    apart = saved_at_once(study, [{name: value} for name, value in TYPED.items()])
    kept = Study.objects.filter(pk=study.pk).values(*TYPED).get()
    same = saved_at_once(study, [{"title": f"Number {place}"} for place in range(len(TYPED))])
    return {
        "apart": apart,
        "kept": {name: str(value) for name, value in kept.items()},
        "same": same,
        "numbers": sorted(study.revisions.values_list("number", flat=True)),
    }


if __name__ == "__main__":
    import django

    django.setup()
    from django.core.management import call_command
    from django.test.utils import setup_test_environment

    setup_test_environment()
    call_command("migrate", verbosity=0)
    print(json.dumps(race()))
