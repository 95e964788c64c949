from django.apps import AppConfig


class AggregationConfig(AppConfig):
    name = "surveys.aggregation"
    label = "aggregation"
