"""Receipts in parts by their digests, without an index that nobody uses; how many reports of retired
studies no sweep took; a table for marks of where a sweep has to look.

On PostgreSQL receipts are copied while doors go on, and the copy takes their place under a lock
that lasts as long as it takes to copy what came meanwhile. Older workers go on beside it: their
statements are the same.
"""

import django.db.models.deletion
from django.db import migrations, models

from surveys.erasing import hold

TABLES = ("intake_settled", "intake_receipt")
COLUMNS = "id_digest, content_digest, day, plan_id"
PARTS = 16
# What stands in the database from 0003 on: functions by these names, for triggers by these names.
GUARDS = (
    "CREATE TRIGGER {0}_no_update BEFORE UPDATE ON {0}_new FOR EACH ROW EXECUTE FUNCTION "
    "{0}_no_update()",
    "CREATE TRIGGER {0}_no_delete BEFORE DELETE ON {0}_new FOR EACH ROW EXECUTE FUNCTION "
    "{0}_no_delete()",
    "CREATE TRIGGER {0}_no_delete_truncate BEFORE TRUNCATE ON {0}_new FOR EACH STATEMENT EXECUTE "
    "FUNCTION {0}_no_delete()",
)
PART_GUARD = (
    "CREATE TRIGGER {1}_no_truncate BEFORE TRUNCATE ON {1} FOR EACH STATEMENT EXECUTE FUNCTION "
    "{0}_no_delete()"
)
# Reports that were accepted of retired studies, less those that are sealed or still wait.
UNSWEPT = """
INSERT INTO intake_unswept (plan_id, reports)
SELECT plan_id, accepted - sealed - waiting FROM (
  SELECT kept.plan_id, count(*) AS accepted,
    COALESCE((SELECT reports FROM aggregation_tally AS t WHERE t.plan_id = kept.plan_id), 0)
      AS sealed,
    (SELECT count(*) FROM intake_openreport AS o WHERE o.plan_id = kept.plan_id) AS waiting
  FROM (SELECT plan_id FROM intake_receipt UNION ALL SELECT plan_id FROM intake_settled) AS kept
  JOIN design_plan ON design_plan.id = kept.plan_id
  JOIN design_study ON design_study.id = design_plan.study_id
  WHERE design_study.retired_on IS NOT NULL GROUP BY kept.plan_id
) AS counted WHERE accepted > sealed + waiting
"""


def _plan(**options):
    return models.ForeignKey(
        on_delete=django.db.models.deletion.PROTECT,
        related_name="+",
        to="design.plan",
        db_constraint=False,
        **options,
    )


def run(apps, schema_editor):
    execute, vendor = schema_editor.execute, schema_editor.connection.vendor
    execute(UNSWEPT)
    if vendor == "postgresql":
        part(schema_editor)
    else:
        drop_indexes(schema_editor)


def part(schema_editor):
    """Put copies in parts into the place of both tables."""
    execute = schema_editor.execute
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT pg_snapshot_xmin(pg_current_snapshot())::text")
        ((before,),) = cursor.fetchall()
    for table in TABLES:
        copy(execute, table)
    hold(*reversed(TABLES))
    execute(  # what was not there yet when the copy began; older workers settle none meanwhile
        f"INSERT INTO intake_receipt_new ({COLUMNS}) SELECT {COLUMNS} FROM intake_receipt "  # noqa: S608
        f"WHERE age(xmin) <= age('{before}'::xid8::xid) ON CONFLICT DO NOTHING"
    )
    for table in TABLES:
        replace(execute, table)


def copy(execute, table):
    execute(
        f"CREATE TABLE {table}_new (id_digest bytea NOT NULL, content_digest bytea NOT NULL, day "
        "date NOT NULL, plan_id bigint NOT NULL) PARTITION BY RANGE (id_digest)"
    )
    execute(f"ALTER TABLE {table}_new ALTER content_digest SET STATISTICS 0")
    edges = ["MINVALUE", *(f"'\\x{digit:x}0'" for digit in range(1, PARTS)), "MAXVALUE"]
    for number in range(PARTS):
        name = f"{table}_{number:x}"
        least, beyond = edges[number : number + 2]
        execute(
            f"CREATE TABLE {name} PARTITION OF {table}_new FOR VALUES FROM ({least}) TO ({beyond})"
        )
        execute(f"ALTER TABLE {name} ALTER content_digest SET STATISTICS 0")
        lower = "" if least == "MINVALUE" else f"WHERE id_digest >= {least}"
        upper = (
            "" if beyond == "MAXVALUE" else f"{'AND' if lower else 'WHERE'} id_digest < {beyond}"
        )
        execute(
            f"INSERT INTO {name} ({COLUMNS}) SELECT {COLUMNS} FROM {table} {lower} {upper} "  # noqa: S608
            "ORDER BY id_digest"
        )
    execute(f"ALTER TABLE {table}_new ADD PRIMARY KEY (id_digest)")

    for guard in GUARDS:
        execute(guard.format(table))
    for number in range(PARTS):
        execute(PART_GUARD.format(table, f"{table}_{number:x}"))


def replace(execute, table):
    execute(f"DROP TABLE {table}")
    execute(f"ALTER TABLE {table}_new RENAME TO {table}")


def drop_indexes(schema_editor):
    """Without making the tables anew, which would drop their triggers."""
    connection = schema_editor.connection
    for table in TABLES:
        with connection.cursor() as cursor:
            found = connection.introspection.get_constraints(cursor, table)
        for name, each in found.items():
            if each["index"] and each["columns"] == ["plan_id"]:
                schema_editor.execute(f'DROP INDEX "{name}"')


class Migration(migrations.Migration):
    dependencies = (
        ("intake", "0003_nothing_stays_readable"),
        ("aggregation", "0003_unsampled"),
        ("design", "0002_frozen"),
    )
    operations = (
        migrations.CreateModel(
            name="News",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("plan", _plan(db_index=False)),
            ],
            options={"verbose_name_plural": "news"},
        ),
        migrations.CreateModel(
            name="Unswept",
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
                ("reports", models.PositiveBigIntegerField(default=0)),
            ],
            options={"verbose_name_plural": "unswept"},
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(run)],
            state_operations=[
                migrations.AlterField("receipt", "plan", _plan(db_index=False)),
                migrations.AlterField("settled", "plan", _plan(db_index=False)),
            ],
        ),
    )
