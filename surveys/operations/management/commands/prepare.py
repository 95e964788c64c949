"""What must be done before the site begins, by `up` each time it starts."""

import os
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, call_command

from surveys.checks import ENVIRONMENT
from surveys.people import selectors as people

FIRST = "admin"  # the account that a site without any begins with


class Command(BaseCommand):
    """The checks of its environment run before `handle`, and refuse to go on in their own words."""

    help = (
        "Bring database, static files and, with CANDOR_DEMO=1, the demo up to date. Says the "
        "demo's accounts; of a site that nobody has signed in to, the link of its first admin."
    )

    requires_system_checks = (ENVIRONMENT,)

    def handle(self, *args: Any, **options: Any) -> None:
        os.umask(0o077)  # reports and keys are for this user only
        call_command("migrate", interactive=False, verbosity=0, skip_checks=True)
        call_command("collectstatic", interactive=False, verbosity=0, skip_checks=True)
        if settings.CANDOR_DEMO:
            self.stderr.write("candor: preparing the demo studies", style_func=str)
            call_command("demo", stdout=self.stdout, skip_checks=True)
        elif not people.any_account():
            self.stdout.write("The first admin sets a password, once, by this link:")
            call_command("invite", FIRST, "--site-admin", stdout=self.stdout, skip_checks=True)
