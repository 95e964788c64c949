from django.db import migrations

from surveys.triggers import unsampled


class Migration(migrations.Migration):
    dependencies = (("releases", "0003_steps_stay"),)
    operations = (unsampled("releases_series", state="bytea"),)
