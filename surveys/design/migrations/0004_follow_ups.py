"""Who is asked a follow-up: everybody, from now on. A study that has passed some over keeps doing
so, at set times.

Django would add the column on SQLite by making the table again, without the triggers that keep its
rows: so it is SQL.
"""

from typing import Any

from django.db import migrations, models


def keep_skipping(apps: Any, schema_editor: Any) -> None:
    conditional = apps.get_model("design", "Question").objects.exclude(asked_if="")
    apps.get_model("design", "Study").objects.filter(pk__in=conditional.values("study")).update(
        follow_ups="skip"
    )


class Migration(migrations.Migration):
    dependencies = (("design", "0003_delta_said_rightly"),)
    operations = (
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "ALTER TABLE design_study ADD COLUMN follow_ups varchar(10) DEFAULT "
                    "'everybody' NOT NULL",
                    "ALTER TABLE design_study DROP COLUMN follow_ups",
                )
            ],
            state_operations=[
                migrations.AddField(
                    model_name="study",
                    name="follow_ups",
                    field=models.CharField(
                        choices=[
                            (
                                "everybody",
                                "everybody; who it does not concern answers “Does not apply”",
                            ),
                            ("skip", "only whom it concerns; messages then wait for a set time"),
                        ],
                        default="everybody",
                        max_length=10,
                        verbose_name="follow-ups are asked of",
                    ),
                )
            ],
        ),
        migrations.RunPython(keep_skipping, migrations.RunPython.noop),
    )
