"""How the site is: one line for each thing that can go wrong, with what is normal and what to
do. For staff only.
"""

import datetime
import math
import platform
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from importlib.metadata import version
from typing import Any

import django
from django.conf import settings
from django.core.checks import run_checks
from django.db import connection
from django.db.models import QuerySet, Sum
from django.utils.formats import date_format
from django.utils.functional import Promise, lazy
from django.utils.translation import gettext as _, gettext_lazy, ngettext, ngettext_lazy

from surveys import clock
from surveys.invited import selectors as invited
from surveys.ledger import selectors as ledger
from surveys.ledger.selectors import written
from surveys.operations import backlog, database, refusals, services
from surveys.operations.check import CAP, Check, State, worst_first
from surveys.operations.models import Event, Refusal, Sign
from surveys.releases import selectors as releases

SOON, LATE = datetime.timedelta(minutes=2), datetime.timedelta(minutes=10)
WEEK = datetime.timedelta(days=7)
STALE = datetime.timedelta(hours=26)  # after which a daily thing did not happen
FULL, NEARLY = 0.10, 0.15  # of the disk
NEAR = Fraction(1, 10)  # of a cap, and less, is left
MANY = 100  # refused reports a day
MEGABYTE = 2**20  # bytes
MINUTE = 60  # seconds: ages of what answers bring about are told in whole minutes
AGO = (  # below so many seconds; the unit, in seconds; and how it is said
    (120, 1, ngettext_lazy("%(count)d second ago", "%(count)d seconds ago", "count")),
    (7_200, 60, ngettext_lazy("%(count)d minute ago", "%(count)d minutes ago", "count")),
    (172_800, 3_600, ngettext_lazy("%(count)d hour ago", "%(count)d hours ago", "count")),
)
REASONS: dict[str, str | Promise] = {
    "body": gettext_lazy("not a response, or too long"),
    "plan": gettext_lazy("made for an unknown study"),
    "closed": gettext_lazy("the study had closed"),
    "report_id": gettext_lazy("the same number with other content"),
    "answers": gettext_lazy("not what this form can send"),
    "other page": gettext_lazy("sent by a page of another site, or not as JSON"),
    "address": gettext_lazy("too many at once from one network"),
    "study": gettext_lazy("too many at once to one study"),
    "not stored": gettext_lazy("the site could not store it"),
    "other": gettext_lazy("something else"),
}


def look(now: datetime.datetime) -> list[Check]:
    """Return what the page shows and letters tell, what is wrong first."""
    queue = backlog.look()
    return worst_first([_queue(queue, now), *_seen_at_work(queue, now), *rest(now)])


def needed(now: datetime.datetime) -> Iterator[Check]:
    """Yield what the site cannot do its work without."""
    queue, stored = backlog.look(), list(database.checks())
    yield _queue(queue, now)
    yield from stored
    if has_tables(stored):
        yield from _seen_at_work(queue, now)


def has_tables(stored: Iterable[Check]) -> bool:
    """Tell whether there is a database of this version, and more can be looked at."""
    return not {check.missing for check in stored} & {database.GONE, database.MIGRATIONS}


def rest(now: datetime.datetime) -> Iterator[Check]:
    yield from _backlog(now)
    yield from _reports(now)
    yield _backup(now)
    yield from _forgetting(now)
    yield _ledger(now)
    yield from _caps()
    yield _disk()
    yield from _lists(now)
    yield from _settings()


def gauges(now: datetime.datetime) -> dict[str, float | None]:
    """Return what `/metrics` says of checks, by name."""
    queue = backlog.look()
    checks = [_queue(queue, now), *_seen_at_work(queue, now), *_backlog(now)]
    checks += [_ledger(now), _backup(now), _disk()]
    return {name: value for check in checks for name, value in check.gauges.items()}


