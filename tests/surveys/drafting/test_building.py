"""From a blank account to a draft, and from a draft to an open wave."""

import re
from decimal import Decimal
from io import BytesIO

import pytest
from PIL import Image

from surveys.design import documents, drafts
from surveys.design.models import DraftChange, Picture, Question, Study
from surveys.design.pictures import keep_picture
from surveys.design.readiness import Readiness, problem_of
from surveys.drafting.forms import TextsForm
from surveys.ledger.models import Entry
from surveys.people import services as people
from surveys.people.models import Role
from tests.conftest import NOW, known_as
from tests.surveys.drafting.conftest import COPIED, TEXTS, client_of


def words(response):
    return " ".join(response.content.decode().split())


def names(study):
    return list(Question.objects.filter(study=study).values_list("name", flat=True))


def test_who_begins_a_study_owns_it_and_an_untaken_address_is_found(ada):
    for expected in ("exam-honesty", "exam-honesty-2"):
        answer = ada.post("/studies/new/", {**TEXTS, "way": "blank"})
        assert answer["Location"] == f"/studies/{expected}/build/"
        assert ada.get(answer["Location"]).status_code == 200
    assert Study.objects.get(slug="exam-honesty").memberships.get().role == Role.OWNER


def test_a_study_is_never_called_what_a_page_of_the_site_is(ada):
    assert (
        ada.post("/studies/new/", {**TEXTS, "title": "New"})["Location"] == "/studies/new-2/build/"
    )


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_question_of_the_library_is_fit_to_be_asked(ada, language):
    from surveys.drafting import library

    fields = {**TEXTS, "language": language, "way": "template", "template": list(library.BY_NAME)}
    assert ada.post("/studies/new/", fields).status_code == 302
    study = Study.objects.get()
    assert study.questions.count() == len(library.BY_NAME)
    assert [problem_of(question) for question in study.questions.all()] == [""] * len(
        library.BY_NAME
    )


def test_what_was_typed_stays_when_something_is_missing(ada):
    answer = ada.post("/studies/new/", {**TEXTS, "contact": "nobody", "way": "blank"})
    page = answer.content.decode()
    assert answer.status_code == 400
    assert 'value="Exam honesty"' in page
    assert 'aria-invalid="true"' in page
    assert 'id="id_contact_error"' in page
    assert not Study.objects.exists()


def test_a_stranger_finds_no_draft_and_a_reader_is_told_what_is_needed(draft, ada):
    for address in (
        "build/",
        "build/add/",
        "preview/",
        "preview/plan",
        "launch/",
        "build/form.xlsx",
    ):
        assert ada.get(f"/studies/{draft.slug}/{address}").status_code == 404
    reader = client_of("rita", Role.READER, draft)
    assert reader.get(f"/studies/{draft.slug}/build/texts/").status_code == 403
    assert reader.post(f"/studies/{draft.slug}/build/questions/copied/delete/").status_code == 403


@pytest.mark.parametrize(
    ("name", "act", "order"),
    [
        ("often", "up", ["often", "copied", "fair"]),
        ("often", "down", ["copied", "fair", "often"]),
        ("copied", "up", ["copied", "often", "fair"]),
    ],
)
def test_questions_move_one_place_and_the_focus_stays(editor, draft, name, act, order):
    answer = editor.post(f"/studies/{draft.slug}/build/questions/{name}/{act}/")
    assert names(draft) == order
    assert answer["Location"].endswith(f"#{act}-{name}")
    page = editor.get(answer["Location"]).content.decode()
    button = page[page.index(f'id="{act}-{name}"') :]
    assert "autofocus" in button[: button.index(">")]


def test_an_order_that_forgets_a_question_moves_none(editor, draft):
    answer = editor.post(f"/studies/{draft.slug}/build/order/", {"names": "fair,copied"})
    assert answer.status_code == 409
    assert names(draft) == ["copied", "often", "fair"]


