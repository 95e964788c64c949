"""Does a number that was found elsewhere stand in the real answers? A reusable holdout (dpengine.central.holdout).

The analyst explores something else, a synthetic data set say, as long as they like, and states what they found: a share
of people who gave an answer, or two answers together. What stands costs nothing more; what does not is answered with a
noisy number, of which there are only so many. All answers together are charged when it starts.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Self

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dpengine.central.holdout import Answer, Holdout, State
from dpengine.central.numeric import half_width
from dpengine.estimates import Margin, share
from dpengine.privacy import Cost, Neighbours, plain
from surveys.design.models import Plan
from surveys.releases.asked.base import (
    Counts,
    EpsilonInput,
    Numbers,
    Refused,
    epsilon_of,
    epsilon_text,
    neighbours_of,
    question_choices,
    questions_of,
)

KINDS = ("yes_no", "single", "likert")
OPEN = Margin(Fraction(1), Fraction(0))
MOST_QUESTIONS = 4
USUAL = 100  # questions that the expected error is stated for
ERROR = 0.05
PEOPLE = 0.01  # of it, for a noisy n


@dataclass(frozen=True)
class Check:
    asked: tuple[dict[str, Any], ...]
    tolerance: str  # percent
    epsilon: str
    neighbours: Neighbours
    holdout: Holdout

    kind: ClassVar[str] = "check"
    title: ClassVar[str | Promise] = gettext_lazy("Check numbers found elsewhere")
    sentence: ClassVar[str | Promise] = gettext_lazy(
        "State shares that you found in a synthetic data set, or anywhere else. You are told whether each stands in "
        "the real answers; if it does not, you get the share with chance added."
    )

    @classmethod
    def form(cls, plan: Plan) -> type[forms.Form] | None:
        choices = question_choices(_fitting(plan))
        if not choices:
            return None

        class CheckForm(forms.Form):
            questions = forms.MultipleChoiceField(
                choices=choices,
                widget=forms.CheckboxSelectMultiple,
                help_text=_("Which your numbers will be about: at most %(most)s.") % {"most": MOST_QUESTIONS},
                label=_("Questions"),
            )
            tolerance = forms.DecimalField(
                label=_("It stands within, in percentage points"),
                min_value=Decimal("0.1"),
                max_value=Decimal(50),
                decimal_places=1,
                initial=Decimal(5),
            )
            numbers = forms.IntegerField(
                min_value=1,
                max_value=50,
                initial=5,
                help_text=_("How many numbers that do not stand may be answered. More: more chance in each answer."),
                label=_("Numbers"),
            )
            epsilon = EpsilonInput(help_text=_("For all questions together, for good."))

        return CheckForm

    @classmethod
    def read(cls, plan: Plan, parameters: Mapping[str, Any]) -> Self:
        questions, wanted = _fitting(plan), parameters.get("questions")
        right = isinstance(wanted, list) and 1 <= len(wanted) <= MOST_QUESTIONS
        if not right or any(name not in questions for name in wanted or ()):
            raise Refused(
                "questions",
                _("expected 1 to %(most)s of %(names)s") % {"most": MOST_QUESTIONS, "names": ", ".join(questions)},
            )
        tolerance = _percent(parameters, "tolerance", Decimal("0.1"), Decimal(50))
        numbers = parameters.get("numbers")
        if type(numbers) is not int or not 1 <= numbers <= 50:
            raise Refused("numbers", _("expected a whole number from 1 to 50"))
        epsilon = epsilon_of(parameters)
        neighbours = neighbours_of(plan)
        holdout = Holdout.for_epsilon(Fraction(epsilon), Fraction(tolerance) / 100, numbers, neighbours)
        asked = tuple(question for name, question in questions.items() if name in (wanted or ()))
        return cls(asked, str(plain(tolerance)), epsilon_text(epsilon), neighbours, holdout)

    def document(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            "numbers": self.holdout.numbers,
            "questions": list(self.questions),
            "tolerance": self.tolerance,
        }

    @property
    def questions(self) -> tuple[str, ...]:
        return tuple(question["name"] for question in self.asked)

    @property
    def cost(self) -> Cost:
        return self.holdout.cost

    @property
    def mechanism(self) -> str:
        parts = (self.holdout.of_threshold, self.holdout.of_comparison, self.holdout.of_number)
        scales = ", ".join(f"{part.scale:.6g}" for part in parts)
        return f"reusable holdout, {self.holdout.numbers} numbers, discrete Laplace of scales {scales}"

    @property
    def sensitivity(self) -> str:
        return f"{self.holdout.of_threshold.sensitivity} person in every comparison, 1 in every count"

    def expected(self, n: int) -> list[str]:
        people = max(n, 1)
        doubtful = 100 * self.holdout.doubtful(USUAL, ERROR) / people
        said = [
            f"In {USUAL} questions all comparisons are right, in 95 of 100 such series, for numbers that are off by "
            f"{doubtful:.1f} points more or less than {self.tolerance}.",
            f"A number that is given has ± {196 * self.holdout.standard_error / people:.1f} points of chance added.",
        ]
        if doubtful > float(self.tolerance):
            said.append(
                "That is more than the tolerance: a wrong number may stand. Let it cost more, or allow more points."
            )
        return said

    def question_form(self, plan: Plan) -> type[forms.Form] | None:
        choices = question_choices({question["name"]: question for question in self.asked})

        class StatedForm(forms.Form):
            question = forms.ChoiceField(choices=choices, label=_("Question"))
            choice = forms.IntegerField(
                label=_("Answer"), min_value=1, help_text=_("Its place: 1 for the first choice.")
            )
            second = forms.ChoiceField(choices=[("", "—"), *choices], required=False, label=_("And"))
            second_choice = forms.IntegerField(label=_("Answer to that"), min_value=1, required=False)
            percent = forms.DecimalField(
                label=_("You found, in percent of all"), min_value=0, max_value=100, decimal_places=1
            )

        return StatedForm

    def start(self, counts: Counts, n: int) -> dict[str, Any]:
        return self.holdout.start(sum(counts.values())).document()

    def step(
        self, state: dict[str, Any], counts: Counts, n: int, question: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], Numbers]:
        conditions, percent = self._stated(question or {})
        everyone = sum(counts.values())
        held = sum(people for entries, people in counts.items() if all(entries[at] == c for at, c in conditions))
        before = State.read(state)
        if before.left == 0:
            raise Refused("numbers", _("all have been given: nothing more can be asked"))
        after, answer = self.holdout.ask(before, Fraction(percent) / 100, held, everyone)
        public = after.people if after.people is not None else everyone
        return after.document(), self._numbers(answer, after, self._label(conditions), percent, public)

    def draw(self, counts: Counts, n: int) -> Numbers:
        """Start, and tell nothing yet: the first question is a step."""
        return {
            "tables": [],
            "method": "The real answers are kept apart, with chance drawn for their threshold. State numbers one by "
            "one.",
            "notes": self.expected(n) if self.neighbours is Neighbours.CHANGE_ONE else [],
            "derived": [],
        }

    def _stated(self, question: Mapping[str, Any]) -> tuple[list[tuple[int, int]], Decimal]:
        """Read a step's question: which columns must hold which choice, and the percent that was stated."""
        conditions = [self._condition(question, "question", "choice")]
        if question.get("second"):
            conditions.append(self._condition(question, "second", "second_choice"))
            if conditions[0][0] == conditions[1][0]:
                raise Refused("second", _("expected another question than the first"))
        return conditions, _percent(question, "percent", Decimal(0), Decimal(100))

    def _condition(self, question: Mapping[str, Any], named: str, placed: str) -> tuple[int, int]:
        name, choice = question.get(named), question.get(placed)
        if name not in self.questions:
            raise Refused(named, _("expected one of %(names)s") % {"names": ", ".join(self.questions)})
        at = self.questions.index(str(name))
        most = len(self.asked[at]["choices"])
        if type(choice) is not int or not 1 <= choice <= most:
            raise Refused(placed, _("expected a whole number from 1 to %(most)s for this question") % {"most": most})
        return at, choice - 1

    def _label(self, conditions: list[tuple[int, int]]) -> str:
        said = [f"{self.asked[at]['label']}: {self.asked[at]['choices'][choice]}" for at, choice in conditions]
        return " and ".join(said)

    def _numbers(self, answer: Answer, state: State, label: str, percent: Decimal, n: int) -> Numbers:
        row: dict[str, Any] = {"label": label, "low": None, "high": None, "standard_error": None, "unit": "percent"}
        if answer.stands:
            row |= {"value": "it stands", "unit": ""}
        elif answer.count is not None:
            row |= self._share(answer.count, n)
        return {
            "tables": [{"caption": f"You found {plain(percent)} %", "rows": [row]}],
            "method": f"Compared with the real answers, within {self.tolerance} points, with chance in both.",
            "notes": [f"{state.left} of {self.holdout.numbers} numbers are left. Question {state.asked}."],
            "derived": [],
        }

    def _share(self, count: int, n: int) -> dict[str, float]:
        """Return a noisy count as a share of n: of every n that a noisy one does not rule out."""
        off = math.ceil(half_width(self.holdout.of_people.scale, 0.0, PEOPLE)) if self.holdout.of_people else 0
        confidence = 1 - ERROR + (PEOPLE if off else 0.0)
        most, fewest = (
            share(count, max(people, 1), OPEN, self.holdout.of_number, confidence) for people in (n + off, n - off)
        )
        found = share(count, n, OPEN, self.holdout.of_number)
        return {
            "value": 100 * found.value,
            "low": max(100 * most.low, 0.0),
            "high": min(100 * fewest.high, 100.0),
            "standard_error": 100 * found.standard_error,
        }


def _fitting(plan: Plan) -> dict[str, dict[str, Any]]:
    return questions_of(plan, protection="publication", kinds=KINDS)


def _percent(parameters: Mapping[str, Any], name: str, least: Decimal, most: Decimal) -> Decimal:
    try:
        percent = Decimal(str(parameters[name]))
    except (KeyError, ArithmeticError):
        raise Refused(
            name, _("expected a decimal from %(least)s to %(most)s") % {"least": least, "most": most}
        ) from None
    if not percent.is_finite() or not least <= percent <= most or percent != round(percent, 1):
        raise Refused(
            name,
            _("expected a decimal from %(least)s to %(most)s, with one place, got %(got)s")
            % {"least": least, "most": most, "got": percent},
        )
    return percent
