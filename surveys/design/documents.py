"""A draft as its Plan: composed of its questions (questions.py) and its terms (terms.py).

A question is protected on the device, by its channel, whose loss it declares; or in publications
only: then its answer is sent as given, it has neither channel nor loss (its local ε is ∞), and the
Plan's total is of the others.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from msgspec.structs import replace

from dpengine.local import budget
from dpengine.local.blocks import subsets
from dpengine.local.channel import Channel, Learns
from surveys.design import blocks, combinations, terms
from surveys.design.models import Question, Study, Translation
from surveys.design.questions import content_of, for_whom, joined, texts_of
from surveys.plan.content import (
    Block,
    DrawnSet,
    Invited,
    PlanContent,
    PlanQuestion,
    QuestionTexts,
    Texts,
    largest_loss,
)
from surveys.plan.verification import FORMAT


def compose(
    study: Study,
    drafts: Sequence[Question] | None = None,
    translations: Iterable[Translation] | None = None,
    invited: Invited | None = None,
) -> PlanContent:
    """Return the Plan's content for a study as it stands, or for some of it."""
    drafts = list(study.questions.all()) if drafts is None else drafts
    questions = [content_of(question, drafts) for question in drafts]
    for _field, problem in combinations.of_questions(study, drafts):
        raise ValueError(problem)
    by_name = {each.name: each for each in questions}
    drawn, sets = _drawn(study, drafts, by_name)
    asked = [{name for at in each.blocks for name in drawn[at].questions} for each in sets]
    return PlanContent(
        blocks=drawn,
        drawn=sets,
        caps=terms.caps(study),
        contact=study.contact,
        draws=terms.draws(study),
        format=FORMAT,
        invited=invited,
        language=str(study.language),
        layout="page" if study.layout == "page" else "",
        loss=loss_of_sets(questions, asked),
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
        waves=study.planned,
    )


def loss_of_sets(questions: Sequence[PlanQuestion], sets: Iterable[Iterable[str]]) -> Fraction:
    """Return e^ε of all that one person sends, of what devices change, in the set of questions that
    loses most; without sets everybody is asked everything.
    """
    losses = {each.sent_in: each.loss for each in questions if each.loss is not None}
    sent_in = {each.name: each.sent_in for each in questions if each.sent_in in losses}
    asked = [{sent_in[name] for name in each if name in sent_in} for each in sets]
    return largest_loss(asked or [losses], losses)


def sets_of_names(study: Study, drafts: Iterable[Question]) -> list[frozenset[str]]:
    """Return the sets of questions, by name, of which a device draws one; none where everybody is
    asked everything.
    """
    drawn = blocks.blocks(drafts)
    if _asks_everything(study, drawn):
        return []
    return [
        frozenset(name for at in each for name in drawn[at].questions)
        for each in subsets(len(drawn), int(study.asked or 0))
    ]


def weights_of_sets(
    study: Study, drafts: Sequence[Question], contents: Iterable[PlanQuestion]
) -> list[int]:
    """Return the weight of each of `sets_of_names`; none where some questions cannot be asked."""
    known = {each.name: each for each in contents}
    is_whole = all(each.name in known for each in drafts) and not any(blocks.problems(drafts))
    if not is_whole or not sets_of_names(study, drafts):
        return []
    return [each.weight for each in _drawn(study, drafts, known)[1]]


def _asks_everything(study: Study, drawn: Sequence[Block]) -> bool:
    return study.asked is None or study.asked >= len(drawn)


def _drawn(
    study: Study, drafts: Sequence[Question], contents: Mapping[str, PlanQuestion]
) -> tuple[list[Block], list[DrawnSet]]:
    """Return blocks, and the sets of them of which a device draws one: none where all is asked, and
    each is sent by itself.

    A block is drawn as often as the question in it needs whose importance × variance is largest;
    a later wave with the same sets keeps their weights, so that devices keep their draws.
    """
    drawn = blocks.blocks(drafts)
    if blocks.groups(drafts):
        for _name, problem in blocks.problems(drafts):
            raise ValueError(problem)
    elif _asks_everything(study, drawn):
        return [], []
    drawn = [_with_channel(block, contents) for block in drawn]
    asked = len(drawn) if _asks_everything(study, drawn) else int(study.asked or 0)
    matters = {each.name: blocks.IMPORTANCES[each.matters] for each in drafts}
    needs = [
        max(matters[name] * _variance(contents[name]) for name in block.questions)
        for block in drawn
    ]
    found = budget.draw(needs, asked)
    sets = [
        DrawnSet(blocks=list(each), weight=weight)
        for each, weight in zip(found.sets, found.weights, strict=True)
    ]
    before = study.plans.order_by("-wave").first() if study.wave > 1 else None
    return drawn, sets if before is None else _as_before(before.content, drawn, sets)


def _as_before(
    before: PlanContent, drawn: Sequence[Block], sets: Sequence[DrawnSet]
) -> list[DrawnSet]:
    """Return the sets of an earlier wave, if they are the same but for their weights."""
    now = [each.questions for each in drawn], [each.blocks for each in sets]
    then = [each.questions for each in before.blocks], [each.blocks for each in before.drawn]
    return list(before.drawn if now == then else sets)


def _with_channel(block: Block, contents: Mapping[str, PlanQuestion]) -> Block:
    """Return a block with the channel of its one answer, if it is sent as one."""
    sent = contents[block.questions[0]].together
    if sent is None:
        return block
    joint, declined = sent.joint, int(bool(sent.joint.declining))
    return replace(block, channel_document=joint.document(), loss=joint.loss, decline=declined)


@lru_cache(maxsize=1024)
def _variance_of(channel: Channel, scale: int, declined: int) -> float:
    if channel.learns is Learns.SHARES:
        return float(channel.variance(Fraction(1, channel.answers - declined)))
    return budget.spread(channel, scale)


def _variance(question: PlanQuestion) -> float:
    """Return variance × n of what is least sure of a question, in squared parts of its scale."""
    is_mean = question.channel.learns is Learns.MEAN
    scale = question.most - question.least if is_mean else 1
    return _variance_of(question.channel, scale, question.decline)


def _translated(translation: Translation, drafts: Sequence[Question]) -> Texts:
    """Return a translation's texts, and in its words whom a question is for."""
    language, content = str(translation.language), translation.content
    kept = content.get("questions", {})
    texts = {each.name: texts_of(each, kept.get(each.name, {}), language) for each in drafts}
    for each in drafts:
        if note := for_whom(each, drafts, language, texts):
            part, own = ("group", each.group_text) if each.group else ("help", each.help)
            own = joined(getattr(texts[each.name], part) or own, note)
            texts[each.name] = replace(texts[each.name], **{part: own})
    study = {part: content.get(part) or None for part in ("title", "organisation", "purpose")}
    questions = {name: own for name, own in texts.items() if own != QuestionTexts()}
    return Texts(**study, questions=questions)
