"""What each process of the site has loaded when it has started, and what waits until it is used."""

import subprocess
import sys
from pathlib import Path

import pytest

HOUSE = Path(__file__).parent.parent
WATCHED = {
    "arro3",
    "celery",
    "django.db.models",
    "numpy",
    # by far the most of memory and start, and used by few pages and tasks
    "opendp",
    "openpyxl",
    "pandas",
    "pyarrow",
    "pyreadstat",
    "scipy.linalg",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.special",
    "scipy.stats",
    "surveys.urls",  # and with it all views
}
SITE = {"django.db.models", "numpy"}
BEGIN = "app.loader.init_worker(); app.finalize()"


@pytest.mark.parametrize(
    ("begin", "loaded"),
    [
        ("import surveys.operations.up", set()),
        (f"from surveys.scheduler import app; {BEGIN}", {"celery"}),
        (
            f"from surveys.celery import app, refuse_unsafe_settings as ask; {BEGIN}; ask()",
            SITE | {"celery"},
        ),
        ("import surveys.wsgi", SITE | {"surveys.urls"}),
        ("import surveys.door", SITE),
    ],
    ids=["up", "scheduler", "worker", "web", "door"],
)
def test_a_process_starts_with_what_it_needs_and_no_more(tmp_path, begin, loaded):
    code = f"{begin}; import sys; print(*sorted({WATCHED} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=HOUSE,
        env={
            "PATH": "/usr/bin:/bin",
            "CANDOR_DATA": str(tmp_path),
            "DJANGO_SETTINGS_MODULE": "surveys.settings",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stdout.split()) == loaded
