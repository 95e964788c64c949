from django.db import migrations

from surveys.triggers import forbid, forbid_replace

MESSAGE = "ledger rows are only ever added"


class Migration(migrations.Migration):
    dependencies = (("ledger", "0001_initial"),)
    operations = (
        forbid("ledger_entry", verb="UPDATE", message=MESSAGE),
        forbid("ledger_entry", verb="DELETE", message=MESSAGE),
        forbid_replace(
            "ledger_entry", message=MESSAGE, keys=(("id",), ("budget_id", "number"), ("budget_id", "statistic"))
        ),
        forbid(
            "ledger_budget", verb="UPDATE", message="a budget keeps its terms", columns=("name", "unit", "neighbours")
        ),
        forbid(
            "ledger_budget",
            verb="UPDATE",
            message="a cap may only fall",
            columns=("cap",),
            when="NEW.cap > OLD.cap",
            name="cap_only_falls",
        ),
        forbid("ledger_budget", verb="DELETE", message="a budget stays"),
        forbid_replace("ledger_budget", message="a budget stays", keys=(("id",), ("name",))),
    )
