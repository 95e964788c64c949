"""Two people, or two pages, change one draft: what only one changed is kept, and where both did the
person chooses. Each page is read and sent as a browser would.
"""

import json
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from django.conf import settings

from surveys.design.models import Question, Revision, Study, Translation
from surveys.people.models import Role
from tests.surveys.another_site import another_site
from tests.surveys.drafting.conftest import client_of
from tests.surveys.drafting.racing import TYPED


class Fields(HTMLParser):
    """What a browser would send of the form that posts to its own page."""

    def __init__(self, page):
        super().__init__()
        self.fields, self.names, self.at, self.select = {}, [], None, None
        self.is_own, self.text = False, ""
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        own = dict(attributes)
        if tag == "form":
            self.is_own = own.get("method") == "post" and not own.get("action")
        name, kind = own.get("name"), own.get("type", "text")
        if not self.is_own or (name is None and tag != "option"):
            return
        if tag == "input" and kind in ("checkbox", "radio"):
            if "checked" in own:
                self.fields[name] = own.get("value", "on")
        elif tag == "input" and kind not in ("file", "submit", "range"):
            self.fields[name] = own.get("value", "")
        elif tag == "textarea":
            self.at, self.text = name, ""
        elif tag == "select":
            self.select = name
        elif tag == "option" and (self.select not in self.fields or "selected" in own):
            self.fields[self.select] = own.get("value", "")

    def handle_data(self, data):
        self.text += data

    def handle_endtag(self, tag):
        if tag == "textarea":
            self.fields[self.at] = self.text.removeprefix("\n").replace("\n", "\r\n")


def read(client, address):
    response = client.get(address)
    assert response.status_code == 200
    return Fields(response.content.decode()).fields


def conflicts(response):
    assert response.status_code == 409
    return {each.label: (each.mine, each.theirs) for each in response.context["conflicts"]}


def again(response, **choices):
    """What is sent once somebody has chosen on the page of a conflict."""
    fields = Fields(response.content.decode()).fields
    waiting = [each.name for each in response.context["conflicts"]]
    chosen = {f"take:{name}": choice for name, choice in choices.items()}
    return {**fields, "conflict": waiting, **chosen}


@pytest.fixture
def texts(draft):
    return f"/studies/{draft.slug}/build/texts/"


@pytest.fixture
def copied(draft):
    return f"/studies/{draft.slug}/build/questions/copied/"


def test_changes_of_different_fields_are_both_kept(owner, editor, draft, texts):
    mine, theirs = read(owner, texts), read(editor, texts)
    assert editor.post(texts, {**theirs, "title": "Honest exams"}).status_code == 302
    assert owner.post(texts, {**mine, "smallest_batch": "200"}).status_code == 302
    study = Study.objects.get(pk=draft.pk)
    assert (study.title, study.smallest_batch) == ("Honest exams", 200)


def test_a_field_that_both_changed_shows_both_and_is_chosen(owner, editor, draft, texts):
    mine, theirs = read(owner, texts), read(editor, texts)
    editor.post(texts, {**theirs, "title": "Honest exams", "hours": "48"})
    answer = owner.post(texts, {**mine, "title": "Exams, honestly", "contact": "o@example.org"})
    assert conflicts(answer) == {"Title": ("Exams, honestly", "Honest exams")}
    page = " ".join(answer.content.decode().split())
    assert "Text saved by eva on" in page
    assert Study.objects.get(pk=draft.pk).title == "Honest exams"
    for choice, title in (("theirs", "Honest exams"), ("mine", "Exams, honestly")):
        assert owner.post(texts, again(answer, title=choice)).status_code == 302
        study = Study.objects.get(pk=draft.pk)
        assert (study.title, study.contact, study.hours) == (title, "o@example.org", 48)


def test_without_a_choice_and_after_a_further_save_it_is_asked_again(owner, editor, draft, texts):
    mine, theirs = read(owner, texts), read(editor, texts)
    editor.post(texts, {**theirs, "title": "Second"})
    answer = owner.post(texts, {**mine, "title": "Mine"})
    assert conflicts(owner.post(texts, again(answer))) == {"Title": ("Mine", "Second")}
    editor.post(texts, {**read(editor, texts), "title": "Third"})
    answer = owner.post(texts, again(answer, title="mine"))
    assert conflicts(answer) == {"Title": ("Mine", "Third")}
    assert owner.post(texts, again(answer, title="mine")).status_code == 302
    assert Study.objects.get(pk=draft.pk).title == "Mine"
    saved = [each.changed.get("title") for each in Revision.objects.order_by("number")]
    assert saved == [["Exam honesty", "Second"], ["Second", "Third"], ["Third", "Mine"]]


def test_what_both_changed_to_the_same_is_no_conflict(owner, editor, texts):
    mine = {**read(owner, texts), "title": "The same"}
    editor.post(texts, {**read(editor, texts), "title": "The same"})
    assert owner.post(texts, mine).status_code == 302


