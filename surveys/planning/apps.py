from django.apps import AppConfig


class PlanningConfig(AppConfig):
    name = "surveys.planning"
    label = "planning"
