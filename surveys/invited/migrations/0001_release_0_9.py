from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    replaces = [("invited", "0004_changed_addresses")]
    dependencies = [("design", "0001_release_0_9")]
    operations = [
        migrations.CreateModel(
            name="Silent", fields=[("digest", models.CharField(max_length=64, primary_key=True))]
        ),
        migrations.CreateModel(
            name="Turn",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("until", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Key",
            fields=[
                ("name", models.CharField(max_length=80, primary_key=True)),
                ("sealed", models.BinaryField()),
                ("erase_on", models.DateField(null=True)),
                (
                    "study",
                    models.OneToOneField(
                        "design.study", models.CASCADE, null=True, related_name="+"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Letter",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("reminds", models.BooleanField(default=False)),
                ("texts", models.JSONField()),
                ("origin", models.CharField(max_length=200)),
                ("day", models.DateField()),
                ("state", models.CharField(default="waits", max_length=10)),
                ("trouble", models.CharField(max_length=20)),
                ("stopped_on", models.DateField(null=True)),
                ("rests_until", models.DateTimeField(null=True)),
                ("is_forgotten", models.BooleanField(default=False)),
                ("sent", models.PositiveIntegerField(default=0)),
                ("refused", models.PositiveIntegerField(default=0)),
                ("silent", models.PositiveIntegerField(default=0)),
                ("plan", models.ForeignKey("design.plan", models.PROTECT, related_name="+")),
                ("past", models.CharField(db_default="", max_length=32)),
            ],
            options={
                "ordering": ("day", "pk"),
                "constraints": [
                    models.UniqueConstraint(fields=("plan", "day"), name="invited_one_letter_a_day")
                ],
            },
        ),
        migrations.CreateModel(
            name="Opened",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("is_over", models.BooleanField(default=False)),
                ("plan", models.OneToOneField("design.plan", models.PROTECT, related_name="+")),
            ],
        ),
        migrations.CreateModel(
            name="Person",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("reference", models.CharField(max_length=32, unique=True)),
                ("stratum", models.CharField(max_length=80)),
                ("digest", models.BinaryField()),
                ("sealed", models.BinaryField()),
                ("has_email", models.BooleanField(default=False)),
                ("came_back", models.BooleanField(default=False)),
                ("study", models.ForeignKey("design.study", models.CASCADE, related_name="+")),
                ("was_changed", models.BooleanField(db_default=False, default=False)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("study", "digest"), name="invited_once_on_a_list"
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("state", models.CharField(default="claimed", max_length=10)),
                ("tries", models.PositiveSmallIntegerField(default=0)),
                (
                    "letter",
                    models.ForeignKey("invited.letter", models.CASCADE, related_name="deliveries"),
                ),
                (
                    "person",
                    models.ForeignKey(
                        "invited.person", models.CASCADE, related_name="+", db_constraint=False
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("letter", "person"), name="invited_one_letter_each"
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="Count",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("day", models.DateField()),
                ("stratum", models.PositiveSmallIntegerField()),
                ("invited", models.PositiveIntegerField()),
                ("fetched", models.PositiveIntegerField()),
                ("accepted", models.PositiveIntegerField()),
                ("reissued", models.PositiveIntegerField()),
                ("plan", models.ForeignKey("design.plan", models.PROTECT, related_name="+")),
            ],
            options={
                "ordering": ("stratum",),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("plan", "day", "stratum"), name="invited_one_count"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Unopened",
            fields=[("id", models.BigAutoField(primary_key=True)), ("keys", models.JSONField())],
        ),
    ]
