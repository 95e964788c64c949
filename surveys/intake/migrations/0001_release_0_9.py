from itertools import chain, pairwise

from django.db import migrations, models

from surveys.triggers import Statements, forbid, forbid_replace, unsampled

PLAN = models.ForeignKey(
    "design.plan", models.PROTECT, related_name="+", db_index=False, db_constraint=False
)
ONE_PLAN = models.OneToOneField(
    "design.plan", models.PROTECT, primary_key=True, related_name="+", db_constraint=False
)
RECEIPTS = ("intake_settled", "intake_receipt")
MESSAGE = "a receipt stays as it was given"
SAME = " AND ".join(
    f"kept.{column} = OLD.{column}" for column in ("id_digest", "content_digest", "plan_id", "day")
)
EDGES = ("MINVALUE", *(f"'\\x{digit:x}0'" for digit in range(1, 16)), "MAXVALUE")
# A table a Plan, which is made when the Plan opens.
REPORTS = (
    "CREATE SEQUENCE intake_report_id_seq",
    "CREATE TABLE intake_openreport (id bigint NOT NULL DEFAULT nextval('intake_report_id_seq'), "
    'plan_id bigint NOT NULL, "values" text NOT NULL, given bytea NOT NULL, '
    "stratum smallint CHECK (stratum >= 0), "
    "CONSTRAINT intake_openreport_pkey1 PRIMARY KEY (plan_id, id)) PARTITION BY LIST (plan_id)",
    "ALTER SEQUENCE intake_report_id_seq OWNED BY intake_openreport.id",
)
ON_SQLITE = (
    *(
        f"CREATE TABLE {table} (id_digest BLOB NOT NULL PRIMARY KEY, "
        "content_digest BLOB NOT NULL, day date NOT NULL, plan_id bigint NOT NULL)"
        for table in RECEIPTS
    ),
    "CREATE TABLE intake_openreport (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, "
    '"values" text NOT NULL, given BLOB NOT NULL, plan_id bigint NOT NULL REFERENCES '
    "design_plan (id) DEFERRABLE INITIALLY DEFERRED, "
    "stratum smallint unsigned NULL CHECK (stratum >= 0))",
    "CREATE INDEX intake_openreport_plan_id_c81beaa4 ON intake_openreport (plan_id)",
)


def in_parts(table):
    """Return statements for a table of receipts in 16 parts, by the first digit of the digest."""
    yield (
        f"CREATE TABLE {table} (id_digest bytea NOT NULL, content_digest bytea NOT NULL, day date "
        f"NOT NULL, plan_id bigint NOT NULL, CONSTRAINT {table}_new_pkey PRIMARY KEY (id_digest)) "
        "PARTITION BY RANGE (id_digest)"
    )
    for number, (least, beyond) in enumerate(pairwise(EDGES)):
        yield (
            f"CREATE TABLE {table}_{number:x} PARTITION OF {table} FOR VALUES FROM ({least}) "
            f"TO ({beyond})"
        )


