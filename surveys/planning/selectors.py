"""What other rooms may ask: how precise a study's publications will be, and what waves cost.

Waves, of which W are planned:
Fresh      A person's ε is shared equally by them, and so is the cap.
Kept       Each has all of a person's ε; from the second on its charge counts in full, beside noise
           that the cap pays for W times. Told is the one that has most.
By hand    One yes/no question, ε = 2, 300 answers, 1.96 standard errors. One wave as it came: ± 7.4
           points. Two and three waves with fresh draws, ε = 1 and .667 in each: ± 12.2 and 17.6, so
           that 2.7 and 5.6 times the people are as precise. Two with a kept key, noise of ε = 1:
           ± 7.5; at the ε 1.47 that needs no reason, 9.1. Published intervals are a little wider:
           7.6, 12.6, 18.0, 7.7, 9.4.
"""

from collections.abc import Container, Mapping, Sequence
from copy import copy
from dataclasses import dataclass

from dpengine.privacy import Neighbours
from surveys.design import blocks, documents, selectors as design, sharing, terms
from surveys.design.models import Draws, Question, Study
from surveys.design.questions import decline
from surveys.plan.content import PlanContent, PlanQuestion
from surveys.plan.records import ONE_ANSWER, answers_of, n_is_public
from surveys.planning.outlook import Outlook as Outlook, outlook as outlook
from surveys.planning.precision import Precision as Precision, noise_of, precision_of
from surveys.planning.questions import (
    HALF,
    QuestionAtEpsilon,
    is_on_request,
    others_of,
    part_asked,
)
from surveys.planning.wishes import FreeWishes as FreeWishes, Planned as Planned


def precisions(
    study: Study,
    contents: Sequence[PlanQuestion],
    n: int,
    sets: Sequence[frozenset[str]] = (),
    only: str = "",
    weights: Sequence[int] = (),
) -> dict[str, Precision]:
    """Return how precise one publication of n answers will be, by question: in the worst case, half
    say yes.

    `contents` are the Plan's questions, all of them, even if `only` one is wanted; a number sent as
    given has none, for no rule publishes it, nor has what is sent as one answer where taking part
    is hidden, for no Plan has both. `sets` are those of which each device draws one, by their
    `weights` or each as likely: a question is answered by as many as are expected to be asked it.
    """
    published = [content for content in contents if not is_on_request(content)]
    publication = terms.publication(study).of_shares(study.unit, study.neighbours, len(published))
    questions = [QuestionAtEpsilon(content, Neighbours(study.neighbours)) for content in published]
    records = answers_of(contents) if study.unit == ONE_ANSWER else sets
    return {
        question.content.name: precision_of(
            question,
            noise_of(question, others_of(question, questions, records), publication),
            max(1, round(n * part_asked(question.content.name, sets, weights))),
            HALF,
        )
        for question in questions
        if only in ("", question.content.name)
        and (question.content.together is None or n_is_public(study.neighbours))
    }


@dataclass(frozen=True, slots=True)
class Price:
    """One way of asking in waves: its ±, and how many times the people it needs."""

    waves: int
    draws: str
    precision: Precision
    times: float
    is_chosen: bool

    @property
    def is_kept(self) -> bool:
        return self.draws == Draws.KEPT

    @property
    def people(self) -> str:
        """Return how many times the people one wave needs, for people: 2.7."""
        return f"{self.times:.1f}"


@dataclass(frozen=True, slots=True)
class Declining:
    """Whether people may decline, and the widest ± of what they may, without and with that."""

    some: bool
    all: bool
    without: str
    with_it: str


def declining(
    study: Study,
    questions: Sequence[Question],
    content: PlanContent,
    listed: int | None = None,
) -> Declining | None:
    """Return what it costs a draft with this Plan that people may decline each randomised question
    of one choice; nothing where no ± is known.
    """
    own = {each.name: each.may_decline for each in questions if blocks.can_be_joined(each)}
    halves = []
    for offered in (False, True):
        is_so = all(each == offered for each in own.values())
        other = content if is_so else _declining(study, questions, own, offered=offered)
        learned = outlook(other, study.expected, listed).of(own) if other else []
        if not learned:  # none of them is whole yet
            return None
        halves.append(max(learned, key=lambda each: each.part).half)
    return Declining(any(own.values()), all(own.values()), *halves)


def _declining(
    study: Study, questions: Sequence[Question], names: Container[str], *, offered: bool
) -> PlanContent | None:
    """Return the Plan of a draft if these questions could be declined, or could not."""
    planned, asked = copy(study), [copy(question) for question in questions]
    for question in (each for each in asked if each.name in names):
        decline(question, offered=offered)
    sharing.spend(planned, asked)
    return _content(planned, asked)


def prices(study: Study, questions: Sequence[Question]) -> list[Price]:
    """Return what one wave, and several, would leave of a draft at the answers expected; nothing
    where no ± is known, or its first Plan is older than waves that are planned.
    """
    if not study.expected or not study.says_waves:
        return []
    several = [study.planned] if study.planned > 1 else [2, 3]
    ways = [(1, Draws.FRESH), *((waves, Draws.FRESH) for waves in several)]
    if not study.is_invited:
        ways += [(waves, Draws.KEPT) for waves in several]
    found = [(waves, draws, _widest(study, questions, waves, draws)) for waves, draws in ways]
    known = [(waves, draws, width) for waves, draws, width in found if width is not None]
    if len(known) < len(found):
        return []
    least = known[0][2].half
    chosen = (study.planned, terms.draws(study))
    return [
        Price(waves, str(draws), width, (width.half / least) ** 2, (waves, draws) == chosen)
        for waves, draws, width in known
    ]


def _widest(
    study: Study, questions: Sequence[Question], waves: int, draws: Draws
) -> Precision | None:
    """Return the ± of the share that is least precise in the wave that has most noise."""
    planned = copy(study)
    planned.waves, planned.draws = waves, str(draws)
    planned.wave = waves if draws == Draws.KEPT else 1
    if study.release_epsilon == terms.usual_cost(study):
        planned.release_epsilon = terms.usual_cost(planned)
    limits = design.site_limits()
    if study.person == sharing.usual_person(limits, study):
        planned.person = sharing.usual_person(limits, planned)
    content = _content(planned, _spent_in(planned, study, questions))
    if content is None:
        return None
    weights = content.weights if content.drawn else []
    widths = precisions(
        planned, content.questions, int(study.expected or 0), content.drawn_sets, weights=weights
    )
    return widest_share(widths)


def widest_share(widths: Mapping[str, Precision]) -> Precision | None:
    """Return the widest of the intervals of shares: what a study is worth at its weakest."""
    shares = [each for each in widths.values() if not each.is_mean]
    return max(shares, key=lambda each: each.half, default=None)


def _spent_in(planned: Study, study: Study, questions: Sequence[Question]) -> list[Question]:
    """Return the questions as one of the waves asks them: a person's ε is spent as in a draft of so
    many waves, or of an ε of its own each has its part.
    """
    asked = [copy(question) for question in questions]
    sharing.spend(planned, asked)
    for question in asked if planned.person is None else ():
        whole = terms.in_all_waves(study, question.epsilon)
        question.epsilon = terms.in_a_wave(planned, whole)
    return asked


def _content(study: Study, questions: Sequence[Question]) -> PlanContent | None:
    try:
        return documents.compose(study, questions, []) if questions else None
    except ValueError:
        return None  # what is not whole yet is said at its question
