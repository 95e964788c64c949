import importlib

from django.db import migrations

from surveys.triggers import forbid, lift, unsampled

sealed = importlib.import_module("surveys.aggregation.migrations.0002_sealed")
kept = forbid("aggregation_batch", verb="UPDATE", message=sealed.MESSAGE, columns=sealed.SEALED)


class Migration(migrations.Migration):
    dependencies = (("aggregation", "0002_sealed"),)
    operations = (
        lift(kept),  # or the type of its columns stays
        unsampled("aggregation_batch", columns="bytea", given="bytea"),
        kept,
        unsampled("aggregation_tally", counts="jsonb"),
    )
