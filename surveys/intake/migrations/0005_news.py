"""Triggers that mark where a sweep has to look, in a transaction that is soon over."""

from django.db import migrations

from surveys.triggers import both

# A mark for each Plan of which reports wait: on PostgreSQL, that has a table.
MARKED = {
    "sqlite": "INSERT INTO intake_news (plan_id) SELECT DISTINCT plan_id FROM intake_openreport",
    "postgresql": "INSERT INTO intake_news (plan_id) SELECT substring(relname FROM '[0-9]+$')::bigint "
    "FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid "
    "WHERE inhparent = 'intake_openreport'::regclass",
}


def mark(apps, schema_editor):
    schema_editor.execute(MARKED[schema_editor.connection.vendor])


class Migration(migrations.Migration):
    dependencies = (("intake", "0004_parts"),)
    operations = (
        both(
            "intake_openreport_news",
            postgresql=[
                "CREATE FUNCTION intake_openreport_news() RETURNS trigger LANGUAGE plpgsql AS $$ "
                "BEGIN INSERT INTO intake_news (plan_id) SELECT DISTINCT plan_id FROM came; "
                "RETURN NULL; END $$",
                "CREATE TRIGGER intake_openreport_news AFTER INSERT ON intake_openreport "
                "REFERENCING NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION "
                "intake_openreport_news()",
            ],
            sqlite=[
                "CREATE TRIGGER intake_openreport_news AFTER INSERT ON intake_openreport BEGIN "
                "INSERT INTO intake_news (plan_id) SELECT NEW.plan_id WHERE NOT EXISTS "
                "(SELECT 1 FROM intake_news WHERE plan_id = NEW.plan_id); END"
            ],
        ),
        both(
            "intake_closed_news",
            postgresql=[
                "CREATE FUNCTION intake_closed_news() RETURNS trigger LANGUAGE plpgsql AS $$ "
                "BEGIN INSERT INTO intake_news (plan_id) VALUES (NEW.id); RETURN NULL; END $$",
                "CREATE TRIGGER intake_closed_news AFTER UPDATE OF closed_on ON design_plan FOR "
                "EACH ROW WHEN (NEW.closed_on IS NOT NULL) EXECUTE FUNCTION intake_closed_news()",
            ],
            sqlite=[
                "CREATE TRIGGER intake_closed_news AFTER UPDATE OF closed_on ON design_plan "
                "WHEN NEW.closed_on IS NOT NULL BEGIN "
                "INSERT INTO intake_news (plan_id) VALUES (NEW.id); END"
            ],
        ),
        migrations.RunPython(mark),
    )
