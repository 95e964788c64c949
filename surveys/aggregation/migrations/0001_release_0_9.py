from django.db import migrations, models

from surveys.triggers import Statements, forbid, forbid_replace, only, unsampled

BATCH, CHILD = "aggregation_batch", "aggregation_settledbatch"
MESSAGE = "a batch is sealed"
# all but `given`, which is encrypted anew with a new key
SEALED = ("plan_id", "number", "size", "columns", "sealed_on")
RETIRED = (
    "EXISTS (SELECT 1 FROM design_plan JOIN design_study ON design_study.id = design_plan.study_id "
    "WHERE design_plan.id = OLD.plan_id AND design_study.retired_on IS NOT NULL)"
)
MOVED = f"EXISTS (SELECT 1 FROM {CHILD} AS moved WHERE moved.id = OLD.id AND moved = OLD)"  # noqa: S608
# An index sees one of both tables; and nothing comes into the second but a copy of what stands in
# the first.
TWICE = f"EXISTS (SELECT 1 FROM {CHILD} AS moved WHERE moved.plan_id = NEW.plan_id AND moved.number = NEW.number)"  # noqa: S608
NO_COPY = f"NOT EXISTS (SELECT 1 FROM ONLY {BATCH} AS own WHERE own.id = NEW.id AND own = NEW)"  # noqa: S608


def refuse(table, name, when):
    return [
        f"CREATE FUNCTION {table}_{name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF {when} "
        f"THEN RAISE EXCEPTION '{MESSAGE}' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN NEW; END $$",
        f"CREATE TRIGGER {table}_{name} BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION "
        f"{table}_{name}()",
    ]


class Migration(migrations.Migration):
    initial = True
    replaces = [("aggregation", "0006_settled")]
    dependencies = [("design", "0001_release_0_9")]
    operations = [
        migrations.CreateModel(
            name="Tally",
            fields=[
                (
                    "plan",
                    models.OneToOneField(
                        "design.plan", models.PROTECT, primary_key=True, related_name="+"
                    ),
                ),
                ("reports", models.PositiveIntegerField(default=0)),
                ("batches", models.PositiveIntegerField(default=0)),
                ("counts", models.JSONField(default=dict)),
            ],
        ),
        migrations.CreateModel(
            name="Batch",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("number", models.PositiveIntegerField()),
                ("size", models.PositiveIntegerField()),
                ("columns", models.BinaryField()),
                ("given", models.BinaryField(default=b"")),
                ("sealed_on", models.DateField()),
                ("plan", models.ForeignKey("design.plan", models.PROTECT, related_name="+")),
                ("strata", models.JSONField(null=True)),
            ],
            options={
                "ordering": ("plan_id", "number"),
                "constraints": [
                    models.UniqueConstraint(fields=("plan", "number"), name="one_batch_per_number")
                ],
            },
        ),
        migrations.CreateModel(
            name="Settling",
            fields=[("id", models.BigAutoField(primary_key=True)), ("day", models.DateField())],
        ),
        forbid(BATCH, verb="UPDATE", message=MESSAGE, columns=SEALED),
        forbid(BATCH, verb="UPDATE", message=MESSAGE, columns=("strata",), name="keeps_its_strata"),
        forbid_replace(BATCH, message=MESSAGE, keys=(("id",), ("plan_id", "number"))),
        unsampled(BATCH, "columns", "given"),
        unsampled("aggregation_tally", "counts"),
        # On PostgreSQL a night moves batches to a table of their own. Columns and checks are
        # inherited; indexes, keys and triggers are not. No key to `design_plan`, for whose row a
        # night would wait: the tally that goes with it has one.
        Statements(
            postgresql=[
                f"CREATE TABLE {CHILD} () INHERITS ({BATCH})",
                f"ALTER TABLE {CHILD} ADD PRIMARY KEY (id), ADD UNIQUE (plan_id, number)",
                *refuse(BATCH, "once", TWICE),
                *refuse(CHILD, "by_night", NO_COPY),
            ]
        ),
        unsampled(CHILD, "columns", "given"),
        only(
            "postgresql", forbid(CHILD, verb="UPDATE", message=MESSAGE, columns=(*SEALED, "strata"))
        ),
        only("postgresql", forbid(CHILD, verb="DELETE", message=MESSAGE, unless=RETIRED)),
        only(
            "postgresql",
            forbid(BATCH, verb="DELETE", message=MESSAGE, unless=f"{RETIRED} OR {MOVED}"),
        ),
        only("sqlite", forbid(BATCH, verb="DELETE", message=MESSAGE, unless=RETIRED)),
    ]
