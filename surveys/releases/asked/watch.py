"""Tell me when the share of an answer passes a limit: one charge, however often it is asked before.

The mechanism is dpengine.central.sparse_vector. Its queries are counts of reports that hold the answer, its thresholds
what the limit comes to in reports, after the odds of the device. Both grow as batches are sealed; one person moves all
the counts the same way. Where n is not public, the query is den·count − num·n instead, against 0.
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

from dpengine.central.sparse_vector import AboveThreshold, State
from dpengine.estimates import Margin
from dpengine.privacy import Cost, Neighbours, plain
from surveys.design import documents
from surveys.design.models import Plan
from surveys.releases.asked.base import (
    Counts,
    EpsilonInput,
    Numbers,
    Refused,
    epsilon_of,
    epsilon_text,
    neighbours_of,
    question_of,
    questions_of,
)

KINDS = ("yes_no", "single", "likert")
FINE = 10**6  # of a limit in reports: rounded up to a millionth, so that it is never passed too early
USUAL = 52  # steps that the expected error is stated for
OPEN = Margin(Fraction(1), Fraction(0))


@dataclass(frozen=True)
class Watch:
    question: dict[str, Any]
    choice: int
    percent: str
    epsilon: str
    neighbours: Neighbours
    watcher: AboveThreshold
    limit: Fraction  # share of reports

    kind: ClassVar[str] = "watch"
    title: ClassVar[str | Promise] = gettext_lazy("Tell me when a share passes a limit")
    sentence: ClassVar[str | Promise] = gettext_lazy(
        "Looks after every batch of answers and says only “not yet” or “passed”, and ends when it has said “passed”. "
        "All its looks together cost what one does."
    )

    @classmethod
    def form(cls, plan: Plan) -> type[forms.Form] | None:
        questions = questions_of(plan, kinds=KINDS)
        if not questions:
            return None

        class WatchForm(forms.Form):
            answer = forms.ChoiceField(choices=_answers(questions), label=_("Answer to watch"))
            percent = forms.DecimalField(
                label=_("Limit, in percent"), min_value=Decimal("0.1"), max_value=Decimal("99.9"), decimal_places=1
            )
            epsilon = EpsilonInput()

        return WatchForm

    @classmethod
    def read(cls, plan: Plan, parameters: Mapping[str, Any]) -> Self:
        questions = questions_of(plan, kinds=KINDS)
        name, choice = _named(parameters)
        question = question_of({"answer": name}, "answer", questions, plan)
        if not 1 <= choice <= len(question["choices"]):
            raise Refused(
                "answer",
                _("expected one of the %(count)s answers of this question") % {"count": len(question["choices"])},
            )
        percent = _percent(parameters)
        epsilon = epsilon_of(parameters)
        margin = _margins(question)[choice - 1]
        limit = _limit(margin, Fraction(percent) / 100)
        neighbours = neighbours_of(plan)
        public = neighbours is Neighbours.CHANGE_ONE
        reach = 1 if public else max(limit.numerator, limit.denominator - limit.numerator)
        watcher = AboveThreshold.for_epsilon(Fraction(epsilon), sensitivity=reach, monotonic=True)  # batches only grow
        return cls(question, choice, str(plain(percent)), epsilon_text(epsilon), neighbours, watcher, limit)

    def document(self) -> dict[str, Any]:
        return {
            "answer": f"{self.question['name']}/{self.choice}",
            "epsilon": self.epsilon,
            "percent": self.percent,
        }

    @property
    def questions(self) -> tuple[str, ...]:
        return (self.question["name"],)

    @property
    def cost(self) -> Cost:
        return self.watcher.cost

    @property
    def mechanism(self) -> str:
        scales = self.watcher.of_threshold.scale, self.watcher.of_query.scale
        return f"sparse vector, discrete Laplace of scale {scales[0]:.6g} and {scales[1]:.6g}"

    @property
    def sensitivity(self) -> str:
        return "every count by 1, all the same way" if self._is_public else "n and every count by 1, all the same way"

    @property
    def _is_public(self) -> bool:
        return self.neighbours is Neighbours.CHANGE_ONE

    def expected(self, n: int) -> list[str]:
        unit = 1 if self._is_public else self.limit.denominator
        reports = self.watcher.accuracy(USUAL) / unit
        points = 100 * reports / max(n, 1) / _margins(self.question)[self.choice - 1].contrast
        said = [
            f"With {n:,} answers it is right if the share is more than {points:.1f} points from {self.percent} %, "
            f"in 95 of 100 such series of {USUAL} looks; answers changed by devices can add to that."
        ]
        if points >= 50:
            said.append("That is too much to mean anything: wait for more answers, or let it cost more.")
        return said

    def start(self, counts: Counts, n: int) -> dict[str, Any]:
        return self.watcher.start().document()

    def step(
        self, state: dict[str, Any], counts: Counts, n: int, question: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], Numbers]:
        after = self.watcher.step(State.read(state), *self._query(counts))
        return after.document(), self._numbers(after, n)

    def question_form(self, plan: Plan) -> type[forms.Form] | None:
        return None

    def draw(self, counts: Counts, n: int) -> Numbers:
        """Look once, and never again."""
        return self.step(self.start(counts, n), counts, n)[1]

    def _query(self, counts: Counts) -> tuple[int, int]:
        """Return a query and its threshold, in whole numbers."""
        wanted, n = self.choice - 1, sum(counts.values())
        held = sum(count for (value,), count in counts.items() if wanted in _held(value))
        if self._is_public:
            return held, math.ceil(self.limit * n)
        return self.limit.denominator * held - self.limit.numerator * n, 0

    def _numbers(self, state: State, n: int) -> Numbers:
        row = {
            "label": f"After look {state.asked:,}",
            "value": "passed" if state.over else "not yet",
            "low": None,
            "high": None,
            "standard_error": None,
            "unit": "",
        }
        answer = self.question["choices"][self.choice - 1]
        return {
            "tables": [{"caption": f"{self.question['label']}: is “{answer}” over {self.percent} %?", "rows": [row]}],
            "method": "Compared with a limit that had chance added once, by a count that has new chance added at "
            "each look. Only the answer is published.",
            "notes": self.expected(n)[:1] if self._is_public else [],
            "derived": [],
        }


def _answers(questions: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return every answer of these questions as a form offers it: a question's name and the place of the choice."""
    return [
        (f"{name}/{place}", f"{question['label']}: {choice}")
        for name, question in questions.items()
        for place, choice in enumerate(question["choices"], start=1)
    ]