def test_a_mistake_does_not_lose_what_was_merged(owner, editor, draft, texts):
    mine = {**read(owner, texts), "contact": "nobody"}
    editor.post(texts, {**read(editor, texts), "title": "Honest exams"})
    answer = owner.post(texts, mine)
    assert answer.status_code == 400
    fields = Fields(answer.content.decode()).fields
    assert fields["title"] == "Honest exams"
    assert owner.post(texts, {**fields, "contact": "o@example.org"}).status_code == 302
    study = Study.objects.get(pk=draft.pk)
    assert (study.title, study.contact) == ("Honest exams", "o@example.org")


def test_one_question_is_merged_by_its_fields_whatever_its_name_is_now(
    owner, editor, draft, copied
):
    mine, theirs = read(owner, copied), read(editor, copied)
    editor.post(copied, {**theirs, "name": "cheated", "help": "Ever.", "may_decline": "on"})
    assert owner.post(copied, {**mine, "text": "Did you ever copy?"}).status_code == 302
    question = Question.objects.get(pk=mine["question"])
    assert (question.name, question.help, question.text) == (
        "cheated",
        "Ever.",
        "Did you ever copy?",
    )
    assert question.may_decline


@pytest.mark.parametrize(
    ("field", "theirs", "mine", "shown"),
    [
        ("text", "Did you copy?", "Do you copy?", ("Question", ("Do you copy?", "Did you copy?"))),
        (
            "kind",
            "multiple",
            "likert",
            ("Kind", ("A scale of agreement", "Any of several choices")),
        ),
        ("epsilon", "0.5", "0.7", ("Privacy loss of one answer, ε", ("0.7", "0.5"))),
        (
            "condition",
            "copied:1",
            "copied:0",
            (
                "It is for",
                ("People who answer “No” to “Copied”", "People who answer “Yes” to “Copied”"),
            ),
        ),
    ],
)
def test_a_field_of_a_question_that_both_changed_is_chosen(
    owner, editor, draft, field, theirs, mine, shown
):
    address = f"/studies/{draft.slug}/build/questions/often/"
    typed = read(owner, address)
    assert editor.post(address, {**typed, field: theirs}).status_code == 302
    answer = owner.post(address, {**typed, field: mine})
    assert conflicts(answer) == dict([shown])
    assert owner.post(address, again(answer, **{field: "mine"})).status_code == 302
    assert read(owner, address)[field].rstrip("0") in (mine, mine.rstrip("0"))


def test_a_question_that_was_deleted_meanwhile_is_made_again_only_if_chosen(
    owner, editor, draft, copied
):
    typed = {**read(owner, copied), "text": "Did you ever copy?"}
    editor.post(f"{copied}delete/")
    answer = owner.post(copied, typed)
    assert conflicts(answer) == {"This question": ("keep it, as it is written below", "deleted")}
    assert "Did you ever copy?" in answer.content.decode()
    assert owner.post(copied, again(answer, deleted="theirs")).status_code == 302
    assert draft.questions.count() == 2
    assert owner.post(copied, again(answer, deleted="mine")).status_code == 302
    assert draft.questions.get(name="copied").text == "Did you ever copy?"


def test_a_question_that_is_added_meanwhile_does_not_unshare_a_persons_epsilon(
    owner, editor, draft, copied
):
    Study.objects.filter(pk=draft.pk).update(person=2)
    typed, limits = read(owner, copied), f"/studies/{draft.slug}/limits/"
    decided = read(owner, limits)
    new = {"kind": "yes_no", "protection": "device", "text": "Did you?", "epsilon": ""}
    editor.post(f"/studies/{draft.slug}/build/add/", new)
    assert owner.post(copied, {**typed, "text": "Did you ever copy?"}).status_code == 302
    answer = owner.post(limits, {**decided, "release_epsilon": "1.5", "why": "Cheaper."})
    assert answer.status_code == 302
    study = Study.objects.get(pk=draft.pk)
    assert (study.person, study.release_epsilon) == (2, 1.5)
    assert {str(each.epsilon.normalize()) for each in study.questions.all()} == {"0.5"}


def test_limits_that_two_decide_are_chosen(owner, editor, draft):
    address = f"/studies/{draft.slug}/limits/"
    mine, theirs = read(owner, address), read(editor, address)
    editor.post(
        address,
        {**theirs, "cap": "1", "release_epsilon": "1", "epsilon-copied": "0.5", "why": "Safer."},
    )
    answer = owner.post(
        address, {**mine, "cap": "1.5", "epsilon-often": "0.7", "why": "Other people meet it."}
    )
    assert conflicts(answer)["Cap for all releases, ε"] == ("1.5", "1")
    fields = again(answer, cap="mine", person="theirs")
    assert owner.post(address, fields).status_code == 302
    study = Study.objects.get(pk=draft.pk)
    losses = {each.name: f"{each.epsilon:.1f}" for each in study.questions.all()}
    assert (study.cap, losses["copied"], losses["often"]) == (1.5, "0.5", "0.7")


