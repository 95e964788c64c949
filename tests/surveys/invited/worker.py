"""A worker of its own that sends letters until none is due, for tests that kill it."""

import datetime
import sys
import time

import django

django.setup()

from surveys.invited import sending  # noqa: E402 (Django first)

sending.TURN = datetime.timedelta(0)  # the test sees to it that the one before has ended
while True:
    sent = sending.send_due(now=datetime.datetime.now(datetime.UTC))
    sys.stdout.write(f"{sent}\n")
    sys.stdout.flush()
    if not sending._due(datetime.datetime.now(datetime.UTC)):
        break
    time.sleep(0.05)
