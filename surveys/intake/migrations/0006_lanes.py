"""Where reports of a Plan may stand in the log. Without REPORTS_LOG the table stays empty."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (("design", "0014_summaries_and_what_is_new"), ("intake", "0005_news"))
    operations = (
        migrations.CreateModel(
            name="Lane",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("partition", models.PositiveIntegerField()),
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
                "constraints": [
                    models.UniqueConstraint(fields=("plan", "partition"), name="intake_lane_once")
                ]
            },
        ),
    )
