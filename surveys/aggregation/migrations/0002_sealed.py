from django.db import migrations

from surveys.triggers import forbid


class Migration(migrations.Migration):
    dependencies = (("aggregation", "0001_initial"),)
    operations = (forbid("aggregation_batch", verb="UPDATE", message="a batch is sealed"),)
