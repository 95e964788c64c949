"""The log in front of the database is no more. Who used it has taken what stood in it before, by
the release before.
"""

from django.db import migrations

# a closed Plan that still waited for its end is looked at once more
LOOK = "INSERT INTO intake_news (plan_id) SELECT DISTINCT plan_id FROM intake_lane"


class Migration(migrations.Migration):
    dependencies = (("intake", "0008_counted_at_midnight"),)
    operations = (
        migrations.RunSQL(LOOK, migrations.RunSQL.noop),
        migrations.DeleteModel(name="Lane"),
    )