def _queue(queue: backlog.Queue, now: datetime.datetime) -> Check:
    waiting = {
        "queue_tasks": queue.waiting,
        "queue_oldest_seconds": _seconds(queue.oldest, now) or 0,
    }
    return Check(
        "queue",
        _("Task queue"),
        State.ALARM
        if not queue.answers or _age(queue.oldest, now) > LATE
        else _by(_age(queue.oldest, now)),
        _queue_said(queue, now),
        _("Empty, or a few tasks that are some seconds old."),
        _("If the oldest waits for minutes, the worker is stuck or gone.") + " " + _restart(),
        missing="" if queue.answers else "broker",
        gauges={"broker_answers": queue.answers, **(waiting if queue.answers else {})},
    )


def _restart() -> str:
    return _("Look at the log, and start the site again: manage.py up.")


def _seen_at_work(queue: backlog.Queue, now: datetime.datetime) -> Iterator[Check]:
    yield _clock()
    seen = {sign.name: sign.at for sign in Sign.objects.all()}
    worker, scheduler = seen.get(services.WORKER), seen.get(services.SCHEDULER)
    state = _by(_age(worker, now)) if worker else State.WATCH
    yield Check(
        "worker",
        _("Worker"),
        state,
        _seen(worker, now),
        _("It does a small task every half minute."),
        _("Without it no batch is closed, published or deleted.") + " " + _restart(),
        missing="" if state is State.GOOD else "worker",
        gauges={"worker_seen_seconds": _seconds(worker, now)},
    )
    sent = max(filter(None, (scheduler, queue.newest)), default=None)
    state = _by(_age(sent, now)) if sent else State.WATCH
    yield Check(
        "scheduler",
        _("Scheduler"),
        state,
        _seen(sent, now),
        _("It sends a task every ten seconds or so."),
        _("Without it no task starts by itself.") + " " + _restart(),
        missing="" if state is State.GOOD else "scheduler",
        gauges={"scheduler_seen_seconds": _seconds(scheduler, now)},
    )


def _clock() -> Check:
    doubt = clock.doubt()
    return Check(
        "clock",
        _("Clock"),
        State.ALARM if doubt else State.GOOD,
        doubt or _("It agrees with the database’s, and has not jumped."),
        _("Two minutes from the database’s at most, and no jump of more than 25 hours."),
        _(
            "Compare the time with another clock. If it is wrong, set it, and run NTP. If it is "
            "right, manage.py clock --is-right ends the wait."
        ),
        missing="clock" if doubt else "",
        gauges={"clock_trusted": not doubt},
    )


def _queue_said(queue: backlog.Queue, now: datetime.datetime) -> str:
    if not queue.answers:
        return _("The broker does not answer.")
    if not queue.waiting:
        return _("Nothing waits.")
    waits = ngettext("%(count)d task waits.", "%(count)d tasks wait.", queue.waiting) % {
        "count": queue.waiting
    }
    oldest = (
        _("The oldest was sent %(ago)s.") % {"ago": ago(queue.oldest, now)} if queue.oldest else ""
    )
    return f"{waits} {oldest}".strip()


