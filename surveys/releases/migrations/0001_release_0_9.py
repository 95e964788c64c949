from django.db import migrations, models

from surveys.triggers import forbid, forbid_replace, unsampled

RELEASE = "a release is drawn once and kept"
STEP = "a step is drawn once and kept"
SERIES = "a series stays"


class Migration(migrations.Migration):
    initial = True
    replaces = [("releases", "0007_who_is_not_due")]
    dependencies = [("design", "0001_release_0_9"), ("ledger", "0001_release_0_9")]
    operations = [
        migrations.CreateModel(
            name="Request",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("statistic", models.JSONField()),
                ("requested_on", models.DateField()),
                ("who", models.CharField(max_length=150)),
                ("confirmed_at", models.DateTimeField()),
                ("refused", models.CharField(max_length=500)),
                ("plan", models.ForeignKey("design.plan", models.PROTECT, related_name="requests")),
                ("is_waiting", models.BooleanField(null=True)),
            ],
            options={
                "ordering": ("pk",),
                "indexes": [
                    models.Index(
                        condition=models.Q(is_waiting=True),
                        fields=["confirmed_at"],
                        name="requests_that_wait",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Release",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("numbers", models.JSONField()),
                ("published_on", models.DateField()),
                ("published_at", models.DateTimeField()),
                ("entry", models.OneToOneField("ledger.entry", models.PROTECT, related_name="+")),
                (
                    "request",
                    models.OneToOneField(
                        "releases.request", models.PROTECT, related_name="release"
                    ),
                ),
                ("salt", models.CharField(max_length=32, null=True)),
            ],
            options={"ordering": ("pk",)},
        ),
        migrations.CreateModel(
            name="Series",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("state", models.BinaryField()),
                ("steps", models.PositiveIntegerField(default=0)),
                ("is_over", models.BooleanField(default=False)),
                ("entry", models.OneToOneField("ledger.entry", models.PROTECT, related_name="+")),
                (
                    "request",
                    models.OneToOneField("releases.request", models.PROTECT, related_name="series"),
                ),
            ],
            options={
                "verbose_name_plural": "series",
                "indexes": [
                    models.Index(
                        condition=models.Q(is_over=False),
                        fields=["request"],
                        name="series_that_go_on",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Step",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("number", models.PositiveIntegerField()),
                ("question", models.JSONField(null=True)),
                ("numbers", models.JSONField()),
                ("published_on", models.DateField()),
                ("published_at", models.DateTimeField()),
                (
                    "series",
                    models.ForeignKey("releases.series", models.PROTECT, related_name="published"),
                ),
                ("salt", models.CharField(max_length=32, null=True)),
            ],
            options={
                "ordering": ("series_id", "number"),
                "constraints": [
                    models.UniqueConstraint(fields=("series", "number"), name="one_step_per_number")
                ],
            },
        ),
        migrations.CreateModel(
            name="NotDue",
            fields=[
                (
                    "plan",
                    models.OneToOneField(
                        "design.plan", models.PROTECT, primary_key=True, related_name="not_due"
                    ),
                ),
                ("sealed", models.PositiveIntegerField()),
                ("published", models.PositiveIntegerField(null=True)),
                ("was_open", models.BooleanField()),
                ("until", models.DateTimeField(null=True)),
            ],
            options={"verbose_name_plural": "not due"},
        ),
        forbid("releases_release", verb="UPDATE", message=RELEASE),
        forbid("releases_release", verb="DELETE", message=RELEASE),
        forbid_replace(
            "releases_release", message=RELEASE, keys=(("id",), ("request_id",), ("entry_id",))
        ),
        forbid(
            "releases_request",
            verb="UPDATE",
            message="a request keeps its words",
            columns=("id", "plan_id", "digest", "statistic", "requested_on"),
        ),
        forbid(
            "releases_request",
            verb="UPDATE",
            message="who paid for a request stays",
            columns=("who",),
            unless="NOT EXISTS (SELECT 1 FROM releases_release WHERE request_id = OLD.id) AND NOT EXISTS (SELECT 1 FROM releases_series WHERE request_id = OLD.id)",
            name="payer",
        ),
        forbid("releases_step", verb="UPDATE", message=STEP),
        forbid("releases_step", verb="DELETE", message=STEP),
        forbid_replace("releases_step", message=STEP, keys=(("id",), ("series_id", "number"))),
        forbid("releases_series", verb="DELETE", message=SERIES),
        forbid(
            "releases_series",
            verb="UPDATE",
            message="a series keeps its request",
            columns=("request_id", "entry_id"),
        ),
        forbid_replace(
            "releases_series", message=SERIES, keys=(("id",), ("request_id",), ("entry_id",))
        ),
        unsampled("releases_series", "state"),
    ]
