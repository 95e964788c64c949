import django.db.models.deletion
from django.db import migrations, models

import surveys.ledger.models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Budget",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "name",
                    models.CharField(help_text="Whose budget it is, such as study:health.", max_length=80, unique=True),
                ),
                ("unit", models.CharField(max_length=40)),
                ("neighbours", models.CharField(max_length=20)),
                ("cap", surveys.ledger.models.EpsilonField()),
            ],
            options={
                "constraints": [models.CheckConstraint(condition=models.Q(("cap__gt", 0)), name="cap_above_zero")],
            },
        ),
        migrations.CreateModel(
            name="Entry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField(help_text="1 for the first entry of its budget.")),
                ("epsilon", surveys.ledger.models.EpsilonField()),
                ("statistic", models.CharField(help_text="SHA-256 of the canonical request.", max_length=64)),
                ("reason", models.CharField(max_length=200)),
                ("mechanism", models.CharField(max_length=200)),
                ("who", models.CharField(max_length=150)),
                ("day", models.DateField()),
                (
                    "budget",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="entries", to="ledger.budget"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "entries",
                "ordering": ("budget_id", "number"),
                "constraints": [
                    models.UniqueConstraint(fields=("budget", "number"), name="one_entry_per_number"),
                    models.UniqueConstraint(fields=("budget", "statistic"), name="one_charge_per_statistic"),
                    models.CheckConstraint(condition=models.Q(("epsilon__gt", 0)), name="charge_above_zero"),
                ],
            },
        ),
    ]
