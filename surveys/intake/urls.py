from django.urls import path

from surveys.intake import views

urlpatterns = [
    path("s/<slug:slug>/", views.form, name="form"),
    path("api/v1/studies/<slug:slug>/reports", views.take_report, name="reports"),
    path("api/v1/receipts/<str:receipt>", views.look_up, name="receipt"),
]
