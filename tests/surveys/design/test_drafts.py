"""A draft is edited whole or not at all, within the site's limits, and never once it is open."""

from decimal import Decimal
from io import BytesIO

import pytest
from PIL import Image

from surveys.design import pictures, services
from surveys.design.drafts import (
    add_questions,
    delete_question,
    duplicate_question,
    move_question,
    new_draft,
    save_question,
    save_study,
    save_translation,
    set_protections,
)
from surveys.design.models import DraftChange, Picture, Question, Study
from surveys.design.readiness import Readiness
from surveys.design.refusals import CannotOpen, Refused
from surveys.design.site import set_site_limits
from surveys.ledger.models import Entry
from tests.conftest import QUESTIONS

TEXTS = {
    "title": "Exam honesty",
    "organisation": "Brightwater College",
    "purpose": "To learn.",
    "contact": "a@b.org",
}


@pytest.fixture
def draft(db):
    """A draft whose questions have an ε of their own."""
    return new_draft(texts=TEXTS, questions=[{**each, "epsilon": 1} for each in QUESTIONS])


@pytest.fixture
def by(now):
    return {"who": "ada", "now": now}


def test_a_draft_begins_within_the_sites_limits(db, now):
    limits = {
        "epsilon_floor": Decimal("0.1"),
        "epsilon_ceiling": Decimal("0.5"),
        "cap_ceiling": Decimal(1),
    }
    set_site_limits(**limits, who="root", why="a rule", now=now)
    study = new_draft(texts=TEXTS, questions=QUESTIONS)
    assert (study.cap, study.release_epsilon) == (1, 1)
    assert {question.epsilon for question in study.questions.all()} == {Decimal("0.5")}


def test_epsilons_are_set_all_or_none(draft, by):
    wanted = {"copied": Decimal("0.5"), "fair": Decimal(9)}
    with pytest.raises(Refused, match="fair"):
        set_protections(study_id=draft.pk, epsilons=wanted, why="planned", **by)
    assert draft.questions.get(name="copied").epsilon == 1
    assert not Entry.objects.exists()
    set_protections(
        study_id=draft.pk,
        epsilons={"copied": Decimal("0.5")},
        planned={"expected": 800},
        why="planned",
        **by,
    )
    row = DraftChange.objects.get()
    assert (row.who, row.why, row.new) == ("ada", "planned", "0.5, changed on the device")
    draft.refresh_from_db()
    assert draft.expected == 800


def test_what_was_wrong_before_does_not_keep_a_plan_from_being_saved(draft, by):
    Study.objects.filter(pk=draft.pk).update(release_epsilon=9)  # more than the cap
    planned = {"asked": 2, "expected": 500}
    set_protections(study_id=draft.pk, epsilons={}, planned=planned, why="planned", **by)
    draft.refresh_from_db()
    assert (draft.asked, draft.expected) == (2, 500)


def test_what_a_study_cannot_have_is_not_planned(draft, by):
    with pytest.raises(Refused, match="only 3 can be drawn"):
        set_protections(
            study_id=draft.pk,
            epsilons={"copied": Decimal("0.5")},
            planned={"asked": 9},
            why="planned",
            **by,
        )
    assert draft.questions.get(name="copied").epsilon == 1


@pytest.mark.parametrize(
    "edit",
    [
        lambda study, by: add_questions(study_id=study.pk, questions=QUESTIONS, **by),
        lambda study, by: move_question(study_id=study.pk, name="fair", by=-1, **by),
        lambda study, by: delete_question(study_id=study.pk, name="fair", **by),
        lambda study, by: duplicate_question(study_id=study.pk, name="fair", **by),
        lambda study, by: save_question(question=study.questions.get(name="fair"), **by),
        lambda study, by: save_study(study=study, fields=["title"], **by),
        lambda study, by: save_translation(study_id=study.pk, language="zh-hans", content={}, **by),
        lambda study, by: set_protections(study_id=study.pk, epsilons={}, why="", **by),
    ],
)
def test_nothing_of_an_open_wave_is_edited(draft, by, edit):
    services.open_study(why="A test.", study_id=draft.pk, **by)
    before = list(Question.objects.values())
    with pytest.raises(CannotOpen):
        edit(draft, by)
    assert list(Question.objects.values()) == before