def test_a_deleted_question_comes_back_as_it_was(editor, draft):
    before = Question.objects.filter(study=draft, name="often").values().get()
    editor.post(f"/studies/{draft.slug}/build/questions/often/delete/")
    assert names(draft) == ["copied", "fair"]
    assert "was deleted" in editor.get(f"/studies/{draft.slug}/build/").content.decode()
    editor.post(f"/studies/{draft.slug}/build/undo/")
    after = Question.objects.filter(study=draft, name="often").values().get()
    assert {**before, "id": 0} == {**after, "id": 0}
    assert names(draft) == ["copied", "often", "fair"]


def test_a_picture_comes_back_with_its_deleted_question(editor, draft):
    shown = Picture.objects.create(sha256="a" * 64, media_type="image/png", width=1, height=1)
    own = Question.objects.filter(study=draft, name="often")
    own.update(picture=shown, picture_text="A ladder.")
    editor.post(f"/studies/{draft.slug}/build/questions/often/delete/")
    editor.post(f"/studies/{draft.slug}/build/undo/")
    assert own.values_list("picture", "picture_text").get() == (shown.pk, "A ladder.")


def test_a_time_zone_is_typed_and_found_in_a_list(editor, draft):
    page = f"/studies/{draft.slug}/build/texts/"
    form = editor.get(page).context["form"]
    typed = {each.name: each.value() for each in form if each.value() not in (None, False)}
    said = editor.get(page).content.decode()
    assert re.search(r'<input[^>]* name="zone"[^>]* list="zones"', said)
    assert re.search(
        r'<datalist id="zones">\s+(<option>[\w/-]+</option>)*<option>Europe/Berlin</option>', said
    )
    answer = editor.post(page, {**typed, "zone": "Berlin"})
    assert answer.context["form"].errors["zone"] == [
        "Choose a time zone of the list, such as Asia/Shanghai."
    ]
    assert editor.post(page, {**typed, "zone": "Europe/Berlin"}).status_code == 302
    assert Study.objects.get(pk=draft.pk).zone == "Europe/Berlin"


def test_a_copy_stands_right_after_its_question(editor, draft):
    editor.post(f"/studies/{draft.slug}/build/questions/copied/duplicate/")
    assert names(draft) == ["copied", "q4", "often", "fair"]


def test_what_touches_epsilon_is_kept_with_the_draft_with_who_did_it(editor, draft):
    editor.post(
        f"/studies/{draft.slug}/build/questions/copied/", form_of(draft, "copied", epsilon="0.5")
    )
    row = DraftChange.objects.latest("pk")
    assert not Entry.objects.exists()
    assert (row.who, row.old[:1], row.new[:3]) == ("eva", "1", "0.5")


def test_a_question_whose_epsilon_is_left_empty_takes_its_share(editor, draft):
    Study.objects.filter(pk=draft.pk).update(person=2)
    address = f"/studies/{draft.slug}/build/"
    page = editor.get(f"{address}add/").content.decode()
    assert "its share of the ε 2 that one person gives away" in page
    new = {"kind": "yes_no", "protection": "device", "text": "Did you?", "epsilon": ""}
    said = editor.post(f"{address}odds/", new).context["question"]
    assert said.epsilon == Decimal("0.5")
    assert editor.post(f"{address}add/", new).status_code == 302
    assert {each.epsilon for each in draft.questions.all()} == {Decimal("0.5")}
    said = editor.post(f"{address}odds/?of=copied", {**new, "name": "copied"})
    assert said.context["question"].epsilon == Decimal("0.5")
    editor.post(f"{address}questions/copied/", form_of(draft, "copied", epsilon="0.7"))
    assert draft.questions.get(name="copied").epsilon == Decimal("0.7")
    assert Study.objects.get(pk=draft.pk).person is None


KINDS_IN_TURN = [
    {"kind": "yes_no"},
    {"kind": "yes_no"},
    {"kind": "single", "choices": "A\nB\nC"},
    {"kind": "yes_no"},
    {"kind": "number", "least": "0", "most": "10"},
    {"kind": "yes_no", "epsilon": "0.5"},
    {"kind": "yes_no"},
]


