from django.db import migrations

from surveys.triggers import forbid

MESSAGE = "a Plan is frozen"


class Migration(migrations.Migration):
    dependencies = (("design", "0001_initial"),)
    operations = (
        forbid(
            "design_plan",
            verb="UPDATE",
            message=MESSAGE,
            columns=("study_id", "wave", "document", "digest", "opened_on"),
        ),
        forbid("design_plan", verb="DELETE", message=MESSAGE),
    )
