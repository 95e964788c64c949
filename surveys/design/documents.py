"""A draft as its Plan: composed of its questions (questions.py) and its terms (terms.py).

A question is protected on the device, by its channel, whose loss it declares; or in publications
only: then its answer is sent as given, it has neither channel nor loss (its local ε is ∞), and the
Plan's total is of the others.
"""

from collections.abc import Iterable, Sequence

import msgspec
from django.utils.translation import gettext as _

from dpengine.local.blocks import together
from surveys.design import terms
from surveys.design.models import Question, Study, Translation
from surveys.design.questions import content_of, for_whom, joined, texts_of
from surveys.plan.content import Block, DrawnSet, PlanContent, QuestionTexts, Texts, largest_loss
from surveys.plan.drawing import sets_of
from surveys.plan.kinds import NUMBER
from surveys.plan.records import ONE_ANSWER
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
    losses = {each.name: each.loss for each in questions if each.loss is not None}
    blocks, sets = _drawn(study, drafts)
    asked = [[name for at in each.blocks for name in blocks[at].questions] for each in sets]
    return PlanContent(
        blocks=blocks,
        drawn=sets,
        caps=terms.caps(study),
        contact=study.contact,
        format=FORMAT,
        language=str(study.language),
        layout="page" if study.layout == "page" else "",
        loss=largest_loss(asked or [losses], losses),
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


def sets_of_names(study: Study, drafts: Iterable[Question]) -> list[frozenset[str]]:
    """Return the sets of questions, by name, of which a device draws one, each as likely; none
    where everybody is asked everything.
    """
    blocks, sets = _drawn(study, drafts)
    return [frozenset(n for at in each.blocks for n in blocks[at].questions) for each in sets]


def records_of_names(study: Study, drafts: Iterable[Question]) -> list[frozenset[str]]:
    """Return the questions of one record, by name, for each there can be: as `sets_of_names`, or
    one answer where that is protected.
    """
    if study.unit != ONE_ANSWER:
        return sets_of_names(study, drafts)
    links = [(each.name, each.asked_if) for each in drafts]
    return [frozenset(names) for names in together([name for name, _parent in links], links)]


def _drawn(study: Study, drafts: Iterable[Question]) -> tuple[list[Block], list[DrawnSet]]:
    """Return blocks, and the sets of them of which a device draws one: none where all is asked."""
    blocks = terms.blocks(drafts)
    if study.asked is None or study.asked >= len(blocks):
        return [], []
    return blocks, sets_of(len(blocks), study.asked)


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
