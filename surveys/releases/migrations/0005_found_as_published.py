"""Rows of the ledger for what was published before rows covered it: its digest as it is found on
the day of this change.

They cannot vouch for the time before, and say so.
"""

import datetime

from django.db import migrations

from surveys.ledger.selectors import digest_of
from surveys.releases import covered
from surveys.triggers import forbid, lift

STAYS = {
    table: forbid(table, verb="UPDATE", message=message)
    for table, message in (
        ("releases_release", "a release is drawn once and kept"),
        ("releases_step", "a step is drawn once and kept"),
    )
}
WHY = "published before rows held digests: this is what was there on %(day)s"
EMPTY = {
    "epsilon": None,
    "rho": None,
    "delta": None,
    "statistic": None,
    "old": "",
    "part": "",
    "reason": "",
    "mechanism": "",
    "sensitivity": "",
}


def find(apps, schema_editor):
    now = datetime.datetime.now(datetime.UTC)
    for release in (
        apps.get_model("releases", "Release")._default_manager.filter(salt=None).order_by("pk")
    ):
        vouch(apps, release, release.request, release.entry.budget, step=None, now=now)
    for step in (
        apps.get_model("releases", "Step")._default_manager.filter(salt=None).order_by("pk")
    ):
        vouch(apps, step, step.series.request, step.series.entry.budget, step=step.number, now=now)


def vouch(apps, made, request, budget, *, step, now):
    salt = covered.new_salt()
    type(made)._default_manager.filter(pk=made.pk).update(salt=salt)
    document = covered.document(
        statistic=request.statistic,
        asked_on=request.requested_on,
        numbers=made.numbers,
        salt=salt,
        step=step,
        question=None if step is None else made.question,
        published_on=made.published_on,
        published_at=made.published_at,
    )
    write(
        apps,
        budget,
        now,
        new=request.digest,
        what=covered.found_of(step),
        published=covered.digest_of(document),
    )


def write(apps, budget, now, **said):
    """Add a row as this change found rows to be: what of them is hashed must not change with the
    code.
    """
    entries, heads = (apps.get_model("ledger", name)._base_manager for name in ("Entry", "Head"))
    head = heads.select_for_update().get()
    row = {
        **EMPTY,
        **said,
        "kind": "act",
        "position": head.length + 1,
        "previous": head.digest,
        "who": "the site",
        "number": entries.filter(budget=budget).count() + 1,
        "why": WHY % {"day": now.date()},
    }
    digest = digest_of({**row, "budget": budget.name, "at": now.isoformat(timespec="microseconds")})
    entries.create(**row, budget=budget, at=now, digest=digest)
    heads.filter(pk=head.pk).update(length=row["position"], digest=digest)


class Migration(migrations.Migration):
    dependencies = (
        ("releases", "0004_salts_and_pseudonyms"),
        ("ledger", "0003_shares_and_what_was_published"),
    )
    operations = (
        *(lift(stays) for stays in STAYS.values()),
        migrations.RunPython(find, migrations.RunPython.noop),
        *STAYS.values(),
    )
