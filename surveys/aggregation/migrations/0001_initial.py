import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("design", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Tally",
            fields=[
                (
                    "plan",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="design.plan",
                    ),
                ),
                ("reports", models.PositiveIntegerField(default=0)),
                ("batches", models.PositiveIntegerField(default=0)),
                ("counts", models.JSONField(default=dict)),
            ],
            options={
                "verbose_name_plural": "tallies",
            },
        ),
        migrations.CreateModel(
            name="Batch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "number",
                    models.PositiveIntegerField(help_text="1 for the first batch of its Plan."),
                ),
                ("size", models.PositiveIntegerField(help_text="Reports.")),
                (
                    "columns",
                    models.BinaryField(
                        help_text="The packed columns of what was changed by chance, one after "
                        "the other, in the Plan's order."
                    ),
                ),
                (
                    "given",
                    models.BinaryField(
                        default=b"",
                        help_text="The packed columns of what was sent as given, encrypted.",
                    ),
                ),
                ("sealed_on", models.DateField()),
                (
                    "plan",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="design.plan",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "batches",
                "ordering": ("plan_id", "number"),
                "constraints": [
                    models.UniqueConstraint(fields=("plan", "number"), name="one_batch_per_number")
                ],
            },
        ),
    ]
