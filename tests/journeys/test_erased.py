"""What the files of the database still hold, read byte by byte: SQL shows rows, and a thief has
the disk.
"""

import contextlib
import hashlib
import json
import os
import random
import re
import statistics
import time
from pathlib import Path

import environ
import psycopg
import pytest

from surveys.intake import receipt_tables, report_tables
from surveys.issuer.services import ERASED as ISSUER
from surveys.operations import backups
from tests.journeys.site import Site, own_environment, prepared
from tests.services import postgres

POSTGRES = os.environ.get("DATABASE_URL", "").startswith("postgres")
postgres_only = pytest.mark.engine("postgresql")
PEOPLE = 200
TODAY = "datetime.date(2026, 5, 11)"

BEGIN = """
import datetime, io, json, sys, time
from django.core.management import call_command
from django.db import connection
from tests.conftest import NOW, STUDY, QUESTIONS
from surveys.aggregation import services as aggregation
from surveys.aggregation.models import Batch
from surveys.demo.services import answer_as_browsers
from surveys.design import services as design
from surveys.design.models import Plan
from surveys.intake import services as intake
from surveys.intake.models import DigestKey, OpenReport, Receipt, Settled
from surveys.intake.reports import Refused, Report
TODAY = NOW.date()
DAY = datetime.timedelta(days=1)
def say(what):
    print(json.dumps(what), flush=True)
"""
OPEN = """
study = design.draft_study(study=STUDY, questions=QUESTIONS)
plan = design.open_study(why="A test.", study_id=study.pk, who="ada", now=NOW)
"""
MARKED = """
CHOICES = "\\n".join(f"choice {i}" for i in range(50))
one = {"kind": "single", "text": "Which?", "choices": CHOICES}
study = design.draft_study(study=STUDY, questions=[{**one, "name": f"q{i}", "label": f"Q{i}"} for i in (1, 2, 3)])
plan = design.open_study(why="A test.", study_id=study.pk, who="ada", now=NOW)
answer_as_browsers(plan, [{"q1": i % 50, "q2": i % 49, "q3": i % 48} for i in range(PEOPLE)], TODAY)
readers = plan.content.channels
reports = list(OpenReport.objects.values_list("values", flat=True))
packed = [reader.pack([json.loads(report)[i]]).hex() for report in reports for i, reader in enumerate(readers.values())]
say([reports, packed, bytes(DigestKey.objects.get().sealed).hex()])
""".replace("PEOPLE", str(PEOPLE))
SWEEP = "say(aggregation.sweep_all(today=TODAY))"
RETIRE = """
plan = Plan.objects.get()
design.retire(study_id=plan.study_id, because="ended", who="ada", now=NOW)
say([intake.erase_retired(), aggregation.erase_retired(), intake.drop_closed()])
"""
ARRIVE = """
plan = Plan.objects.first()
if plan is None:
    plan = design.open_study(why="A test.", study_id=design.draft_study(study=STUDY, questions=QUESTIONS).pk, who="ada", now=NOW)
arrived = []
for number in range(PEOPLE):
    report = Report(report_id=f"{DAYS:016x}{number:016x}", values=[number % 2, [number % 5], [0]])
    intake.accept_many(plan=plan, reports=[report], today=TODAY + DAYS * DAY)
    arrived.append(report.report_id)
say(arrived)
""".replace("PEOPLE", str(PEOPLE))


class Database:
    """A site's database without its site: scripts, and the bytes on the disk."""

    def __init__(self, folder: Path, server: str, like: Site | None = None) -> None:
        self.folder = folder
        self.site = Site("", own_environment(folder, like=like, server=server), folder / "log")
        self.url = environ.Env.db_url_config(
            self.site.environment.get("DATABASE_URL", "sqlite:///x")
        )

    def run(self, code: str):
        """Run code in a process that stays; return what it says last."""
        return self.site.python(BEGIN + code)

    def begin(self, code: str):
        return self.site.begin(BEGIN + code)

    def connect(self, **options):
        own = {"host": self.url["HOST"], "user": self.url["USER"], "dbname": self.url["NAME"]}
        return psycopg.connect(**{**own, **options})

    def sql(self, *statements: str):
        with self.connect(autocommit=True) as connection:
            for statement in statements:
                found = connection.execute(statement)
            return found.fetchall() if found.description else []

    def files(self, log: bool = True) -> dict[Path, bytes]:
        """Return what stands in the tables' files, and in the journal or log."""
        if not POSTGRES:
            found = list(self.folder.glob("candor.sqlite3*"))
        else:
            self.sql("CHECKPOINT")  # or what is in memory only would not be found
            data = Path(self.url["HOST"], "data")
            ((own,),) = self.sql(
                "SELECT oid::text FROM pg_database WHERE datname = current_database()"
            )
            parts = [f"base/{own}", "base/pgsql_tmp", *["pg_wal"] * log]
            found = [file for part in parts for file in (data / part).rglob("*") if file.is_file()]
        return {file: read(file) for file in found}

    def holds(self, wanted: list[bytes], log: bool = True) -> int:
        """Return how many of the wanted are in any of the files."""
        held = list(self.files(log).values())
        return sum(any(one in file for file in held) for one in wanted)


