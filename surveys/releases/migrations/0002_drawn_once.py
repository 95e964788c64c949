from django.db import migrations

from surveys.triggers import forbid, forbid_replace

MESSAGE = "a release is drawn once and kept"


class Migration(migrations.Migration):
    dependencies = (("releases", "0001_initial"),)
    operations = (
        forbid("releases_release", verb="UPDATE", message=MESSAGE),
        forbid("releases_release", verb="DELETE", message=MESSAGE),
        forbid_replace("releases_release", message=MESSAGE, keys=(("id",), ("request_id",), ("entry_id",))),
        forbid("releases_request", verb="UPDATE", message="a request keeps its words"),
    )
