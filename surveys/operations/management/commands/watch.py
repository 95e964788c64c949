"""`manage.py watch`: look for what is wrong, and send the letters, without a worker."""

import datetime
from typing import Any

from django.core.management import BaseCommand

from surveys.operations import alarms


class Command(BaseCommand):
    help = (
        "Sends CANDOR_ALARMS_TO a letter about what began to be wrong or is over, as a worker does "
        "every five minutes: for a timer, which goes on when the worker does not."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        wrong = alarms.watch(now=datetime.datetime.now(datetime.UTC))
        self.stdout.write("\n".join(wrong) or "Nothing is wrong.")
