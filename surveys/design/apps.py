from django.apps import AppConfig


class DesignConfig(AppConfig):
    name = "surveys.design"
    label = "design"
