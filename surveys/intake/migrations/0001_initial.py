import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("design", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="OpenReport",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "values",
                    models.TextField(
                        help_text="Canonical JSON: one value for each question changed by chance, "
                        "in the Plan's order."
                    ),
                ),
                (
                    "given",
                    models.BinaryField(
                        default=b"",
                        help_text="The packed answers that were sent as given, encrypted.",
                    ),
                ),
                (
                    "plan",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="design.plan",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Receipt",
            fields=[
                (
                    "id_digest",
                    models.CharField(
                        help_text="SHA-256 of the report's id.",
                        max_length=64,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "content_digest",
                    models.CharField(
                        help_text="SHA-256 of the report's id and its values.", max_length=64
                    ),
                ),
                ("day", models.DateField()),
                (
                    "plan",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="design.plan",
                    ),
                ),
            ],
        ),
    ]