def read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:  # dropped meanwhile
        return b""


@pytest.fixture(scope="module")
def server():
    """A server of this module's own where there is one: what others write stands in the same log,
    and `forget` waits for their transactions.
    """
    with postgres() if POSTGRES else contextlib.nullcontext("") as found:
        yield found


@pytest.fixture(scope="module")
def migrated(server, tmp_path_factory):
    return prepared(tmp_path_factory.mktemp("erased") / "prepared", server=server)


@pytest.fixture
def database(folder, server, migrated):
    found = Database(folder, server, migrated)
    yield found
    found.site.end()


def manage(database, *words):
    """Run a management command in the process that stays."""
    database.run(f"call_command(*{words!r}, verbosity=0, stdout=io.StringIO()); say(0)")


def forget(database) -> str:
    """Return what the command says beside “Done”."""
    run = (
        "said = io.StringIO(); call_command('forget', stdout=io.StringIO(), stderr=said); "
        "say(said.getvalue())"
    )
    return database.run(run)


def analyse(database):
    if POSTGRES:
        database.sql("ANALYZE")


def sampled(database):
    """Return the columns of answers of which ANALYZE has copied samples, which no grep finds:
    they are compressed.
    """
    analyse(database)
    answers = "'values', 'given', 'columns', 'counts', 'state', 'sealed'"
    query = f"SELECT tablename, attname FROM pg_stats WHERE schemaname = 'public' AND attname IN ({answers})"  # noqa: S608
    found = database.sql(query) if POSTGRES else []
    return [each for each in found if each[0] != "ledger_budget"]  # which says what it counts


def test_reports_leave_the_files_with_their_sweep_and_batches_with_their_study(database):
    """Looked for: each report as its row held it, and the seven bytes that are one answer of it
    in a batch.
    """
    reports, packed, key = database.run(MARKED)
    rows, masks, key = (
        [row.encode() for row in reports],
        [bytes.fromhex(mask) for mask in packed[::6]],
        [bytes.fromhex(key)],
    )
    assert sampled(database) == []
    assert database.holds(rows, log=False) == PEOPLE  # so they would be found
    assert database.run(SWEEP) == PEOPLE
    assert database.holds(rows, log=False) == 0
    assert sampled(database) == []
    manage(database, "forget")
    assert database.holds(rows) == 0

    assert database.holds(masks, log=False) > 0.9 * len(masks)  # all but those on two pages
    assert database.holds(key, log=False) == 1
    assert database.run(RETIRE) == [0, 1, int(POSTGRES)]
    assert database.holds(masks + key, log=False) == 0
    manage(database, "forget")
    assert database.holds(masks + key) == 0
    assert database.run(FORGOTTEN) == [True, True][: 2 * POSTGRES]


FORGOTTEN = """
from surveys.operations.models import Event
say([event.went_well for event in Event.objects.filter(kind="forgetting")])
"""
MANY = """
aggregation.MAX_BATCH = 70
say([aggregation.sweep(plan=Plan.objects.get(), today=TODAY), list(Batch.objects.values_list("size", flat=True))])
"""


def test_a_sweep_of_several_batches_leaves_none_of_them_in_the_files(database):
    reports, _, _ = database.run(MARKED)
    found = [database.run(MANY) for _ in range(1 if POSTGRES else 3)]
    assert found[-1] == [PEOPLE if POSTGRES else 60, [70, 70, 60]]
    assert database.holds([row.encode() for row in reports], log=False) == 0


