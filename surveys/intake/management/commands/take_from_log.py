"""`manage.py take_from_log`: a consumer of REPORTS_LOG, until it is told to stop."""

import signal
import threading
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError

from surveys.intake import broker, logged


class Command(BaseCommand):
    help = (
        "Stores the reports that stand in REPORTS_LOG, and deletes them there. Run as many as the "
        "topic has partitions, or fewer; SIGTERM ends one after what it has in hand."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.REPORTS_LOG:
            raise CommandError("REPORTS_LOG: expected kafka://host:9092/topic, got nothing.")
        stop = threading.Event()
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, lambda *_: stop.set())
        try:
            reader = broker.Reader(broker.topic())
        except broker.Away as error:
            raise CommandError(f"REPORTS_LOG: {error}.") from None
        try:
            logged.consume(reader, stop)
        finally:
            reader.close()
