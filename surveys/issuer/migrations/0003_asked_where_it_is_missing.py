"""A site that was begun on 24 November 2026 has no `asked`: the first migration got it a day later."""

from typing import Any

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def add(apps: Any, editor: BaseDatabaseSchemaEditor) -> None:
    invitation = apps.get_model("issuer", "Invitation")
    with editor.connection.cursor() as cursor:
        table = editor.connection.introspection.get_table_description(
            cursor, invitation._meta.db_table
        )
    if "asked" not in {column.name for column in table}:
        editor.add_field(invitation, invitation._meta.get_field("asked"))


class Migration(migrations.Migration):
    dependencies = (("issuer", "0002_codes_that_answer_alone"),)
    operations = (migrations.RunPython(add, migrations.RunPython.noop),)
