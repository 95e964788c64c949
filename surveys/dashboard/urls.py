from django.urls import include, path

from surveys.dashboard import views

studies = [
    path("studies/", views.studies, name="studies"),
    path("studies/<slug:slug>/", views.study, name="study"),
    path("results/<slug:slug>/", views.results, name="results"),
]

urlpatterns = [
    path("", views.home, name="home"),
    path("", include((studies, "dashboard"))),
]
