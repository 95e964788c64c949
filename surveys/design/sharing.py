"""How a draft asks until somebody sets it by hand: one person's ε, and the way it is spent.

`person` of a draft says the whole; without one each question keeps an ε of its own. What follows
from it is filled into the questions whenever the draft changes (`drafts.editing`), so that whoever
reads a question finds its ε there.

Planned    `is_planned`: of how many each person is asked, what is sent as one answer and each ε are
           what the planner proposes (goal.py) for the questions, the answers expected and the ε of
           a person. It ends where somebody says how many are asked or sends questions together.
Shared     else: equally, by what a device can ask of a person, in the way that the draft has.

A person sends as many answers at most as are in the largest set that a device can draw, so that the
product of their losses is at most e^ε: a channel loses at most its share, which is rounded down.

By hand    ε 2 and four questions of which everybody is asked all: 0.5 each. Asked two of them: 1
           each. A fifth question: 0.4 each. Two of the five sent as one answer: 0.5 each.
           Planned, six yes/no questions: three answers of two questions each, one of them drawn by
           each device, with all of ε: 2.
           Two waves with fresh draws: each has its half of all that. With a kept key, unless
           somebody sets ε: ln(19)/2 in each, 1.47.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import Any

from dpengine.local.ways import Importance
from dpengine.privacy import round_down
from surveys.design import blocks, documents, site, terms
from surveys.design.goal import Goal, Outcome, Topic
from surveys.design.models import Question, SiteLimits, Study
from surveys.guesses import LIKELY
from surveys.plan.combinations import fits
from surveys.plan.content import KEPT

USUAL_PERSON = Decimal(2)
USUAL_EXPECTED = 300  # answers, where nobody says how many
USUAL_BATCH, FEWEST_BATCH = 100, 10  # answers that a draft publishes after
ALONE = ""  # the name of the answer of a question that is sent by itself


def usual_person(limits: SiteLimits, study: Study | None = None) -> Decimal:
    """Return the ε that a person has in a study of this site until somebody sets it: where devices
    keep a key, no more than all waves may give away without a reason, for each can have all of it.
    """
    person: Decimal = min(max(USUAL_PERSON, limits.person_floor), limits.person_ceiling)
    if study is None or terms.draws(study) != KEPT:
        return person
    most = Decimal(int(LIKELY)).ln() / study.planned
    return min(person, most.quantize(Decimal("0.01"), ROUND_FLOOR))


def batch_for(n: int) -> int:
    """Return after how many answers to publish: half of those expected, 100 at most."""
    return min(USUAL_BATCH, max(FEWEST_BATCH, n // 2))


@dataclass(frozen=True)
class Spent:
    """How a person's ε is spent: the ε of each question that devices change, the name of the answer
    that it is sent in, and how many of them each person is asked (None: all).
    """

    epsilons: Mapping[str, Decimal]
    together: Mapping[str, str]
    asked: int | None


def spend(study: Study, questions: Sequence[Question]) -> list[Question]:
    """Put on a draft and its questions how a person's ε is spent on them, none of it saved; return
    the questions that this changes. Where each has an ε of its own, nothing is.
    """
    if study.person is None:
        return []
    found, changed = spent_of(study.person, study, questions), []
    study.asked = found.asked
    for question in questions:
        before = question.epsilon, question.together
        question.epsilon = found.epsilons.get(question.name, question.epsilon)
        question.together = found.together.get(question.name, ALONE)
        if (question.epsilon, question.together) != before:
            changed.append(question)
    return changed


def spent_of(person: Decimal, study: Study, questions: Sequence[Question]) -> Spent:
    """Return how so much ε of a person is spent on these questions, in one of the waves that are
    planned. An answer has no more than one may lose.

    A share below the least is not raised, for then a person would lose more than is said: the
    question is refused by name.
    """
    person = terms.in_a_wave(study, person)
    found = _planned(person, study, questions) if study.is_planned else None
    if found is None:
        share = _equal_share(person, study, questions)
        sent_in = {each.name: each.together for each in questions}
        found = Spent(dict.fromkeys(_names_on_device(questions), share), sent_in, study.asked)
    ceiling = terms.allowed_epsilon(study, site.site_limits())[1]
    epsilons = {name: min(share, ceiling) for name, share in found.epsilons.items()}
    return Spent(epsilons, found.together, found.asked)


def _equal_share(person: Decimal, study: Study, questions: Sequence[Question]) -> Decimal:
    """Return each question's share of a person's ε, whether or not the study allows it."""
    sets = documents.sets_of_names(study, questions)
    sent_in = {each.name: each.together or each.name for each in questions if _is_on_device(each)}
    sent = max(len({sent_in[name] for name in each}) for each in sets or [frozenset(sent_in)])
    share: Decimal = round_down(Fraction(person) / max(1, sent))
    return share


def _planned(person: Decimal, study: Study, questions: Sequence[Question]) -> Spent | None:
    """Return what the planner proposes; None where nothing can be asked yet. A question that is not
    whole yet has the share of the others, and is sent by itself.
    """
    found = {each.name: _topic(each, questions) for each in questions}
    topics = {name: topic for name, topic in found.items() if topic is not None}
    if not topics:
        return None
    fit = [each for each in questions if each.name in topics]
    if all(topic.importance is Importance.NICE for topic in topics.values()):
        return None
    goal = Goal(
        n=study.expected or USUAL_EXPECTED,
        epsilon=person,
        topics=tuple(topics.values()),
        kept=tuple(blocks.staying(fit, fit)),
        can_draw=fits(protects=str(study.neighbours), asked="drawn"),
    )
    outcome = Outcome(goal)
    try:
        parts = dict(zip(topics, outcome.epsilons, strict=True))
    except ValueError:  # a share of less than a billionth
        return None
    others = dict.fromkeys(_names_on_device(questions), min(parts.values()))
    groups = [[fit[place].name for place in places] for places in outcome.together]
    return Spent(others | parts, _named(groups, questions), outcome.asked)


def _topic(question: Question, among: Sequence[Question]) -> Topic | None:
    """Return what devices are asked for; nothing of what is not whole, or is sent as given."""
    if not _is_on_device(question):
        return None
    try:
        return Topic.of(question, blocks.IMPORTANCES[question.matters], among)
    except (ValueError, TypeError, KeyError):
        return None


def _named(groups: Sequence[Sequence[str]], questions: Sequence[Question]) -> dict[str, str]:
    """Return the name of the answer that each question is sent in. One that is there already with
    the same questions keeps its name.
    """
    there = {
        frozenset(each.name for each in own): name for name, own in blocks.groups(questions).items()
    }
    kept = {at: there[frozenset(own)] for at, own in enumerate(groups) if frozenset(own) in there}
    taken = {each.name for each in questions} | set(kept.values())
    free = (name for number in range(1, 10_000) if (name := f"as_one_{number}") not in taken)
    names = [kept[at] if at in kept else next(free) for at in range(len(groups))]
    return {each: name for name, own in zip(names, groups, strict=True) for each in own}


def filled(study: Study, typed: Question | None = None) -> tuple[Study, list[Question]]:
    """Return a draft as it will be with one question as it was typed, none of it saved. A new one
    stands last.
    """
    study, questions = copy.copy(study), list(study.questions.all())
    if typed is not None:
        at = next((at for at, each in enumerate(questions) if _are_same(each, typed)), None)
        questions = [*questions, typed] if at is None else questions
        questions[-1 if at is None else at] = copy.copy(typed)
    spend(study, questions)
    for question in questions:
        question.study = study
    return study, questions


def _are_same(saved: Question, typed: Question) -> bool:
    return saved.pk == typed.pk if typed.pk else saved.name == typed.name


def parts(study: Study, typed: Question | None = None) -> dict[str, Decimal]:
    """Return the ε of each question of a draft that is changed on the device, one of them as it was
    typed. Nothing where each has an ε of its own.
    """
    if study.person is None:
        return {}
    return {each.name: each.epsilon for each in filled(study, typed)[1] if _is_on_device(each)}


def share(study: Study) -> None:
    """Fill in how a person's ε is spent on the questions of a saved draft."""
    asked = study.asked
    moved = spend(study, list(study.questions.all()))
    Question.objects.bulk_update(moved, ["epsilon", "together"])
    if study.asked != asked:
        study.save(update_fields=["asked"])


def _names_on_device(questions: Sequence[Question]) -> list[str]:
    return [each.name for each in questions if _is_on_device(each)]


def _is_on_device(question: Question) -> bool:
    return question.protection == Question.Protection.DEVICE


def follow(study: Study, person: Decimal, changed: Sequence[str]) -> dict[str, Any]:
    """Return the terms that were a person's ε and follow it to another: nobody set them apart."""
    if study.person is None or study.budget_id is not None or "cap" in changed:
        return {}
    if study.cap != study.person:
        return {}
    cap = min(person, site.site_limits().cap_ceiling)
    if study.release_epsilon != terms.usual_cost(study):
        return {"cap": cap}
    return {"cap": cap, "release_epsilon": terms.usual_cost(study, cap)}
