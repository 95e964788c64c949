from django.urls import include, path

from surveys.planning import rehearsing, views

pages = [
    path("plan/", views.free, name="free"),
    path("studies/<slug:slug>/plan/", views.study, name="study"),
    path("studies/<slug:slug>/plan/save/", views.save, name="save"),
    path("studies/<slug:slug>/rehearse/", rehearsing.rehearse, name="rehearse"),
]

urlpatterns = [path("", include((pages, "planning")))]
