from django.urls import include, path

from surveys.dashboard import asked, asking, views

studies = [
    path("studies/", views.studies, name="studies"),
    path("studies/<slug:slug>/", views.study, name="study"),
    path("studies/<slug:slug>/ask/", asking.ask, name="ask"),
    path("studies/<slug:slug>/ask/<slug:kind>/", asking.ask_kind, name="ask-kind"),
    path("studies/<slug:slug>/asked/<slug:digest>/", asking.asked, name="asked"),
    path("studies/<slug:slug>/releases/<int:number>/", asked.release, name="release"),
    path("studies/<slug:slug>/releases/<int:number>.csv", asked.release_file, name="release-file"),
    path("results/<slug:slug>/", views.results, name="results"),
    path("results/<slug:slug>/releases/<int:number>/", asked.public_release, name="public-release"),
    path("results/<slug:slug>/releases/<int:number>.csv", asked.public_file, name="public-file"),
]

urlpatterns = [
    path("", views.home, name="home"),
    path("", include((studies, "dashboard"))),
]
