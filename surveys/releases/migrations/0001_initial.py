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
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "digest",
                    models.CharField(help_text="SHA-256 of the canonical statistic.", max_length=64, unique=True),
                ),
                ("statistic", models.JSONField()),
                ("requested_on", models.DateField()),
                ("who", models.CharField(max_length=150)),
                (
                    "plan",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="requests", to="design.plan"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Release",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("numbers", models.JSONField()),
                ("published_on", models.DateField()),
                ("published_at", models.DateTimeField(help_text="When: what the next of a series is counted from.")),
                (
                    "entry",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="ledger.entry"
                    ),
                ),
                (
                    "request",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="release", to="releases.request"
                    ),
                ),
            ],
            options={
                "ordering": ("pk",),
            },
        ),
    ]
