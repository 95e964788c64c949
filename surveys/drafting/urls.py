from django.urls import URLPattern, URLResolver, include, path

from surveys.drafting.views import draft, launch, new, questions, translations

build = [
    path("", draft.build, name="build"),
    path("texts/", draft.texts, name="texts"),
    path("add/", questions.add, name="add"),
    path("add/templates/", questions.add_templates, name="add-templates"),
    path("odds/", questions.odds, name="odds"),
    path("order/", draft.order, name="order"),
    path("undo/", draft.undo, name="undo"),
    path("together/", draft.join, name="together"),
    path("declining/", draft.offer, name="declining"),
    path("import/", new.import_into, name="import"),
    path("form.xlsx", new.export, name="export"),
    path("questions/<slug:name>/", questions.edit, name="question"),
    path("questions/<slug:name>/<slug:change>/", draft.change, name="change"),
    path("languages/", translations.add, name="add-language"),
    path("<slug:language>/", translations.translate, name="translate"),
    path("<slug:language>/drop/", translations.drop, name="drop-language"),
]
pages: list[URLPattern | URLResolver] = [
    path("new/", new.new, name="new"),
    path("new/example.xlsx", new.example, name="example"),
    path("<slug:slug>/build/", include(build)),
    path("<slug:slug>/preview/", draft.preview, name="preview"),
    path("<slug:slug>/preview/plan", draft.plan, name="preview-plan"),
    path("<slug:slug>/launch/", launch.launch, name="launch"),
    path("<slug:slug>/launch/close/", launch.close, name="close"),
    path("<slug:slug>/launch/next/", launch.begin_next, name="next"),
]

urlpatterns = [path("studies/", include((pages, "drafting")))]
