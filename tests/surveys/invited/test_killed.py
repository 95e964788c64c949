"""5,000 people in 3 strata: never two of the same after three kills of the worker in the middle."""

import base64
import datetime
import os
import signal
import subprocess
import sys
from collections import Counter

import pytest
from django.conf import settings as site
from django.db import connection

from surveys.invited import sending, services
from surveys.invited.keys import Chest
from surveys.invited.models import Delivery, Letter, Person
from surveys.invited.selectors import entry_of
from surveys.issuer.models import Mark
from tests.patience import PATIENCE, became
from tests.surveys.invited.conftest import entries

MANY = int(os.environ.get("CANDOR_TEST_LETTERS", "300"))  # 5,001 in the bench
TEXTS = {"en": {"subject": "Hello", "text": "{link}"}}
HERE = "tests.surveys.invited.worker"


def worker(sink_port, tmp_path):
    """Start a process that sends from the tests' own database."""
    beside, _, _ = os.environ["DATABASE_URL"].rpartition("/")
    url = f"{beside}/{connection.settings_dict['NAME']}"
    keys = ",".join(base64.b64encode(key).decode() for key in site.PUBLICATION_KEYS)
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "surveys.settings",
        "DATABASE_URL": url,
        "SECRET_KEY": site.SECRET_KEY,
        "PUBLICATION_KEYS": keys,
        "CANDOR_DATA": str(tmp_path),
        "EMAIL_URL": f"smtp://127.0.0.1:{sink_port}",
        "CANDOR_LETTERS_A_SECOND": "0",
    }
    return subprocess.Popen([sys.executable, "-m", HERE], env=environment, stdout=subprocess.PIPE)


@pytest.mark.django_db(transaction=True)
@pytest.mark.engine("postgresql")  # the tests' SQLite is in this process's memory
def test_never_two_of_the_same_after_three_kills(sink, settings, listed, tmp_path):
    more = [each for each in entries(MANY // 3) if each.address not in KNOWN]
    services.add_people(study_id=listed.pk, entries=more)
    now = datetime.datetime.now(datetime.UTC)
    plan = services.launch(study=listed, who="olga", now=now)
    letter = sending.schedule(
        plan=plan,
        texts=TEXTS,
        reminds=False,
        origin="https://candor.example.org",
        day=now.date(),
        today=now.date(),
    )
    for kill in (1, 2, 3):
        running = worker(settings.EMAIL_PORT, tmp_path)
        wanted = MANY * kill // 5
        assert became(lambda least=wanted: len(sink.letters) >= least)
        os.kill(running.pid, signal.SIGKILL)
        running.wait(PATIENCE)
    last = worker(settings.EMAIL_PORT, tmp_path)
    last.communicate(timeout=PATIENCE)
    assert last.returncode == 0
    had = Counter(sink.to())
    assert max(had.values()) == 1, "never two of the same"
    doubtful = Delivery.objects.filter(state="doubtful")
    assert doubtful.count() <= 3, "one for each that was killed"
    everybody = {each.address for each in entries(MANY // 3)}
    chest = Chest(plan.study_id)
    named = {entry_of(chest, each.person).address for each in doubtful.select_related("person")}
    assert everybody - set(had) <= named, "who has none is named"
    assert Letter.objects.get(pk=letter.pk).state == "done"


def test_reminders_to_exactly_those_without_a_ticket(sink, settings, listed):
    more = [each for each in entries(MANY // 3) if each.address not in KNOWN]
    services.add_people(study_id=listed.pk, entries=more)
    now = datetime.datetime.now(datetime.UTC)
    plan = services.launch(study=listed, who="olga", now=now)
    chest = Chest(plan.study_id)
    some = list(Person.objects.order_by("digest")[: MANY // 4])
    Mark.objects.bulk_create(
        Mark(
            invitation_id=bytes.fromhex(chest.reference(plan.digest, each.reference)),
            blinded=b"b" * 32,
        )
        for each in some
    )
    came = {entry_of(chest, each).address for each in some}
    sending.schedule(
        plan=plan,
        texts=TEXTS,
        reminds=True,
        origin="https://candor.example.org",
        day=now.date(),
        today=now.date(),
    )
    while sending.send_due(now=now):
        now += datetime.timedelta(seconds=1)
    assert sink.to() == sorted({each.address for each in entries(MANY // 3)} - came)


KNOWN = {each.address for each in entries()}