@postgres_only
def test_files_that_a_crash_leaves_in_the_middle_of_writing_a_table_anew_are_named(database):
    """PostgreSQL never removes them; a table that is erased later leaves them as they are."""
    assert "no table" not in forget(database)
    ((own,),) = database.sql("SELECT oid::text FROM pg_database WHERE datname = current_database()")
    lost = Path(database.url["HOST"], "data", "base", own, "999999")
    lost.write_bytes(b"half of a table")
    lost.chmod(0o644)
    assert f"got base/{own}/999999." in forget(database)
    lost.unlink()


@postgres_only
def test_nothing_is_said_to_be_done_while_the_log_is_recycled_and_all_once_it_is_not(database):
    """200 sealed answers stood in a recycled file behind “Done”, and the command ended with 0."""
    assert forget(database) == ""
    database.run(RECYCLES.format("on"))
    said = database.run(FORGET_REFUSED)
    assert said == (
        "Not done: the write-ahead log can still hold what was erased. wal_recycle: expected off, "
        "got on: old files of the log are used again with what stands in them."
    )
    assert sorted(database.run(FORGOTTEN)) == [False, True]
    database.run(RECYCLES.format("off"))
    assert forget(database) == ""
    assert sorted(database.run(FORGOTTEN)) == [False, True, True]


RECYCLES = "connection.cursor().execute('SET wal_recycle = {}'); say(0)"
AT_ONCE = "from surveys.operations.management.commands import forget; forget.PATIENCE = 0\n"
OLDER_SAMPLES = (
    "CREATE TABLE old AS SELECT encode(sha256(n::text::bytea), 'hex') AS digest "
    "FROM generate_series(1, 60) AS n",
    "ANALYZE old",
)


@postgres_only
@pytest.mark.parametrize(
    ("statement", "where"),
    [("SELECT 1", {}), ("CREATE TEMPORARY TABLE written ()", {"dbname": "postgres"})],
    ids=["reads here", "writes in another database"],
)
def test_nothing_is_said_to_be_forgotten_while_an_older_transaction_keeps_samples_of_it(
    database, statement, where
):
    digests = [hashlib.sha256(str(n).encode()).hexdigest().encode() for n in range(1, 61)]
    database.sql(*OLDER_SAMPLES)
    with database.connect(**where) as older:
        older.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        older.execute(statement)
        database.sql("DROP TABLE old", "VACUUM FULL pg_statistic")
        assert database.holds(digests, log=False) > 50
        assert "Another transaction may still see" in database.run(AT_ONCE + FORGET_REFUSED)
    assert forget(database) == ""
    assert database.holds(digests) == 0


@pytest.mark.engine("sqlite")
def test_a_journal_that_is_read_is_not_said_to_be_forgotten_and_is_cut_a_minute_later(database):
    reports, _, _ = database.run(MARKED)
    rows = [report.encode() for report in reports]
    database.run("connection.cursor().execute('PRAGMA busy_timeout = 0'); say(0)")
    with database.begin(
        READ
    ) as reader:  # a process of its own: closing a file here would end its lock
        assert line(reader) == PEOPLE
        assert database.run(SWEEP) == PEOPLE
        assert "Another process reads" in database.run(FORGET_REFUSED)
        assert database.holds(rows) == PEOPLE
        go_on(reader)
    database.run("from surveys.intake.tasks import cut_journal; say(cut_journal())")
    assert database.holds(rows) == 0


READ = """
with connection.cursor() as cursor:
    cursor.execute("BEGIN")
    cursor.execute("SELECT count(*) FROM intake_openreport")
    say(cursor.fetchone()[0])
    sys.stdin.readline()
"""
FORGET_REFUSED = """
from django.core.management import CommandError
try:
    say(str(call_command("forget", stdout=io.StringIO())))
except CommandError as error:
    say(str(error))
"""


def follows(wanted: list[bytes], held: bytes) -> float:
    """Return how far places in a file follow the order of arrival, in standard deviations of
    chance (Spearman).
    """
    places = [held.find(one) for one in wanted]
    ranks = {place: rank for rank, place in enumerate(sorted(places))}
    return (
        statistics.correlation(range(len(wanted)), [ranks[place] for place in places])
        * (len(wanted) - 1) ** 0.5
    )


