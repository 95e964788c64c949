from decimal import Decimal

from django.core.validators import MaxValueValidator
from django.db import migrations, models

import surveys.ledger.models


class Migration(migrations.Migration):
    dependencies = [
        ("design", "0017_list_of_people"),
    ]

    operations = [
        migrations.AddField(
            model_name="study",
            name="is_planned",
            field=models.BooleanField(
                editable=False,
                help_text="Whether the planner says how its ε is spent.",
                null=True,
            ),
        ),
        migrations.SeparateDatabaseAndState(  # defaults are ours, and no table is made anew
            state_operations=[
                migrations.AlterField(
                    model_name=model,
                    name="epsilon_ceiling",
                    field=field,
                )
                for model, field in (
                    (
                        "sitelimits",
                        surveys.ledger.models.EpsilonField(
                            default=4, verbose_name="greatest ε of one answer"
                        ),
                    ),
                    (
                        "study",
                        surveys.ledger.models.EpsilonField(
                            default=4,
                            help_text="Set by the site’s admin: above it, answers are hardly protected.",
                            validators=[MaxValueValidator(Decimal("20"))],
                            verbose_name="greatest ε of one answer",
                        ),
                    ),
                )
            ],
        ),
    ]
