from django.urls import include, path

from surveys.operations import views

operations = [
    path("health/", views.health, name="health"),
    path("health/live", views.live, name="live"),
]

urlpatterns = [path("", include((operations, "operations")))]
