from django.urls import path

from surveys.intake import views

urlpatterns = [
    path("s/<slug:slug>/", views.form, name="form"),
    path("s/<slug:slug>/<slug:language>/", views.form, name="form"),
    path("pictures/<slug:sha256>", views.picture, name="picture"),
    path("receipts/", views.receipts, name="receipts"),
    path("receipts/<slug:language>/", views.receipts, name="receipts"),
    path("my/", views.statement, name="statement"),
    path("my/<slug:language>/", views.statement, name="statement"),
    path("api/v1/studies/<slug:slug>/reports", views.take_report, name="reports"),
    path("api/v1/receipts/<str:receipt>", views.look_up, name="receipt"),
]
