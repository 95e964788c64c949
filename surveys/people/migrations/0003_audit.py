"""Rows of who did what with accounts and roles: added, and never changed or deleted."""

import django.db.models.deletion
from django.db import migrations, models

from surveys.triggers import forbid, forbid_replace

ROWS = "rows of the audit are only ever added"


class Migration(migrations.Migration):
    dependencies = (("design", "0017_list_of_people"), ("people", "0002_pseudonyms"))
    operations = (
        migrations.CreateModel(
            name="AuditRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField()),
                (
                    "what",
                    models.CharField(max_length=10),
                ),
                (
                    "who",
                    models.CharField(help_text="Who did it, by pseudonym.", max_length=40),
                ),
                (
                    "whom",
                    models.CharField(
                        blank=True, help_text="Whose account or role it was.", max_length=40
                    ),
                ),
                (
                    "role",
                    models.CharField(blank=True, max_length=10),
                ),
                (
                    "many",
                    models.PositiveIntegerField(
                        help_text="Codes, where some were made.", null=True
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="design.study",
                    ),
                ),
            ],
            options={"db_table": "people_audit", "ordering": ("-pk",)},
        ),
        migrations.AddIndex(
            model_name="auditrow",
            index=models.Index(fields=["study", "-id"], name="people_audit_of_study"),
        ),
        migrations.AddIndex(
            model_name="auditrow",
            index=models.Index(fields=["whom", "-id"], name="people_audit_of_account"),
        ),
        forbid("people_audit", verb="UPDATE", message=ROWS),
        forbid("people_audit", verb="DELETE", message=ROWS),
        forbid_replace("people_audit", message=ROWS, keys=(("id",),)),
        migrations.CreateModel(
            name="Untold",
            fields=[
                (
                    "row",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="people.auditrow",
                    ),
                ),
                (
                    "former",
                    models.EmailField(
                        blank=True,
                        help_text="The address that an account had before.",
                        max_length=254,
                    ),
                ),
            ],
        ),
    )
