from django.urls import include, path

from surveys.limits.views import ledger, site, study

limits = [
    path("studies/<slug:slug>/limits/", study.study, name="study"),
    path("studies/<slug:slug>/limits/<slug:name>/", study.amend_study, name="act"),
    path(
        "studies/<slug:slug>/limits/researchers/<int:key>/<slug:name>/",
        study.amend_share,
        name="share",
    ),
    path("limits/", site.site, name="site"),
    path("panels/", site.panels, name="panels"),
    path("panels/new/", site.new_panel, name="new-panel"),
    path("panels/<slug:slug>/", site.panel, name="panel"),
    path("panels/<slug:slug>/<slug:name>/", study.amend_panel, name="amend-panel"),
    path("ledger/", ledger.ledger_page, name="ledger"),
    path("ledger.csv", ledger.as_csv, name="ledger-csv"),
    path("ledger.json", ledger.as_json, name="ledger-json"),
    path("ledger/<int:position>/", ledger.row, name="row"),
]

urlpatterns = [path("", include((limits, "limits")))]
