from django.urls import URLPattern, URLResolver, include, path
from django.views.decorators.http import require_safe

from surveys.results.views import collect, numbers, queries, registry, studies

for_members = [
    path("", studies.study, name="study"),
    path("collect/", collect.collect, name="collect"),
    path("collect/<slug:language>.svg", collect.code, name="code"),
    path("collect/poster/<slug:language>/", collect.poster, name="poster"),
    path("over-time/", numbers.over_time, name="over-time"),
    path("compare/", numbers.compare, name="compare"),
    path("methods/", numbers.methods, name="methods"),
    path("export.<slug:suffix>", numbers.export, name="export"),
    path("publish-anyway/", queries.publish_anyway, name="publish-anyway"),
    path("ask/", queries.ask, name="ask"),
    path("ask/<slug:kind>/", queries.ask_kind, name="ask-kind"),
    path("asked/<slug:digest>/", queries.asked, name="asked"),
    path("releases/<int:number>/", queries.release, name="release"),
    path("releases/<int:number>.csv", queries.release_file, name="release-file"),
]
for_everyone = [
    path("", studies.study, name="results"),
    path("over-time/", numbers.over_time, name="public-over-time"),
    path("compare/", numbers.compare, name="public-compare"),
    path("methods/", numbers.methods, name="public-methods"),
    path("export.<slug:suffix>", numbers.export, name="public-export"),
    path("releases/<int:number>/", require_safe(queries.release), name="public-release"),
    path("releases/<int:number>.csv", queries.release_file, name="public-release-file"),
]
pages: list[URLPattern | URLResolver] = [
    path("studies/", studies.studies, name="studies"),
    path("studies/<slug:slug>/", include(for_members), {"shared": True}),
    path("results/<slug:slug>/", include(for_everyone)),
]
register: list[URLPattern | URLResolver] = [
    path("", registry.studies, name="list"),
    path("ledger.json", registry.whole_ledger, name="ledger"),
    path("ledger/index.json", registry.ledger_index, name="ledger-index"),
    path("ledger/<int:number>.json", registry.ledger_segment, name="ledger-segment"),
    path("schemas/<slug:name>.json", registry.schema, name="schema"),
    path("words/<slug:tag>/<slug:sha256>.po", registry.words, name="words"),
    path("<slug:slug>/", registry.study, name="study"),
    path("<slug:slug>.json", registry.study_document, name="json"),
    path("<slug:slug>.yaml", registry.deployment, name="yaml"),
]
urlpatterns = [
    path("", studies.home, name="home"),
    path("", include((pages, "dashboard"))),
    path("registry/", include((register, "registry"))),
]