def _named(parameters: Mapping[str, Any]) -> tuple[str, int]:
    """Read an answer: a question's name and the place of the choice."""
    wanted = parameters.get("answer")
    name, _slash, place = wanted.partition("/") if isinstance(wanted, str) else ("", "", "")
    if not (place.isascii() and place.isdecimal() and len(place) <= 4):
        raise Refused("answer", _("expected a question's name and the place of an answer, as in team/2"))
    return name, int(place)


def _held(value: Any) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def _percent(parameters: Mapping[str, Any]) -> Decimal:
    try:
        percent = Decimal(str(parameters["percent"]))
    except (KeyError, ArithmeticError):
        raise Refused("percent", _("expected a decimal between 0 and 100")) from None
    if not percent.is_finite() or not 0 < percent < 100 or percent != round(percent, 1):
        raise Refused(
            "percent", _("expected a decimal between 0 and 100, with one place, got %(got)s") % {"got": percent}
        )
    return percent


def _margins(question: dict[str, Any]) -> list[Margin]:
    if question["protection"] == "publication":
        return [OPEN] * len(question["choices"])
    return documents.choice_channel(question).margins()


def _limit(margin: Margin, share: Fraction) -> Fraction:
    """Return the share of reports that hold the answer where this share of people give it."""
    exact = margin.lie + share * (margin.truth - margin.lie)
    return Fraction(math.ceil(exact * FINE), FINE)
