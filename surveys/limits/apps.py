from django.apps import AppConfig


class LimitsConfig(AppConfig):
    name = "surveys.limits"
    label = "limits"
