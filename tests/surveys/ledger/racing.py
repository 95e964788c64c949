"""Charges by eight threads at once, every third undone after its total and row were written: on the
database of the environment. Prints what was heard and what is there as JSON.
"""

import itertools
import json
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

AT_ONCE, EACH = 8, 8


class Killed(Exception):
    """As a process that ends before it commits."""


def racing(task: Callable[[int], None]) -> None:
    """Have so many threads, each with a connection of its own, do a task so often, at once."""
    from django.db import connection

    start, numbers = threading.Barrier(AT_ONCE), itertools.count()

    def run() -> None:
        try:
            start.wait()
            for number in itertools.islice(numbers, EACH):
                task(number)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def one_budget() -> dict[str, Any]:
    """Race for a budget that pays for 18, and then for two that are charged together."""
    from django.db import transaction

    from surveys.ledger import selectors, services
    from tests.surveys.ledger.small import OWNER, open_budget, pay, pure

    budget, heard = open_budget(), Counter[str]()
    study, share = open_budget("study:y", epsilon=10), open_budget("study:z", epsilon=1)

    def charge(number: int) -> None:
        try:
            with transaction.atomic():
                pay(budget, "0.1", statistic=f"{number:064x}")
                if number % 3 == 0:
                    raise Killed
        except (services.Overspent, Killed) as refusal:
            heard[type(refusal).__name__] += 1
        else:
            heard["paid"] += 1

    def charge_together(number: int) -> None:
        about = {"reason": "shares", "mechanism": "Laplace", "sensitivity": "1 answer", **OWNER}
        ids = [study.pk, share.pk] if number % 2 else [study.pk]
        try:
            services.charge(budget_ids=ids, cost=pure("0.05"), statistic=f"{number:064x}", **about)
        except services.Overspent:
            heard["together refused"] += 1

    racing(charge)
    racing(charge_together)
    found = {each.name: selectors.account(each.pk) for each in (budget, study, share)}
    return {
        "heard": heard,
        "counted": {name: account.count for name, account in found.items()},
        "written": {name: len(account.entries) for name, account in found.items()},
        "left": str(found["study:x"].amount_left),
        "faults": list(map(str, services.faults())),
    }


if __name__ == "__main__":
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    print(json.dumps(one_budget()))
