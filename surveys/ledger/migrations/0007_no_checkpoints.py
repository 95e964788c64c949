from django.db import migrations


class Migration(migrations.Migration):
    """Each check reads all rows: there is no place to go on from."""

    dependencies = (("ledger", "0006_totals"),)
    operations = (migrations.DeleteModel(name="Checkpoint"),)
