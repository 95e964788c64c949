from django.urls import path

from surveys.registry import views

app_name = "registry"

urlpatterns = [
    path("", views.studies, name="list"),
    path("<slug:slug>/", views.study, name="study"),
    path("<slug:slug>.json", views.document, name="json"),
]
