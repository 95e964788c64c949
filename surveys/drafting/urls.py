from django.urls import URLPattern, URLResolver, include, path

from surveys.drafting import beginning, building, files, launching, previewing, questions, translating

build = [
    path("", building.build, name="build"),
    path("texts/", building.texts, name="texts"),
    path("add/", questions.add, name="add"),
    path("add/templates/", questions.add_templates, name="add-templates"),
    path("odds/", questions.odds, name="odds"),
    path("order/", building.order, name="order"),
    path("undo/", building.undo, name="undo"),
    path("import/", files.import_into, name="import"),
    path("form.xlsx", files.export, name="export"),
    path("questions/<slug:name>/", questions.edit, name="question"),
    path("questions/<slug:name>/<slug:act>/", building.act, name="act"),
    path("languages/", translating.add, name="add-language"),
    path("<slug:language>/", translating.translate, name="translate"),
    path("<slug:language>/drop/", translating.drop, name="drop-language"),
]
pages: list[URLPattern | URLResolver] = [
    path("new/", beginning.new, name="new"),
    path("new/example.xlsx", files.example, name="example"),
    path("<slug:slug>/build/", include(build)),
    path("<slug:slug>/preview/", previewing.preview, name="preview"),
    path("<slug:slug>/preview/plan", previewing.plan, name="preview-plan"),
    path("<slug:slug>/launch/", launching.launch, name="launch"),
    path("<slug:slug>/launch/close/", launching.close, name="close"),
    path("<slug:slug>/launch/next/", launching.begin_next, name="next"),
]

urlpatterns = [path("studies/", include((pages, "drafting")))]
