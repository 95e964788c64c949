"""Whose address an owner has changed: the codes that go there answer for themselves."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (("invited", "0003_letter_past"),)
    operations = (
        migrations.AddField(
            model_name="person",
            name="was_changed",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Its owners have written another address.",
            ),
        ),
    )
