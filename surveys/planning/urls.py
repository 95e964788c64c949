from django.urls import include, path

from surveys.planning.views import planner, rehearsal

pages = [
    path("plan/", planner.free, name="free"),
    path("studies/<slug:slug>/plan/", planner.study, name="study"),
    path("studies/<slug:slug>/plan/save/", planner.save, name="save"),
    path("studies/<slug:slug>/rehearse/", rehearsal.rehearse, name="rehearse"),
]

urlpatterns = [path("", include((pages, "planning")))]