def test_a_study_has_at_most_so_many_questions(draft, by):
    many = [{**QUESTIONS[0], "name": f"more{number}"} for number in range(58)]
    with pytest.raises(Refused, match="at most 60 questions; this one would have 61"):
        add_questions(study_id=draft.pk, questions=many, **by)
    assert draft.questions.count() == 3


def test_answers_that_lose_too_much_together_are_told_before_the_launch(draft, by, now):
    draft.questions.update(epsilon=Decimal(4))
    (problem,) = Readiness(draft).problems(now)
    assert "browsers refuse more than 8" in problem.text


def test_the_ledgers_words_are_english_whoever_drafts(draft, by):
    from django.utils import translation

    with translation.override("zh-hans"):
        set_protections(study_id=draft.pk, epsilons={"copied": Decimal(2)}, why="planned", **by)
    assert DraftChange.objects.get().what == "ε of copied"


def picture(width, height, mode="RGB", form="PNG"):
    stream = BytesIO()
    Image.effect_noise((width, height), 90).convert(mode).save(stream, form)
    stream.seek(0)
    return stream


def test_a_large_picture_becomes_small_enough_for_a_phone(db):
    kept = pictures.keep_picture(picture(1300, 400))
    assert max(kept.width, kept.height) <= pictures.MAX_SIDE
    assert len(kept.content) <= pictures.MAX_BYTES


@pytest.mark.parametrize(("form", "mode"), [("JPEG", "RGB"), ("PNG", "P"), ("WEBP", "RGBA")])
def test_a_large_photograph_is_upright_and_keeps_its_colours(db, form, mode):
    note, stream = Image.Exif(), BytesIO()
    note[0x0112] = 6  # the camera lay on its side
    image = Image.new("RGB", (4_800, 2_400), "#a00000")
    image.paste("#0000a0", (0, 0, 2_400, 2_400))
    image.convert(mode).save(stream, form, exif=note)
    stream.seek(0)
    kept = Image.open(BytesIO(bytes(pictures.keep_picture(stream).content))).convert("RGB")
    assert kept.size == (600, 1_200)
    ends = [kept.getpixel((300, at)) for at in (100, 1_100)]  # type: ignore[misc]
    assert [max(range(3), key=end.__getitem__) for end in ends] == [2, 0]  # blue above red
    assert [max(end) > 140 > 20 > min(end) for end in ends] == [True, True]


@pytest.mark.parametrize(("mode", "clear"), [("RGB", (255, 0, 255)), ("L", 7)])
def test_a_colour_that_is_clear_is_mixed_into_no_other(db, mode, clear):
    stream = BytesIO()
    image = Image.new(mode, (2_400, 2_400), clear)
    image.paste(255 if mode == "L" else (255, 255, 255), (0, 0, 1_201, 2_400))
    image.save(stream, "PNG", transparency=clear)
    stream.seek(0)
    kept = Image.open(BytesIO(bytes(pictures.keep_picture(stream).content))).convert("RGBA")
    seen, edge, unseen = (kept.getpixel((at, 600))[3] for at in (5, 600, 1_190))  # type: ignore[index]
    assert seen == 255 > edge > 0 == unseen


def test_of_a_photograph_little_more_is_unpacked_than_is_kept(db):
    stream = BytesIO()
    Image.new("RGB", (6_000, 4_000), "#a9591f").save(stream, "JPEG")
    stream.seek(0)
    assert pictures._read(stream).size == (3_000, 2_000)  # JPEG knows halves, quarters and eighths


def test_the_same_picture_is_kept_once(db):
    stream = picture(20, 10)
    first = pictures.keep_picture(stream)
    stream.seek(0)
    assert pictures.keep_picture(stream) == first
    assert Picture.objects.count() == 1


def test_a_picture_of_too_many_points_is_refused_before_it_is_drawn(db):
    stream = BytesIO()
    Image.new("1", (8_000, 6_000)).save(stream, "PNG")
    stream.seek(0)
    with pytest.raises(Refused, match="40 million pixels"):
        pictures.keep_picture(stream)


@pytest.mark.parametrize(
    "content",
    [b"", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"\x89PNG\r\n\x1a\n" + b"\0" * 40],
)
def test_what_is_no_picture_is_refused(db, content):
    with pytest.raises(Refused, match="cannot be read as a picture"):
        pictures.keep_picture(BytesIO(content))