def _backlog(now: datetime.datetime) -> Iterator[Check]:
    owed = {sign.name: sign.at for sign in Sign.objects.all()}
    since = owed.get(services.OWES_SWEEP)
    yield Check(
        "sweep",
        _("Responses that wait for their batch"),
        _by(_age(since, now)) if since else State.GOOD,
        _later(_unsealed_said, since, now),
        _(
            "Responses wait until there are enough for a batch, or the study closes. Then the "
            "batch is closed within a minute."
        ),
        _("If a run is due for minutes, look at the worker and at its log: a study may fail."),
        gauges={"sweep_owed_seconds": (_seconds(since, now) or 0) // MINUTE * MINUTE},
    )
    due = owed.get(services.OWES_PUBLICATION)
    yield Check(
        "publication",
        _("Batches that wait for their release"),
        _by(_age(due, now)) if due else State.GOOD,
        _later(_unpublished_said, due, now),
        _(
            "Batches wait for their study’s rule: an hour, or the close. A release that is due is "
            "published within a minute."
        ),
        _(
            "If a release is due for minutes, look at the worker’s log. A weekly limit "
            "makes it wait too."
        ),
        gauges={"publication_owed_seconds": (_seconds(due, now) or 0) // MINUTE * MINUTE},
    )


def _unsealed_said(since: datetime.datetime | None, now: datetime.datetime) -> str:
    waiting = backlog.unsealed()
    reports = ngettext("%(count)d response waits.", "%(count)d responses wait.", waiting)
    owed = _("None is due.")
    if since is not None:
        owed = _("A run has been due since %(ago)s.") % {"ago": ago(since, now)}
    return f"{reports % {'count': waiting}} {owed}"


def _unpublished_said(due: datetime.datetime | None, now: datetime.datetime) -> str:
    oldest = backlog.oldest_unpublished()
    if oldest is None:
        return _("None waits.")
    sealed_on, study = oldest
    days = (now.date() - sealed_on).days
    text = ngettext(
        "The oldest was closed %(count)d day ago, in “%(study)s”.",
        "The oldest was closed %(count)d days ago, in “%(study)s”.",
        days,
    ) % {"count": days, "study": study}
    if due is not None:
        text += " " + _("A release has been due since %(ago)s.") % {"ago": ago(due, now)}
    return text


def _reports(now: datetime.datetime) -> Iterator[Check]:
    refusals.waiting.write()
    refused = Refusal.objects.exclude(reason__in=refusals.SLOWED)
    said, today = _by_reason(refused, now)
    lost = refused.filter(day__gt=now.date() - WEEK, reason="not stored").exists()
    yield Check(
        "refused",
        _("Rejected responses"),
        State.WATCH if lost or today > MANY else State.GOOD,
        said,
        _(
            "A few a day: old links, closed studies, experiments. Only the reason and the day are "
            "counted."
        ),
        _("Many of one kind at once are an old script in a browser, or an attack on the site."),
    )
    said, today = _by_reason(Refusal.objects.filter(reason__in=refusals.SLOWED), now)
    yield Check(
        "slowed",
        _("Responses asked to come later"),
        State.WATCH if today else State.GOOD,
        said,
        _(
            "None. Browsers send the same response again by themselves. Neither address nor study "
            "is stored."
        ),
        _(
            "It is an attack on the site, or a large class that answers at once. For a class, "
            "raise CANDOR_REPORTS_AT_ONCE."
        ),
    )


def _by_reason(counts: QuerySet[Refusal], now: datetime.datetime) -> tuple[str, int]:
    """Return about how many there were in a week, by reason, and how many today."""
    week = (
        counts.filter(day__gt=now.date() - WEEK)
        .values("reason")
        .annotate(n=Sum("count"))
        .order_by("-n")
    )
    reasons = "; ".join(
        f"{REASONS.get(row['reason'], row['reason'])}: {coarse(row['n'])}" for row in week
    )
    today = counts.filter(day=now.date()).aggregate(n=Sum("count"))["n"] or 0
    if not reasons:
        return _("None in the last seven days."), today
    return _("In the last seven days: %(reasons)s.") % {"reasons": reasons}, today


def coarse(count: int) -> str:
    """Return about how many."""
    for most in (10, 30, 100, 300, 1000, 3000):
        if count < most:
            return _("fewer than %(most)d") % {"most": most}
    return _("3,000 or more")


def _backup(now: datetime.datetime) -> Check:
    missed = State.ALARM if settings.PRODUCTION else State.WATCH
    last = Event.done(Event.Kind.BACKUP, now).first()
    good = Event.done(Event.Kind.BACKUP, now).filter(went_well=True).first()
    if last is not None and not last.went_well:
        text = _("The last one failed, %(ago)s: %(why)s")
        said, state = text % {"ago": ago(last.at, now), "why": last.said}, State.ALARM
    elif good is None:
        said, state = _("This site has made none."), missed
    else:
        size = f"{(good.size or 0) / 1e6:.1f}"
        parts = {"ago": ago(good.at, now), "size": size, "file": good.said}
        said = _("%(ago)s, %(size)s MB, in %(file)s.") % parts
        state = State.GOOD if now - good.at < STALE else missed
    return Check(
        "backup",
        _("Last backup"),
        state,
        said,
        _("One a day, kept for a few days. A backup still holds what was deleted later."),
        _(
            "Run manage.py backup every day, by cron or a timer. Keep the keys elsewhere, and test "
            "a restore."
        ),
        gauges={
            "backup_seconds": _seconds(good.at, now) if good else None,
            "backup_bytes": math.ceil((good.size or 0) / MEGABYTE) * MEGABYTE if good else None,
            "backup_failed": not last.went_well if last else None,
        },
    )


def _forgetting(now: datetime.datetime) -> Iterator[Check]:
    """Tell when what was erased left the log of PostgreSQL; SQLite's is cut each time."""
    if connection.vendor != "postgresql":
        return
    missed = State.ALARM if settings.PRODUCTION else State.WATCH
    last = Event.done(Event.Kind.FORGETTING, now).first()
    if last is None:
        said, state = _("This site has not done it."), missed
    elif not last.went_well:
        text = _("The last one failed, %(ago)s: %(why)s")
        said, state = text % {"ago": ago(last.at, now), "why": last.said}, State.ALARM
    else:
        said = f"{ago(last.at, now)}. {last.said}".strip()
        state = State.GOOD if not last.said else State.WATCH
        if now - last.at >= STALE:
            state = missed
    yield Check(
        "forgetting",
        _("Deleted data in the database’s log"),
        state,
        said,
        _("Removed once a day, and nothing keeps the log longer."),
        _("Run manage.py forget every day, by cron or a timer."),
    )


def _ledger(now: datetime.datetime) -> Check:
    last = Event.done(Event.Kind.VERIFICATION, now).first()
    if last is None:
        said, state = _("Not checked yet."), State.WATCH
    elif not last.went_well:
        text = _("%(ago)s: errors in row %(rows)s.")
        rows = ", ".join(re.findall(r"\brow (\d+):", last.said))
        said, state = text % {"ago": ago(last.at, now), "rows": rows}, State.ALARM
    else:
        rows = ngettext("%(count)d row", "%(count)d rows", last.size or 0) % {
            "count": last.size or 0
        }
        said = _("%(ago)s: no error in %(rows)s.") % {"ago": ago(last.at, now), "rows": rows}
        state = State.GOOD if now - last.at < STALE else State.WATCH
    return Check(
        "ledger",
        _("Last check of the ledger"),
        state,
        said,
        _("Checked once a day, without errors."),
        _(
            "If the check fails, stop all releases, and keep a copy of the database as it is. "
            "Compare it with a backup, and tell the people concerned. manage.py verify_ledger "
            "names the rows."
        ),
        gauges={
            "ledger_rows": ledger.head()[1],
            "ledger_holds": last.went_well if last else None,
            "ledger_checked_seconds": _seconds(last.at, now) if last else None,
        },
    )


def _caps() -> Iterator[Check]:
    near = ledger.near_caps(NEAR)
    planned = releases.spent_as_planned([account.budget.pk for account in near])
    for account in near:
        if account.budget.pk in planned:
            continue
        said = _("%(left)s of %(cap)s is left.") % {
            "left": f"{account.measure} = {written(account.amount_left)}",
            "cap": written(account.cap),
        }
        yield Check(
            f"{CAP}{account.budget.pk}",
            _("Cap of %(budget)s") % {"budget": account.budget},
            State.WATCH,
            said,
            _(
                "More than a tenth. A study that has used its cap ends, and its answers are "
                "deleted."
            ),
            _("Tell its members: further releases must fit. The cap is never raised."),
        )


def _lists(now: datetime.datetime) -> Iterator[Check]:
    if over := invited.overfull(now.date()):
        yield Check(
            "tickets",
            _("Answers without a ticket"),
            State.ALARM,
            _("More answers were accepted than tickets fetched, in: %(studies)s.")
            % {"studies": ", ".join(over)},
            _("In every group at most as many answers as tickets."),
            _(
                "Someone has the issuer’s key, or writes to the database. Close "
                "the study, keep a copy of the database as it is, and tell the "
                "people concerned."
            ),
        )


def _disk() -> Check:
    there = [folder for folder in (settings.DATA_DIR, settings.BACKUPS_DIR) if folder.exists()]
    there += filter(None, [database.folder()])
    usages = ((shutil.disk_usage(each), each) for each in there)
    share, free, folder = min((usage.free / usage.total, usage.free, at) for usage, at in usages)
    said = _("%(free)s GB are free, %(share)d of 100, where %(folder)s is.") % {
        "free": f"{free / 1e9:.1f}",
        "share": int(100 * share),
        "folder": folder,
    }
    state = State.ALARM if share < FULL else State.WATCH if share < NEARLY else State.GOOD
    return Check(
        "disk",
        _("Disk"),
        state,
        said,
        _("15 of 100 free or more."),
        _(
            "Make room: a full disk stops the site from taking responses. "
            "PostgreSQL does not start again by itself: make room, then start it."
        ),
        gauges={"disk_free_ratio": round(share, 2)},
    )


def _settings() -> Iterator[Check]:
    problems = [
        problem for problem in run_checks(tags=["security"]) if problem.level >= 30 and problem.id
    ]
    ours = [problem for problem in problems if str(problem.id).startswith("candor.")]
    yield Check(
        "settings",
        _("Settings"),
        State.ALARM if ours else State.GOOD,
        " ".join(str(problem.msg) for problem in ours) or _("No problem was found."),
        _("None. The site refuses to start with one."),
        _("Set the variable that is named, and start the site again."),
    )
    yield Check(
        "versions",
        _("Versions"),
        State.GOOD,
        f"Django {django.get_version()}, Celery {version('celery')}, Python "
        f"{platform.python_version()}, {_database()}",
        _("What requirements.txt names."),
        _("Run the tests before you update."),
    )


def _database() -> str:
    if connection.vendor == "sqlite":
        import sqlite3

        return f"SQLite {sqlite3.sqlite_version}"
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        return f"PostgreSQL {cursor.fetchone()[0]}"


def _later(say: Callable[..., str], *about: Any) -> Any:
    """Return a text that is made when it is read."""
    return lazy(say, str)(*about)


def _by(age: datetime.timedelta) -> State:
    return State.GOOD if age < SOON else State.WATCH if age < LATE else State.ALARM


def _age(moment: datetime.datetime | None, now: datetime.datetime) -> datetime.timedelta:
    return datetime.timedelta(0) if moment is None else now - moment


def _seconds(moment: datetime.datetime | None, now: datetime.datetime) -> float | None:
    return None if moment is None else max(0.0, round((now - moment).total_seconds()))


def _seen(moment: datetime.datetime | None, now: datetime.datetime) -> str:
    if moment is None:
        return _("Not seen yet.")
    return _("Last seen %(ago)s.") % {"ago": ago(moment, now)}


def ago(moment: datetime.datetime, now: datetime.datetime) -> str:
    """Return how long ago, in the largest whole unit; with the day where that is long."""
    seconds = max(0, int((now - moment).total_seconds()))
    for most, unit, text in AGO:
        if seconds < most:
            return text % {"count": seconds // unit}
    return _("on %(day)s") % {"day": date_format(moment, "DATE_FORMAT")}
