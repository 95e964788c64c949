from django.db import migrations

from surveys.triggers import forbid

MESSAGE = "a receipt stays as it was given"


class Migration(migrations.Migration):
    dependencies = (("intake", "0001_initial"),)
    operations = (
        forbid("intake_receipt", verb="UPDATE", message=MESSAGE),
        forbid("intake_receipt", verb="DELETE", message=MESSAGE),
    )
