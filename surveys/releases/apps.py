from django.apps import AppConfig


class ReleasesConfig(AppConfig):
    name = "surveys.releases"
    label = "releases"
