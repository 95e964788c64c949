from django.db import migrations

from surveys.ledger.fields import EpsilonField
from surveys.triggers import forbid


class Migration(migrations.Migration):
    """A cap (ε, δ) can hold by Σε or by Σρ: a column that may be empty, which SQLite adds without
    making the table anew; what must hold of it is said by triggers for the same reason.
    """

    dependencies = (("ledger", "0004_losses_of_answers"),)
    operations = (
        migrations.AddField(
            model_name="budget",
            name="pure_epsilon",
            field=EpsilonField(
                blank=True,
                help_text="The cap on Σε that is enough too, of a concentrated budget; empty in "
                "older ones.",
                null=True,
            ),
        ),
        forbid(
            "ledger_budget",
            verb="INSERT",
            message="a cap on either has an ε, a ρ and a δ",
            when="NEW.pure_epsilon IS NOT NULL AND "
            "(NEW.pure_epsilon <= 0 OR NEW.rho IS NULL OR NEW.delta <= 0)",
            name="either_cap_is_whole",
        ),
        forbid(
            "ledger_budget",
            verb="UPDATE",
            message="a cap may only fall",
            columns=("pure_epsilon",),
            when="NEW.pure_epsilon > OLD.pure_epsilon OR NEW.pure_epsilon <= 0 "
            "OR (NEW.pure_epsilon IS NULL) <> (OLD.pure_epsilon IS NULL)",
            name="either_cap_only_falls",
        ),
    )
