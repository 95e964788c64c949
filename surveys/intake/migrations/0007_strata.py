"""The stratum of a report that waits, and how many of each were taken. It is empty, and takes no
room, where reports are not told apart. Older doors and workers go on beside it.
"""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (("design", "0015_questions_that_stay_together"), ("intake", "0006_lanes"))
    operations = (
        migrations.AddField(
            model_name="openreport",
            name="stratum",
            field=models.PositiveSmallIntegerField(
                help_text="By its place in the Plan; empty where reports are not told apart.",
                null=True,
            ),
        ),
        migrations.CreateModel(
            name="Sealed",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "stratum",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="0 where there are none."
                    ),
                ),
                ("reports", models.PositiveBigIntegerField(default=0)),
                (
                    "plan",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="design.plan",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "sealed",
                "constraints": [
                    models.UniqueConstraint(fields=("plan", "stratum"), name="intake_sealed_once")
                ],
            },
        ),
    )
