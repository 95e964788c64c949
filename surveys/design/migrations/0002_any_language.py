from typing import Any

from django.db import migrations, models

from surveys.triggers import forbid, forbid_replace

KEPT = "what respondents were told is kept"


class Widen(migrations.AlterField):
    """SQLite has no lengths, and would make the table anew without its triggers."""

    def database_forwards(self, app_label: str, schema_editor: Any, *states: Any) -> None:
        if schema_editor.connection.vendor != "sqlite":
            super().database_forwards(app_label, schema_editor, *states)

    def database_backwards(self, app_label: str, schema_editor: Any, *states: Any) -> None:
        self.database_forwards(app_label, schema_editor, *states)


class Migration(migrations.Migration):
    dependencies = [("design", "0001_release_0_9")]
    operations = [
        Widen("study", "language", models.CharField(default="en", max_length=32)),
        Widen("translation", "language", models.CharField(max_length=32)),
        migrations.CreateModel(
            name="Catalogue",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("tag", models.CharField(max_length=32)),
                ("sha256", models.CharField(max_length=64)),
                ("content", models.BinaryField()),
                ("is_ours", models.BooleanField()),
                ("day", models.DateField()),
            ],
            options={
                "ordering": ("tag", "-pk"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tag", "sha256"), name="one_catalogue_of_each_hash"
                    )
                ],
            },
        ),
        forbid("design_catalogue", verb="UPDATE", message=KEPT),
        forbid("design_catalogue", verb="DELETE", message=KEPT),
        forbid_replace("design_catalogue", message=KEPT, keys=(("id",), ("tag", "sha256"))),
    ]
