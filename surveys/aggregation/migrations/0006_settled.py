import importlib

from django.db import migrations

from surveys.triggers import Statements, forbid

sealed = importlib.import_module("surveys.aggregation.migrations.0002_sealed")
CHILD = "aggregation_settledbatch"
# Columns and checks are inherited; indexes, keys and triggers are not. The next night fills it. No
# key to `design_plan`, for whose row a night would wait: the tally that goes with it has one.
MAKE = [
    f"CREATE TABLE {CHILD} () INHERITS (aggregation_batch)",
    f"ALTER TABLE {CHILD} ADD PRIMARY KEY (id), ADD UNIQUE (plan_id, number), "
    "ALTER columns SET STATISTICS 0, ALTER given SET STATISTICS 0",
]
MOVED = f"EXISTS (SELECT 1 FROM {CHILD} AS moved WHERE moved.id = OLD.id AND moved = OLD)"  # noqa: S608
NO_DELETE = (
    "CREATE OR REPLACE FUNCTION aggregation_batch_no_delete() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN IF TG_OP <> 'TRUNCATE' THEN IF {unless} THEN RETURN OLD; END IF; END IF; "
    f"RAISE EXCEPTION '{sealed.MESSAGE}' USING ERRCODE = 'integrity_constraint_violation'; END $$"
)
# An index sees one of both tables.
ONCE = [
    "CREATE FUNCTION aggregation_batch_once() RETURNS trigger LANGUAGE plpgsql AS "  # noqa: S608
    f"$$ BEGIN IF EXISTS (SELECT 1 FROM {CHILD} AS moved WHERE moved.plan_id = NEW.plan_id "
    f"AND moved.number = NEW.number) THEN RAISE EXCEPTION '{sealed.MESSAGE}' USING ERRCODE = "
    "'integrity_constraint_violation'; END IF; RETURN NEW; END $$",
    "CREATE TRIGGER aggregation_batch_once BEFORE INSERT ON aggregation_batch FOR EACH ROW "
    "EXECUTE FUNCTION aggregation_batch_once()",
]
# And nothing comes into it but a copy of what stands in the first.
BY_NIGHT = [
    "CREATE FUNCTION aggregation_settledbatch_by_night() RETURNS trigger LANGUAGE plpgsql AS "  # noqa: S608
    "$$ BEGIN IF NOT EXISTS (SELECT 1 FROM ONLY aggregation_batch AS own WHERE own.id = NEW.id "
    f"AND own = NEW) THEN RAISE EXCEPTION '{sealed.MESSAGE}' USING ERRCODE = "
    "'integrity_constraint_violation'; END IF; RETURN NEW; END $$",
    f"CREATE TRIGGER aggregation_settledbatch_by_night BEFORE INSERT ON {CHILD} FOR EACH ROW "
    "EXECUTE FUNCTION aggregation_settledbatch_by_night()",
]
BACK = [
    "DROP FUNCTION aggregation_settledbatch_by_night() CASCADE",
    "DROP FUNCTION aggregation_batch_once() CASCADE",
    NO_DELETE.format(unless=sealed.RETIRED),
    f"INSERT INTO aggregation_batch SELECT * FROM {CHILD}",  # noqa: S608
    f"DROP TABLE {CHILD}",
]


def on_postgresql(forbidden: Statements) -> Statements:
    forwards, backwards = forbidden.forwards, forbidden.backwards
    return Statements(
        {"postgresql": forwards["postgresql"]}, {"postgresql": backwards["postgresql"]}
    )


class Migration(migrations.Migration):
    dependencies = (("aggregation", "0005_night"),)
    operations = (
        Statements(
            {
                "postgresql": [
                    *MAKE,
                    NO_DELETE.format(unless=f"{sealed.RETIRED} OR {MOVED}"),
                    *ONCE,
                    *BY_NIGHT,
                ]
            },
            {"postgresql": BACK},
        ),
        on_postgresql(
            forbid(CHILD, verb="UPDATE", message=sealed.MESSAGE, columns=(*sealed.SEALED, "strata"))
        ),
        on_postgresql(forbid(CHILD, verb="DELETE", message=sealed.MESSAGE, unless=sealed.RETIRED)),
    )
