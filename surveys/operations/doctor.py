"""What a deployment lacks, each with what to do: what `/health/` shows, and what only somebody who
is asked can look at. The site is asked as a visitor asks it, so that what stands before it is
looked at too.
"""

import contextlib
import datetime
import hashlib
import http.client
import ssl
import stat
import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.checks import run_checks
from django.db import connection

from dpengine import __version__
from surveys.encryption import CannotOpen
from surveys.intake import report_tables
from surveys.issuer import services as issuer
from surveys.issuer.refusals import Away, Refused as NotIssued
from surveys.operations import database, health
from surveys.operations.check import Check, State, line, worst_first
from surveys.operations.management.commands import forget
from surveys.sealed_keys import SealedKey, open_all

PATIENCE = 10  # seconds
SOON = datetime.timedelta(days=14)  # in which a certificate should not end
LOCKS = 2  # of a backup, for a table
NOBODY = "/api/v1/studies/-/reports"  # the door, and no study
RIGHTS = """
SELECT has_function_privilege('pg_switch_wal()', 'EXECUTE')
AND has_function_privilege('pg_ls_dir(text)', 'EXECUTE')
AND has_function_privilege('pg_stat_file(text, boolean)', 'EXECUTE')
AND pg_has_role('pg_checkpoint', 'USAGE') AND pg_has_role(datdba, 'USAGE'),
(SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid())
FROM pg_database WHERE datname = current_database()"""
GOOD, WATCH, ALARM = State.GOOD, State.WATCH, State.ALARM


def look(*, now: datetime.datetime, url: str | None) -> list[Check]:
    """Return everything, what must be done first."""
    version = line("version", GOOD, __version__)
    found = [version, *_settings(), *_letters(), *_files(), *_database(now)]
    if url:
        found += _visit(url, now)
    return worst_first(found)


def _settings() -> Iterator[Check]:
    problems = [each for each in run_checks() if each.is_serious()]
    for problem in problems:
        yield line("settings", ALARM, str(problem.msg), str(problem.hint or ""))
    if not problems:
        mode = f"Nothing is missing for CANDOR_MODE={settings.CANDOR_MODE}."
        yield line("settings", GOOD, mode)
    if not settings.PRODUCTION:
        own = "CANDOR_MODE=local: for one person on a machine of their own."
        yield line("mode", WATCH, own, "For others set CANDOR_MODE=production.")


def _letters() -> Iterator[Check]:
    if settings.EMAIL_CONFIGURED and settings.ALARMS_TO:
        yield line("letters", GOOD, f"Alarms go to {len(settings.ALARMS_TO)} addresses.")
    else:
        lacking = "EMAIL_URL" if not settings.EMAIL_CONFIGURED else "CANDOR_ALARMS_TO"
        said = "No email is sent when a backup fails, the ledger breaks or the disk fills up."
        yield line("letters", WATCH, said, f"Set {lacking}.")


def _files() -> Iterator[Check]:
    for name in ("secret.key", "publication.key"):
        path = settings.DATA_DIR / name
        if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077:
            yield line("keys", ALARM, f"Others can read {path}.", f"chmod 600 {path}")
    sums = Path(str(finders.find("form/SHA256SUMS"))).read_text().split()
    named = zip(sums[1::2], sums[::2], strict=True)
    wrong = [name for name, digest in named if not _is_collected(name, digest)]
    if wrong:
        said = f"{len(wrong)} of the form's files are wrong, among them {wrong[0]}."
        todo = "manage.py collectstatic --noinput, as the user that the site runs as."
        yield line("static files", ALARM, said, todo)
    else:
        yield line("static files", GOOD, "The form's files are collected, byte for byte.")


def _is_collected(name: str, digest: str) -> bool:
    served = Path(settings.STATIC_ROOT) / name
    return served.is_file() and hashlib.sha256(served.read_bytes()).hexdigest() == digest


def _database(now: datetime.datetime) -> Iterator[Check]:
    """Look at the database, and, where there is one of this version, at all that it tells of."""
    found = list(health.needed(now))
    yield from found
    if not health.has_tables(found):
        return
    if connection.vendor == "postgresql":
        yield from _locks()
        yield from _rights()
    yield from _keys()
    yield from _tickets()
    yield from (check for check in health.rest(now) if check.key != "settings")


