"""A whole site in a folder of its own, for benchmarks: `with fresh_site():` and Django is ready,
database and all.
"""

import contextlib
import os
import tempfile
from collections.abc import Iterator


@contextlib.contextmanager
def fresh_site() -> Iterator[None]:
    with tempfile.TemporaryDirectory(prefix="candor-bench-") as folder:
        os.environ.update(CANDOR_DATA=folder, DJANGO_SETTINGS_MODULE="surveys.settings")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        yield
