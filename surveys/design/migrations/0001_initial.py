from decimal import Decimal

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

import surveys.ledger.models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("ledger", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Picture",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("sha256", models.CharField(editable=False, max_length=64, unique=True)),
                ("media_type", models.CharField(editable=False, max_length=20)),
                ("width", models.PositiveIntegerField(editable=False)),
                ("height", models.PositiveIntegerField(editable=False)),
                ("content", models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name="Panel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "slug",
                    models.SlugField(
                        help_text="Its name in the ledger: panel:slug", max_length=60, unique=True
                    ),
                ),
                ("name", models.CharField(help_text="Who they are.", max_length=120)),
                (
                    "unit",
                    models.CharField(default="respondent-in-panel", editable=False, max_length=40),
                ),
                (
                    "neighbours",
                    models.CharField(
                        choices=[
                            (
                                "change-one",
                                "one person answers differently (how many answered is public)",
                            )
                        ],
                        default="change-one",
                        max_length=20,
                    ),
                ),
                (
                    "cap",
                    surveys.ledger.models.EpsilonField(
                        default=4,
                        help_text="How much all publications of all its studies together may ever "
                        "give away about one person.",
                        validators=[
                            django.core.validators.MinValueValidator(Decimal("0.01")),
                            django.core.validators.MaxValueValidator(Decimal("20")),
                        ],
                        verbose_name="cap for all publications, ε",
                    ),
                ),
                (
                    "cap_delta",
                    models.CharField(
                        choices=[
                            ("0", "none: the cap always holds"),
                            ("0.000001", "one in a million"),
                            ("0.0000001", "one in ten million"),
                            ("0.00000001", "one in a hundred million"),
                            ("0.000000001", "one in a thousand million"),
                        ],
                        default="0",
                        max_length=20,
                        verbose_name="chance that the cap fails, δ",
                    ),
                ),
                (
                    "local_cap",
                    surveys.ledger.models.EpsilonField(
                        default=8,
                        help_text="Charged when a wave opens. Counts answers changed on the "
                        "device; one sent as given has no ε.",
                        validators=[
                            django.core.validators.MinValueValidator(Decimal("0.01")),
                            django.core.validators.MaxValueValidator(Decimal("20")),
                        ],
                        verbose_name="cap for all answers of one person, ε",
                    ),
                ),
                (
                    "central_budget",
                    models.OneToOneField(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="ledger.budget",
                    ),
                ),
                (
                    "local_budget",
                    models.OneToOneField(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="ledger.budget",
                    ),
                ),
            ],
            options={
                "ordering": ("name",),
            },
        ),
        migrations.CreateModel(
            name="SiteLimits",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "epsilon_floor",
                    surveys.ledger.models.EpsilonField(
                        default=Decimal("0.01"), verbose_name="least ε of one answer"
                    ),
                ),
                (
                    "epsilon_ceiling",
                    surveys.ledger.models.EpsilonField(
                        default=8, verbose_name="greatest ε of one answer"
                    ),
                ),
                (
                    "cap_ceiling",
                    surveys.ledger.models.EpsilonField(
                        default=8, verbose_name="greatest cap for all publications of a study, ε"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "site limits",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("pk", 1)), name="one_row_of_site_limits"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Study",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "slug",
                    models.SlugField(
                        help_text="The last part of the link: /s/slug/", max_length=60, unique=True
                    ),
                ),
                ("title", models.CharField(max_length=120)),
                ("organisation", models.CharField(help_text="Who asks.", max_length=120)),
                (
                    "purpose",
                    models.TextField(
                        help_text="Why, in a sentence or two that respondents and the public read.",
                        max_length=600,
                    ),
                ),
                (
                    "contact",
                    models.EmailField(
                        help_text="Who answers questions about the study.", max_length=254
                    ),
                ),
                (
                    "language",
                    models.CharField(
                        choices=[("en", "English"), ("zh-hans", "简体中文")],
                        default="en",
                        help_text="What these texts are written in.",
                        max_length=10,
                    ),
                ),
                (
                    "layout",
                    models.CharField(
                        choices=[
                            ("screens", "one question a screen"),
                            ("page", "all questions on one page"),
                        ],
                        default="screens",
                        max_length=10,
                    ),
                ),
                (
                    "expected",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="For planning only; what is precise enough depends on it.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(10),
                            django.core.validators.MaxValueValidator(10000000),
                        ],
                        verbose_name="answers expected",
                    ),
                ),
                ("wave", models.PositiveSmallIntegerField(default=1, editable=False)),
                (
                    "unit",
                    models.CharField(
                        choices=[
                            ("respondent-in-study", "one person, in all waves of the study"),
                            ("respondent-in-wave", "one person, in one wave"),
                        ],
                        default="respondent-in-study",
                        max_length=40,
                    ),
                ),
                (
                    "neighbours",
                    models.CharField(
                        choices=[
                            (
                                "change-one",
                                "one person answers differently (how many answered is public)",
                            )
                        ],
                        default="change-one",
                        max_length=20,
                    ),
                ),
                (
                    "cap",
                    surveys.ledger.models.EpsilonField(
                        default=2,
                        help_text="How much all publications together may ever give away about "
                        "one person.",
                        validators=[
                            django.core.validators.MinValueValidator(Decimal("0.01")),
                            django.core.validators.MaxValueValidator(Decimal("20")),
                        ],
                        verbose_name="cap for all publications, ε",
                    ),
                ),
                (
                    "cap_delta",
                    models.CharField(
                        choices=[
                            ("0", "none: the cap always holds"),
                            ("0.000001", "one in a million"),
                            ("0.0000001", "one in ten million"),
                            ("0.00000001", "one in a hundred million"),
                            ("0.000000001", "one in a thousand million"),
                        ],
                        default="0",
                        max_length=20,
                        verbose_name="chance that the cap fails, δ",
                    ),
                ),
                (
                    "epsilon_floor",
                    surveys.ledger.models.EpsilonField(
                        default=Decimal("0.01"),
                        help_text="Set by the site’s admin: below it, answers are wasted.",
                        validators=[django.core.validators.MinValueValidator(Decimal("0.01"))],
                        verbose_name="least ε of one answer",
                    ),
                ),
                (
                    "epsilon_ceiling",
                    surveys.ledger.models.EpsilonField(
                        default=8,
                        help_text="Set by the site’s admin: above it, answers are hardly protected.",
                        validators=[django.core.validators.MaxValueValidator(Decimal("20"))],
                        verbose_name="greatest ε of one answer",
                    ),
                ),
                (
                    "rule",
                    models.CharField(
                        choices=[
                            ("when-closed", "once, when it has closed"),
                            ("every", "every so many hours, and when it has closed"),
                            ("continual", "every so many hours, all of them paid on the first day"),
                            ("on-request", "only what a researcher asks for"),
                        ],
                        default="when-closed",
                        max_length=20,
                        verbose_name="publish",
                    ),
                ),
                (
                    "horizon",
                    models.PositiveSmallIntegerField(
                        default=52,
                        help_text="Counts only for “all of them paid on the first day”.",
                        validators=[
                            django.core.validators.MinValueValidator(2),
                            django.core.validators.MaxValueValidator(4096),
                        ],
                        verbose_name="publications in all",
                    ),
                ),
                (
                    "hours",
                    models.PositiveSmallIntegerField(
                        default=24,
                        help_text="Counts only where something is published every so many hours.",
                        validators=[django.core.validators.MinValueValidator(1)],
                        verbose_name="hours between",
                    ),
                ),
                (
                    "release_epsilon",
                    surveys.ledger.models.EpsilonField(
                        default=1,
                        help_text="Shared equally by the questions. If all are paid on the first "
                        "day: the cost of all. If a researcher asks: the most that one "
                        "request may cost.",
                        validators=[django.core.validators.MinValueValidator(Decimal("0.01"))],
                        verbose_name="cost of one publication, ε",
                    ),
                ),
                (
                    "smallest_batch",
                    models.PositiveIntegerField(
                        default=100,
                        help_text="Nothing is published before so many answers, and nothing again "
                        "before so many new ones.",
                        validators=[
                            django.core.validators.MinValueValidator(10),
                            django.core.validators.MaxValueValidator(1000000),
                        ],
                    ),
                ),
                (
                    "results",
                    models.CharField(
                        choices=[
                            ("public", "everyone"),
                            ("members", "only the researchers it is shared with"),
                        ],
                        default="public",
                        max_length=10,
                        verbose_name="results are for",
                    ),
                ),
                (
                    "closes_on",
                    models.DateField(
                        blank=True,
                        help_text="The last day of collecting, in UTC. Optional.",
                        null=True,
                    ),
                ),
                (
                    "retires_on",
                    models.DateField(
                        blank=True,
                        help_text="From this day on nothing is published ever again, and answers "
                        "are erased.",
                        null=True,
                    ),
                ),
                ("retired_on", models.DateField(editable=False, null=True)),
                ("retired_because", models.CharField(blank=True, editable=False, max_length=200)),
                (
                    "budget",
                    models.OneToOneField(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="ledger.budget",
                    ),
                ),
                (
                    "panel",
                    models.ForeignKey(
                        blank=True,
                        help_text="The people who are asked, if the same ones meet several studies.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="studies",
                        to="design.panel",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "studies",
                "ordering": ("title",),
                "permissions": (
                    ("set_limits", "Can set the least and the greatest ε of a study's answers"),
                ),
            },
        ),
        migrations.CreateModel(
            name="Question",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.PositiveSmallIntegerField(default=1)),
                (
                    "name",
                    models.CharField(
                        help_text="Its key in reports, such as q1.",
                        max_length=20,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[a-z][a-z0-9_]*$", "Small letters, digits and _, a letter first."
                            )
                        ],
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("yes_no", "yes or no"),
                            ("single", "single choice"),
                            ("multiple", "multiple choice"),
                            ("likert", "agreement on a scale (Likert)"),
                            ("number", "a whole number"),
                            ("month", "a month and year"),
                        ],
                        default="yes_no",
                        max_length=10,
                    ),
                ),
                (
                    "protection",
                    models.CharField(
                        choices=[
                            ("device", "randomised on the device"),
                            (
                                "publication",
                                "not randomised, kept encrypted, published only as statistics with "
                                "random noise",
                            ),
                        ],
                        default="device",
                        max_length=12,
                    ),
                ),
                ("text", models.CharField(max_length=300)),
                ("label", models.CharField(help_text="A short form, for tables.", max_length=80)),
                ("help", models.CharField(blank=True, max_length=300)),
                (
                    "choices",
                    models.TextField(
                        blank=True,
                        help_text="One a line. Leave empty for yes or no, and for the five usual "
                        "points of agreement.",
                    ),
                ),
                (
                    "least",
                    models.IntegerField(
                        blank=True, help_text="The least number that counts.", null=True
                    ),
                ),
                (
                    "most",
                    models.IntegerField(
                        blank=True, help_text="The greatest number that counts.", null=True
                    ),
                ),
                (
                    "unit",
                    models.CharField(
                        blank=True, help_text="What the number counts, such as days.", max_length=40
                    ),
                ),
                (
                    "wanted",
                    models.CharField(
                        choices=[("mean", "the mean"), ("distribution", "how answers are spread")],
                        default="mean",
                        help_text="Of a number or month that is changed on the device.",
                        max_length=12,
                    ),
                ),
                (
                    "group",
                    models.CharField(
                        blank=True,
                        help_text="Neighbouring scales with the same choices and group stand as "
                        "one matrix.",
                        max_length=20,
                    ),
                ),
                (
                    "group_text",
                    models.CharField(
                        blank=True, help_text="What stands above the matrix.", max_length=300
                    ),
                ),
                (
                    "asked_if",
                    models.CharField(
                        blank=True,
                        help_text="The name of an earlier question on whose answer this one "
                        "depends.",
                        max_length=20,
                    ),
                ),
                (
                    "asked_if_answers",
                    models.JSONField(
                        blank=True,
                        default=list,
                        help_text="The numbers of the answers, from 0, after which this one is "
                        "asked.",
                    ),
                ),
                (
                    "picture_text",
                    models.CharField(
                        blank=True, help_text="What the picture shows, in words.", max_length=300
                    ),
                ),
                (
                    "may_decline",
                    models.BooleanField(default=False, verbose_name="offers “Prefer not to say”"),
                ),
                (
                    "epsilon",
                    surveys.ledger.models.EpsilonField(
                        default=1,
                        help_text="1 sends 73 of 100 yes answers as yes, 27 as no.",
                        validators=[django.core.validators.MinValueValidator(Decimal("0.01"))],
                        verbose_name="loss of one answer, ε",
                    ),
                ),
                (
                    "picture",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="design.picture",
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="questions",
                        to="design.study",
                    ),
                ),
            ],
            options={
                "ordering": ("position", "pk"),
                "constraints": [
                    models.UniqueConstraint(fields=("study", "name"), name="question_names_differ")
                ],
            },
        ),
        migrations.CreateModel(
            name="Plan",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("wave", models.PositiveSmallIntegerField()),
                ("document", models.TextField()),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("opened_on", models.DateField()),
                ("closes_on", models.DateField(blank=True, null=True)),
                ("closed_on", models.DateField(blank=True, null=True)),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="plans",
                        to="design.study",
                    ),
                ),
            ],
            options={
                "ordering": ("study_id", "wave"),
                "constraints": [
                    models.UniqueConstraint(fields=("study", "wave"), name="one_plan_per_wave")
                ],
            },
        ),
        migrations.CreateModel(
            name="Translation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "language",
                    models.CharField(
                        choices=[("en", "English"), ("zh-hans", "简体中文")], max_length=10
                    ),
                ),
                ("content", models.JSONField(default=dict)),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="translations",
                        to="design.study",
                    ),
                ),
            ],
            options={
                "ordering": ("language",),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("study", "language"), name="one_translation_per_language"
                    )
                ],
            },
        ),
    ]
