from django.db import migrations

from surveys.triggers import forbid, forbid_replace

MESSAGE = "a Plan is frozen"
FROZEN = ("study_id", "wave", "document", "digest", "opened_on", "closes_on")


class Migration(migrations.Migration):
    dependencies = (("design", "0001_initial"),)
    operations = (
        forbid("design_plan", verb="UPDATE", message=MESSAGE, columns=FROZEN),
        forbid("design_plan", verb="DELETE", message=MESSAGE),
        forbid_replace("design_plan", message=MESSAGE, keys=(("id",), ("digest",), ("study_id", "wave"))),
        forbid(
            "design_plan",
            verb="UPDATE",
            message="what has closed stays closed",
            columns=("closed_on",),
            when="OLD.closed_on IS NOT NULL",
            name="stays_closed",
        ),
        forbid(
            "design_study",
            verb="UPDATE",
            message="a study keeps its budget and its address",
            columns=("budget_id", "slug"),
            when="OLD.budget_id IS NOT NULL AND (NEW.budget_id IS NULL OR NEW.budget_id <> OLD.budget_id OR NEW.slug <> OLD.slug)",
            name="keeps_its_budget",
        ),
    )
