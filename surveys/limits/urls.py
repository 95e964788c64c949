from django.urls import include, path

from surveys.limits import acts, rows, views

limits = [
    path("studies/<slug:slug>/limits/", views.study, name="study"),
    path("studies/<slug:slug>/limits/<slug:name>/", acts.act, name="act"),
    path("limits/", views.site, name="site"),
    path("ledger/", rows.ledger_page, name="ledger"),
    path("ledger.csv", rows.as_csv, name="ledger-csv"),
    path("ledger.json", rows.as_json, name="ledger-json"),
    path("ledger/<int:position>/", rows.row, name="row"),
]

urlpatterns = [path("", include((limits, "limits")))]
