"""What every page costs on a large site: queries, milliseconds of the processor, bytes.

    python -m tests.bench.pages [studies questions rows]

1,000 studies of 100 questions and 100,000 rows of the ledger unless told otherwise; each page is
asked for three times, as an admin who sees every study, and the fastest is shown.
"""

import gc
import sys
import time
from typing import Any

from tests.bench.report import save, table
from tests.bench.site import fresh_site

PAGES = {
    "home": "/",
    "registry": "/registry/",
    "registry, page 20": "/registry/?page=20",
    "registry, words": "/registry/?q=study+77",
    "registry, closed": "/registry/?state=closed",
    "registry, study": "/registry/study-0/",
    "registry, copy": "/registry/study-7/",
    "registry, json": "/registry/study-7.json",
    "registry, yaml": "/registry/study-7.yaml",
    "ledger": "/ledger/",
    "ledger, words": "/ledger/?q=laplace",
    "studies": "/studies/",
    "results": "/studies/study-0/",
    "public results": "/results/study-0/",
    "over time": "/studies/study-0/over-time/",
    "compare": "/studies/study-0/compare/",
    "methods": "/studies/study-0/methods/",
    "ask": "/studies/study-0/ask/",
    "limits": "/studies/study-7/limits/",
    "site limits": "/limits/",
    "members": "/studies/study-7/people/",
    "draft": "/studies/draft/build/",
    "question": "/studies/draft/build/questions/q0/",
    "launch": "/studies/draft/launch/",
    "planner of draft": "/studies/draft/plan/",
    "planner": "/plan/",
    "form": "/s/study-7/",
    "plan": "/api/v1/studies/study-7/plan",
    "releases": "/api/v1/studies/study-0/releases",
    "health": "/health/",
}


def main() -> None:
    studies, asked, rows = map(int, sys.argv[1:] or (1000, 100, 100_000))
    with fresh_site():
        from django.conf import settings
        from django.test import Client

        from surveys.people.services import ensure_user
        from tests.bench.idle import note_all
        from tests.bench.large import build

        settings.ALLOWED_HOSTS = ["testserver"]
        settings.ADMINS_NEED_SECOND_FACTOR = False
        build(studies=studies, asked=asked, rows=rows)
        note_all()  # as a worker has, of all studies but the newest
        client = Client()
        client.force_login(ensure_user(username="ada", password="a long password", is_admin=True))
        measured = [measure(client, page, address) for page, address in PAGES.items()]
    title = f"Pages: {studies:,} studies, {asked} questions each, {rows:,} rows of the ledger"
    table(title, measured)
    save(f"pages {studies} {asked} {rows}", measured)


def measure(client: Any, page: str, address: str) -> dict[str, Any]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    times: list[float] = []
    for _ in range(3):
        gc.collect()
        start = time.process_time()
        response = client.get(address)
        size = len(b"".join(response) if response.streaming else response.content)
        times.append(time.process_time() - start)
        if min(times) > 3:
            break
    with CaptureQueriesContext(connection) as captured:
        client.get(address)
    return {
        "page": page,
        "status": response.status_code,
        "queries": len(captured),
        "ms": round(1000 * min(times), 1),
        "KB": round(size / 1000, 1),
    }


if __name__ == "__main__":
    main()
