"""What must be done before the site begins, by `up` each time it starts."""

import os
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, call_command

from surveys.checks import ENVIRONMENT


class Command(BaseCommand):
    """The checks of its environment run before `handle`, and refuse to go on in their own words."""

    help = (
        "Bring database, static files and, with CANDOR_DEMO=1, the demo up to date. Says the "
        "demo's accounts."
    )

    requires_system_checks = (ENVIRONMENT,)

    def handle(self, *args: Any, **options: Any) -> None:
        os.umask(0o077)  # reports and keys are for this user only
        call_command("migrate", interactive=False, verbosity=0, skip_checks=True)
        call_command("collectstatic", interactive=False, verbosity=0, skip_checks=True)
        if settings.CANDOR_DEMO:
            call_command("demo", stdout=self.stdout, skip_checks=True)
