from django.apps import AppConfig


class DemoConfig(AppConfig):
    name = "surveys.demo"
    label = "demo"