def test_texts_in_another_language_are_merged_one_by_one(owner, editor, draft, copied):
    address = f"/studies/{draft.slug}/build/zh-hans/"
    mine, theirs = read(owner, address), read(editor, address)
    editor.post(copied, {**read(editor, copied), "name": "cheated"})
    editor.post(address, {**theirs, "title": "考试", "purpose": "了解抄袭"})
    answer = owner.post(address, {**mine, "title": "诚信", "copied.text": "你是否抄袭过"})
    assert conflicts(answer) == {"Title": ("诚信", "考试")}
    assert owner.post(address, again(answer, title="mine")).status_code == 302
    content = Translation.objects.get().content
    assert (content["title"], content["purpose"]) == ("诚信", "了解抄袭")
    assert content["questions"]["cheated"]["text"] == "你是否抄袭过"


def test_a_language_that_was_dropped_meanwhile_comes_back_only_if_chosen(owner, editor, draft):
    address = f"/studies/{draft.slug}/build/zh-hans/"
    owner.post(address, {"title": "考试"})
    mine = read(owner, address)
    editor.post(f"{address}drop/")
    answer = owner.post(address, {**mine, "purpose": "了解抄袭"})
    assert conflicts(answer) == {"简体中文": ("keep it, as it is written below", "deleted")}
    assert not Translation.objects.exists()
    owner.post(address, again(answer, deleted="mine"))
    assert Translation.objects.get().content["purpose"] == "了解抄袭"


@pytest.mark.parametrize(
    ("act", "fields"),
    [
        ("questions/copied/delete/", {}),
        ("order/", {"names": "fair,often,copied"}),
        ("together/", {"names": ["copied", "often"]}),
        ("zh-hans/drop/", {}),
    ],
)
def test_an_act_on_what_has_changed_since_it_was_shown_is_refused(
    owner, editor, draft, copied, act, fields
):
    build = f"/studies/{draft.slug}/build/"
    owner.post(f"{build}zh-hans/", {"title": "考试"})
    page = owner.get(build)
    revision = page.context["revision"]
    editor.post(copied, {**read(editor, copied), "kind": "likert"})
    editor.post(f"{copied}down/")
    editor.post(f"{build}zh-hans/", {"title": "诚信"})
    before = list(draft.questions.values()), list(Translation.objects.values())
    answer = owner.post(build + act, {**fields, "revision": revision})
    assert answer.status_code == 409
    assert "eva changed this on" in " ".join(answer.content.decode().split())
    assert (list(draft.questions.values()), list(Translation.objects.values())) == before
    shown = answer.context["revision"]
    assert owner.post(build + act, {**fields, "revision": shown}).status_code in (302, 409)
    assert shown > revision


def test_a_plan_is_not_kept_in_a_draft_that_has_changed_since_it_was_shown(
    owner, editor, draft, copied
):
    address = f"/studies/{draft.slug}/plan/save/"
    page = owner.post(address, {"n": "2500", "epsilon": "2"})
    assert page.status_code == 200
    typed = Fields(page.content.decode()).fields
    editor.post(copied, {**read(editor, copied), "epsilon": "0.5"})
    answer = owner.post(address, typed)
    assert answer.status_code == 409
    assert "eva changed this on" in " ".join(answer.content.decode().split())
    assert draft.questions.get(name="copied").epsilon == 0.5
    again = Fields(answer.content.decode()).fields
    assert owner.post(address, again).status_code == 302


def test_of_eight_who_save_at_once_none_is_lost(db, tmp_path):
    with another_site(tmp_path) as environment:
        run = subprocess.run(
            [sys.executable, "-m", "tests.surveys.drafting.racing"],
            env={**environment, "DJANGO_SETTINGS_MODULE": "surveys.settings"},
            cwd=settings.BASE_DIR,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    found = json.loads(run.stdout.splitlines()[-1])
    assert found["apart"] == {"302": len(TYPED)}
    assert found["kept"] == TYPED
    assert found["same"] == {"302": 1, "409": len(TYPED) - 1}
    assert found["numbers"] == list(range(1, len(TYPED) + 2))


def test_a_draft_that_was_opened_meanwhile_says_so_and_what_was_typed_stays(
    owner, draft, texts, now
):
    from surveys.design import services

    mine = {**read(owner, texts), "title": "Too late"}
    services.open_study(study_id=draft.pk, who="olga", why="A test.", now=now)
    answer = owner.post(texts, mine)
    assert answer.status_code == 400
    assert "is open already" in answer.content.decode()
    assert 'value="Too late"' in answer.content.decode()


def test_a_reader_saves_nothing(draft, texts):
    reader = client_of("rita", Role.READER, draft)
    assert reader.post(texts, {"title": "Not hers"}).status_code == 403
