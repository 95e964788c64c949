from decimal import Decimal

from django.core.serializers.json import DjangoJSONEncoder
from django.db import migrations, models

from surveys.ledger.models import EpsilonField
from surveys.triggers import forbid, forbid_replace

FROZEN = "a Plan is frozen"
RETIRED = "a retired study stays retired"
PANEL = "a panel keeps its budgets, its name and what it counts"


class Migration(migrations.Migration):
    initial = True
    replaces = [("design", "0022_codes_of_choices")]
    dependencies = [("ledger", "0001_release_0_9")]
    operations = [
        migrations.CreateModel(
            name="Picture",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("sha256", models.CharField(max_length=64, unique=True)),
                ("media_type", models.CharField(max_length=20)),
                ("width", models.PositiveIntegerField()),
                ("height", models.PositiveIntegerField()),
                ("content", models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name="Panel",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("slug", models.SlugField(max_length=60, unique=True)),
                ("name", models.CharField(max_length=120)),
                ("unit", models.CharField(default="respondent-in-panel", max_length=40)),
                ("neighbours", models.CharField(default="change-one", max_length=20)),
                ("cap", EpsilonField(default=4)),
                ("cap_delta", models.CharField(default="0", max_length=20)),
                ("local_cap", EpsilonField(default=8)),
                (
                    "central_budget",
                    models.OneToOneField(
                        "ledger.budget", models.PROTECT, null=True, related_name="+"
                    ),
                ),
                (
                    "local_budget",
                    models.OneToOneField(
                        "ledger.budget", models.PROTECT, null=True, related_name="+"
                    ),
                ),
            ],
            options={"ordering": ("name",)},
        ),
        migrations.CreateModel(
            name="SiteLimits",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("epsilon_floor", EpsilonField(default=Decimal("0.01"))),
                ("epsilon_ceiling", EpsilonField(default=4)),
                ("cap_ceiling", EpsilonField(default=8)),
                ("person_ceiling", EpsilonField(default=8)),
                ("person_floor", EpsilonField(default=Decimal("0.01"))),
            ],
            options={
                "verbose_name_plural": "site limits",
                "constraints": [
                    models.CheckConstraint(condition=models.Q(pk=1), name="one_row_of_site_limits")
                ],
            },
        ),
        migrations.CreateModel(
            name="Study",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("slug", models.SlugField(max_length=60, unique=True)),
                ("title", models.CharField(max_length=120)),
                ("organisation", models.CharField(max_length=120)),
                ("purpose", models.TextField(max_length=600)),
                ("contact", models.EmailField(max_length=254)),
                ("language", models.CharField(default="en", max_length=10)),
                ("layout", models.CharField(default="screens", max_length=10)),
                ("expected", models.PositiveIntegerField(null=True)),
                ("wave", models.PositiveSmallIntegerField(default=1)),
                ("unit", models.CharField(default="respondent-in-study", max_length=40)),
                ("neighbours", models.CharField(default="change-one", max_length=20)),
                ("cap", EpsilonField(default=2)),
                ("cap_delta", models.CharField(default="0", max_length=20)),
                ("epsilon_floor", EpsilonField(default=Decimal("0.01"))),
                ("epsilon_ceiling", EpsilonField(default=4)),
                ("rule", models.CharField(default="when-closed", max_length=20)),
                ("horizon", models.PositiveSmallIntegerField(default=52)),
                ("hours", models.PositiveSmallIntegerField(default=24)),
                ("release_epsilon", EpsilonField(default=1)),
                ("smallest_batch", models.PositiveIntegerField(default=100)),
                ("results", models.CharField(default="public", max_length=10)),
                ("closes_on", models.DateField(null=True)),
                ("retires_on", models.DateField(null=True)),
                ("retired_on", models.DateField(null=True)),
                ("retired_because", models.CharField(max_length=200)),
                ("budget", models.OneToOneField("ledger.budget", models.PROTECT, null=True)),
                (
                    "panel",
                    models.ForeignKey(
                        "design.panel", models.PROTECT, null=True, related_name="studies"
                    ),
                ),
                (
                    "follow_ups",
                    models.CharField(db_default="everybody", default="everybody", max_length=10),
                ),
                ("given_batch", models.PositiveIntegerField(null=True)),
                ("given_by", models.CharField(max_length=150, null=True)),
                ("given_cap", EpsilonField(null=True)),
                ("given_why", models.CharField(max_length=500, null=True)),
                ("widest", models.PositiveSmallIntegerField(null=True)),
                ("asked", models.PositiveSmallIntegerField(null=True)),
                ("person", EpsilonField(null=True)),
                ("spent_on", models.DateField(null=True)),
                ("begins_on", models.DateField(null=True)),
                ("closes_at", models.PositiveIntegerField(null=True)),
                ("stratum_closes_at", models.PositiveIntegerField(null=True)),
                ("answers_from", models.DateField(null=True)),
                ("is_invited", models.BooleanField(null=True)),
                ("is_planned", models.BooleanField(null=True)),
                ("waves", models.PositiveSmallIntegerField(null=True)),
                ("draws", models.CharField(max_length=10, null=True)),
                ("zone", models.CharField(max_length=64, null=True)),
            ],
            options={
                "verbose_name_plural": "studies",
                "ordering": ("title",),
                "permissions": (
                    ("set_limits", "Can set the least and the greatest ε of a study's answers"),
                ),
                "indexes": [
                    models.Index(
                        condition=models.Q(retired_on=None, retires_on__isnull=False),
                        fields=["retires_on"],
                        name="studies_to_retire",
                    ),
                    models.Index(
                        condition=models.Q(retired_on=None, spent_on__isnull=False),
                        fields=["spent_on"],
                        name="studies_spent",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Question",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("position", models.PositiveSmallIntegerField(default=1)),
                ("name", models.CharField(max_length=20)),
                ("kind", models.CharField(default="yes_no", max_length=10)),
                ("protection", models.CharField(default="device", max_length=12)),
                ("text", models.CharField(max_length=300)),
                ("label", models.CharField(max_length=80)),
                ("help", models.CharField(max_length=300)),
                ("choices", models.TextField()),
                ("least", models.IntegerField(null=True)),
                ("most", models.IntegerField(null=True)),
                ("unit", models.CharField(max_length=40)),
                ("wanted", models.CharField(default="mean", max_length=12)),
                ("group", models.CharField(max_length=20)),
                ("group_text", models.CharField(max_length=300)),
                ("asked_if", models.CharField(max_length=20)),
                ("asked_if_answers", models.JSONField(default=list)),
                ("picture_text", models.CharField(max_length=300)),
                ("may_decline", models.BooleanField(default=False)),
                ("epsilon", EpsilonField(default=1)),
                (
                    "picture",
                    models.ForeignKey(
                        "design.picture", models.PROTECT, null=True, related_name="+"
                    ),
                ),
                (
                    "study",
                    models.ForeignKey("design.study", models.CASCADE, related_name="questions"),
                ),
                ("matters", models.CharField(default="useful", max_length=10)),
                ("together", models.CharField(max_length=20)),
                ("drawn_in", models.CharField(max_length=20)),
                ("codes", models.TextField(null=True)),
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
                ("id", models.BigAutoField(primary_key=True)),
                ("wave", models.PositiveSmallIntegerField()),
                ("document", models.TextField()),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("opened_on", models.DateField()),
                ("closes_on", models.DateField(null=True)),
                ("closed_on", models.DateField(null=True)),
                ("study", models.ForeignKey("design.study", models.PROTECT, related_name="plans")),
                ("begins_on", models.DateField(null=True)),
                ("closes_at", models.PositiveIntegerField(null=True)),
                ("stratum_closes_at", models.PositiveIntegerField(null=True)),
                ("zone", models.CharField(max_length=64, null=True)),
            ],
            options={
                "ordering": ("study_id", "wave"),
                "constraints": [
                    models.UniqueConstraint(fields=("study", "wave"), name="one_plan_per_wave")
                ],
                "indexes": [
                    models.Index(
                        condition=models.Q(closed_on=None, closes_on__isnull=False),
                        fields=["closes_on"],
                        name="plans_to_close",
                    ),
                    models.Index(fields=["study", "closed_on"], name="plans_of_studies"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Translation",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("language", models.CharField(max_length=10)),
                ("content", models.JSONField(default=dict)),
                (
                    "study",
                    models.ForeignKey("design.study", models.CASCADE, related_name="translations"),
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
        migrations.CreateModel(
            name="DraftChange",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("what", models.CharField(max_length=120)),
                ("old", models.CharField(max_length=500)),
                ("new", models.CharField(max_length=500)),
                ("why", models.CharField(max_length=500)),
                ("who", models.CharField(max_length=150)),
                ("at", models.DateTimeField()),
                (
                    "panel",
                    models.ForeignKey(
                        "design.panel", models.CASCADE, null=True, related_name="changes"
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        "design.study", models.CASCADE, null=True, related_name="changes"
                    ),
                ),
            ],
            options={
                "verbose_name": "change of the draft",
                "verbose_name_plural": "changes of the draft",
                "ordering": ("-at", "-pk"),
            },
        ),
        migrations.CreateModel(
            name="LedgerReader",
            fields=[
                ("name", models.CharField(max_length=30, primary_key=True)),
                ("position", models.PositiveBigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="Summary",
            fields=[
                (
                    "plan",
                    models.OneToOneField(
                        "design.plan", models.PROTECT, primary_key=True, related_name="summary"
                    ),
                ),
                ("title", models.CharField(max_length=200)),
                ("words", models.TextField()),
                ("unit", models.CharField(max_length=40)),
                ("changed", models.CharField(max_length=10)),
                ("epsilon", models.PositiveBigIntegerField()),
                ("smallest_batch", models.PositiveIntegerField()),
            ],
            options={"verbose_name_plural": "summaries"},
        ),
        migrations.CreateModel(
            name="Revision",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("number", models.PositiveIntegerField()),
                ("who", models.CharField(max_length=150)),
                ("at", models.DateTimeField()),
                ("changed", models.JSONField(encoder=DjangoJSONEncoder)),
                (
                    "study",
                    models.ForeignKey("design.study", models.CASCADE, related_name="revisions"),
                ),
            ],
            options={
                "ordering": ("study_id", "-number"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("study", "number"), name="one_save_per_revision"
                    )
                ],
            },
        ),
        # SQLite's UPDATE OR REPLACE to a key that is taken deletes that row, and SET rowid is no
        # update of a column.
        *(
            forbid(
                table,
                verb="UPDATE",
                message="a key stays",
                when="NEW.id <> OLD.id",
                name="keeps_its_key",
            )
            for table in ("design_plan", "design_study", "design_panel")
        ),
        forbid(
            "design_plan",
            verb="UPDATE",
            message=FROZEN,
            columns=("study_id", "wave", "document", "digest", "opened_on", "closes_on"),
        ),
        forbid(
            "design_plan",
            verb="UPDATE",
            message=FROZEN,
            columns=("begins_on", "closes_at", "stratum_closes_at"),
            name="keeps_its_days",
        ),
        forbid(
            "design_plan", verb="UPDATE", message=FROZEN, columns=("zone",), name="keeps_its_zone"
        ),
        forbid("design_plan", verb="DELETE", message=FROZEN),
        forbid_replace(
            "design_plan", message=FROZEN, keys=(("id",), ("digest",), ("study_id", "wave"))
        ),
        forbid(
            "design_plan",
            verb="UPDATE",
            message="what has closed stays closed",
            columns=("closed_on",),
            when="OLD.closed_on IS NOT NULL",
            name="stays_closed",
        ),
        forbid(
            "design_plan",
            verb="INSERT",
            message=RETIRED,
            unless="NOT EXISTS (SELECT 1 FROM design_study WHERE id = NEW.study_id AND retired_on IS NOT NULL)",
            name="not_of_a_retired_study",
        ),
        forbid(
            "design_study",
            verb="UPDATE",
            message="a study keeps its budget and its address",
            columns=("budget_id", "slug"),
            when="OLD.budget_id IS NOT NULL AND (NEW.budget_id IS NULL OR NEW.budget_id <> OLD.budget_id OR NEW.slug <> OLD.slug)",
            name="keeps_its_budget",
        ),
        forbid(
            "design_study",
            verb="UPDATE",
            message="a study keeps its panel",
            columns=("panel_id",),
            when="OLD.budget_id IS NOT NULL AND ((NEW.panel_id IS NULL) <> (OLD.panel_id IS NULL) OR NEW.panel_id <> OLD.panel_id)",
            name="keeps_its_panel",
        ),
        forbid(
            "design_study",
            verb="UPDATE",
            message=RETIRED,
            columns=("retired_on", "retired_because"),
            when="OLD.retired_on IS NOT NULL AND (NEW.retired_on IS NULL OR NEW.retired_on <> OLD.retired_on OR NEW.retired_because <> OLD.retired_because)",
            name="stays_retired",
        ),
        forbid(
            "design_study",
            verb="DELETE",
            message="a study that has opened stays",
            when="OLD.budget_id IS NOT NULL",
        ),
        forbid_replace(
            "design_study",
            message="a study is not replaced",
            keys=(("id",), ("slug",), ("budget_id",)),
        ),
        forbid(
            "design_panel",
            verb="UPDATE",
            message=PANEL,
            columns=(
                "slug",
                "unit",
                "neighbours",
                "cap_delta",
                "central_budget_id",
                "local_budget_id",
            ),
            when="OLD.central_budget_id IS NOT NULL AND (NEW.slug <> OLD.slug OR NEW.unit <> OLD.unit OR NEW.neighbours <> OLD.neighbours OR NEW.cap_delta <> OLD.cap_delta OR NEW.central_budget_id IS NULL OR NEW.central_budget_id <> OLD.central_budget_id OR NEW.local_budget_id IS NULL OR NEW.local_budget_id <> OLD.local_budget_id)",
            name="keeps_its_budgets",
        ),
        forbid(
            "design_panel", verb="DELETE", message=PANEL, when="OLD.central_budget_id IS NOT NULL"
        ),
        forbid_replace(
            "design_panel",
            message=PANEL,
            keys=(("id",), ("slug",), ("central_budget_id",), ("local_budget_id",)),
        ),
    ]
