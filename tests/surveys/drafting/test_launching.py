"""What becomes fixed is shown first; what was looked at is what opens; nothing incomplete does."""

import re
from decimal import Decimal

import pytest

from surveys.design import texts as design_texts
from surveys.design.models import Plan
from surveys.design.site import set_site_limits
from surveys.drafting import plan_text
from surveys.ledger.models import Entry
from surveys.plan.content import PublicationTerms

WHY = "A pilot among colleagues, who know it."


def page(client, study):
    return client.get(f"/studies/{study.slug}/launch/").content.decode()


def seen(client, study):
    return re.search(r'name="seen" value="([0-9a-f]*)"', page(client, study))[1]


def open_wave(client, study):
    return client.post(f"/studies/{study.slug}/launch/", {"seen": seen(client, study), "why": WHY})


def test_one_button_opens_the_wave_that_was_looked_at(owner, draft):
    fingerprint = seen(owner, draft)
    assert open_wave(owner, draft).status_code == 302
    assert Plan.objects.get().digest == fingerprint
    assert fingerprint in page(owner, draft)
    assert Entry.objects.filter(what="opened wave 1").get().who == "olga"


def test_what_changed_since_it_was_looked_at_does_not_open(owner, draft):
    fingerprint = seen(owner, draft)
    draft.questions.filter(name="copied").update(text="Have you ever copied?")
    answer = owner.post(f"/studies/{draft.slug}/launch/", {"seen": fingerprint})
    assert answer.status_code == 409
    assert "changed since you looked" in answer.content.decode()
    assert not Plan.objects.exists()


def test_an_editor_may_look_and_not_launch(editor, draft):
    assert "Only an owner" in page(editor, draft)
    assert editor.post(f"/studies/{draft.slug}/launch/", {"seen": "x"}).status_code == 403


def test_a_language_that_is_incomplete_is_refused_by_name(owner, draft):
    owner.post(f"/studies/{draft.slug}/build/languages/", {"language": "zh-hans"})
    assert "简体中文 is incomplete" in page(owner, draft)
    assert (
        owner.post(f"/studies/{draft.slug}/launch/", {"seen": seen(owner, draft)}).status_code
        == 409
    )


def test_a_language_that_is_complete_is_in_the_plan(owner, draft):
    parts = design_texts.parts(draft, {})
    typed = {part.key: f"中{number}" for number, part in enumerate(parts)}
    assert owner.post(f"/studies/{draft.slug}/build/zh-hans/", typed).status_code == 302
    open_wave(owner, draft)
    texts = Plan.objects.get().content.translations["zh-hans"]
    assert texts.title == "中0"
    assert texts.questions["copied"].choices == ["否", "是"]
    assert len(texts.questions["often"].choices) == 3


def test_a_wave_is_closed_only_after_asking_and_the_next_shows_what_changes(owner, draft):
    draft.waves, draft.draws, draft.release_epsilon = 2, "kept", 1
    draft.save()
    open_wave(owner, draft)
    asked = owner.post(f"/studies/{draft.slug}/launch/close/")
    assert "cannot be reopened" in asked.content.decode()
    assert Plan.objects.get().is_open
    owner.post(f"/studies/{draft.slug}/launch/close/", {"sure": "1"})
    assert not Plan.objects.get().is_open
    assert (
        owner.post(f"/studies/{draft.slug}/launch/next/")["Location"]
        == f"/studies/{draft.slug}/build/"
    )
    draft.questions.filter(name="copied").update(text="Have you ever copied?", epsilon="0.5")
    owner.post(f"/studies/{draft.slug}/build/questions/fair/delete/")
    found = page(owner, draft)
    assert "<del>Have you copied in an exam?</del>" in found
    assert "<ins>Have you ever copied?</ins>" in found
    assert re.search("<del>randomised on the device, ε 1.*</del>", found)
    assert open_wave(owner, draft).status_code == 302
    assert Plan.objects.filter(wave=2).exists()


def test_a_frozen_wave_cannot_be_edited(owner, draft):
    open_wave(owner, draft)
    assert "is fixed" in owner.get(f"/studies/{draft.slug}/build/").content.decode()
    answer = owner.post(f"/studies/{draft.slug}/build/questions/copied/delete/")
    assert answer.status_code in (302, 409)
    assert draft.questions.count() == 3


def test_epsilon_beyond_the_sites_limits_does_not_open(owner, draft, now):
    draft.questions.filter(name="copied").update(epsilon="3")
    limits = {"epsilon_floor": Decimal("0.1"), "epsilon_ceiling": Decimal("2")}
    set_site_limits(**limits, cap_ceiling=Decimal("2"), who="root", why="a rule", now=now)
    assert "between 0.1 and 2" in page(owner, draft)
    assert open_wave(owner, draft).status_code == 409


