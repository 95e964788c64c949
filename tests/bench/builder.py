"""What a draft's pages cost as it gets more questions, and by which power of their number they grow:
milliseconds of the processor, the least of three.

    python -m tests.bench.builder
"""

import math
import time
from typing import Any

from tests.bench.report import save, table
from tests.bench.site import fresh_site

COUNTS = (10, 30, 100)
PAGES = {
    "draft": "/studies/{}/build/",
    "question": "/studies/{}/build/questions/q0/",
    "texts": "/studies/{}/build/texts/",
    "launch": "/studies/{}/launch/",
    "planner": "/studies/{}/plan/",
    "limits": "/studies/{}/limits/",
    "preview": "/studies/{}/preview/",
}


def main() -> None:
    with fresh_site():
        from django.conf import settings
        from django.test import Client

        from surveys.design.services import draft_study
        from surveys.people.services import ensure_user
        from tests.bench.large import TERMS, questions

        settings.ALLOWED_HOSTS = ["testserver"]
        settings.ADMINS_NEED_SECOND_FACTOR = False
        client = Client()
        client.force_login(ensure_user(username="ada", password="a long password", is_admin=True))
        for count in COUNTS:
            study = {**TERMS, "slug": f"of-{count}", "title": f"Of {count}"}
            draft_study(study=study, questions=questions(count))
        rows = [measure(client, page, address) for page, address in PAGES.items()]
    table("A draft's pages by its questions, ms of the processor", rows)
    save("builder", rows)


def measure(client: Any, page: str, address: str) -> dict[str, Any]:
    times = {}
    for count in COUNTS:
        client.get(address.format(f"of-{count}"))
        times[count] = min(once(client, address.format(f"of-{count}")) for _ in range(3))
    power = math.log(times[COUNTS[-1]] / times[COUNTS[0]]) / math.log(COUNTS[-1] / COUNTS[0])
    columns = {f"{count}": round(ms, 1) for count, ms in times.items()}
    return {"page": page, **columns, "power": round(power, 2)}


def once(client: Any, address: str) -> float:
    start = time.process_time()
    assert client.get(address).status_code == 200, address
    return 1000 * (time.process_time() - start)


if __name__ == "__main__":
    main()