@pytest.mark.parametrize("way", ["planned", "equally"])
def test_what_is_said_of_a_question_while_it_is_written_is_what_it_has_in_the_draft(editor, way):
    """Of each one that is added, of one that is changed, and of one that gets another key."""
    study = drafts.new_draft(texts=TEXTS, questions=[])
    people.share(study=study, user=known_as("eva"), role=Role.EDITOR)
    if way == "equally":
        drafts.save_study(study=study, fields=["asked"], who="eva", now=NOW)
    address = f"/studies/{study.slug}/build/"

    def told(typed, of=""):
        said = editor.post(f"{address}odds/{of and '?of='}{of}", typed).context["consequence"]
        return said.epsilon, said.guess_said, said.odd

    def has(name):
        items = editor.get(address).context["items"]
        (found,) = [each.consequence for each in items if each.question.name == name]
        return found.epsilon, found.guess_said, found.odd

    seen = []
    for at, kind in enumerate(KINDS_IN_TURN):
        typed = {"protection": "device", "text": f"Number {at}?", "epsilon": "", **kind}
        before = told(typed)
        assert editor.post(f"{address}add/", typed).status_code == 302
        last = study.questions.last()
        assert has(last.name) == before, f"of question {at + 1}"
        seen.append(before[0])
    if way == "equally":
        assert [str(each) for each in seen[:4]] == ["2.00", "1.00", "0.67", "0.50"]
    name = study.questions.first().name
    for changed in (
        {"epsilon": "0.4"},
        {"kind": "single", "choices": "A\nB\nC\nD", "name": "other"},
    ):
        typed = form_of(study, name, **changed)
        before = told(typed, of=name)
        assert editor.post(f"{address}questions/{name}/", typed).status_code == 302
        assert has(changed.get("name", name)) == before


def form_of(study, key, **changed):
    question = study.questions.get(name=key)
    fields = (
        "kind",
        "text",
        "help",
        "choices",
        "protection",
        "epsilon",
        "label",
        "name",
        "unit",
        "wanted",
        "asked_if",
    )
    return {field: getattr(question, field) for field in fields} | changed


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"epsilon": "9"}, "epsilon"),
        ({"kind": "single", "choices": "One"}, "choices"),
        ({"codes": "1"}, "codes"),
        ({"name": "often"}, "name"),
        ({"name": "Copied it"}, "name"),
        ({"kind": "number", "least": "", "most": ""}, "least"),
        ({"text": ""}, "text"),
    ],
)
def test_an_error_stands_at_its_field_and_nothing_is_saved(editor, draft, changed, field):
    answer = editor.post(
        f"/studies/{draft.slug}/build/questions/copied/", form_of(draft, "copied", **changed)
    )
    assert answer.status_code == 400
    assert f'id="id_{field}_error"' in answer.content.decode()
    assert draft.questions.get(name="copied").text == COPIED["text"]


@pytest.mark.parametrize(
    ("name", "changed", "message"),
    [
        ("copied", {"epsilon": "0"}, "greater than or equal to 0.01"),
        ("copied", {"epsilon": "-1"}, "greater than or equal to 0.01"),
        ("copied", {"epsilon": "NaN"}, "Enter a number"),
        ("copied", {"epsilon": "0.1234567891"}, "no more than 9 decimal places"),
        ("copied", {"name": "Q 1"}, "Small letters"),
        ("fair", {"choices": "one\none\nthree"}, "choices must differ"),
        ("fair", {"choices": "one"}, "choices must be 3 to 11, one a line, got 1"),
        ("fair", {"choices": "one\ntw\u200bo\nthree"}, "visible characters"),
        ("fair", {"codes": "1\n2"}, "codes must be 5, one for each answer, got 2"),
        ("copied", {"codes": "1\n1"}, "codes must differ"),
        ("copied", {"codes": "1\nno answer"}, "“no answer” is not"),
    ],
)
def test_a_question_that_cannot_be_is_refused_in_a_sentence(editor, draft, name, changed, message):
    before = draft.questions.values().get(name=name)
    typed = form_of(draft, name, **changed)
    answer = editor.post(f"/studies/{draft.slug}/build/questions/{name}/", typed)
    assert answer.status_code == 400
    assert message in answer.content.decode()
    assert draft.questions.values().get(pk=before["id"]) == before


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"release_epsilon": "1.6"}, "at most the cap of 1.5; it is 1.6"),
        ({"release_epsilon": "0"}, "greater than or equal to 0.01"),
        ({"cap": "30"}, "limit of 8; it is 30"),
        ({"smallest_batch": "1"}, "greater than or equal to 10"),
    ],
)
def test_terms_that_cannot_be_are_refused_in_a_sentence(editor, draft, changed, message):
    before = Study.objects.values().get(pk=draft.pk)
    terms = {name: before[name] for name in TextsForm.Meta.fields if before[name] is not None}
    typed = terms | {"cap": "1.5", **changed}
    answer = editor.post(f"/studies/{draft.slug}/build/texts/", typed)
    assert answer.status_code == 400
    assert message in answer.content.decode()
    assert Study.objects.values().get(pk=draft.pk) == before


