"""How many waves a study plans, and how chance falls in them. One that has opened stays as it
began: its Plans say neither.
"""

import django.core.validators
from django.db import migrations, models


def stay_as_they_began(apps, schema_editor):
    apps.get_model("design", "Study").objects.filter(plans__isnull=False).update(draws="")


class Migration(migrations.Migration):
    dependencies = [
        ("design", "0019_revisions_of_drafts"),
    ]

    operations = [
        migrations.AddField(
            model_name="study",
            name="waves",
            field=models.PositiveSmallIntegerField(
                blank=True,
                help_text="Fixed from the first launch on. Empty: one.",
                null=True,
                validators=[
                    django.core.validators.MinValueValidator(1),
                    django.core.validators.MaxValueValidator(99),
                ],
                verbose_name="waves planned",
            ),
        ),
        migrations.AddField(
            model_name="study",
            name="draws",
            field=models.CharField(
                blank=True,
                choices=[
                    ("fresh", "fresh: each wave changes answers by chance again"),
                    ("kept", "kept: an answer that stays is sent the same way again"),
                ],
                help_text="Fixed from the first launch on.",
                max_length=10,
                null=True,
                verbose_name="chance in later waves",
            ),
        ),
        migrations.RunPython(stay_as_they_began, migrations.RunPython.noop),
    ]
