"""One answer of a person: words of choices only, no column changes."""

from decimal import Decimal
from typing import ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import migrations, models

from surveys.ledger.models import EpsilonField

UNIT = models.CharField(
    choices=[
        ("respondent-in-study", "one person, in all waves of the study"),
        ("respondent-in-wave", "one person, in one wave"),
        ("answer-in-study", "one answer of a person, in all waves of the study"),
        ("household-of-2", "a household of at most 2 people"),
        ("household-of-3", "a household of at most 3 people"),
        ("household-of-4", "a household of at most 4 people"),
        ("household-of-5", "a household of at most 5 people"),
    ],
    default="respondent-in-study",
    max_length=40,
)
CAP = EpsilonField(
    default=2,
    help_text="How much all publications together may ever give away about one person, or what "
    "else Limits says they protect.",
    validators=[
        MinValueValidator(Decimal("0.01")),
        MaxValueValidator(Decimal("20")),
    ],
    verbose_name="cap for all publications, ε",
)


class Migration(migrations.Migration):
    dependencies = (("design", "0010_whom_publications_protect"),)

    operations: ClassVar = [
        migrations.AlterField("study", "unit", UNIT),
        migrations.AlterField("study", "cap", CAP),
    ]
