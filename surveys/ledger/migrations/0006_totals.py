import datetime

import django.db.models.deletion
from django.db import migrations, models

from surveys.ledger.fields import MomentField, moment_of
from surveys.ledger.totals import Running
from surveys.triggers import forbid, forbid_replace

CHUNK = 2_000
COLUMNS = ("position", "number", "part", "rho", "delta", "epsilon", "reads", "at")
COUNTED = (
    "EXISTS (SELECT 1 FROM ledger_total t WHERE t.budget_id = NEW.budget_id "
    "AND t.number = NEW.number AND t.position = NEW.position)"
)


def add_up(apps, schema_editor):
    """Add up the charges of every budget, one budget after another."""
    total = apps.get_model("ledger", "Total")
    for budget in apps.get_model("ledger", "Budget").objects.order_by("pk"):
        running = Running()
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(
                f"SELECT {', '.join(COLUMNS)} FROM ledger_entry "  # noqa: S608
                "WHERE budget_id = %s AND kind = %s ORDER BY number",
                [budget.pk, "charge"],
            )
            while rows := cursor.fetchmany(CHUNK):
                for row in rows:
                    columns = dict(zip(COLUMNS, row, strict=True))
                    running.add(columns, counts_answers=budget.counts == "answers")
        if running.charges:
            first_at: datetime.datetime = moment_of(running.first_at)
            total.objects.create(budget=budget, **{**running.columns, "first_at": first_at})


class Migration(migrations.Migration):
    """What charges add up to, checked against them, and a place to go on checking from. Rows and
    their digests stay as they are.

    No charge is written that its total does not count, whichever version of the site writes it.
    """

    dependencies = (("ledger", "0005_either_cap"),)
    operations = (
        migrations.AddIndex(
            model_name="entry",
            index=models.Index(fields=("budget", "kind", "at"), name="charges_of_a_time"),
        ),
        migrations.AddIndex(
            model_name="entry", index=models.Index(fields=("who",), name="rows_by_who")
        ),
        migrations.CreateModel(
            name="Checkpoint",
            fields=(
                ("name", models.CharField(max_length=10, primary_key=True, serialize=False)),
                ("length", models.PositiveBigIntegerField(help_text="How many rows were read.")),
                ("digest", models.CharField(help_text="Of the last of them.", max_length=64)),
                ("at", MomentField(help_text="When, in UTC.")),
                (
                    "whole_at",
                    MomentField(help_text="When a check last began with the first row."),
                ),
                ("books", models.TextField(help_text="JSON: what they say of each budget.")),
                ("seal", models.CharField(max_length=100)),
            ),
        ),
        migrations.CreateModel(
            name="Total",
            fields=(
                (
                    "budget",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="total",
                        serialize=False,
                        to="ledger.budget",
                    ),
                ),
                ("charges", models.PositiveIntegerField(help_text="How many.")),
                (
                    "number",
                    models.PositiveIntegerField(
                        help_text="Of the last charge, among the budget’s rows."
                    ),
                ),
                (
                    "position",
                    models.PositiveBigIntegerField(help_text="Of the last charge, in the chain."),
                ),
                ("first_at", MomentField(help_text="When the first charge was, in UTC.")),
                (
                    "parts",
                    models.TextField(
                        help_text="JSON: sums for each part of the people (totals.py)."
                    ),
                ),
                (
                    "reads",
                    models.TextField(
                        blank=True,
                        help_text="JSON: all that charges read, added up, where answers’ losses "
                        "count.",
                    ),
                ),
            ),
        ),
        migrations.RunPython(add_up, migrations.RunPython.noop),
        forbid(
            "ledger_entry",
            verb="INSERT",
            message="a charge is counted in the total of its budget",
            when="NEW.kind = 'charge'",
            unless=COUNTED,
            name="is_counted",
        ),
        forbid(
            "ledger_total",
            verb="UPDATE",
            message="a total only grows, by one charge",
            when="NEW.budget_id <> OLD.budget_id OR NEW.charges <> OLD.charges + 1 "
            "OR NEW.number <= OLD.number OR NEW.position <= OLD.position "
            "OR NEW.first_at <> OLD.first_at",
        ),
        forbid("ledger_total", verb="DELETE", message="a total stays"),
        forbid_replace("ledger_total", message="a total stays", keys=(("budget_id",),)),
    )