def test_a_list_is_kept_where_limits_hide_who_takes_part_and_the_problem_leads_there(editor, draft):
    Study.objects.filter(pk=draft.pk).update(neighbours="add-remove")
    page = f"/studies/{draft.slug}/build/texts/"
    form = editor.get(page).context["form"]
    typed = {each.name: each.value() for each in form if each.value() not in (None, False)}
    assert editor.post(page, {**typed, "is_invited": "True"}).status_code == 302
    built = words(editor.get(f"/studies/{draft.slug}/build/"))
    assert f'<a href="/studies/{draft.slug}/limits/#id_neighbours">' in built
    assert "A list shows how many took part. Limits must protect what was answered." in built


def test_a_new_key_takes_its_conditions_along(editor, draft):
    often = form_of(draft, "often", condition="copied:1")
    assert editor.post(f"/studies/{draft.slug}/build/questions/often/", often).status_code == 302
    editor.post(
        f"/studies/{draft.slug}/build/questions/copied/", form_of(draft, "copied", name="cheated")
    )
    often = draft.questions.get(name="often")
    assert (often.asked_if, often.asked_if_answers) == ("cheated", [1])


def test_a_question_before_its_condition_keeps_the_draft_from_opening(editor, draft, now):
    editor.post(
        f"/studies/{draft.slug}/build/questions/often/",
        form_of(draft, "often", condition="copied:1"),
    )
    editor.post(f"/studies/{draft.slug}/build/questions/often/up/")
    assert Readiness(draft).problems(now) != []


def test_the_odds_of_what_is_typed_are_told_and_nothing_is_saved(editor, draft):
    typed = {"kind": "yes_no", "epsilon": "1", "protection": "device"}
    answer = editor.post(f"/studies/{draft.slug}/build/odds/", typed)
    assert "73" in answer.content.decode()
    assert names(draft) == ["copied", "often", "fair"]


def test_a_picture_needs_its_words_and_keeps_only_its_pixels(editor, draft):
    from io import BytesIO

    from django.core.files.uploadedfile import SimpleUploadedFile
    from PIL import Image

    def upload():
        stream = BytesIO()
        exif = Image.Exif()
        exif[0x010E] = "taken at home"
        Image.new("RGB", (1600, 400), "#a9591f").save(stream, "JPEG", exif=exif, comment=b"secret")
        return SimpleUploadedFile("photo.jpg", stream.getvalue(), "image/jpeg")

    address = f"/studies/{draft.slug}/build/questions/copied/"
    refused = editor.post(address, form_of(draft, "copied") | {"picture_file": upload()})
    assert 'id="id_picture_text_error"' in refused.content.decode()
    editor.post(
        address,
        form_of(draft, "copied") | {"picture_file": upload(), "picture_text": "A brown board"},
    )
    picture = draft.questions.get(name="copied").picture
    assert (picture.width, picture.height) == (1200, 300)
    assert b"secret" not in bytes(picture.content)
    assert b"taken at home" not in bytes(picture.content)
    wrong = SimpleUploadedFile("photo.png", b"<svg/>", "image/png")
    assert (
        editor.post(address, form_of(draft, "copied") | {"picture_file": wrong}).status_code == 400
    )


