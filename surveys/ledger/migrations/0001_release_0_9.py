from django.db import migrations, models

from surveys.ledger.fields import DeltaField, EpsilonField, MomentField, RhoField
from surveys.triggers import forbid, forbid_replace

ROWS = "ledger rows are only ever added"
HEAD = "the chain only grows"
KEPT = "a budget stays"
FALLS = "a cap may only fall"
TOTAL = "a total stays"


class Migration(migrations.Migration):
    initial = True
    replaces = [("ledger", "0007_no_checkpoints")]
    operations = [
        migrations.CreateModel(
            name="Head",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("length", models.PositiveBigIntegerField(default=0)),
                ("digest", models.CharField(max_length=64)),
            ],
            options={"verbose_name": "head of the chain"},
        ),
        migrations.CreateModel(
            name="Budget",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("name", models.CharField(max_length=255, unique=True)),
                ("side", models.CharField(default="central", max_length=10)),
                ("unit", models.CharField(max_length=40)),
                ("neighbours", models.CharField(max_length=20)),
                ("fixed_parts", models.BooleanField(default=False)),
                ("epsilon", EpsilonField(null=True)),
                ("rho", RhoField(null=True)),
                ("delta", DeltaField(default=0)),
                ("weekly", RhoField(null=True)),
                ("retired_on", models.DateField(null=True)),
                (
                    "within",
                    models.ForeignKey(
                        "ledger.budget", models.PROTECT, null=True, related_name="shares"
                    ),
                ),
                ("holder", models.CharField(max_length=150, null=True)),
                ("counts", models.CharField(max_length=20, null=True)),
                ("pure_epsilon", EpsilonField(null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(delta=0, epsilon__gt=0, rho=None)
                        | models.Q(delta__gte=0, epsilon=None, rho__gt=0),
                        name="budget_is_pure_or_concentrated",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(weekly=None) | models.Q(weekly__gt=0),
                        name="weekly_limit_above_zero",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(holder__isnull=False),
                        fields=("within", "holder"),
                        name="one_share_per_person",
                    ),
                ]
            },
        ),
        migrations.CreateModel(
            name="Entry",
            fields=[
                ("position", models.PositiveBigIntegerField(primary_key=True)),
                ("kind", models.CharField(max_length=10)),
                ("number", models.PositiveIntegerField(null=True)),
                ("epsilon", EpsilonField(null=True)),
                ("rho", RhoField(null=True)),
                ("delta", DeltaField(null=True)),
                ("statistic", models.CharField(max_length=64, null=True)),
                ("reason", models.CharField(max_length=200)),
                ("mechanism", models.CharField(max_length=200)),
                ("sensitivity", models.CharField(max_length=200)),
                ("part", models.CharField(max_length=200)),
                ("what", models.CharField(max_length=120)),
                ("old", models.CharField(max_length=500)),
                ("new", models.CharField(max_length=500)),
                ("why", models.CharField(max_length=500)),
                ("who", models.CharField(max_length=150)),
                ("at", MomentField()),
                ("previous", models.CharField(max_length=64)),
                ("digest", models.CharField(max_length=64, unique=True)),
                (
                    "budget",
                    models.ForeignKey(
                        "ledger.budget", models.PROTECT, null=True, related_name="entries"
                    ),
                ),
                ("published", models.CharField(max_length=64, null=True)),
                ("reads", models.CharField(max_length=100000, null=True)),
            ],
            options={
                "verbose_name": "row of the ledger",
                "verbose_name_plural": "rows of the ledger",
                "ordering": ("position",),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("budget", "number"), name="one_entry_per_number"
                    ),
                    models.UniqueConstraint(
                        fields=("budget", "statistic"), name="one_charge_per_statistic"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            delta=None, epsilon=None, kind="act", rho=None, statistic=None
                        )
                        | models.Q(
                            budget__isnull=False,
                            delta__gte=0,
                            kind="charge",
                            rho__gte=0,
                            statistic__isnull=False,
                        ),
                        name="charges_have_a_cost",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(epsilon=None)
                        | models.Q(epsilon__gt=0)
                        | models.Q(reads__isnull=False),
                        name="charge_above_zero",
                    ),
                ],
                "indexes": [
                    models.Index(fields=["budget", "kind", "at"], name="charges_of_a_time"),
                    models.Index(fields=["who"], name="rows_by_who"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Total",
            fields=[
                (
                    "budget",
                    models.OneToOneField(
                        "ledger.budget", models.PROTECT, primary_key=True, related_name="total"
                    ),
                ),
                ("charges", models.PositiveIntegerField()),
                ("number", models.PositiveIntegerField()),
                ("position", models.PositiveBigIntegerField()),
                ("first_at", MomentField()),
                ("parts", models.TextField()),
                ("reads", models.TextField()),
            ],
        ),
        migrations.RunSQL(
            f"INSERT INTO ledger_head (id, length, digest) VALUES (1, 0, '{'0' * 64}')"  # noqa: S608
        ),
        forbid(
            "ledger_head",
            verb="UPDATE",
            message=HEAD,
            when="NEW.id <> OLD.id OR NEW.length <> OLD.length + 1",
        ),
        forbid("ledger_head", verb="DELETE", message=HEAD),
        forbid_replace("ledger_head", message=HEAD, keys=(("id",),)),
        forbid("ledger_entry", verb="UPDATE", message=ROWS),
        forbid("ledger_entry", verb="DELETE", message=ROWS),
        forbid_replace(
            "ledger_entry",
            message=ROWS,
            keys=(("position",), ("digest",), ("budget_id", "number"), ("budget_id", "statistic")),
        ),
        forbid(
            "ledger_entry",
            verb="INSERT",
            message="a charge is counted in the total of its budget",
            when="NEW.kind = 'charge'",
            unless="EXISTS (SELECT 1 FROM ledger_total t WHERE t.budget_id = NEW.budget_id AND t.number = NEW.number AND t.position = NEW.position)",
            name="is_counted",
        ),
        forbid(
            "ledger_total",
            verb="UPDATE",
            message="a total only grows, by one charge",
            when="NEW.budget_id <> OLD.budget_id OR NEW.charges <> OLD.charges + 1 OR NEW.number <= OLD.number OR NEW.position <= OLD.position OR NEW.first_at <> OLD.first_at",
        ),
        forbid("ledger_total", verb="DELETE", message=TOTAL),
        forbid_replace("ledger_total", message=TOTAL, keys=(("budget_id",),)),
        forbid(
            "ledger_budget",
            verb="UPDATE",
            message="a budget keeps its terms",
            columns=("id", "name", "side", "unit", "neighbours", "fixed_parts"),
        ),
        forbid(
            "ledger_budget",
            verb="UPDATE",
            message=FALLS,
            columns=("epsilon", "rho", "delta"),
            when="NEW.epsilon > OLD.epsilon OR NEW.rho > OLD.rho OR NEW.delta > OLD.delta OR (NEW.epsilon IS NULL) <> (OLD.epsilon IS NULL)",
            name="cap_only_falls",
        ),
        forbid(
            "ledger_budget",
            verb="UPDATE",
            message=FALLS,
            columns=("pure_epsilon",),
            when="NEW.pure_epsilon > OLD.pure_epsilon OR NEW.pure_epsilon <= 0 OR (NEW.pure_epsilon IS NULL) <> (OLD.pure_epsilon IS NULL)",
            name="either_cap_only_falls",
        ),
        forbid(
            "ledger_budget",
            verb="INSERT",
            message="a cap on either has an ε, a ρ and a δ",
            when="NEW.pure_epsilon IS NOT NULL AND (NEW.pure_epsilon <= 0 OR NEW.rho IS NULL OR NEW.delta <= 0)",
            name="either_cap_is_whole",
        ),
        forbid(
            "ledger_budget",
            verb="UPDATE",
            message="a retired budget stays retired",
            columns=("retired_on",),
            when="OLD.retired_on IS NOT NULL AND (NEW.retired_on IS NULL OR NEW.retired_on <> OLD.retired_on)",
            name="stays_retired",
        ),
        forbid(
            "ledger_budget",
            verb="UPDATE",
            message="a share keeps its holder",
            columns=("holder", "within_id"),
            when="OLD.holder IS NOT NULL AND (NEW.holder IS NULL OR NEW.holder <> OLD.holder OR NEW.within_id IS NULL OR NEW.within_id <> OLD.within_id)",
            name="keeps_its_holder",
        ),
        forbid(
            "ledger_budget",
            verb="UPDATE",
            message="a budget keeps what it counts",
            columns=("counts",),
            name="keeps_what_it_counts",
        ),
        # SQLite's UPDATE OR REPLACE to a key that is taken deletes that row, and SET rowid is no
        # update of a column.
        forbid(
            "ledger_budget",
            verb="UPDATE",
            message=KEPT,
            when="NEW.id <> OLD.id",
            name="keeps_its_key",
        ),
        forbid("ledger_budget", verb="DELETE", message=KEPT),
        forbid_replace("ledger_budget", message=KEPT, keys=(("id",), ("name",))),
    ]
