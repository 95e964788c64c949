from django.urls import include, path

from surveys.issuer import views

issuer = [
    path("tickets", views.tickets, name="tickets"),
    path("marks", views.marks, name="marks"),
    path("verbs/<slug:name>", views.verbs, name="verbs"),
]

urlpatterns = [path("issuer/", include((issuer, "issuer")))]