def _locks() -> Iterator[Check]:
    """Look whether PostgreSQL has room for the locks of a backup: two for each table where reports
    wait, its own and that of pg_dump.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('max_locks_per_transaction')::int, "
            "current_setting('max_connections')::int + "
            "current_setting('max_prepared_transactions')::int"
        )
        each, sessions = cursor.fetchone() or (0, 1)
    needed = LOCKS * len(report_tables.plans_with_a_place())
    if needed > each * sessions:
        said = f"PostgreSQL has room for {each * sessions:,} locks, and a backup takes {needed:,}."
        todo = f"Set max_locks_per_transaction to {2 * -(-needed // sessions)}, and start it again."
        yield line("locks", WATCH, said, todo)


def _rights() -> Iterator[Check]:
    """Look for what the first `forget` needs, whether the database's disk can be watched, and
    whether what goes to another machine is encrypted.
    """
    with connection.cursor() as cursor:
        cursor.execute(RIGHTS)
        (may, is_safe) = cursor.fetchone() or (False, False)
    todo = "Do what deploy/setup.sql does, as PostgreSQL's superuser."
    if not may:
        said = "Its user has no right to run manage.py forget: deleted data stay in the log."
        yield line("database's rights", ALARM, said, todo)
    for said in forget.log_kept():
        yield line("database's log", ALARM, said, todo)
    if database.is_here() and database.folder() is None:
        yield line("database's disk", WATCH, "Its user has no right to see where it is.", todo)
    if not database.is_here() and not is_safe:
        said = "The connection to the database is not encrypted."
        todo = "Add ?sslmode=verify-full&sslrootcert=… to DATABASE_URL, and watch its disk there."
        yield line("database's TLS", ALARM, said, todo)


def _keys() -> Iterator[Check]:
    try:
        opened = {kind.opens: open_all(kind) for kind in SealedKey.__subclasses__()}
    except CannotOpen as error:  # names keys by what tells nothing of them
        todo = "Put the key that is named back into PUBLICATION_KEYS: without it answers are lost."
        yield line("keys", ALARM, str(error), todo)
        return
    said = ", ".join(f"{many} of {what}" for what, many in opened.items())
    yield line("keys", GOOD, f"PUBLICATION_KEYS open all keys: {said}.")


def _tickets() -> Iterator[Check]:
    """Look whether an issuer elsewhere answers, where there is one."""
    if not settings.ISSUER_TOKEN:
        return
    if not settings.ISSUER_URL:
        said = "ISSUER_TOKEN is set and ISSUER_URL is not: this site signs its tickets itself."
        todo = "Set ISSUER_URL as the issuer has it, or leave ISSUER_TOKEN out (docs/deploy.md)."
        yield line("tickets", WATCH, said, todo)
        return
    try:
        issuer.counts("")
    except (Away, NotIssued) as error:
        said = f"{error}: no ticket can be fetched, and no email is sent."
        todo = "Check that it runs and has this ISSUER_TOKEN."
        yield line("tickets", ALARM, said, todo)
    else:
        yield line("tickets", GOOD, "The issuer at ISSUER_URL answers.")


def _visit(url: str, now: datetime.datetime) -> Iterator[Check]:
    """Ask as a visitor does."""
    parts = urlsplit(url)
    host, is_safe = parts.netloc, parts.scheme == "https"
    forged = {"X-Request-ID": uuid.uuid4().hex, "X-Forwarded-Proto": "http"}
    try:
        status, headers, ends = _ask(url, "/", headers=forged)
        door = _ask(url, NOBODY, method="POST")[0]
        counts = _ask(url, "/metrics")[0]
    except (OSError, http.client.HTTPException) as error:
        why = getattr(error, "verify_message", "") or type(error).__name__
        todo = (
            "Look at the name in DNS, the proxy, its certificate, and the firewall. SSL_CERT_FILE "
            "names the certificate of an authority of your own."
        )
        yield line("address", ALARM, f"{url} does not answer: {why}.", todo)
        return
    if status >= 500 or (status in (301, 302) and headers.get("Location", "").startswith(url)):
        said = f"{url} answers {status} to a visitor who sends X-Forwarded-Proto: http."
        todo = "The proxy must set that header itself, and BEHIND_PROXY=1 be set: deploy/nginx."
        yield line("proxy", ALARM, said, todo)
    elif status >= 400:
        yield line("address", ALARM, f"{url} answers {status}.", f"Is {host} in ALLOWED_HOSTS?")
    else:
        yield line("address", GOOD, f"{url} answers.")
    if settings.BEHIND_PROXY and headers.get("X-Request-ID") == forged["X-Request-ID"]:
        said = "The proxy passes on a visitor's X-Request-ID, so X-Forwarded-For too."
        todo = "It must set both itself, or visitors can forge an address."
        yield line("proxy", ALARM, said, todo)
    if is_safe and "Strict-Transport-Security" not in headers:
        yield line("TLS", WATCH, "No Strict-Transport-Security.", "Set CANDOR_MODE=production.")
    if not is_safe and settings.PRODUCTION:
        yield line("TLS", ALARM, f"{url} is not encrypted.", "Put a proxy with TLS before it.")
    if ends is not None:
        left = ends - now
        yield line(
            "TLS",
            WATCH if left < SOON else GOOD,
            f"The certificate ends in {left.days} days.",
            "Renew it, and let a timer do so.",
        )
    if door >= 500:
        todo = "Start the door (candor-door), and look at its log."
        yield line("door", ALARM, f"It answers {door} to a response.", todo)
    else:
        yield line("door", GOOD, "It answers.")
    if counts == 200:
        yield line("metrics", ALARM, "/metrics opens to everyone.", "Look at what the proxy adds.")


def _ask(
    url: str, path: str, method: str = "GET", headers: dict[str, str] | None = None
) -> tuple[int, http.client.HTTPMessage, datetime.datetime | None]:
    """Return the status, the headers, and when the certificate ends, if there is one."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    with contextlib.closing(kind(parts.netloc, timeout=PATIENCE)) as asked:
        asked.request(method, path, headers=headers or {})
        ends = None
        if isinstance(asked.sock, ssl.SSLSocket) and (shown := asked.sock.getpeercert()):
            seconds = ssl.cert_time_to_seconds(str(shown["notAfter"]))
            ends = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
        answer = asked.getresponse()
        answer.read()
        return answer.status, answer.headers, ends
