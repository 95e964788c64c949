import datetime
from typing import Any

from django.core.management.base import BaseCommand

from surveys.demo import services


class Command(BaseCommand):
    help = (
        "Bring the demo: two studies, their accounts, and real answers. Does nothing where "
        "they are there already."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        services.bring(now=datetime.datetime.now(datetime.UTC))
        for name, password in services.LOGINS.items():
            self.stdout.write(f"  {name}: {name} / {password}")