def test_a_condition_is_said_in_the_words_of_its_answers_and_in_every_language(owner, draft):
    """A Plan has No before Yes, people read Yes first: its place in either would name the wrong
    branch.
    """
    draft.follow_ups = "skip"
    draft.save()
    draft.questions.filter(name="often").update(asked_if="copied", asked_if_answers=[1])
    draft.questions.filter(name="fair").update(asked_if="often", asked_if_answers=[0, 2])
    typed = {part.key: "中" for part in design_texts.parts(draft, {})}
    typed |= {"copied.text": "考试抄过吗", "often.text": "多常"}
    typed |= {f"often.choices.{place}": said for place, said in enumerate(("一次", "两次", "更多"))}
    owner.post(f"/studies/{draft.slug}/build/zh-hans/", typed)
    found = re.findall(r"<dt>Asked only after(.*?)</dt><dd[^>]*>(.*?)</dd>", page(owner, draft))
    assert found == [
        ("", "“Yes” to “Have you copied in an exam?”"),
        (" (简体中文)", "“是” to “考试抄过吗”"),
        ("", "“Once” or “More” to “How often?”"),
        (" (简体中文)", "“一次” or “更多” to “多常”"),
    ]
    assert '<dt>Answers (简体中文)</dt><dd dir="auto">一次 · 两次 · 更多' in page(owner, draft)


def test_a_condition_that_the_editor_does_not_offer_is_said_in_words_too(editor, draft):
    draft.questions.filter(name="fair").update(asked_if="often", asked_if_answers=[0, 2])
    found = editor.get(f"/studies/{draft.slug}/build/questions/fair/").content.decode()
    assert "As it is: People who answer “Once” or “More” to “How often”" in found


@pytest.mark.parametrize(
    ("hours", "span"), [(1, "every hour"), (24, "every day"), (36, "every 36 hours")]
)
def test_how_often_is_said_as_people_say_it(hours, span):
    terms = PublicationTerms(rule="every", epsilon="1", hours=hours, smallest_batch=100)
    assert plan_text.rule_text(terms) == f"{span} and when it has closed, for ε 1 each"


def test_launch_says_who_is_asked_and_what_passing_questions_over_costs(owner, draft):
    draft.questions.filter(name="often").update(asked_if="copied", asked_if_answers=[1])
    shown = page(owner, draft)
    assert (
        "asked of everyone, with “Does not apply” among the answers; responses leave at once, and "
        "the time can reveal" in shown
    )
    assert "which can reveal a quick “Does not apply”" in shown
    assert "The form skips questions" not in shown
    draft.follow_ups = "skip"
    draft.save()
    shown = page(owner, draft)
    assert "a message leaves 3 minutes after its page was opened" in shown
    assert (
        "The form skips questions, so responses leave 3 minutes after the page was opened" in shown
    )
    assert "some never will" in shown


@pytest.mark.parametrize(
    ("why", "said"),
    [
        ("", "Say why one person must give away so much"),
        (" \n", "Say why one person must give away so much"),
        ("\0", "Say why one person must give away so much"),
        ("x" * 501, "The reason can have 500 characters at most; it has 501."),
    ],
)
def test_what_gives_away_much_does_not_open_without_a_reason(owner, draft, why, said):
    typed = {"seen": seen(owner, draft), "why": why}
    answer = owner.post(f"/studies/{draft.slug}/launch/", typed)
    text = answer.content.decode()
    assert answer.status_code == 409
    assert "Exam honesty” cannot be opened" in text
    assert said in text
    assert 'name="why"' in text
    assert not Plan.objects.exists()
    assert not Entry.objects.exists()


def test_the_reason_is_kept_in_the_ledger_and_shown_in_the_registry(owner, draft):
    open_wave(owner, draft)
    assert Entry.objects.get(what="opened wave 1").why == WHY
    found = owner.get(f"/registry/{draft.slug}/").content.decode()
    assert "Reason for this much" in found
    assert WHY in found


def test_a_reason_is_kept_without_what_no_database_keeps(owner, draft):
    typed = {"seen": seen(owner, draft), "why": f"\0{WHY[:7]}\0{WHY[7:]}"}
    assert owner.post(f"/studies/{draft.slug}/launch/", typed).status_code == 302
    assert Entry.objects.get(what="opened wave 1").why == WHY


def test_no_reason_is_asked_where_a_guess_stays_below_the_line(owner, draft):
    draft.questions.update(epsilon=Decimal("0.97"))  # 2.91, and ln 19 is 2.94
    assert 'name="why"' not in page(owner, draft)
    open_wave(owner, draft)
    assert Entry.objects.get(what="opened wave 1").why == "wave 1 begins"
    assert "Reason for this much" not in owner.get(f"/registry/{draft.slug}/").content.decode()


@pytest.mark.parametrize(
    ("fields", "leads"),
    [
        ({"rule": "continual"}, "build/texts/#id_rule"),
        ({"release_epsilon": 3}, "limits/#id_release_epsilon"),
        ({"unit": "household-of-2", "cap_delta": "0.000001"}, "limits/#id_cap_delta"),
        ({"neighbours": "add-remove", "asked": 1}, "build/texts/#id_asked"),
    ],
)
def test_what_is_wrong_with_the_terms_leads_to_where_it_is_mended(owner, draft, fields, leads):
    type(draft).objects.filter(pk=draft.pk).update(**fields)
    for where in ("launch", "build"):
        shown = owner.get(f"/studies/{draft.slug}/{where}/").content.decode()
        assert f'<a href="/studies/{draft.slug}/{leads}">' in shown
