"""Codes that whoever made the list has too answer for themselves, and as of last midnight."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (("issuer", "0001_initial"),)
    operations = (
        migrations.AddField(
            model_name="code",
            name="is_alone",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Whoever made the list has it too: it answers for itself, as of midnight.",
            ),
        ),
        migrations.AddField(
            model_name="mark",
            name="code",
            field=models.BinaryField(
                help_text="The code that fetched it, if that answers for itself.",
                max_length=32,
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="mark",
            name="is_settled",
            field=models.BooleanField(
                db_default=False, default=False, help_text="It was made before the last night."
            ),
        ),
    )