class Migration(migrations.Migration):
    initial = True
    replaces = [("intake", "0009_no_log")]
    dependencies = [("design", "0001_release_0_9")]
    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                Statements(
                    postgresql=[*REPORTS, *chain.from_iterable(map(in_parts, RECEIPTS))],
                    sqlite=ON_SQLITE,
                )
            ],
            state_operations=[
                migrations.CreateModel(
                    name="OpenReport",
                    fields=[
                        ("id", models.BigAutoField(primary_key=True)),
                        ("values", models.TextField()),
                        ("given", models.BinaryField(default=b"")),
                        ("plan", PLAN),
                        ("stratum", models.PositiveSmallIntegerField(null=True)),
                    ],
                ),
                migrations.CreateModel(
                    name="Settled",
                    fields=[
                        ("id_digest", models.BinaryField(max_length=32, primary_key=True)),
                        ("content_digest", models.BinaryField(max_length=32)),
                        ("day", models.DateField()),
                        ("plan", PLAN),
                    ],
                ),
                migrations.CreateModel(
                    name="Receipt",
                    fields=[
                        ("id_digest", models.BinaryField(max_length=32, primary_key=True)),
                        ("content_digest", models.BinaryField(max_length=32)),
                        ("day", models.DateField()),
                        ("plan", PLAN),
                    ],
                ),
            ],
        ),
        migrations.CreateModel(
            name="DigestKey", fields=[("plan", ONE_PLAN), ("sealed", models.BinaryField())]
        ),
        migrations.CreateModel(
            name="News",
            fields=[("id", models.BigAutoField(primary_key=True)), ("plan", PLAN)],
        ),
        migrations.CreateModel(
            name="Unswept",
            fields=[("plan", ONE_PLAN), ("reports", models.PositiveBigIntegerField(default=0))],
        ),
        migrations.CreateModel(
            name="Sealed",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("stratum", models.PositiveSmallIntegerField(default=0)),
                ("reports", models.PositiveBigIntegerField(default=0)),
                ("plan", PLAN),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("plan", "stratum"), name="intake_sealed_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Counted",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("stratum", models.PositiveSmallIntegerField(default=0)),
                ("reports", models.PositiveBigIntegerField(default=0)),
                ("plan", PLAN),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("plan", "stratum"), name="intake_counted_once")
                ],
            },
        ),
        unsampled("intake_openreport", '"values"', "given"),
        unsampled("intake_receipt", "content_digest"),
        unsampled("intake_settled", "content_digest"),
        unsampled("intake_digestkey", "sealed"),
        forbid("intake_settled", verb="UPDATE", message=MESSAGE),
        forbid("intake_settled", verb="DELETE", message=MESSAGE),
        forbid_replace("intake_settled", message=MESSAGE, keys=(("id_digest",),)),
        forbid("intake_receipt", verb="UPDATE", message=MESSAGE),
        forbid(
            "intake_receipt",
            verb="DELETE",
            message=MESSAGE,
            unless=f"EXISTS (SELECT 1 FROM intake_settled AS kept WHERE {SAME})",  # noqa: S608
        ),
        Statements(
            postgresql=[
                f"CREATE TRIGGER {table}_{number:x}_no_truncate BEFORE TRUNCATE ON {table}_{number:x} FOR EACH STATEMENT EXECUTE FUNCTION {table}_no_delete()"
                for table in RECEIPTS
                for number in range(16)
            ]
        ),
        # marks of where a sweep has to look, in a transaction that is soon over
        Statements(
            postgresql=[
                "CREATE FUNCTION intake_openreport_news() RETURNS trigger LANGUAGE plpgsql AS $$ "
                "BEGIN INSERT INTO intake_news (plan_id) SELECT DISTINCT plan_id FROM came; "
                "RETURN NULL; END $$",
                "CREATE TRIGGER intake_openreport_news AFTER INSERT ON intake_openreport "
                "REFERENCING NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION "
                "intake_openreport_news()",
                "CREATE FUNCTION intake_closed_news() RETURNS trigger LANGUAGE plpgsql AS $$ "
                "BEGIN INSERT INTO intake_news (plan_id) VALUES (NEW.id); RETURN NULL; END $$",
                "CREATE TRIGGER intake_closed_news AFTER UPDATE OF closed_on ON design_plan FOR "
                "EACH ROW WHEN (NEW.closed_on IS NOT NULL) EXECUTE FUNCTION intake_closed_news()",
            ],
            sqlite=[
                "CREATE TRIGGER intake_openreport_news AFTER INSERT ON intake_openreport BEGIN "
                "INSERT INTO intake_news (plan_id) SELECT NEW.plan_id WHERE NOT EXISTS "
                "(SELECT 1 FROM intake_news WHERE plan_id = NEW.plan_id); END",
                "CREATE TRIGGER intake_closed_news AFTER UPDATE OF closed_on ON design_plan "
                "WHEN NEW.closed_on IS NOT NULL BEGIN "
                "INSERT INTO intake_news (plan_id) VALUES (NEW.id); END",
            ],
        ),
    ]
