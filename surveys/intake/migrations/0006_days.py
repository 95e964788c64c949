"""An index of today's receipts by day, so that whether one of an earlier day is left is asked at no
cost, every ten minutes.

On PostgreSQL each part's is made while doors go on. A migration that was broken off begins anew.
"""

from django.db import migrations, models

from surveys.intake.receipt_tables import PARTS, TODAY, part

NAME = "intake_receipt_day"


def make(apps, schema_editor):
    execute = schema_editor.execute
    if schema_editor.connection.vendor != "postgresql":
        execute(f"CREATE INDEX {NAME} ON {TODAY} (day)")
        return
    drop(apps, schema_editor)
    parts = [part(TODAY, number) for number in range(PARTS)]
    for name in parts:
        execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}_day")
        execute(f"CREATE INDEX CONCURRENTLY {name}_day ON {name} (day)")
    execute(f"CREATE INDEX {NAME} ON ONLY {TODAY} (day)")
    for name in parts:
        execute(f"ALTER INDEX {NAME} ATTACH PARTITION {name}_day")


def drop(apps, schema_editor):
    schema_editor.execute(f"DROP INDEX IF EXISTS {NAME}")


class Migration(migrations.Migration):
    atomic = False
    dependencies = (("intake", "0005_news"),)
    operations = (
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(make, drop)],
            state_operations=[
                migrations.AddIndex("receipt", models.Index(fields=["day"], name=NAME))
            ],
        ),
    )
