"""A draft as its Plan: composed of its questions (questions.py) and its terms (terms.py).

A question is protected on the device, by its channel, whose loss it declares; or in publications
only: then its answer is sent as given, it has neither channel nor loss (its local ε is ∞), and the
Plan's total is of the others.
"""

from collections.abc import Iterable, Sequence

import msgspec
from django.utils.translation import gettext as _

from dpengine.privacy import loss_of_all
from surveys.design import terms
from surveys.design.models import Question, Study, Translation
from surveys.design.questions import content_of, for_whom, joined, texts_of
from surveys.plan.content import PlanContent, QuestionTexts, Texts
from surveys.plan.kinds import NUMBER
from surveys.plan.verification import FORMAT


def compose(
    study: Study,
    drafts: Sequence[Question] | None = None,
    translations: Iterable[Translation] | None = None,
) -> PlanContent:
    """Return the Plan's content for a study as it stands, or for some of it."""
    drafts = list(study.questions.all()) if drafts is None else drafts
    questions = [content_of(question, drafts) for question in drafts]
    if (
        questions
        and study.rule != "on-request"
        and all(each.kind == NUMBER and each.is_cleartext for each in questions)
    ):  # a histogram of numbers would give rare ones away
        raise ValueError(
            _(
                "Numbers sent as given are published only as a researcher asks about them: choose "
                "the rule that says so."
            )
        )
    return PlanContent(
        caps=terms.caps(study),
        contact=study.contact,
        format=FORMAT,
        language=str(study.language),
        layout="page" if study.layout == "page" else "",
        loss=loss_of_all(each.loss for each in questions if each.loss is not None),
        neighbours=str(study.neighbours),
        organisation=study.organisation,
        publication=terms.publication(study),
        purpose=study.purpose,
        questions=questions,
        results=str(study.results),
        slug=study.slug,
        title=study.title,
        translations={
            str(each.language): _translated(each, drafts)
            for each in (study.translations.all() if translations is None else translations)
            if each.language != study.language
        },
        unit=str(study.unit),
        wave=study.wave,
    )


def _translated(translation: Translation, drafts: Sequence[Question]) -> Texts:
    """Return a translation's texts, and in its words whom a question is for."""
    language, content = str(translation.language), translation.content
    kept = content.get("questions", {})
    texts = {each.name: texts_of(each, kept.get(each.name, {}), language) for each in drafts}
    for each in drafts:
        if note := for_whom(each, drafts, language, texts):
            part, own = ("group", each.group_text) if each.group else ("help", each.help)
            own = joined(getattr(texts[each.name], part) or own, note)
            texts[each.name] = msgspec.structs.replace(texts[each.name], **{part: own})
    study = {part: content.get(part) or None for part in ("title", "organisation", "purpose")}
    questions = {name: own for name, own in texts.items() if own != QuestionTexts()}
    return Texts(**study, questions=questions)
