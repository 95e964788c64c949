"""The insider against this site, with real tickets, receipts and nights; and against three builds
of it that forget what keeps people apart.
"""

import pytest
from django.db import connection

from tests.bench.linkage import BUILDS, audited

PEOPLE, DAYS = 480, 3


@pytest.mark.django_db
@pytest.mark.parametrize("build", BUILDS)
def test_only_a_build_that_forgets_is_found(build: str) -> None:
    done = audited(connection.vendor, build, PEOPLE, DAYS)
    assert "joins tried" in done.stdout, done.stderr
    assert done.returncode == (build != "honest"), done.stdout
    last = "Nothing tells more than chance." if build == "honest" else "FOUND"
    assert done.stdout.splitlines()[-1].startswith(last)
