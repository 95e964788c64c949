"""Households, and whether somebody took part: words of choices only, no column changes."""

from typing import ClassVar

from django.db import migrations, models

NEIGHBOURS = models.CharField(
    choices=[
        ("change-one", "what was answered; how many answered is shown to everybody"),
        (
            "add-remove",
            "also whether somebody took part; how many did is shown with noise only",
        ),
    ],
    default="change-one",
    max_length=20,
)
UNIT = models.CharField(
    choices=[
        ("respondent-in-study", "one person, in all waves of the study"),
        ("respondent-in-wave", "one person, in one wave"),
        ("household-of-2", "a household of at most 2 people"),
        ("household-of-3", "a household of at most 3 people"),
        ("household-of-4", "a household of at most 4 people"),
        ("household-of-5", "a household of at most 5 people"),
    ],
    default="respondent-in-study",
    max_length=40,
)


class Migration(migrations.Migration):
    dependencies = (("design", "0009_questions_each_person_is_asked"),)

    operations: ClassVar = [
        migrations.AlterField("panel", "neighbours", NEIGHBOURS),
        migrations.AlterField("study", "neighbours", NEIGHBOURS),
        migrations.AlterField("study", "unit", UNIT),
    ]
