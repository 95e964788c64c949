from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "surveys.dashboard"
    label = "dashboard"
