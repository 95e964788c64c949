"""What an ε does: odds, what a guess becomes, a person's answers together, a household, the error.

Everything is computed from the channel's own integers, never from the ε that somebody typed, and
from no answer.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

import msgspec
from django.utils.translation import gettext as _, ngettext

from dpengine.privacy import epsilon_above, plain
from surveys.design import combinations, documents, selectors as design, sharing, terms
from surveys.design.models import Neighbours, Question, Study, Unit
from surveys.design.questions import content_of
from surveys.guesses import CLOSE, FAIR, Guess, even_guess_within, guesses, is_risky
from surveys.plan.content import PlanContent, PlanQuestion
from surveys.plan.records import answers_of, most_answers
from surveys.plan.verification import MAXIMUM_TOTAL
from surveys.planning import selectors as planning

MAX_HOUSEHOLD = 5


@dataclass(frozen=True)
class QuestionRisk:
    """What one answer to a question gives away on its way: everything, if it is sent as given."""

    name: str
    label: str
    is_cleartext: bool
    question: PlanQuestion | None = None
    problem: str = ""  # why no Plan could have this question

    @classmethod
    def of_plan(cls, question: PlanQuestion) -> "QuestionRisk":
        return cls(question.name, question.label, question.is_cleartext, question)

    @classmethod
    def of_draft(cls, drafted: Question, among: Sequence[Question]) -> "QuestionRisk":
        try:
            content = content_of(drafted, among)
            if content.asked_if is not None:
                return cls.of_plan(content)
            told = msgspec.structs.replace(content, follows=drafted.asked_if)  # whatever is
            return cls.of_plan(told.sent_with(content.together))  # protected now
        except (ValueError, TypeError) as error:
            is_cleartext = drafted.protection == Question.Protection.PUBLICATION
            return cls(drafted.name, drafted.label, is_cleartext, problem=str(error))

    @property
    def loss(self) -> Fraction | None:
        """Return e^ε of one answer; None if it is sent as given, or cannot be asked."""
        return None if self.question is None else self.question.loss

    @property
    def epsilon(self) -> str:
        return "∞" if self.loss is None else f"{epsilon_above(self.loss, 2)}"

    @property
    def tone(self) -> str:
        """Return how near to knowing: calm, fair or close."""
        if self.loss is None or self.loss > CLOSE:
            return "close"
        return "calm" if self.loss <= FAIR else "fair"

    @property
    def odds_text(self) -> str:
        """Return the odds of the choice that people see first, as a sentence; none of a number."""
        if self.question is None or self.question.is_cleartext:
            return ""
        every = design.odds_of(self.question)
        if not every:
            return ""  # its reports are no choices: its ε and its guesses say it
        odds = every[self.question.shown_order[0]]
        if self.question.kind == "yes_no" and odds.choices == 2:
            no, yes = self.question.choices[:2]
            return _(
                "Of 100 people who answer “%(yes)s”, %(own)s send “%(yes)s” and %(rest)s send "
                "“%(no)s”."
            ) % {"yes": yes, "no": no, "own": odds.own_said, "rest": odds.rest_said}
        shares = {"own": odds.own_said, "luck": odds.luck_of_hundred}
        if odds.size == 1:
            return (
                _("Of 100 people, %(own)s send their own answer (blind guess: %(luck)d).") % shares
            )
        return (
            _(
                "Of 100 people, %(own)s send a message that holds their own answer (blind guess: "
                "%(luck)d)."
            )
            % shares
        )

    @property
    def reason(self) -> str:
        """Return why its answers are changed as they are; nothing where there is no choice."""
        return design.reason_for_channel(self.question) if self.question else ""

    @property
    def guesses(self) -> list[Guess]:
        return guesses(self.loss) if self.loss is not None else []


@dataclass(frozen=True)
class StudyRisk:
    """What a study's ε do, question by question and together."""

    questions: list[QuestionRisk]
    household: int
    widths: dict[str, planning.Precision]
    expected: int | None
    study: Study
    sets: Sequence[frozenset[str]] = ()  # of which a device draws one; none: all is asked
    weights: Sequence[int] = ()  # of the sets; none: each is as likely

    @property
    def randomised(self) -> list[QuestionRisk]:
        """Return the questions whose answers are changed on the device, and can be."""
        return [question for question in self.questions if question.loss is not None]

    @property
    def cleartext(self) -> list[QuestionRisk]:
        return [question for question in self.questions if question.is_cleartext]

    @cached_property
    def loss(self) -> Fraction:
        """Return e^ε of all answers of one person that are changed on the device: their product, in
        the set that loses most.
        """
        return documents.loss_of_sets(self.contents, self.sets)

    @property
    def contents(self) -> list[PlanQuestion]:
        """Return the questions as their Plan has them, of those that can be asked."""
        return [risk.question for risk in self.questions if risk.question is not None]

    @cached_property
    def loss_of_record(self) -> Fraction:
        """Return the same of what publications protect: of one answer with what follows from it, or
        of a person.
        """
        if self.study.unit != Unit.ANSWER_IN_STUDY:
            return self.loss
        return documents.loss_of_sets(self.contents, answers_of(self.contents))

    @property
    def answers(self) -> int:
        """Return how many answers one person gives at most, each with what follows from it."""
        return most_answers(self.contents, self.sets) if self.contents else 0

    @property
    def cap(self) -> Decimal:
        return plain(self.study.cap)

    @property
    def together(self) -> Decimal:
        """Return the ε that all these can lose where publications protect one of them."""
        return plain(self.answers * self.study.cap)

    @property
    def guess_together(self) -> str:
        return even_guess_within(self.together)

    @property
    def asked(self) -> int:
        """Return how many of the randomised questions a person is asked, at most."""
        names = {each.name for each in self.randomised}
        return max((len(names & each) for each in self.sets), default=len(names))

    @property
    def loss_of_reports(self) -> Fraction | None:
        """Return e^ε of all that is sent of what publications protect; None where some answers are
        sent as given, or cannot be asked.
        """
        is_known = bool(self.questions) and len(self.randomised) == len(self.questions)
        return self.loss_of_record if is_known else None

    @property
    def epsilon(self) -> Decimal:
        return epsilon_above(self.loss, 2)

    @property
    def household_loss(self) -> Fraction:
        return self.loss**self.household

    @property
    def is_too_much(self) -> bool:
        """Tell whether no browser would answer: a Plan may lose e^8 in all at most."""
        return self.loss > MAXIMUM_TOTAL

    @property
    def worst(self) -> QuestionRisk | None:
        """Return the question whose answer gives away most."""
        return max(self.randomised, key=lambda question: question.loss or Fraction(1), default=None)

    @property
    def beliefs(self) -> list[tuple[str, Guess]]:
        """Return what a guess becomes, by one answer, all of a person's, and a household's."""
        if self.worst is None or self.worst.loss is None:
            return []
        labels = (_("Hardly believed it"), _("Had no idea"), _("Was fairly sure"))
        beliefs = list(zip(labels, guesses(self.worst.loss), strict=True))
        count = self.asked
        if count > 1:
            together = ngettext(
                "No idea, %(count)d answer", "No idea, all %(count)d answers together", count
            ) % {"count": count}
            beliefs.append((together, Guess(50, self.loss)))
        if self.household > 1:
            label = _("No idea, a household of %(people)d answers all") % {"people": self.household}
            beliefs.append((label, Guess(50, self.household_loss)))
        return beliefs

    @property
    def household_odds(self) -> str:
        """Return the odds that a household's answers give away, whole; large ones in words."""
        odds = int(self.household_loss)
        return f"{odds:,}" if odds <= 1_000_000 else _("more than a million")

    @property
    def household_is_risky(self) -> bool:
        return self.household > 1 and is_risky(self.household_loss)

    @property
    def precision(self) -> list[tuple[str, str, str]]:
        """Return label, ε and the error that is left, question by question; nothing if none is
        known.
        """
        lines = []
        for question in self.questions:
            width = self.widths.get(question.name)
            if question.problem or (width is None and self.headline is None):
                continue
            error = _("as asked for") if width is None else f"± {width.said} {width.unit}"
            epsilon = "" if self.headline is None else f"ε {question.epsilon}"
            lines.append((question.label, epsilon, error))
        return lines

    @property
    def headline(self) -> planning.Precision | None:
        """Return the widest of the intervals of shares: what the study is worth at its weakest."""
        return planning.widest_share(self.widths)


