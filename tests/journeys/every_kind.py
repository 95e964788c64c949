"""A study with a question of every kind that the device changes, for journeys and benches; and
one with a picture.
"""

import json
import struct
import zlib
from pathlib import Path
from typing import Any

from tests.journeys.site import Site

AGREEMENT = {
    "kind": "likert",
    "epsilon": "0.5",
    "group": "talk",
    "group_text": "How much do you agree?",
}
QUESTIONS: list[dict[str, Any]] = [
    {
        "name": "smoked",
        "kind": "yes_no",
        "text": "Have you smoked in the last month?",
        "label": "Smoked",
    },
    {
        "name": "place",
        "kind": "single",
        "text": "Where did you smoke most often?",
        "label": "Place",
        "choices": "At home\nAt work\nOutside",
        "may_decline": True,
        "help": "Think of the last month only.",
        "asked_if": "smoked",
        "asked_if_answers": [1],
    },
    {
        "name": "used",
        "kind": "multiple",
        "text": "Which of these have you used?",
        "label": "Used",
        "choices": "Tobacco\nAlcohol\nCannabis\nSleeping pills",
        "may_decline": True,
    },
    {
        "name": "doctor",
        "text": "I can talk about it with my doctor.",
        "label": "Doctor",
        **AGREEMENT,
    },
    {
        "name": "friends",
        "text": "I can talk about it with friends.",
        "label": "Friends",
        **AGREEMENT,
    },
    {
        "name": "days",
        "kind": "number",
        "text": "On how many days did you drink?",
        "label": "Days",
        "least": 0,
        "most": 30,
        "unit": "days",
        "wanted": "mean",
    },
    {
        "name": "hours",
        "kind": "number",
        "text": "How many hours did you sleep last night?",
        "label": "Sleep",
        "least": 0,
        "most": 24,
        "unit": "hours",
        "wanted": "distribution",
    },
    {
        "name": "born",
        "kind": "month",
        "text": "When were you born?",
        "label": "Born",
        "least": 1920 * 12,
        "most": 2010 * 12 + 11,
        "wanted": "mean",
    },
]
DATE: dict[str, Any] = {
    "name": "moved",
    "kind": "date",
    "text": "When did you last move house?",
    "label": "Moved",
    "least": 104_400,
    "most": 105_700,
    "wanted": "mean",
}
SCALE: dict[str, Any] = {
    "name": "mood",
    "kind": "number",
    "text": "How are you?",
    "label": "Mood",
    "choices": "Bad\nSo-so\nGood",
    "least": 1,
    "most": 3,
    "wanted": "mean",
}
GIVEN: list[dict[str, Any]] = [
    {
        "name": "earned",
        "kind": "number",
        "protection": "publication",
        "text": "How much did you earn?",
        "label": "Earned",
        "least": 0,
        "most": 100_000,
        "unit": "euros",
    },
]
CHINESE = json.loads(Path(__file__).with_suffix(".zh.json").read_text())
OPEN = """
import datetime, hashlib, json
from surveys.design import services
from surveys.design.models import Picture, Study, Translation
found = {{}}
for given in json.loads({given!r}):
    study = services.draft_study(study=given["study"], questions=given["questions"])
    if given["chinese"]:
        for name in ("smoked", "place") if given["picture"] else ():
            given["chinese"]["questions"][name]["picture"] = "两条横纹"
        Translation.objects.create(study=study, language="zh-hans", content=given["chinese"])
    if given["picture"]:
        content = bytes.fromhex(given["picture"])
        shape = dict(media_type="image/png", width=40, height=20, content=content)
        picture, _ = Picture.objects.get_or_create(sha256=hashlib.sha256(content).hexdigest(), defaults=shape)
        first = study.questions.filter(name__in=["smoked", "place"])
        first.update(picture=picture, picture_text="Two stripes")
    plan = services.open_study(why="A test.", study_id=study.pk, who="researcher", now=datetime.datetime.now(datetime.UTC))
    found[study.slug] = plan.digest
    if given["retired"]:
        Study.objects.filter(pk=study.pk).update(retired_on=datetime.date.today())
print(json.dumps(found))
"""


def every_kind(
    slug: str, layout: str = "screens", questions: list[dict[str, Any]] = QUESTIONS, **also: bool
) -> Any:
    """Return a study for `open_studies`: asked in Chinese too, with a picture, retired, where that
    is said.

    It passes its follow-up over; `everybody` is asked it where that is said.
    """
    study = {
        "slug": slug,
        "title": "Habits of every kind",
        "organisation": "Northfield University",
        "cap": 2,
        "purpose": "To learn how common these habits are.",
        "contact": "asks@example.org",
        "release_epsilon": 1,
        "smallest_batch": 10,
        "widest": 100,  # not what is asked here
        "layout": layout,
        "follow_ups": "everybody" if also.get("everybody") else "skip",
        "given_cap": 2,
        "given_batch": 10,
        "given_why": "Nobody's answers: a test.",
        "given_by": "root",
    }
    return {
        "study": study,
        "questions": questions,
        "chinese": CHINESE if also.get("chinese") else None,
        "picture": png().hex() if also.get("picture") else None,
        "retired": also.get("retired", False),
    }


def open_studies(site: Site, *studies: Any) -> dict[str, str]:
    """Open studies; return the links with the digests of their Plans, by slug."""
    found = site.python(OPEN.format(given=json.dumps(studies)))
    return {slug: f"{site.base}/s/{slug}/#{digest}" for slug, digest in found.items()}


def png(width: int = 40, height: int = 20) -> bytes:
    """Return an image of two stripes."""
    rows = b"".join(
        b"\0" + (b"\x0a\x5b\x48" if y < height // 2 else b"\xf5\xad\x6c") * width
        for y in range(height)
    )
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )
