from django.db import migrations

from surveys.triggers import unsampled


class Migration(migrations.Migration):
    dependencies = (("releases", "0005_found_as_published"),)
    operations = (unsampled("releases_series", state="bytea"),)