@dataclass(frozen=True, slots=True)
class Protection:
    """Whom publications would protect, or what of them, and the ± that would be left; or why it
    cannot be.
    """

    label: str
    precision: planning.Precision | None
    is_chosen: bool
    problem: str


def protections(risk: StudyRisk, questions: Sequence[Question]) -> list[Protection]:
    """Return what each choice would cost at the question that is least precise, all else as it is
    but what follows from it, or why it cannot be; nothing where no ± is known.
    """
    study, found = risk.study, []
    name = "" if risk.headline is None else risk.headline.question.content.name
    if risk.expected is None or not risk.contents:
        return []
    choices = [("unit", unit) for unit in Unit if unit != Unit.RESPONDENT_IN_WAVE]
    for field, choice in [*choices, *(("neighbours", each) for each in Neighbours)]:
        chosen, widths = copy(study), {}
        setattr(chosen, field, choice)
        own = _spent_anew(chosen, questions) if field == "neighbours" else risk
        if not (problem := _problem_of_protection(chosen, own.contents)):
            widths = planning.precisions(
                chosen, own.contents, risk.expected, own.sets, name, own.weights
            )
        is_chosen = getattr(study, field) == choice
        found.append(
            Protection(str(choice.label), planning.widest_share(widths), is_chosen, problem)
        )
    return found if any(each.precision for each in found) else []


