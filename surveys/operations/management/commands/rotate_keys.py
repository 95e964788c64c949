"""Encrypt anew what older PUBLICATION_KEYS had encrypted. Safe to run again after a crash."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from surveys.aggregation import services as aggregation
from surveys.encryption import CannotOpen, first_key_id
from surveys.erasing import InUse
from surveys.intake import services as intake
from surveys.releases import services as releases
from surveys.sealed_keys import SealedKey, seal_anew


class Command(BaseCommand):
    help = (
        "Encrypts answers that were sent as given with the first of PUBLICATION_KEYS; then the "
        "others can go."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            reports, batches = intake.encrypt_anew(), aggregation.encrypt_anew()
            series = releases.encrypt_anew()
            keys = {kind.opens: seal_anew(kind) for kind in SealedKey.__subclasses__()}
        except (CannotOpen, InUse) as error:
            raise CommandError(
                f"{error} What was done before this stays done; run it again."
            ) from error
        counts = f"open reports: {reports}, batches: {batches}, series: {series}"
        of_keys = ", ".join(f"of {opens}: {many}" for opens, many in keys.items())
        self.stdout.write(f"With key {first_key_id()}, {counts}, keys {of_keys}.")
        if any((reports, batches, series, *keys.values())):
            self.stdout.write("Run it again: it is done when it finds none.")
        else:
            self.stdout.write(
                "Keys after the first are needed no longer, if every process was restarted with "
                "the new one: "
                "take them out of PUBLICATION_KEYS."
            )
