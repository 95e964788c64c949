from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("design", "0002_frozen"),
    ]

    operations = [
        migrations.AlterField(
            model_name="panel",
            name="cap_delta",
            field=models.CharField(
                choices=[
                    ("0", "none: the cap always holds"),
                    ("0.000001", "one in a million"),
                    ("0.0000001", "one in ten million"),
                    ("0.00000001", "one in a hundred million"),
                    ("0.000000001", "one in a thousand million"),
                ],
                default="0",
                max_length=20,
                verbose_name="δ of the cap",
            ),
        ),
        migrations.AlterField(
            model_name="study",
            name="cap_delta",
            field=models.CharField(
                choices=[
                    ("0", "none: the cap always holds"),
                    ("0.000001", "one in a million"),
                    ("0.0000001", "one in ten million"),
                    ("0.00000001", "one in a hundred million"),
                    ("0.000000001", "one in a thousand million"),
                ],
                default="0",
                max_length=20,
                verbose_name="δ of the cap",
            ),
        ),
    ]