def _spent_anew(study: Study, questions: Sequence[Question]) -> StudyRisk:
    """Return what a draft does as a person's ε is spent on it with these terms."""
    asked = [copy(question) for question in questions]
    sharing.spend(study, asked)
    return of_draft(study, asked, household=1)


def _problem_of_protection(study: Study, contents: Sequence[PlanQuestion]) -> str:
    """Return why publications of a draft cannot protect whom they do, all else as it is; or
    nothing, also where something else is wrong with it.
    """
    sent = "as one" if any(content.together for content in contents) else "apart"
    options = {**combinations.chosen(study), "sent": sent}
    found = combinations.problems(options, of=("unit", "protects"))
    of_panel = terms.problems_of_panel(study).get("neighbours", "")
    return next((problem for _field, problem in found), of_panel)


def of_draft(study: Study, questions: Sequence[Question], *, household: int) -> StudyRisk:
    """Return what a draft does with these questions, saved or not."""
    risks = [QuestionRisk.of_draft(question, questions) for question in questions]
    sets, contents = documents.sets_of_names(study, questions), [risk.question for risk in risks]
    weights = documents.weights_of_sets(study, questions, filter(None, contents))
    return _of(risks, study, household, sets, weights)


def loss_of_draft(study: Study, questions: Sequence[Question]) -> Fraction:
    """Return e^ε of one person with these questions, saved or not."""
    risks = [QuestionRisk.of_draft(question, questions) for question in questions]
    return StudyRisk(risks, 1, {}, None, study, documents.sets_of_names(study, questions)).loss


def of_plan(study: Study, content: PlanContent | None, *, household: int) -> StudyRisk:
    """Return what the newest Plan does; nothing of a study that never opened."""
    questions = content.questions if content else []
    risks = [QuestionRisk.of_plan(question) for question in questions]
    if content is None:
        return _of([], study, household, [], [])
    weights = content.weights if content.drawn else []
    return _of(risks, study, household, content.drawn_sets, weights)


def _of(
    questions: list[QuestionRisk],
    study: Study,
    household: int,
    sets: Sequence[frozenset[str]],
    weights: Sequence[int],
) -> StudyRisk:
    whole, widths = [risk.question for risk in questions if risk.question is not None], {}
    if study.expected and whole:
        widths = planning.precisions(study, whole, study.expected, sets, weights=weights)
    return StudyRisk(questions, household, widths, study.expected, study, sets, weights)
