"""Receipts in the order of their digests, keyed; on PostgreSQL, open reports in a table a Plan.

What older versions kept in the order of arrival, and digests that anybody could compute, are
written anew and dropped.
"""

import hmac

import django.db.models.deletion
from django.db import migrations, models

from surveys.encryption import new_key, seal
from surveys.triggers import forbid, forbid_replace, lift

MESSAGE = "a receipt stays as it was given"
SAME = " AND ".join(
    f"kept.{column} = OLD.{column}" for column in ("id_digest", "content_digest", "plan_id", "day")
)
CHUNK = 10_000  # receipts at a time

PARTITIONED = (
    "ALTER TABLE intake_openreport RENAME TO intake_openreport_before",
    "CREATE SEQUENCE intake_report_id_seq",
    "CREATE TABLE intake_openreport (id bigint NOT NULL DEFAULT nextval('intake_report_id_seq'), "
    "plan_id bigint NOT NULL, "
    '"values" text NOT NULL, given bytea NOT NULL, PRIMARY KEY (plan_id, id)) PARTITION BY LIST '
    "(plan_id)",
    "ALTER SEQUENCE intake_report_id_seq OWNED BY intake_openreport.id",
)
ONE_PLAN = (
    "CREATE TABLE intake_openreport_{0} (LIKE intake_openreport INCLUDING DEFAULTS INCLUDING "
    "CONSTRAINTS)",
    'ALTER TABLE intake_openreport_{0} ALTER "values" SET STATISTICS 0, ALTER given SET '
    "STATISTICS 0",
    "ALTER TABLE intake_openreport ATTACH PARTITION intake_openreport_{0} FOR VALUES IN ({0})",
)
MOVED = (
    'INSERT INTO intake_openreport (plan_id, "values", given) '
    'SELECT plan_id, "values", given FROM intake_openreport_before ORDER BY gen_random_uuid()',
    "DROP TABLE intake_openreport_before",
    # of all together
    'ALTER TABLE intake_openreport ALTER "values" SET STATISTICS 0, ALTER given SET STATISTICS 0',
    "ALTER TABLE intake_digestkey ALTER sealed SET STATISTICS 0",
    "ALTER TABLE intake_receipt ALTER content_digest SET STATISTICS 0",
)


def settle(apps, schema_editor):
    """Write every receipt anew, sorted; its digest under its Plan's key, or under one that is
    thrown away.
    """
    keys = _keys(apps)
    receipts = (
        apps.get_model("intake", "Receipt")
        .objects.order_by("id_digest")
        .values_list("id_digest", "content_digest", "plan_id", "day")
    )
    settled = apps.get_model("intake", "Settled")
    after = ""
    while found := list(receipts.filter(id_digest__gt=after)[:CHUNK]):
        settled.objects.bulk_create(
            (
                settled(
                    id_digest=bytes.fromhex(id_digest),
                    content_digest=hmac.digest(
                        keys[plan_id], bytes.fromhex(content_digest), "sha256"
                    ),
                    plan_id=plan_id,
                    day=day,
                )
                for id_digest, content_digest, plan_id, day in found
            ),
            batch_size=200,
        )
        after = found[-1][0]


def _keys(apps):
    """Return a key for every Plan that has receipts; those of studies that are not retired are
    kept.
    """
    kept, plan_model = apps.get_model("intake", "DigestKey"), apps.get_model("design", "Plan")
    found = set(
        apps.get_model("intake", "Receipt")
        .objects.values_list("plan_id", flat=True)
        .order_by()
        .distinct()
    )
    keys = {plan_id: new_key() for plan_id in found}
    for plan in plan_model.objects.filter(pk__in=found, study__retired_on=None):
        sealed = seal(keys[plan.pk], about=f"key of the receipts of plan {plan.digest}")
        kept.objects.create(plan_id=plan.pk, sealed=sealed)
    return keys


def part(apps, schema_editor):
    if schema_editor.connection.vendor != "postgresql":
        return
    for statement in PARTITIONED:
        schema_editor.execute(statement)
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT plan_id FROM intake_openreport_before")
        plans = [plan_id for (plan_id,) in cursor.fetchall()]
    for statement in [*(one.format(plan_id) for plan_id in plans for one in ONE_PLAN), *MOVED]:
        schema_editor.execute(statement)


def _plan(**options):
    return models.ForeignKey(
        on_delete=django.db.models.deletion.PROTECT,
        related_name="+",
        to="design.plan",
        db_constraint=False,
        **options,
    )


def _receipts(name, **options):
    fields = [
        (
            "id_digest",
            models.BinaryField(
                help_text="SHA-256 of the report's id.",
                max_length=32,
                primary_key=True,
                serialize=False,
            ),
        ),
        (
            "content_digest",
            models.BinaryField(
                help_text="HMAC-SHA-256 of its id and values, under a key that goes when the "
                "study retires.",
                max_length=32,
            ),
        ),
        ("day", models.DateField()),
        ("plan", _plan()),
    ]
    return migrations.CreateModel(name=name, fields=fields, options={"abstract": False, **options})


class Migration(migrations.Migration):
    dependencies = (("intake", "0002_receipts_stay"), ("design", "0002_frozen"))
    operations = (
        _receipts("Settled", verbose_name_plural="settled"),
        migrations.CreateModel(
            name="DigestKey",
            fields=[
                (
                    "plan",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="design.plan",
                    ),
                ),
                ("sealed", models.BinaryField()),
            ],
        ),
        migrations.RunPython(settle),
        lift(forbid("intake_receipt", verb="UPDATE", message=MESSAGE)),
        lift(forbid("intake_receipt", verb="DELETE", message=MESSAGE)),
        migrations.DeleteModel(name="Receipt"),
        _receipts("Receipt"),
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.AlterField("openreport", "plan", _plan(db_index=False))]
        ),
        migrations.RunPython(part),
        forbid("intake_settled", verb="UPDATE", message=MESSAGE),
        forbid("intake_settled", verb="DELETE", message=MESSAGE),
        forbid_replace("intake_settled", message=MESSAGE, keys=(("id_digest",),)),
        forbid("intake_receipt", verb="UPDATE", message=MESSAGE),
        forbid(
            "intake_receipt",
            verb="DELETE",
            message=MESSAGE,
            unless=f"EXISTS (SELECT 1 FROM intake_settled AS kept WHERE {SAME})",  # noqa: S608
        ),
    )
