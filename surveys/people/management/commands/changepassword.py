"""Set the password of an account, as Django does, and write down that the console did."""

from typing import Any

from django.contrib.auth.management.commands import changepassword

from surveys.people import audit


class Command(changepassword.Command):
    def handle(self, *args: Any, **options: Any) -> str | None:
        with audit.by_console():
            return super().handle(*args, **options)
