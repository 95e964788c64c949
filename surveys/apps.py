"""The hall: what belongs to the whole house and to no room."""

from importlib import import_module

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig as DjangosAdmin


class HallConfig(AppConfig):
    name = "surveys"
    label = "hall"

    def ready(self) -> None:
        import_module("surveys.checks")  # registers them


class AdminConfig(DjangosAdmin):
    default_site = "surveys.admin.Site"