def order_kept(database, arrived: list[bytes]) -> list[float]:
    """Measure every file that holds ten or more of these digests, and all of these together: a
    part holds a sixteenth.
    """
    found = []
    for held in database.files(log=False).values():
        here = [one for one in arrived if one in held]
        if len(here) >= 10:
            found.append(follows(here, held))
    return [*found, sum(found) / len(found) ** 0.5] if found else []


def test_after_a_night_nothing_keeps_the_order_in_which_receipts_came(database):
    """Chance passes 5.5 standard deviations once in 2.6 · 10⁷ times; some ten files are
    measured.
    """
    days = []
    for day in (0, 1):
        ids = database.run(ARRIVE.replace("DAYS", str(day)))
        days.append([hashlib.sha256(one.encode()).digest() for one in ids])
        if not POSTGRES:
            manage(database, "forget")  # moves the journal into the file
        # today they are in order: it would be seen
        assert max(map(abs, order_kept(database, days[day]))) > (7 if POSTGRES else 10)
        assert database.run(f"say(intake.settle(today=TODAY + {day + 1} * DAY))") == PEOPLE
        manage(database, "forget")
        measured = [z for arrived in days for z in order_kept(database, arrived)]
        assert measured
        assert max(map(abs, measured)) < 5.5, measured
    if POSTGRES:
        written = (
            "SELECT count(DISTINCT xmin::text), count(DISTINCT get_byte(id_digest, 0) / 16) "
            "FROM intake_settled GROUP BY day, tableoid"
        )
        assert set(database.sql(written)) == {(1, 1)}  # it tells the day, and the digest's digit
        by_place = "SELECT get_byte(id_digest, 0) / 16, id_digest FROM intake_settled ORDER BY ctid"
        placed = database.sql(by_place)
        for digit in range(16):
            here = [digest for first, digest in placed if first == digit]
            assert here == [one for day in days for one in sorted(day) if one[0] // 16 == digit]
    else:
        found = database.run(
            "placed = Settled.objects.raw('SELECT * FROM intake_settled ORDER BY rowid')\n"
            "say([bytes(one.pk).hex() for one in placed])"
        )
        assert found == [one.hex() for one in [*sorted(days[0]), *sorted(days[1])]]


TABLES = ("intake_digestkey", "intake_sealed", "aggregation_tally", "aggregation_batch")
WHEN = {table: f"SELECT DISTINCT xmin::text::bigint FROM {table}" for table in TABLES}  # noqa: S608
NIGHT_AFTER = "say(aggregation.settle(today=TODAY + {days} * DAY))"


def written(database):
    """Return in which transactions the rows of each table were written."""
    return {table: {pk for (pk,) in database.sql(query)} for table, query in WHEN.items()}


@postgres_only
def test_after_a_night_no_row_tells_when_in_its_day_a_batch_was_sealed(database):
    """Not even where one sweep sealed all there is."""
    database.run(OPEN.replace("STUDY", '{**STUDY, "closes_at": 10_000}') + "say(0)")
    database.run(NIGHT_AFTER.format(days=0))
    nights = set()
    for day in (0, 1):
        database.run(ARRIVE.replace("DAYS", str(day)))
        database.run(SWEEP.replace("TODAY", f"TODAY + {day} * DAY"))
        before = written(database)
        assert all(before.values())
        assert not database.run(NIGHT_AFTER.format(days=day))  # the day is not over
        assert written(database) == before
        assert database.run(NIGHT_AFTER.format(days=day + 1))
        after = written(database)
        for table in TABLES[:3]:
            assert len(after[table]) == 1
            assert min(after[table]) > max(map(max, before.values()))
        (night,) = after["aggregation_batch"] - nights  # of each day's batches, the night after it
        assert night > max(map(max, before.values()))
        nights.add(night)
        assert not database.run(NIGHT_AFTER.format(days=day + 1))  # once
        assert written(database) == after
    assert database.sql("SELECT count(*) FROM ONLY aggregation_batch") == [(0,)]
    placed = database.sql("SELECT number FROM aggregation_batch ORDER BY tableoid, ctid")
    assert [number for (number,) in placed] == list(range(1, len(placed) + 1))
    assert database.run(NIGHT_AFTER.format(days=4))
    assert written(database)["aggregation_batch"] == nights  # nothing is new


@postgres_only
def test_a_batch_that_is_sealed_before_the_night_is_done_loses_its_moment_the_night_after(database):
    database.run(OPEN.replace("STUDY", '{**STUDY, "closes_at": 10_000}') + "say(0)")
    for day in (0, 1):
        database.run(ARRIVE.replace("DAYS", str(day)))
        database.run(SWEEP.replace("TODAY", f"TODAY + {day} * DAY"))
    assert database.run(NIGHT_AFTER.format(days=1))
    of_today = "SELECT DISTINCT sealed_on::text, xmin::text::bigint FROM ONLY aggregation_batch"
    ((day, night),) = database.sql(of_today)
    assert day == "2026-05-12"
    assert {night} == written(database)["aggregation_batch"]  # written anew with all else
    assert database.run(NIGHT_AFTER.format(days=2))
    assert database.sql(of_today) == []
    assert night in written(database)["aggregation_batch"]
    assert len(written(database)["aggregation_batch"]) == 2


@postgres_only
def test_a_night_waits_for_nobody_who_holds_a_plan(database):
    """Who closes a wave does, and may itself wait for one who reads batches."""
    database.run(OPEN.replace("STUDY", '{**STUDY, "closes_at": 10_000}') + "say(0)")
    database.run(ARRIVE.replace("DAYS", "0"))
    database.run(SWEEP)
    patience = "connection.cursor().execute(\"SET statement_timeout = '10s'\")\n"
    with database.connect() as other:
        other.execute("SELECT 1 FROM design_plan FOR UPDATE")
        assert database.run(patience + NIGHT_AFTER.format(days=1))
    assert database.sql("SELECT count(*) FROM ONLY aggregation_batch") == [(0,)]


CUT = "SELECT xmin::text::bigint FROM pg_class WHERE relname ~ '^intake_openreport_[0-9]+$'"
MADE = """
SELECT xmin::text::bigint FROM pg_inherits WHERE inhparent = 'intake_openreport'::regclass
UNION SELECT xmin::text::bigint FROM pg_attribute WHERE attrelid IN (
    SELECT oid FROM pg_class WHERE relname ~ '^intake_openreport_[0-9]+$'
)
"""
LAUNCH = """
from surveys.invited import services as invited
study = design.draft_study(study=STUDY, questions=QUESTIONS)
plan = invited.launch(why="A test.", study=study, who="ada", now=NOW)
"""


@postgres_only
def test_no_catalog_tells_when_the_first_report_came_or_a_batch_was_sealed(database):
    database.run(LAUNCH + "say(0)")
    made = set(database.sql(MADE))
    assert made
    database.run(NIGHT_AFTER.format(days=0))
    database.run(ARRIVE.replace("DAYS", "0"))
    assert set(database.sql(MADE)) == made
    database.run(SWEEP)
    ((sealed,),) = database.sql(CUT)
    assert database.run(NIGHT_AFTER.format(days=1))
    ((night,),) = database.sql(CUT)
    assert night > sealed
    assert set(database.sql(MADE)) == made


WAITING = """
plan = Plan.objects.get()
say([[pk, values] for pk, values in OpenReport.objects.order_by("pk").values_list("pk", "values")])
"""


def test_after_a_night_what_waits_longer_has_no_order_and_no_moment(database):
    """Reports that are fewer than a smallest batch, and as many copies of their data."""
    few = OPEN.replace("STUDY", '{**STUDY, "smallest_batch": 1000}')
    database.run(few + "say(0)")
    arrived = database.run(ARRIVE.replace("DAYS", "0"))
    assert len(arrived) == PEOPLE
    before = database.run(WAITING)
    values = [said for _, said in before]
    assert values != sorted(values)
    assert database.run(SWEEP) == 0
    assert database.run(NIGHT_AFTER.format(days=1))
    after = database.run(WAITING)
    assert [said for _, said in after] == sorted(values)
    if POSTGRES:
        when = "SELECT count(DISTINCT xmin::text) FROM intake_openreport"
        assert database.sql(when) == [(1,)]


SETTLE_HALF = """
from surveys.intake import receipt_tables
sound, times = receipt_tables.VERB, []
def stick(*held):
    found = sound(*held)
    times.append(found)
    if len(times) == TIMES:
        say("in the middle")
        sys.stdin.readline()
    return found
receipt_tables.VERB = stick
say(intake.settle(today=TODAY + DAY))
"""
RETRY = """
plan = Plan.objects.get()
def post(values):
    try:
        done = intake.accept_many(plan=plan, reports=[Report(report_id=f"{0:016x}{7:016x}", values=values)], today=TODAY + DAY)[0]
    except Refused as refused:
        return int(refused.status)
    return [done.is_new, done.accepted_on.isoformat()]
say("begun")
say([post([1, [2], [0]]), post([0, [2], [0]])])
"""
TAKE_HALF = """
plan = Plan.objects.get()
sound = intake.group.design.taking
def stick(*held):
    say("in the middle")
    sys.stdin.readline()
    return sound(*held)
intake.group.design.taking = stick
done = intake.accept_many(plan=plan, reports=[Report(report_id=f"{9:016x}{1:016x}", values=[1, [2], [0]])], today=TODAY)[0]
say(done.is_new)
"""


def line(process):
    return json.loads(process.stdout.readline())


def go_on(process):
    process.stdin.write("\n")
    process.stdin.flush()


STEPS = {  # of a night: what it has just done when a retry comes
    "copied some": ("_copy", 3),
    "copied all": ("_copy", receipt_tables.PARTS),
    "taken some away": ("_take_away", 3),
    "a part held alone": ("write_anew", 2),
}


@pytest.mark.parametrize(
    ("verb", "times"),
    STEPS.values() if POSTGRES else [("_move", 1)],
    ids=STEPS if POSTGRES else None,
)
def test_a_retry_in_the_middle_of_the_night_finds_its_receipt(database, verb, times):
    """It comes while receipts are in both tables, in either, or in a part that is held alone."""
    database.run(ARRIVE.replace("DAYS", "0"))
    half = SETTLE_HALF.replace("VERB", verb).replace("TIMES", str(times))
    with database.begin(half) as night, database.begin(RETRY) as retry:
        assert line(night) == "in the middle"
        assert line(retry) == "begun"
        if verb in ("write_anew",):
            time.sleep(1)  # until it waits
            go_on(night)
            assert line(night) == PEOPLE
            assert line(retry) == [[False, "2026-05-11"], 409]
        else:
            assert line(retry) == [[False, "2026-05-11"], 409]
            go_on(night)
            assert line(night) == PEOPLE
    assert database.run("say([Receipt.objects.count(), Settled.objects.count()])") == [0, PEOPLE]


def test_a_night_waits_for_a_report_that_is_half_accepted(database):
    database.run(ARRIVE.replace("DAYS", "0"))
    with database.begin(TAKE_HALF) as door:
        assert line(door) == "in the middle"
        with database.begin("say('begun')\n" + NIGHT) as night:
            assert line(night) == "begun"
            time.sleep(1)
            go_on(door)
            assert line(door) is True
            line(night)
    assert database.run("say(intake.settle(today=TODAY + DAY))") in (0, PEOPLE + 1)
    assert database.run("say([Receipt.objects.count(), Settled.objects.count()])") == [
        0,
        PEOPLE + 1,
    ]


NIGHT = """
from surveys.erasing import InUse
try:
    say(intake.settle(today=TODAY + DAY))
except InUse:
    say("in use")
"""


@postgres_only
def test_while_a_backup_reads_reports_are_taken_and_none_is_swept_or_lost(database):
    database.run(
        OPEN
        + "answer_as_browsers(plan, [{'copied': 1, 'fair': 2, 'often': 0}] * 20, TODAY); say(0)"
    )
    more = (
        "answer_as_browsers(Plan.objects.get(), [{'copied': 1, 'fair': 2, 'often': 0}] * 5, "
        "TODAY); "
    )
    with database.connect() as backup:
        backup.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        backup.execute("SELECT count(*) FROM intake_openreport")
        assert database.run(SWEEP) == 0
        assert database.run(more + "say(OpenReport.objects.count())") == 25
        assert backup.execute("SELECT count(*) FROM intake_openreport").fetchone() == (20,)
    assert database.run(SWEEP) == 25


RETIRE_MEANWHILE = """
from surveys.erasing import InUse
from surveys.operations import backups
for name in ("kept", "ended"):
    study = design.draft_study(study={**STUDY, "slug": name}, questions=QUESTIONS)
    plan = design.open_study(why="A test.", study_id=study.pk, who="ada", now=NOW)
    answer_as_browsers(plan, [{"copied": 1, "fair": 2, "often": 0}] * 20, TODAY)
aggregation.sweep_all(today=TODAY)
design.retire(study_id=plan.study_id, because="ended", who="ada", now=NOW)
with backups._moment() as moment:
    for erase in (aggregation.erase_retired, intake.erase_retired):
        try:
            erase()
        except InUse:
            pass
    say(moment)
    sys.stdin.readline()
say([aggregation.erase_retired(), intake.erase_retired()])
"""


@postgres_only
def test_a_backup_that_begins_while_a_study_is_erased_has_all_that_others_hold(database):
    """What is written anew is seen as empty by who looked before: the batches of every study."""
    tables = ("aggregation_batch", "aggregation_tally", "intake_digestkey")
    held = f"SELECT {', '.join(f'(SELECT count(*) FROM {table})' for table in tables)}"  # noqa: S608
    with database.begin(RETIRE_MEANWHILE) as site, database.connect() as dump:
        moment = line(site)
        dump.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        dump.execute(f"SET TRANSACTION SNAPSHOT '{moment}'")
        assert dump.execute(held).fetchone() == (2, 2, 2)
        dump.rollback()
        go_on(site)
        assert line(site) == [1, 0]


def test_a_backup_knows_every_table_that_is_written_anew():
    """Found in the code: `erasing(table=column)`, what the issuer names once for two verbs, and what
    a sweep and a night hold.
    """
    code = "".join(file.read_text() for file in Path("surveys").rglob("*.py"))
    erased = {
        table
        for call in re.findall(r"with erasing\(([^)]*)\)", code)
        for table in re.findall(r"(\w+)=", call)
    }
    assert len(erased) == 8
    erased |= ISSUER.keys()
    held = {report_tables.TABLE, receipt_tables.TODAY, receipt_tables.NEWS}
    assert erased | held == set(backups.WRITTEN_ANEW)


@postgres_only
def test_the_log_of_the_server_has_no_report_not_even_the_first_of_a_study_which_finds_no_table(
    database,
):
    """PostgreSQL writes a statement that fails into its log, with the time of day."""
    reports, _, _ = database.run(MARKED)
    said = Path(database.url["HOST"], "log").read_text()
    assert 'no partition of relation "intake_openreport"' in said  # so it would be found
    assert [report for report in reports if report in said] == []


DOOR = """
plan = Plan.objects.get()
taken = 0
for number in range(150):
    report = Report(report_id=f"{NUMBER:016x}{number:016x}", values=[number % 2, [number % 5], [0]])
    try:
        taken += intake.accept_many(plan=plan, reports=[report], today=TODAY + (number // 75) * DAY)[0].is_new
    except Refused:
        break
say(taken)
"""
SWEEPER = """
from surveys.aggregation import selectors
from surveys.erasing import InUse
plan, swept, quiet, nights = Plan.objects.get(), 0, 0, 0
while plan.is_open or quiet < 40:
    found = aggregation.sweep_all(today=TODAY)
    swept, quiet = swept + found, 0 if found else quiet + 1
    nights += 1
    try:
        intake.settle(today=TODAY + DAY)
    except InUse:
        pass
    time.sleep(0.05)
    if swept > 250 and plan.is_open:
        plan = design.close_plan(plan_id=plan.pk, today=TODAY)
say([swept, selectors.sealed_reports(Plan.objects.get())])
"""


def test_no_report_is_lost_or_counted_twice_while_doors_sweeps_nights_and_a_close_go_on_at_once(
    database,
):
    database.run(OPEN + "say(0)")
    doors = [database.begin(DOOR.replace("NUMBER", str(number))) for number in range(3)]
    with database.begin(SWEEPER) as sweeper:
        taken = sum(line(door) for door in doors)
        swept, sealed = line(sweeper)
    for door in doors:
        door.communicate()
    assert taken == swept == sealed > 250
    assert database.run(
        "say([Receipt.objects.count() + Settled.objects.count(), OpenReport.objects.count()])"
    ) == [
        taken,
        0,
    ]


def test_the_shuffle_of_a_test_of_order_is_seen():
    """The measure itself: order is far beyond chance, a shuffle is not."""
    rows = [hashlib.sha256(bytes([i])).digest() for i in range(PEOPLE)]
    assert follows(rows, b"".join(rows)) > 10
    assert abs(follows(rows, b"".join(random.Random(7).sample(rows, PEOPLE)))) < 5.5
