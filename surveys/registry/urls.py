from django.urls import path

from surveys.registry import views

app_name = "registry"

urlpatterns = [
    path("", views.studies, name="list"),
    path("ledger.json", views.whole_ledger, name="ledger"),
    path("ledger/index.json", views.LedgerIndex.as_view(), name="ledger-index"),
    path("ledger/<int:number>.json", views.LedgerSegment.as_view(), name="ledger-segment"),
    path("schemas/<slug:name>.json", views.schema, name="schema"),
    path("<slug:slug>/", views.study, name="study"),
    path("<slug:slug>.json", views.StudyDocument.as_view(), name="json"),
    path("<slug:slug>.yaml", views.Deployment.as_view(), name="yaml"),
]
