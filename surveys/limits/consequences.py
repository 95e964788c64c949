"""What an ε does: odds, what a guess becomes, one person's answers together, a household, the error that is left.

Everything is computed from the channel's own integers, never from the ε that somebody typed, and from no answer.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dpengine.privacy import epsilon_above, loss_of_all
from surveys.design import documents
from surveys.design import queries as design
from surveys.design.models import Question, Study
from surveys.design.queries import Odds, at_most_of_hundred
from surveys.planning import queries as planning
from surveys.planning.queries import HalfWidth

FAIR, CLOSE = Fraction(3), Fraction(9)  # 75 : 25 and 90 : 10
GUESSES = (10, 50, 90)
LARGEST_HOUSEHOLD = 5
USUAL_HOUSEHOLD = 3


@dataclass(frozen=True, slots=True)
class Guess:
    """How sure somebody was, in 100, and can become at most by seeing what was sent."""

    before: int
    loss: Fraction

    @property
    def chance(self) -> Fraction:
        prior = Fraction(self.before, 100)
        return prior * self.loss / (prior * self.loss + 1 - prior)

    @property
    def after(self) -> str:
        """Return it as people of 100, rounded up: it is said as "at most"."""
        return at_most_of_hundred(self.chance)

    @property
    def x(self) -> str:
        """Return where it stands in a picture, in percent."""
        return f"{float(100 * self.chance):.1f}%"

    @property
    def is_risky(self) -> bool:
        return self.loss > CLOSE


@dataclass(frozen=True)
class Answer:
    """One question, and what one answer to it gives away on its way: everything, where it is sent as given."""

    question: Question | None  # of a draft
    content: dict[str, Any]
    problem: str = ""

    @property
    def name(self) -> str:
        return str(self.content["name"])

    @property
    def label(self) -> str:
        return str(self.content["label"])

    @property
    def is_given(self) -> bool:
        return bool(self.content["protection"] == documents.PUBLICATION)

    @cached_property
    def loss(self) -> Fraction | None:
        if self.is_given or self.problem:
            return None
        return documents.loss_of_question(self.content)

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
    def tone_said(self) -> str:
        said = {
            "calm": _("Little better than luck."),
            "fair": _("A fair hint."),
            "close": _("Close to knowing."),
        }
        return said[self.tone]

    @cached_property
    def odds(self) -> Odds | None:
        try:
            found = design.odds_of(self.content)
        except ValueError:
            return None  # a kind whose reports are no choices: its ε and its guesses say it
        return found[design.shown_order(self.content)[0]] if found else None

    @property
    def said(self) -> str:
        """Say the odds in one sentence."""
        odds = self.odds
        if odds is None or self.loss is None:
            return ""
        if self.content["kind"] == "yes_no" and odds.choices == 2:
            yes, no = self.content["choices"][1], self.content["choices"][0]
            return _("Of 100 people who answer “%(yes)s”, %(own)s send “%(yes)s” and %(rest)s send “%(no)s”.") % {
                "yes": yes, "no": no, "own": odds.own_said, "rest": odds.rest_said,
            }  # fmt: skip
        if odds.size == 1:
            return _("Of 100 people, %(own)s send their own answer; luck alone is %(luck)d.") % {
                "own": odds.own_said,
                "luck": odds.luck_of_hundred,
            }
        return _("Of 100 people, %(own)s send a message that holds their own answer; luck alone is %(luck)d.") % {
            "own": odds.own_said,
            "luck": odds.luck_of_hundred,
        }

    @property
    def guesses(self) -> list[Guess]:
        return guesses(self.loss) if self.loss is not None else []


@dataclass(frozen=True)
class Consequences:
    """What a study's ε do, question by question and together."""

    answers: list[Answer]
    household: int
    widths: dict[str, HalfWidth]
    expected: int | None

    @property
    def changed(self) -> list[Answer]:
        """Return the questions whose answers are changed on the device, and can be."""
        return [answer for answer in self.answers if answer.loss is not None]

    @property
    def given(self) -> list[Answer]:
        return [answer for answer in self.answers if answer.is_given]

    @cached_property
    def loss(self) -> Fraction:
        """Return e^ε of all answers of one person that are changed on the device: their product."""
        return loss_of_all(answer.loss for answer in self.changed if answer.loss is not None)

    @property
    def epsilon(self) -> Decimal:
        return epsilon_above(self.loss, 2)

    @property
    def group_epsilon(self) -> Decimal:
        return epsilon_above(self.loss**self.household, 2)

    @property
    def is_too_much(self) -> bool:
        """Tell whether no browser would answer: a Plan may lose e^8 in all at most."""
        return self.loss > documents.MAXIMUM_TOTAL

    @property
    def most(self) -> Answer | None:
        """Return the question whose answer gives away most."""
        return max(self.changed, key=lambda answer: answer.loss or Fraction(1), default=None)

    @property
    def rows(self) -> list[tuple[str, Guess]]:
        """Return what a guess becomes, in words: by one answer, by all of a person's, by those of a household."""
        if self.most is None or self.most.loss is None:
            return []
        words = (_("Hardly believed it"), _("Had no idea"), _("Was fairly sure"))
        found = list(zip(words, guesses(self.most.loss), strict=True))
        count = len(self.changed)
        if count > 1:
            together = ngettext(
                "No idea, %(count)d answer", "No idea, all %(count)d answers together", count
            ) % {"count": count}  # fmt: skip
            found.append((together, Guess(50, self.loss)))
        if self.household > 1:
            text = _("No idea, a household of %(people)d answers all") % {"people": self.household}
            found.append((text, Guess(50, self.loss**self.household)))
        return found

    @property
    def group_odds(self) -> str:
        """Return the odds that a household's answers give away, as a whole number; big ones in words."""
        odds = int(self.loss**self.household)
        return f"{odds:,}" if odds <= 1_000_000 else _("more than a million")

    @property
    def household_is_risky(self) -> bool:
        return self.household > 1 and self.loss**self.household > CLOSE

    @property
    def precise(self) -> list[tuple[Answer, HalfWidth | None]]:
        return [(answer, self.widths.get(answer.name)) for answer in self.answers if not answer.problem]

    @property
    def headline(self) -> HalfWidth | None:
        """Return the widest of the intervals of shares: what the study is worth at its weakest."""
        shares = [width for width in self.widths.values() if not width.is_mean]
        return max(shares, key=lambda width: width.total, default=None)


def guesses(loss: Fraction) -> list[Guess]:
    return [Guess(before, loss) for before in GUESSES]


def of_draft(study: Study, questions: Sequence[Question], *, household: int) -> Consequences:
    """Return what a draft does with these questions, saved or not."""
    return _of([_asked(question) for question in questions], study, household)


def of_plan(study: Study, content: dict[str, Any], *, household: int) -> Consequences:
    return _of([Answer(None, question) for question in content["questions"]], study, household)


def _of(answers: list[Answer], study: Study, household: int) -> Consequences:
    whole = [answer.content for answer in answers if not answer.problem]
    widths = planning.half_widths(study, whole, study.expected) if study.expected and whole else {}
    return Consequences(answers, household, widths, study.expected)


def _asked(question: Question) -> Answer:
    try:
        return Answer(question, documents.content_of(question))
    except (ValueError, TypeError) as error:
        bare = {"name": question.name, "label": question.label, "protection": str(question.protection), "kind": ""}
        return Answer(question, bare, problem=str(error))


def days_until(day: datetime.date | None, today: datetime.date) -> int | None:
    return (day - today).days if day is not None else None
