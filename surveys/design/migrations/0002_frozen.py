from django.db import migrations

from surveys.triggers import forbid, forbid_replace

MESSAGE = "a Plan is frozen"
RETIRED = "a retired study stays retired"
PANEL = "a panel keeps its budgets, its name and what it counts"
FROZEN = ("study_id", "wave", "document", "digest", "opened_on", "closes_on")


class Migration(migrations.Migration):
    dependencies = (("design", "0001_initial"),)
    operations = (
        # SQLite's UPDATE OR REPLACE to a key that is taken deletes that row, and SET rowid is no
        # update of a column.
        *(
            forbid(
                table,
                verb="UPDATE",
                message="a key stays",
                when="NEW.id <> OLD.id",
                name="keeps_its_key",
            )
            for table in ("design_plan", "design_study", "design_panel")
        ),
        forbid("design_plan", verb="UPDATE", message=MESSAGE, columns=FROZEN),
        forbid("design_plan", verb="DELETE", message=MESSAGE),
        forbid_replace(
            "design_plan", message=MESSAGE, keys=(("id",), ("digest",), ("study_id", "wave"))
        ),
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
            when="OLD.budget_id IS NOT NULL AND (NEW.budget_id IS NULL OR NEW.budget_id <> "
            "OLD.budget_id OR NEW.slug <> OLD.slug)",
            name="keeps_its_budget",
        ),
        forbid(
            "design_study",
            verb="UPDATE",
            message="a study keeps its panel",
            columns=("panel_id",),
            when="OLD.budget_id IS NOT NULL AND ((NEW.panel_id IS NULL) <> (OLD.panel_id IS NULL) "
            "OR NEW.panel_id <> OLD.panel_id)",
            name="keeps_its_panel",
        ),
        forbid(
            "design_study",
            verb="UPDATE",
            message=RETIRED,
            columns=("retired_on", "retired_because"),
            when="OLD.retired_on IS NOT NULL AND (NEW.retired_on IS NULL OR NEW.retired_on <> "
            "OLD.retired_on "
            "OR NEW.retired_because <> OLD.retired_because)",
            name="stays_retired",
        ),
        forbid(
            "design_plan",
            verb="INSERT",
            message=RETIRED,
            unless="NOT EXISTS (SELECT 1 FROM design_study WHERE id = NEW.study_id AND retired_on "
            "IS NOT NULL)",
            name="not_of_a_retired_study",
        ),
        forbid(
            "design_study",
            verb="DELETE",
            message="a study that has opened stays",
            when="OLD.budget_id IS NOT NULL",
        ),
        forbid_replace(
            "design_study",
            message="a study is not replaced",
            keys=(("id",), ("slug",), ("budget_id",)),
        ),
        forbid(
            "design_panel",
            verb="UPDATE",
            message=PANEL,
            columns=(
                "slug",
                "unit",
                "neighbours",
                "cap_delta",
                "central_budget_id",
                "local_budget_id",
            ),
            when="OLD.central_budget_id IS NOT NULL AND (NEW.slug <> OLD.slug OR NEW.unit <> "
            "OLD.unit "
            "OR NEW.neighbours <> OLD.neighbours OR NEW.cap_delta <> OLD.cap_delta "
            "OR NEW.central_budget_id IS NULL OR NEW.central_budget_id <> OLD.central_budget_id "
            "OR NEW.local_budget_id IS NULL OR NEW.local_budget_id <> OLD.local_budget_id)",
            name="keeps_its_budgets",
        ),
        forbid(
            "design_panel", verb="DELETE", message=PANEL, when="OLD.central_budget_id IS NOT NULL"
        ),
        forbid_replace(
            "design_panel",
            message=PANEL,
            keys=(("id",), ("slug",), ("central_budget_id",), ("local_budget_id",)),
        ),
    )
