import django.db.models.deletion
from django.db import migrations, models

import surveys.ledger.fields


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Head",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("length", models.PositiveBigIntegerField(default=0)),
                ("digest", models.CharField(max_length=64)),
            ],
            options={
                "verbose_name": "head of the chain",
            },
        ),
        migrations.CreateModel(
            name="Budget",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        help_text="Whose budget it is, such as study:health.",
                        max_length=255,
                        unique=True,
                    ),
                ),
                (
                    "side",
                    models.CharField(
                        choices=[
                            ("central", "what publications lose"),
                            ("local", "what answers lose on the device"),
                        ],
                        default="central",
                        max_length=10,
                    ),
                ),
                ("unit", models.CharField(max_length=40)),
                ("neighbours", models.CharField(max_length=20)),
                (
                    "fixed_parts",
                    models.BooleanField(
                        default=False, help_text="No neighbour can move a person to another part."
                    ),
                ),
                (
                    "epsilon",
                    surveys.ledger.fields.EpsilonField(
                        help_text="The cap on Σε, of a pure budget.", blank=True, null=True
                    ),
                ),
                (
                    "rho",
                    surveys.ledger.fields.RhoField(
                        help_text="The cap on Σρ, of a concentrated budget.", blank=True, null=True
                    ),
                ),
                (
                    "delta",
                    surveys.ledger.fields.DeltaField(
                        default=0, help_text="The cap on Σδ, of a concentrated budget."
                    ),
                ),
                (
                    "weekly",
                    surveys.ledger.fields.RhoField(
                        help_text="What any seven days may cost, in ε or ρ as the cap is.",
                        blank=True,
                        null=True,
                    ),
                ),
                ("retired_on", models.DateField(blank=True, null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("delta", 0), ("epsilon__gt", 0), ("rho", None)),
                            models.Q(("delta__gte", 0), ("epsilon", None), ("rho__gt", 0)),
                            _connector="OR",
                        ),
                        name="budget_is_pure_or_concentrated",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("weekly", None), ("weekly__gt", 0), _connector="OR"),
                        name="weekly_limit_above_zero",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Entry",
            fields=[
                (
                    "position",
                    models.PositiveBigIntegerField(
                        help_text="1 for the first row of the site.",
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("charge", "a charge"), ("act", "an act of an admin")],
                        max_length=10,
                    ),
                ),
                (
                    "number",
                    models.PositiveIntegerField(
                        help_text="1 for the first row of its budget.", blank=True, null=True
                    ),
                ),
                ("epsilon", surveys.ledger.fields.EpsilonField(blank=True, null=True)),
                ("rho", surveys.ledger.fields.RhoField(blank=True, null=True)),
                ("delta", surveys.ledger.fields.DeltaField(blank=True, null=True)),
                (
                    "statistic",
                    models.CharField(
                        help_text="SHA-256 of the request.", max_length=64, blank=True, null=True
                    ),
                ),
                (
                    "reason",
                    models.CharField(blank=True, help_text="What was paid for.", max_length=200),
                ),
                ("mechanism", models.CharField(blank=True, max_length=200)),
                ("sensitivity", models.CharField(blank=True, max_length=200)),
                (
                    "part",
                    models.CharField(
                        blank=True,
                        help_text="Which part of the people; empty for everyone.",
                        max_length=200,
                    ),
                ),
                (
                    "what",
                    models.CharField(
                        blank=True, help_text="What was done, in an act.", max_length=120
                    ),
                ),
                ("old", models.CharField(blank=True, max_length=500)),
                ("new", models.CharField(blank=True, max_length=500)),
                ("why", models.CharField(blank=True, max_length=500)),
                ("who", models.CharField(max_length=150)),
                ("at", surveys.ledger.fields.MomentField(help_text="When, in UTC.")),
                (
                    "previous",
                    models.CharField(help_text="The digest of the row before.", max_length=64),
                ),
                (
                    "digest",
                    models.CharField(help_text="SHA-256 of the row.", max_length=64, unique=True),
                ),
                (
                    "budget",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="entries",
                        to="ledger.budget",
                    ),
                ),
            ],
            options={
                "verbose_name": "row of the ledger",
                "verbose_name_plural": "rows of the ledger",
                "ordering": ("position",),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("budget", "number"), name="one_entry_per_number"
                    ),
                    models.UniqueConstraint(
                        fields=("budget", "statistic"), name="one_charge_per_statistic"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("delta", None),
                                ("epsilon", None),
                                ("kind", "act"),
                                ("rho", None),
                                ("statistic", None),
                            ),
                            models.Q(
                                ("budget__isnull", False),
                                ("delta__gte", 0),
                                ("kind", "charge"),
                                ("rho__gt", 0),
                                ("statistic__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="charges_have_a_cost",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("epsilon", None), ("epsilon__gt", 0), _connector="OR"),
                        name="charge_above_zero",
                    ),
                ],
            },
        ),
    ]
