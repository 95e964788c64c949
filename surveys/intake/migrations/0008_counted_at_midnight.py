"""How many reports of a Plan with a list had come by last midnight: by these it closes."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (("design", "0015_questions_that_stay_together"), ("intake", "0007_strata"))
    operations = (
        migrations.CreateModel(
            name="Counted",
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
                "verbose_name_plural": "counted",
                "constraints": [
                    models.UniqueConstraint(fields=("plan", "stratum"), name="intake_counted_once")
                ],
            },
        ),
    )
