"""Pages for everybody are read from a streaming replica, and from the database where it is behind,
gone or none.
"""

import contextlib
from pathlib import Path

import environ
import psycopg
import pytest

from tests.journeys.site import Site, own_environment, prepared
from tests.patience import became
from tests.services import postgres, standby

pytestmark = pytest.mark.engine("postgresql")
LOOK = """
import json, time
from django.conf import settings
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from surveys import replica
def look(path="/registry/", **cookies):
    client = Client(headers={"host": "localhost"})
    client.cookies.load(cookies)
    with CaptureQueriesContext(connections["replica"]) as there, CaptureQueriesContext(connections["default"]) as here:
        answer = client.get(path)
    asked = lambda found: sum('"design_' in query["sql"] or '"ledger_' in query["sql"] for query in found)
    return [answer.status_code, asked(there) > 0, asked(here) > 0, "Exam honesty" in answer.content.decode()]
def say(what):
    print(json.dumps(what), flush=True)
"""
OPEN = """
import importlib
conftest = importlib.import_module("tests.conftest")
from surveys.design import services as design
study = design.draft_study(study=conftest.STUDY, questions=conftest.QUESTIONS)
design.open_study(why="A test.", study_id=study.pk, who="ada", now=conftest.NOW)
"""
FROM_COPY, FROM_ITSELF = [True, False], [False, True]


@pytest.fixture(scope="module")
def server():
    with postgres() as found:
        yield found


@pytest.fixture
def copied(server, folder, tmp_path_factory):
    """A database with its copy: a site's Python, and what ends the copy."""
    like = prepared(tmp_path_factory.mktemp("replica") / "prepared", server=server)
    own = own_environment(folder, like=like, server=server)
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(standby(environ.Env.db_url_config(server)["HOST"]))
        name = environ.Env.db_url_config(own["DATABASE_URL"])["NAME"]
        own["READ_DATABASE_URL"] = url.removesuffix("/postgres") + f"/{name}"
        site = Site("", own, folder / "log")
        yield site, stack.close, own["READ_DATABASE_URL"]
        site.end()


def look(site, *said):
    return site.python(LOOK + f"say(look({', '.join(said)}))")


def on(url, statement):
    config = environ.Env.db_url_config(url)
    with psycopg.connect(
        host=config["HOST"], user=config["USER"], dbname=config["NAME"], autocommit=True
    ) as connection:
        connection.execute(statement)


def test_a_stranger_reads_the_copy_and_nobody_else_does_not_even_a_decision(copied):
    site, _, _ = copied
    assert became(lambda: look(site)[:3] == [200, *FROM_COPY])
    assert look(site, "sessionid='x'")[:3] == [200, *FROM_ITSELF]
    deciding = """
from django.db import transaction
from surveys.design.models import Study
from surveys.people.models import User
with replica.reading():
    found = [Study.objects.all().db, User.objects.all().db, Study.objects.select_for_update().db]
    with transaction.atomic():
        found.append(Study.objects.all().db)
    found.append(Study(title="x")._state.db)
say(found + [replica.Router().db_for_write(Study)])
"""
    said = ["replica", "default", "default", "default", None, "default"]
    assert site.python(LOOK + deciding) == said


def test_a_copy_that_is_behind_is_not_read_until_it_has_caught_up(copied):
    site, _, url = copied
    assert became(lambda: look(site) == [200, *FROM_COPY, False])
    on(url, "SELECT pg_wal_replay_pause()")
    site.python(OPEN + "print(1)")
    assert became(lambda: look(site) == [200, *FROM_ITSELF, True])
    on(url, "SELECT pg_wal_replay_resume()")
    assert became(lambda: look(site) == [200, *FROM_COPY, True])


def test_a_copy_that_is_gone_keeps_no_page_from_being_shown(copied):
    site, end, _ = copied
    assert became(lambda: look(site)[:3] == [200, *FROM_COPY])
    end()
    for _ in range(3):
        assert look(site)[0] == 200
    assert look(site)[:3] == [200, *FROM_ITSELF]


def test_a_database_that_is_no_copy_is_never_read(server, folder, tmp_path):
    like = prepared(tmp_path / "prepared", server=server)
    own = own_environment(folder, like=like, server=server)
    site = Site("", {**own, "READ_DATABASE_URL": server}, Path(folder) / "log")
    assert look(site)[:3] == [200, *FROM_ITSELF]
    assert site.python(LOOK + "look(); say(replica.freshness.found)") == "is no streaming replica"
    site.end()
