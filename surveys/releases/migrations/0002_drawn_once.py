from django.db import migrations

from surveys.triggers import forbid, forbid_replace

MESSAGE = "a release is drawn once and kept"


class Migration(migrations.Migration):
    dependencies = (("releases", "0001_initial"),)
    operations = (
        forbid("releases_release", verb="UPDATE", message=MESSAGE),
        forbid("releases_release", verb="DELETE", message=MESSAGE),
        forbid_replace(
            "releases_release", message=MESSAGE, keys=(("id",), ("request_id",), ("entry_id",))
        ),
        forbid(
            "releases_request",
            verb="UPDATE",
            message="a request keeps its words",
            columns=("id", "plan_id", "digest", "statistic", "requested_on"),
        ),
        forbid(
            "releases_request",
            verb="UPDATE",
            message="who paid for a request stays",
            columns=("who",),
            unless="NOT EXISTS (SELECT 1 FROM releases_release WHERE request_id = OLD.id) "
            "AND NOT EXISTS (SELECT 1 FROM releases_series WHERE request_id = OLD.id)",
            name="payer",
        ),
    )
