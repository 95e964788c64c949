from django.apps import AppConfig


class DraftingConfig(AppConfig):
    name = "surveys.drafting"
    label = "drafting"
