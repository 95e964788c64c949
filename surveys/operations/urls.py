from django.urls import include, path

from surveys.operations import views

operations = [
    path("health/", views.health, name="health"),
    path("health/live", views.live, name="live"),
    path("health/ready", views.ready, name="ready"),
    path("metrics", views.metrics, name="metrics"),
]

urlpatterns = [path("", include((operations, "operations")))]
