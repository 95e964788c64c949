from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    replaces = [("issuer", "0003_asked_where_it_is_missing")]
    operations = [
        migrations.CreateModel(
            name="Settling",
            fields=[("id", models.BigAutoField(primary_key=True)), ("day", models.DateField())],
        ),
        migrations.CreateModel(
            name="Key",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("modulus", models.CharField(max_length=1024, unique=True)),
                ("sealed", models.BinaryField()),
                ("plan", models.CharField(default="", max_length=64)),
                ("stratum", models.PositiveSmallIntegerField(default=0)),
                ("invited", models.PositiveIntegerField(default=0)),
                ("fetched", models.PositiveIntegerField(default=0)),
                ("reissued", models.PositiveIntegerField(default=0)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=~models.Q(plan=""),
                        fields=("plan", "stratum"),
                        name="issuer_key_once_a_stratum",
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("reference", models.BinaryField(max_length=16, primary_key=True)),
                ("reissued", models.PositiveSmallIntegerField(default=0)),
                ("asked", models.PositiveSmallIntegerField(default=0)),
                (
                    "key",
                    models.ForeignKey(
                        "issuer.key", models.PROTECT, related_name="+", db_constraint=False
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Mark",
            fields=[
                (
                    "invitation",
                    models.OneToOneField(
                        "issuer.invitation",
                        models.PROTECT,
                        primary_key=True,
                        related_name="+",
                        db_constraint=False,
                    ),
                ),
                ("blinded", models.BinaryField(max_length=32)),
                ("code", models.BinaryField(max_length=32, null=True)),
                ("is_settled", models.BooleanField(db_default=False, default=False)),
            ],
        ),
        migrations.CreateModel(
            name="Code",
            fields=[
                ("digest", models.BinaryField(max_length=32, primary_key=True)),
                (
                    "invitation",
                    models.ForeignKey(
                        "issuer.invitation", models.PROTECT, related_name="+", db_constraint=False
                    ),
                ),
                ("is_alone", models.BooleanField(db_default=False, default=False)),
            ],
        ),
    ]