def test_only_the_preview_may_stand_in_a_frame_and_only_in_our_own(editor, draft):
    preview, page = (editor.get(f"/studies/{draft.slug}/{name}/") for name in ("preview", "build"))
    assert preview["X-Frame-Options"] == "SAMEORIGIN"
    assert "frame-ancestors 'self'" in preview["Content-Security-Policy"]
    assert page["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]


def test_the_preview_asks_what_is_fit_and_leaves_out_what_is_not(editor, draft):
    draft.questions.filter(name="often").update(choices="One")
    plan = editor.get(f"/studies/{draft.slug}/preview/plan").json()
    assert [question["name"] for question in plan["questions"]] == ["copied", "fair"]


def test_the_preview_leads_to_no_page_of_the_registry_which_there_is_not_yet(editor, draft):
    page = editor.get(f"/studies/{draft.slug}/preview/").content.decode()
    assert 'href="/my/"' in page
    assert f"/registry/{draft.slug}/" not in page


def test_a_month_is_typed_as_months_are_and_counted_as_a_plan_counts_them(editor, draft):
    bounds = {"least": 24_000, "most": 24_023}
    since = {"name": "since", "kind": "month", "text": "Since?", "label": "Since"}
    month = Question.objects.create(study=draft, position=9, **since, **bounds)
    address = f"/studies/{draft.slug}/build/questions/since/"
    page = editor.get(address).content.decode()
    assert 'name="first_month" value="2000-01"' in page
    assert 'name="last_month" value="2001-12"' in page
    typed = {"first_month": "2001-02", "last_month": "2003-04", "protection": "device"}
    assert editor.post(address, {**since, **typed, "epsilon": "1"}).status_code == 302
    month.refresh_from_db()
    assert (month.least, month.most) == (12 * 2001 + 1, 12 * 2003 + 3)


def test_a_day_that_no_calendar_has_is_refused_beside_its_field(editor, draft):
    address = f"/studies/{draft.slug}/build/questions/often/"
    typed = {"name": "often", "kind": "date", "text": "When?", "label": "When", "epsilon": "1"}
    days = {"first_date": "2026-99-99", "last_date": "2026-12-31", "protection": "device"}
    answer = editor.post(address, {**typed, **days})
    assert answer.status_code == 400
    assert "This must be a day, such as 2026-12-31." in answer.content.decode()


@pytest.mark.parametrize("act", ["up", "duplicate", "delete"])
def test_a_question_that_somebody_else_deleted_meanwhile_is_not_found(
    editor, draft, act, monkeypatch
):
    for name in ("move_question", "duplicate_question", "delete_question"):
        monkeypatch.setattr(
            f"surveys.drafting.views.draft.{name}", deleting_first(getattr(drafts, name))
        )
    assert editor.post(f"/studies/{draft.slug}/build/questions/often/{act}/").status_code == 404


def deleting_first(does):
    def act(**fields):
        Question.objects.filter(name=fields["name"]).delete()
        return does(**fields)

    return act


@pytest.mark.parametrize("kept", ["WEBP", "JPEG"])
def test_a_picture_with_a_damaged_note_of_its_camera_is_still_a_picture(db, kept):
    note, stream = Image.Exif(), BytesIO()
    note[0x0112] = 6
    Image.new("RGB", (40, 30)).save(stream, kept, exif=note)
    damaged = stream.getvalue().replace(b"MM\x00*", b"MM\x00\xff")
    assert keep_picture(BytesIO(damaged)).width in (30, 40)


def test_questions_are_sent_as_one_answer_and_each_by_itself_again(editor, draft):
    build = "/studies/exam-honesty/build/"
    page = words(editor.get(build))
    assert "Send some of these as one answer" in page
    answer = editor.post(f"{build}together/", {"names": ["copied", "often"]})
    assert answer.status_code == 302
    page = words(editor.get(build))
    assert "sent as one answer with “How often”" in page
    assert "Ready to launch" in page
    content = documents.compose(draft)
    assert content.blocks[0].questions == ["copied", "often"]
    refused = editor.post(f"{build}together/", {"names": ["fair"]})
    assert refused.status_code == 409
    assert "Choose two questions or more" in words(refused)
    editor.post(f"{build}together/", {"apart": content.blocks[0].name})
    assert documents.compose(draft).blocks == []


def test_people_may_decline_all_questions_of_one_choice_or_none_at_a_tap(editor, draft):
    """Its price is said before; what is sent as one answer is declined as one."""
    build, offer = "/studies/exam-honesty/build/", "/studies/exam-honesty/build/declining/"
    editor.post(f"{build}together/", {"names": ["copied", "often"]})
    draft.questions.filter(name="often").update(may_decline=True, codes="1\n2\n3\n9")
    declining = editor.get(build).context["declining"]
    assert (declining.some, declining.all) == (True, False)
    assert float(declining.without) < float(declining.with_it)
    price = f"± {declining.with_it} points. Without it: ± {declining.without}."
    assert price in words(editor.get(build))
    assert editor.post(offer, {"offered": "yes"}).status_code == 302
    assert set(draft.questions.values_list("may_decline", flat=True)) == {True}
    assert draft.questions.get(name="often").codes == "1\n2\n3\n9"
    content = documents.compose(draft)
    assert (content.blocks[0].questions, content.blocks[0].decline) == (["copied", "often"], 1)
    assert content.question("copied").channel.channel.cells == 2 * 3 + 1
    now = editor.get(build).context["declining"]
    assert (now.some, now.all) == (True, True)
    assert (now.without, now.with_it) == (declining.without, declining.with_it)
    assert "Offer it with every randomised choice" not in words(editor.get(build))
    assert editor.post(offer, {"offered": "no"}).status_code == 302
    assert set(draft.questions.values_list("may_decline", flat=True)) == {False}
    assert draft.questions.get(name="often").codes == "1\n2\n3"
    assert documents.compose(draft).blocks[0].decline == 0
    assert "Ready to launch" in words(editor.get(build))


def test_no_price_is_told_where_no_such_question_is_whole_yet(editor, draft):
    draft.questions.exclude(name="copied").delete()
    number = {"kind": "number", "least": 0, "most": 9, "text": "?", "label": "?"}
    Question.objects.create(study=draft, name="years", **number)
    draft.questions.filter(name="copied").update(kind="single", choices="Only")
    answer = editor.get("/studies/exam-honesty/build/")
    assert answer.status_code == 200
    assert answer.context["declining"] is None


def test_declining_stays_as_it_was_where_one_answer_would_have_too_many_combinations(editor, draft):
    more = [
        Question(study=draft, name=f"q{at}", kind="yes_no", text="?", label="?", together="habits")
        for at in range(10)
    ]
    Question.objects.bulk_create(more)
    draft.questions.filter(name="often").update(may_decline=False)
    answer = editor.post("/studies/exam-honesty/build/declining/", {"offered": "yes"})
    assert answer.status_code == 409
    assert "have 1,025 combinations of answers" in words(answer)
    assert not draft.questions.filter(may_decline=True).exists()


def test_what_is_sent_as_one_answer_is_declined_as_one(editor, draft):
    draft.questions.filter(name__in=("copied", "often")).update(together="habits")
    draft.questions.filter(name="often").update(may_decline=True)
    page = "/studies/exam-honesty/build/questions/copied/"
    form = editor.get(page).context["form"]
    typed = {name: form[name].value() for name in form.fields}
    typed = {name: value for name, value in typed.items() if value not in (None, False)}
    editor.post(page, {**typed, "text": "Have you ever copied?"})
    kept = dict(draft.questions.values_list("name", "may_decline"))
    assert kept == {"copied": False, "fair": False, "often": True}, "only what was changed follows"
    editor.post(page, {**typed, "may_decline": "on"})
    kept = dict(draft.questions.values_list("name", "may_decline"))
    assert kept == {"copied": True, "fair": False, "often": True}
    editor.post(page, typed)
    assert set(draft.questions.values_list("may_decline", flat=True)) == {False}


def test_how_much_a_question_matters_and_what_it_stays_with_is_said_at_it(editor, draft):
    page = "/studies/exam-honesty/build/questions/copied/"
    form = editor.get(page).context["form"]
    typed = {name: form[name].value() for name in form.fields}
    typed = {name: value for name, value in typed.items() if value not in (None, False)}
    editor.post(page, {**typed, "matters": "decisive", "drawn_in": "habits"})
    assert draft.questions.get(name="copied").matters == "decisive"
    assert draft.questions.get(name="copied").drawn_in == "habits"
    told = words(editor.get("/studies/exam-honesty/build/"))
    assert "· decisive" in told
    assert "stays together as “habits”" in told
    assert editor.post(page, {**typed, "drawn_in": "By day"}).status_code == 400
