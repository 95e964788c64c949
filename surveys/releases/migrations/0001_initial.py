import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("design", "0001_initial"),
        ("ledger", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Request",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "digest",
                    models.CharField(
                        help_text="SHA-256 of the canonical statistic.", max_length=64, unique=True
                    ),
                ),
                ("statistic", models.JSONField()),
                ("requested_on", models.DateField()),
                ("who", models.CharField(max_length=150)),
                ("confirmed_at", models.DateTimeField(help_text="When it was last asked for.")),
                (
                    "refused",
                    models.CharField(
                        blank=True,
                        help_text="Why it could not be paid when it was last tried.",
                        max_length=500,
                    ),
                ),
                (
                    "plan",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="requests",
                        to="design.plan",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
            },
        ),
        migrations.CreateModel(
            name="Release",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("numbers", models.JSONField()),
                ("published_on", models.DateField()),
                (
                    "published_at",
                    models.DateTimeField(
                        help_text="When: what the next of a series is counted from."
                    ),
                ),
                (
                    "entry",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="ledger.entry",
                    ),
                ),
                (
                    "request",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="release",
                        to="releases.request",
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
            },
        ),
        migrations.CreateModel(
            name="Series",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("state", models.BinaryField(help_text="Encrypted.")),
                ("steps", models.PositiveIntegerField(default=0)),
                ("is_over", models.BooleanField(default=False)),
                (
                    "entry",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="ledger.entry",
                    ),
                ),
                (
                    "request",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="series",
                        to="releases.request",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "series",
            },
        ),
        migrations.CreateModel(
            name="Step",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "number",
                    models.PositiveIntegerField(help_text="1 for the first step of its series."),
                ),
                (
                    "question",
                    models.JSONField(
                        help_text="What was asked at this step, if anything was.", null=True
                    ),
                ),
                ("numbers", models.JSONField()),
                ("published_on", models.DateField()),
                ("published_at", models.DateTimeField()),
                (
                    "series",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="published",
                        to="releases.series",
                    ),
                ),
            ],
            options={
                "ordering": ("series_id", "number"),
                "constraints": [
                    models.UniqueConstraint(fields=("series", "number"), name="one_step_per_number")
                ],
            },
        ),
    ]
