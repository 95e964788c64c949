from django.db import migrations

from surveys.triggers import forbid

MESSAGE = "ledger rows are only ever added"


class Migration(migrations.Migration):
    dependencies = (("ledger", "0001_initial"),)
    operations = (
        forbid("ledger_entry", verb="UPDATE", message=MESSAGE),
        forbid("ledger_entry", verb="DELETE", message=MESSAGE),
        forbid(
            "ledger_budget", verb="UPDATE", message="a budget keeps its terms", columns=("name", "unit", "neighbours")
        ),
        forbid("ledger_budget", verb="DELETE", message="a budget stays"),
    )
