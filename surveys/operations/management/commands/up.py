"""`manage.py up`: the whole site from one command, and one command's end is the end of it all."""

import os
import sys
import tempfile
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, call_command

from surveys.operations import claims


class Command(BaseCommand):
    """Prepares, then becomes the supervisor: the same process with a small program, without what Django has loaded.

    Django's system checks run before `handle`, and refuse to go on in their own words.
    """

    help = "Run the site: web server, worker, scheduler and, unless REDIS_URL is set, their broker. Ctrl-C ends all."

    def handle(self, *args: Any, **options: Any) -> None:
        os.umask(0o077)  # reports and keys are for this user only
        try:
            lock = claims.hold(settings.DATA_DIR)
            claims.refuse_port_in_use(settings.CANDOR_HOST, settings.CANDOR_PORT)
            accounts = self.prepare()
        except claims.CannotStart as refusal:
            raise CommandError(str(refusal)) from refusal
        except KeyboardInterrupt:
            raise CommandError("ended before it was up") from None
        for file in (lock, accounts):
            os.set_inheritable(file, True)
        os.execv(sys.executable, [sys.executable, "-m", "surveys.operations", str(accounts)])  # noqa: S606 (no shell)

    def prepare(self) -> int:
        """Bring database, static files and the demo up to date; return a file of what the demo says of its accounts."""
        call_command("migrate", interactive=False, verbosity=0, skip_checks=True)
        call_command("collectstatic", interactive=False, verbosity=0, skip_checks=True)
        with tempfile.TemporaryFile("w+") as accounts:
            if settings.CANDOR_DEMO:
                self.stdout.write("candor: preparing the demo studies")
                self.stdout.flush()
                call_command("demo", stdout=accounts, skip_checks=True)
            accounts.seek(0)
            return os.dup(accounts.fileno())
