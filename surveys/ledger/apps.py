from django.apps import AppConfig


class LedgerConfig(AppConfig):
    name = "surveys.ledger"
    label = "ledger"
