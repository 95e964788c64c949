"""Encrypt anew what older PUBLICATION_KEYS had encrypted. Safe to run again after a crash."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from surveys.aggregation import services as aggregation
from surveys.encryption import CannotOpen, first_key_id
from surveys.erasing import InUse
from surveys.intake import digest_keys, services as intake
from surveys.issuer import services as issuer
from surveys.releases import services as releases


class Command(BaseCommand):
    help = (
        "Encrypts answers that were sent as given with the first of PUBLICATION_KEYS; then the "
        "others can go."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            reports, batches = intake.encrypt_anew(), aggregation.encrypt_anew()
            series, keys = releases.encrypt_anew(), digest_keys.encrypt_anew()
            signing = issuer.encrypt_anew()
        except (CannotOpen, InUse) as error:
            raise CommandError(
                f"{error} What was done before this stays done; run it again."
            ) from error
        counts = (
            f"open reports: {reports}, batches: {batches}, series: {series}, keys of "
            f"receipts: {keys}, of tickets: {signing}"
        )
        self.stdout.write(f"With key {first_key_id()}, {counts}.")
        if reports or batches or series or keys or signing:
            self.stdout.write("Run it again: it is done when it finds none.")
        else:
            self.stdout.write(
                "Keys after the first are needed no longer, if every process was restarted with "
                "the new one: "
                "take them out of PUBLICATION_KEYS."
            )
