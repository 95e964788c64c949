"""Questions about sensitive topics, worded with care, in every language that a study can be asked
in.

Neutral wording, a time that it asks about, choices that everybody finds themselves in. Where the
wording is a standard one, its source is told; “after” it where ours differs. Each has the
protection that we would begin with.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec
from django.utils.translation import gettext_lazy

from surveys.design.models import Study
from surveys.design.texts import Stored
from surveys.drafting.drafts import QuestionDraft, QuestionTexts
from surveys.languages import SOURCE

TOPICS = {
    "health": gettext_lazy("Health and mood"),
    "loneliness": gettext_lazy("Loneliness"),
    "substances": gettext_lazy("Alcohol, drugs and gambling"),
    "sexual_health": gettext_lazy("Sexual health"),
    "violence": gettext_lazy("Violence at home"),
    "money": gettext_lazy("Income and tax"),
    "honesty": gettext_lazy("Cheating and misconduct"),
    "corruption": gettext_lazy("Corruption and elections"),
    "work": gettext_lazy("Discrimination and harassment at work"),
}


class Template(msgspec.Struct, frozen=True):
    """One question of the library, and what it says in each language."""

    topic: str
    source: str
    question: QuestionDraft
    texts: dict[str, QuestionTexts]

    def draft(self, language: str) -> QuestionDraft:
        """Return the question, to be asked in a language."""
        texts = dict(self.texts.get(language) or self.texts[SOURCE])
        choices, group_text = texts.pop("choices", []), texts.pop("group", "")
        texts |= {"choices": "\n".join(choices), "group_text": group_text}
        return msgspec.structs.replace(self.question, **texts)


BY_NAME = {
    template.question.name: template
    for template in msgspec.json.decode(
        Path(__file__).with_name("library.json").read_bytes(), type=list[Template]
    )
}


def topics(language: str) -> list[tuple[str, list[tuple[Template, QuestionDraft]]]]:
    """Return the library by topic, in a language."""
    return [
        (
            str(title),
            [
                (template, template.draft(language))
                for template in BY_NAME.values()
                if template.topic == topic
            ],
        )
        for topic, title in TOPICS.items()
    ]


def translations(names: Sequence[str]) -> dict[str, Stored]:
    """Return what the library says of some of its questions, in every language."""
    return {
        language: {"questions": {name: BY_NAME[name].texts[language] for name in names}}
        for language in {each for name in names for each in BY_NAME[name].texts}
    }


def known(study: Study, language: str) -> Stored:
    """Return what the library says in a language of a study's questions that are worded as it
    words them.
    """
    drafts = [(template, template.draft(study.language)) for template in BY_NAME.values()]
    texts = {
        question.name: template.texts.get(language, {})
        for question in study.questions.all()
        for template, draft in drafts
        if (question.text, question.choices) == (draft.text, draft.choices)
    }
    return {"questions": texts}
