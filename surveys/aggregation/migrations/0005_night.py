from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (("aggregation", "0004_strata"),)
    operations = (
        migrations.CreateModel(
            name="Settling",
            fields=(
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("day", models.DateField()),
            ),
        ),
    )
