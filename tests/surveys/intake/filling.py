"""Four doors that commit groups at once to a wave that closes at 100, beside sweeps: on the database
of the environment. Prints what was taken and what is there as JSON.
"""

import json
import threading
from typing import Any

DOORS, GROUP, MOST = 4, 10, 100


def filled() -> dict[str, Any]:
    from django.db import connection

    from surveys.aggregation import selectors as counted, services as aggregation
    from surveys.design.models import Plan
    from surveys.intake.group import Acceptance, accept_all
    from surveys.intake.models import Receipt
    from tests.conftest import TODAY
    from tests.surveys.intake.test_quotas import entries, opened

    plan, taken = opened(closes_at=MOST), []
    groups = [entries(plan, GROUP, start=GROUP * number) for number in range(4 * MOST // GROUP)]

    def door(own: list[Any]) -> None:
        try:
            for group in own:
                taken.extend(isinstance(each, Acceptance) for each in accept_all(group))
        finally:
            connection.close()

    doors = [threading.Thread(target=door, args=(groups[at::DOORS],)) for at in range(DOORS)]
    for each in doors:
        each.start()
    while any(each.is_alive() for each in doors):
        aggregation.sweep_all(today=TODAY)
    for _look in range(2):  # one that closes it, and the last
        aggregation.sweep_all(today=TODAY)
    closed = Plan.objects.get(pk=plan.pk)
    return {
        "is_open": closed.is_open,
        "taken": sum(taken),
        "receipts": Receipt.objects.count(),
        "sealed": counted.sealed_reports(closed),
    }


if __name__ == "__main__":
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    print(json.dumps(filled()))
