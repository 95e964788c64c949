from django.urls import path

from surveys.api import views

urlpatterns = [
    path("studies/<slug:slug>/plan", views.plan, name="plan"),
    path("studies/<slug:slug>/plans/<slug:digest>", views.frozen_plan, name="frozen-plan"),
    path("studies/<slug:slug>/published", views.PublishedView.as_view(), name="published"),
    path("studies/<slug:slug>/releases", views.ReleasesView.as_view(), name="releases"),
]
