from django.urls import URLPattern, URLResolver, include, path

from surveys.invited import views
from surveys.invited.views import letters, people

of_a_list = [
    path("list/", people.show, name="list"),
    path("list/add/", people.add, name="add"),
    path("list/returned/", people.returned, name="returned"),
    path("list/erase/", people.erase, name="erase"),
    path("list/remove/", people.remove, name="remove"),
    path("list/again/", people.again, name="again"),
    path("list/lost/", people.lost, name="lost"),
    path("list/letters/", letters.show, name="letters"),
    path("list/letters/write/<slug:kind>/", letters.write, name="write"),
    path("list/letters/<int:number>/<slug:act>/", letters.act, name="act"),
    path("list/paper/", letters.paper, name="paper"),
]
invited: list[URLPattern | URLResolver] = [
    path("studies/<slug:slug>/", include(of_a_list)),
    path("letters/stop/<str:token>/", views.stop, name="stop"),
]
urlpatterns = [path("", include((invited, "invited")))]
