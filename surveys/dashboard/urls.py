from typing import Any

from django.urls import include, path

from surveys.dashboard import asked, asking, collecting, comparing, courses, reading, views

SHARED: dict[str, Any] = {"shared": True}

studies = [
    path("studies/", views.studies, name="studies"),
    path("studies/<slug:slug>/", views.study, name="study"),
    path("studies/<slug:slug>/collect/", collecting.collect, SHARED, name="collect"),
    path("studies/<slug:slug>/collect/<slug:language>.svg", collecting.code, SHARED, name="code"),
    path("studies/<slug:slug>/collect/poster/<slug:language>/", collecting.poster, SHARED, name="poster"),
    path("studies/<slug:slug>/over-time/", courses.over_time, SHARED, name="over-time"),
    path("studies/<slug:slug>/compare/", comparing.compare, SHARED, name="compare"),
    path("studies/<slug:slug>/methods/", reading.methods, SHARED, name="methods"),
    path("studies/<slug:slug>/export.<slug:suffix>", reading.export, SHARED, name="export"),
    path("studies/<slug:slug>/ask/", asking.ask, name="ask"),
    path("studies/<slug:slug>/ask/<slug:kind>/", asking.ask_kind, name="ask-kind"),
    path("studies/<slug:slug>/asked/<slug:digest>/", asking.asked, name="asked"),
    path("studies/<slug:slug>/releases/<int:number>/", asked.release, name="release"),
    path("studies/<slug:slug>/releases/<int:number>.csv", asked.release_file, name="release-file"),
    path("results/<slug:slug>/", views.results, name="results"),
    path("results/<slug:slug>/over-time/", courses.over_time, name="public-over-time"),
    path("results/<slug:slug>/compare/", comparing.compare, name="public-compare"),
    path("results/<slug:slug>/methods/", reading.methods, name="public-methods"),
    path("results/<slug:slug>/export.<slug:suffix>", reading.export, name="public-export"),
    path("results/<slug:slug>/releases/<int:number>/", asked.public_release, name="public-release"),
    path("results/<slug:slug>/releases/<int:number>.csv", asked.public_file, name="public-file"),
]

urlpatterns = [
    path("", views.home, name="home"),
    path("", include((studies, "dashboard"))),
]
