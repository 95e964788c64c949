"""Studies, and the words that they are asked in: those that come with the site are kept whenever it
is migrated, so that what an earlier version told respondents can still be read.
"""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class DesignConfig(AppConfig):
    name = "surveys.design"

    def ready(self) -> None:
        post_migrate.connect(keep, sender=self, dispatch_uid="candor.design.keep_catalogues")


def keep(**kwargs: Any) -> None:
    from surveys.design.words import keep_ours  # the models are there only now

    keep_ours(using=kwargs.get("using", "default"))
