from django.db import migrations

from surveys.triggers import forbid, forbid_replace

MESSAGE = "a batch is sealed"
RETIRED = (
    "EXISTS (SELECT 1 FROM design_plan JOIN design_study ON design_study.id = design_plan.study_id "
    "WHERE design_plan.id = OLD.plan_id AND design_study.retired_on IS NOT NULL)"
)
# all but `given`, which is encrypted anew with a new key
SEALED = ("plan_id", "number", "size", "columns", "sealed_on")


class Migration(migrations.Migration):
    dependencies = (("aggregation", "0001_initial"),)
    operations = (
        forbid("aggregation_batch", verb="UPDATE", message=MESSAGE, columns=SEALED),
        forbid("aggregation_batch", verb="DELETE", message=MESSAGE, unless=RETIRED),
        forbid_replace("aggregation_batch", message=MESSAGE, keys=(("id",), ("plan_id", "number"))),
    )
