from django.db import migrations

from surveys.triggers import forbid, forbid_replace

ROWS = "ledger rows are only ever added"
HEAD = "the chain only grows"


def begin_chain(apps, schema_editor):
    apps.get_model("ledger", "Head").objects.create(pk=1, length=0, digest="0" * 64)


class Migration(migrations.Migration):
    dependencies = (("ledger", "0001_initial"),)
    operations = (
        migrations.RunPython(begin_chain, migrations.RunPython.noop),
        forbid("ledger_entry", verb="UPDATE", message=ROWS),
        forbid("ledger_entry", verb="DELETE", message=ROWS),
        forbid_replace(
            "ledger_entry",
            message=ROWS,
            keys=(("position",), ("digest",), ("budget_id", "number"), ("budget_id", "statistic")),
        ),
        forbid(
            "ledger_head",
            verb="UPDATE",
            message=HEAD,
            when="NEW.id <> OLD.id OR NEW.length <> OLD.length + 1",
        ),
        forbid("ledger_head", verb="DELETE", message=HEAD),
        forbid_replace("ledger_head", message=HEAD, keys=(("id",),)),
        forbid(
            "ledger_budget",
            verb="UPDATE",
            message="a budget keeps its terms",
            columns=("id", "name", "side", "unit", "neighbours", "fixed_parts"),
        ),
        forbid(
            "ledger_budget",
            verb="UPDATE",
            message="a cap may only fall",
            columns=("epsilon", "rho", "delta"),
            when="NEW.epsilon > OLD.epsilon OR NEW.rho > OLD.rho OR NEW.delta > OLD.delta "
            "OR (NEW.epsilon IS NULL) <> (OLD.epsilon IS NULL)",
            name="cap_only_falls",
        ),
        forbid(
            "ledger_budget",
            verb="UPDATE",
            message="a retired budget stays retired",
            columns=("retired_on",),
            when="OLD.retired_on IS NOT NULL AND (NEW.retired_on IS NULL OR NEW.retired_on <> "
            "OLD.retired_on)",
            name="stays_retired",
        ),
        # SQLite's UPDATE OR REPLACE to a key that is taken deletes that row, and SET rowid is no
        # update of a column.
        forbid(
            "ledger_budget",
            verb="UPDATE",
            message="a budget stays",
            when="NEW.id <> OLD.id",
            name="keeps_its_key",
        ),
        forbid("ledger_budget", verb="DELETE", message="a budget stays"),
        forbid_replace("ledger_budget", message="a budget stays", keys=(("id",), ("name",))),
    )
