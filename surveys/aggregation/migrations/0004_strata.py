from django.db import migrations, models

from surveys.triggers import forbid


class Migration(migrations.Migration):
    dependencies = (("aggregation", "0003_unsampled"),)
    operations = (
        migrations.AddField(
            model_name="batch",
            name="strata",
            field=models.JSONField(
                help_text="How many of its reports are of each stratum of the Plan; empty where "
                "they are not told apart.",
                null=True,
            ),
        ),
        forbid(
            "aggregation_batch",
            verb="UPDATE",
            message="a batch is sealed",
            columns=("strata",),
            name="keeps_its_strata",
        ),
    )
