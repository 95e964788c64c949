from django.db import migrations

from surveys.triggers import forbid, forbid_replace

MESSAGE = "a step is drawn once and kept"


class Migration(migrations.Migration):
    dependencies = (("releases", "0002_drawn_once"),)
    operations = (
        forbid("releases_step", verb="UPDATE", message=MESSAGE),
        forbid("releases_step", verb="DELETE", message=MESSAGE),
        forbid_replace("releases_step", message=MESSAGE, keys=(("id",), ("series_id", "number"))),
        forbid("releases_series", verb="DELETE", message="a series stays"),
        forbid(
            "releases_series",
            verb="UPDATE",
            message="a series keeps its request",
            columns=("request_id", "entry_id"),
        ),
        forbid_replace(
            "releases_series",
            message="a series stays",
            keys=(("id",), ("request_id",), ("entry_id",)),
        ),
    )
