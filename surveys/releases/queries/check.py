"""Does a number that was found elsewhere stand in the real answers? A reusable holdout
(dpengine.central.holdout).

The analyst explores something else, a synthetic data set say, as long as they like, and states what
they found: a share of people who gave an answer, or two answers together. What stands costs nothing
more; what does not is answered with a noisy number, of which there are only so many. All answers
together are charged when it starts.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Annotated

from django import forms
from django.utils.translation import gettext as _, gettext_lazy

from dpengine.central.holdout import Holdout, State as HoldoutState
from dpengine.central.numeric import half_width
from dpengine.estimates import Margin, share
from dpengine.privacy import plain
from surveys.messages import message, plural_message
from surveys.releases.numbers import Document, Numbers, Row, Table, interval_within
from surveys.releases.queries.base import Counts, InteractiveQuery, State, plain_scale
from surveys.releases.queries.parameters import (
    ONE_CHOICE,
    Context,
    Epsilon,
    Percent,
    Question,
    SomeQuestions,
    Whole,
    WrongParameter,
    choices_of,
)

IN_CLEAR = Margin(Fraction(1), Fraction(0))
MAX_QUESTIONS, MAX_NUMBERS = 4, 50
USUAL = 100  # questions that the expected error is stated for
ERROR = 0.05
PEOPLE = 0.01  # of it, for a noisy n
STATED = Percent()

MECHANISM = message("reusable holdout, %(count)s numbers, discrete Laplace of scales %(list)s")
SENSITIVITY = message("%(count)s person in every comparison, 1 in every count")
EXPECTED = message(
    "In %(count)s questions all comparisons are right, in 95 of 100 such series, for numbers that "
    "are off by %(points)s points more or less than %(tolerance)s."
)
ADDED = message("A number that is given has ± %(points)s points of chance added.")
TOO_LITTLE = message(
    "That is more than the tolerance: a wrong number may stand. Let it cost more, or allow more "
    "points."
)
APART = message(
    "The real answers are kept apart, with chance drawn for their threshold. State numbers one by "
    "one."
)
CAPTION = message("You found %(percent)s %%")
PAIR = message("%(label)s: %(answer)s and %(other)s: %(group)s")
STANDS = message("it stands")
METHOD = message(
    "Compared with the real answers, within %(tolerance)s points, with chance in both."
)
LEFT = plural_message(
    "%(left)s of %(all)s numbers is left. Question %(number)s.",
    "%(left)s of %(all)s numbers are left. Question %(number)s.",
    number="left",
)


@dataclass(frozen=True)
class Check(InteractiveQuery):
    questions: Annotated[
        tuple[Question, ...],
        SomeQuestions(
            label=gettext_lazy("Questions"),
            help=lambda: (
                _("Which your numbers will be about: at most %(most)s.") % {"most": MAX_QUESTIONS}
            ),
            at_most=MAX_QUESTIONS,
        ),
    ]
    tolerance: Annotated[
        Decimal,  # percentage points
        Percent(
            label=gettext_lazy("It stands within, in percentage points"),
            least=Decimal("0.1"),
            most=Decimal(50),
            initial=Decimal(5),
        ),
    ]
    numbers: Annotated[
        int,
        Whole(
            label=gettext_lazy("Numbers"),
            help=gettext_lazy(
                "How many numbers that do not stand may be answered. More: more chance in each "
                "answer."
            ),
            most=MAX_NUMBERS,
            initial=5,
        ),
    ]
    epsilon: Annotated[
        Decimal, Epsilon(help=gettext_lazy("For all questions together, permanently."))
    ]

    kind = "check"
    title = message("Check numbers found elsewhere", fills="title")
    sentence = gettext_lazy(
        "Enter shares that you found in a synthetic data set, or anywhere else. The query says "
        "whether each holds in the real answers. If not, you get the share with random noise."
    )
    needs = gettext_lazy("It needs a question with choices that is not randomised.")

    @staticmethod
    def fits(question: Question) -> bool:
        return question.is_cleartext and question.kind in ONE_CHOICE

    @cached_property
    def engine(self) -> Holdout:
        strength, tolerance = self.strength(self.epsilon), Fraction(self.tolerance) / 100
        return Holdout.for_epsilon(strength, tolerance, self.numbers, self.neighbours)

    @property
    def mechanism(self) -> str:
        noises = (self.engine.of_threshold, self.engine.of_comparison, self.engine.of_number)
        scales = ", ".join(plain_scale(noise.scale) for noise in noises)
        return MECHANISM(count=self.numbers, list=scales)

    @property
    def sensitivity(self) -> str:
        return SENSITIVITY(count=self.engine.of_threshold.sensitivity)

    @property
    def published(self) -> int:
        return self.numbers

    def covers(self, n: int) -> float:
        return min(1.0, 2 * self._doubtful(n))

    def _doubtful(self, n: int) -> float:
        """Return how near to the tolerance a comparison may go wrong, of 1."""
        return self.engine.doubtful(USUAL, ERROR) / max(n, 1)

    def expected(self, n: int) -> list[str]:
        people = max(n, 1)
        doubtful = 100 * self._doubtful(n)
        added = 196 * self.engine.standard_error / people
        tolerance = str(plain(self.tolerance))
        texts: list[str] = [
            EXPECTED(count=USUAL, points=f"{doubtful:.1f}", tolerance=tolerance),
            ADDED(points=f"{added:.1f}"),
        ]
        return [*texts, TOO_LITTLE()] if doubtful > float(self.tolerance) else texts

    def question_form(self) -> type[forms.Form] | None:
        choices = choices_of({question.name: question for question in self.questions})

        class StatedForm(forms.Form):
            question = forms.ChoiceField(choices=choices, label=_("Question"))
            choice = forms.IntegerField(
                label=_("Answer"), min_value=1, help_text=_("Its place: 1 for the first choice.")
            )
            second = forms.ChoiceField(
                choices=[("", "—"), *choices], required=False, label=_("And")
            )
            second_choice = forms.IntegerField(
                label=_("Answer to that"), min_value=1, required=False
            )
            percent = forms.DecimalField(
                label=_("You found, in percent of all"),
                min_value=0,
                max_value=100,
                decimal_places=1,
            )

        return StatedForm

    def start(self, counts: Counts, n: int) -> State:
        return self.engine.start(sum(counts.values())).document()

    def step(
        self, state: State, counts: Counts, n: int, question: Document | None = None
    ) -> tuple[State, Numbers]:
        """Compare a stated percent with the real answers that meet the conditions."""
        stated = question or {}
        conditions = [self._condition(stated, "question", "choice")]
        if stated.get("second"):
            conditions.append(self._condition(stated, "second", "second_choice"))
            if conditions[0][0] == conditions[1][0]:
                raise WrongParameter("second", _("expected another question than the first"))
        percent = STATED.read(stated.get("percent"), "percent", Context(self.plan, {}))
        everyone = sum(counts.values())
        held = sum(
            people
            for entries, people in counts.items()
            if all(entries[at] == choice for at, choice in conditions)
        )
        before = HoldoutState.read(state)
        if before.left == 0:
            text = _("every number has been given: nothing more can be asked")
            raise WrongParameter("numbers", text)
        after, answer = self.engine.ask(before, Fraction(percent) / 100, held, everyone)
        public = after.people if after.people is not None else everyone
        label = self._label(conditions)
        if answer.stands:
            row = Row(label, STANDS())
        else:
            row = self._share(label, answer.count or 0, public)
        numbers = Numbers(
            tables=[Table(CAPTION(percent=str(plain(percent))), [row])],
            method=METHOD(tolerance=str(plain(self.tolerance))),
            notes=[LEFT(left=after.left, all=self.numbers, number=after.asked)],
            derived=[],
            n=n,
        )
        return after.document(), numbers

    def draw(self, counts: Counts, n: int) -> Numbers:
        """Start, and tell nothing yet: the first question is a step."""
        notes = self.expected(n) if self.n_is_public else []
        return Numbers(tables=[], method=APART(), notes=notes, derived=[], n=n)

    def _condition(self, stated: Document, named: str, placed: str) -> tuple[int, int]:
        """Return which column must hold which choice."""
        name, choice = stated.get(named), stated.get(placed)
        if name not in self.names:
            raise WrongParameter(named, _("expected one of %(names)s"), names=", ".join(self.names))
        at = self.names.index(str(name))
        most = len(self.questions[at].choices)
        if type(choice) is not int or not 1 <= choice <= most:
            raise WrongParameter(
                placed, _("expected a whole number from 1 to %(most)s for this question"), most=most
            )
        return at, choice - 1

    def _label(self, conditions: list[tuple[int, int]]) -> str:
        pairs = [
            (self.questions[at].label, self.questions[at].choices[choice])
            for at, choice in conditions
        ]
        if len(pairs) == 1:
            return ": ".join(pairs[0])
        (label, answer), (other, group) = pairs
        return PAIR(label=label, answer=answer, other=other, group=group)

    def _share(self, label: str, count: int, n: int) -> Row:
        """Return a noisy count as a share of n: of every n that a noisy one does not rule out."""
        holdout, off = self.engine, 0
        if holdout.of_people:
            off = math.ceil(half_width(holdout.of_people.scale, 0.0, PEOPLE))
        confidence = 1 - ERROR + (PEOPLE if off else 0.0)
        most, fewest = (
            share(count, max(people, 1), IN_CLEAR, holdout.of_number, confidence)
            for people in (n + off, n - off)
        )
        estimate = share(count, n, IN_CLEAR, holdout.of_number)
        return Row(
            label,
            100 * estimate.value,
            *interval_within(100 * most.low, 100 * fewest.high, 0.0, 100.0),
            100 * estimate.standard_error,
            "percent",
        )
