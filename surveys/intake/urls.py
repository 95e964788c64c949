from django.urls import path

from surveys.intake import later, views

urlpatterns = [
    path("s/<slug:slug>/", views.form, name="form"),
    path("s/<slug:slug>/<slug:language>/", views.form, name="form"),
    path("pictures/<slug:sha256>", views.picture, name="picture"),
    path("receipts/", later.receipts, name="receipts"),
    path("receipts/<slug:language>/", later.receipts, name="receipts"),
    path("my/", later.statement, name="statement"),
    path("my/<slug:language>/", later.statement, name="statement"),
    path("api/v1/studies/<slug:slug>/reports", views.take_report, name="reports"),
    path("api/v1/receipts/<str:receipt>", views.look_up, name="receipt"),
]
