from django.db import migrations, models
from django.db.models import Q

from surveys.triggers import forbid, forbid_replace, lift

ROWS = "ledger rows are only ever added"
GUARDS = (  # which SQLite loses where a table is made anew
    forbid("ledger_entry", verb="UPDATE", message=ROWS),
    forbid("ledger_entry", verb="DELETE", message=ROWS),
    forbid_replace(
        "ledger_entry",
        message=ROWS,
        keys=(("position",), ("digest",), ("budget_id", "number"), ("budget_id", "statistic")),
    ),
)


class Migration(migrations.Migration):
    """A charge can be what answers lose, beyond what they lost before: then it can be nothing."""

    dependencies = (("ledger", "0003_shares_and_what_was_published"),)
    operations = (
        migrations.AddField(
            model_name="budget",
            name="counts",
            field=models.CharField(
                blank=True,
                choices=[("answers", "what answers lose, through their devices’ chance")],
                help_text="Whose loss charges are; empty in older budgets: what reports lose.",
                max_length=20,
                null=True,
            ),
        ),
        forbid(
            "ledger_budget",
            verb="UPDATE",
            message="a budget keeps what it counts",
            columns=("counts",),
            name="keeps_what_it_counts",
        ),
        *(lift(guard) for guard in reversed(GUARDS)),
        migrations.AddField(
            model_name="entry",
            name="reads",
            field=models.CharField(
                blank=True,
                help_text="Which reports it read, through what noise, where answers’ losses count.",
                max_length=100_000,
                null=True,
            ),
        ),
        migrations.RemoveConstraint(model_name="entry", name="charges_have_a_cost"),
        migrations.AddConstraint(
            model_name="entry",
            constraint=models.CheckConstraint(
                condition=Q(kind="act", epsilon=None, rho=None, delta=None, statistic=None)
                | Q(
                    kind="charge",
                    budget__isnull=False,
                    statistic__isnull=False,
                    rho__gte=0,
                    delta__gte=0,
                ),
                name="charges_have_a_cost",
            ),
        ),
        migrations.RemoveConstraint(model_name="entry", name="charge_above_zero"),
        migrations.AddConstraint(
            model_name="entry",
            constraint=models.CheckConstraint(
                condition=Q(epsilon=None) | Q(epsilon__gt=0) | Q(reads__isnull=False),
                name="charge_above_zero",
            ),
        ),
        *GUARDS,
    )
