from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    replaces = [("operations", "0003_letters_and_forgetting")]
    operations = [
        migrations.CreateModel(
            name="Event",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("kind", models.CharField(max_length=20)),
                ("at", models.DateTimeField()),
                ("went_well", models.BooleanField()),
                ("said", models.CharField(max_length=500)),
                ("size", models.PositiveBigIntegerField(null=True)),
            ],
            options={"ordering": ("-at",)},
        ),
        migrations.CreateModel(
            name="Sign",
            fields=[
                ("name", models.CharField(max_length=30, primary_key=True)),
                ("at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Refusal",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("day", models.DateField()),
                ("reason", models.CharField(max_length=20)),
                ("count", models.PositiveIntegerField(default=0)),
            ],
            options={
                "ordering": ("-day", "reason"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("day", "reason"), name="one_count_per_day_and_reason"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Alarm",
            fields=[
                ("name", models.CharField(max_length=60, primary_key=True)),
                ("since", models.DateTimeField()),
                ("told", models.BooleanField(default=False)),
                ("tried", models.DateTimeField(null=True)),
            ],
        ),
    ]
