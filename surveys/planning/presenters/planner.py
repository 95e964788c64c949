"""What the planner shows: dials, and everything that follows from three that agree, in the words
and units of its reader.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from django.forms import BoundField
from django.template.defaultfilters import floatformat
from django.utils.translation import gettext as _, gettext_lazy, ngettext, pgettext

from dpengine.estimates import Estimate
from dpengine.inference.power import Response, Target, two_samples
from dpengine.local.channel import Learns
from dpengine.privacy import epsilon_above, plain
from surveys.charts.intervals import Interval
from surveys.charts.scales import Scale
from surveys.design.selectors import Odds
from surveys.guesses import USUAL_HOUSEHOLD, Guess, even_guess, guesses, is_risky
from surveys.planning import curves
from surveys.planning.allocation import Allocation
from surveys.planning.curves import Curve
from surveys.planning.forms import DialsForm
from surveys.planning.questions import QuestionAtEpsilon
from surveys.planning.scenarios import Scenario
from surveys.planning.solver import MAX_ANSWERS, Solution, Unreachable, answers_for, epsilon_for
from surveys.planning.wording import count, decimal_text, epsilon_text

BETTER = Decimal("0.7")  # of ε, in “protect people better”
MIN_OTHER = 10  # answers, below which there is no half of them to ask
DIALS: dict[str, dict[str, object]] = {  # with the ends and the step of their sliders
    "n": {
        "legend": gettext_lazy("Answers"),
        "slider": gettext_lazy("Answers I expect"),
        "keyboard": "numeric",
        "least": "100",
        "most": "10000",
        "step": "10",
    },
    "width": {
        "legend": gettext_lazy("Precision"),
        "slider": gettext_lazy("Precision I want"),
        "sign": "±",
        "keyboard": "decimal",
        "least": "1",
        "most": "15",
        "step": "0.1",
    },
    "epsilon": {
        "legend": gettext_lazy("Protection"),
        "slider": gettext_lazy("Protection of one answer, epsilon"),
        "sign": "ε",
        "keyboard": "decimal",
        "least": "0.1",
        "most": "4",
        "step": "0.01",
    },
}
ASKED_OF = {  # fields that only some kinds of question have
    "choices": ("single", "multiple", "likert"),
    "least": ("mean", "distribution"),
    "most": ("mean", "distribution"),
}


def dials(
    form: DialsForm, data: Mapping[str, str], planner: "Planner | None"
) -> list[dict[str, object]]:
    """Return the three as they stand on the page."""
    follows = data.get("follows", "")
    values = {name: data.get(name, "") for name in DIALS}
    units = {"n": pgettext("unit", "people"), "width": _("points"), "epsilon": ""}
    if planner:
        now = planner.solution
        units |= {"width": now.question.unit, "epsilon": odds_in_words(now.question.odds)}
        followed = {
            "n": count(now.n),
            "width": now.precision.said,
            "epsilon": f"{plain(now.epsilon):f}",
        }
        values |= {follows: followed[follows]} if follows in DIALS else {}
    return [
        {
            **fixed,
            "name": name,
            "field": form[name],
            "value": values[name],
            "unit": units[name],
            "follows": name == follows,
            "stands": _slid(values[name], str(fixed["least"]), str(fixed["most"])),
        }
        for name, fixed in DIALS.items()
    ]


def _slid(value: str, least: str, most: str) -> str:
    """Return what a slider stands at."""
    try:
        number = str(float(value.replace(",", "")))
    except ValueError:
        return least
    return sorted([least, number, most], key=float)[1]


def fields_about(form: DialsForm, kind: str) -> Iterator[tuple[str, BoundField]]:
    """Yield the fields beside the dials, each with the template that shows it."""
    for field in form:
        if field.name in ("kind", "question"):
            yield "planning/select.html", field
        elif field.name in ("at", "questions", "publication") or kind in ASKED_OF.get(
            field.name, ()
        ):
            yield "planning/field.html", field
        elif field.name in ASKED_OF:
            yield "planning/hidden.html", field


def odds_in_words(odds: Odds | None) -> str:
    if odds is None:
        return ""
    if odds.choices == 2:
        words = _("odds %(own)s : %(rest)s")
        return words % {"own": odds.own_said, "rest": odds.rest_said}
    return _("own answer sent in %(own)s of 100") % {"own": odds.own_said}


def out_of_reach(scenario: Scenario, unreachable: Unreachable, typed: Mapping[str, Any]) -> str:
    """Say what can be had instead of a ± that cannot."""
    greatest = scenario.limits[1]
    best = scenario.question.at(greatest)
    values = {
        "half": best.half_width_text(unreachable.best.half),
        "unit": best.unit,
        "wanted": typed["width"],
    }
    if typed["follows"] == "n":
        return _(
            "± %(wanted)s %(unit)s cannot be reached at this ε: with %(most)s answers it is still "
            "± %(half)s."
        ) % {**values, "most": count(MAX_ANSWERS)}
    values |= {"n": count(typed["n"]), "epsilon": epsilon_text(greatest)}
    if unreachable.n_needed is None:
        return (
            _(
                "%(n)s answers give ± %(half)s %(unit)s at best, at ε %(epsilon)s, the greatest "
                "allowed here."
            )
            % values
        )
    return _(
        "%(n)s answers give ± %(half)s %(unit)s at best, at ε %(epsilon)s, the greatest allowed "
        "here. "
        "± %(wanted)s needs %(needed)s answers even there."
    ) % {**values, "needed": count(unreachable.n_needed)}


@dataclass(frozen=True)
class Other:
    """Another way to plan it, in one row."""

    title: str
    plan: Solution
    change: str
    is_risky: bool = False


@dataclass(frozen=True)
class Planner:
    """What follows from three dials that agree: one person's ε split among the questions, and the
    best way to sample.
    """

    scenario: Scenario
    solution: Solution
    split: Allocation
    sampled: Allocation | None

    @property
    def question(self) -> QuestionAtEpsilon:
        return self.solution.question

    @property
    def layers(self) -> list[tuple[str, str, str]]:
        """Return the half-widths from the inmost: the letter of its texture, its words, its ±."""
        precision, text = self.solution.precision, self.question.half_width_text
        return [
            ("s", _("who happened to answer"), text(precision.sampling)),
            ("d", _("and answers changed on devices"), text(precision.device)),
            ("p", _("and chance added to the total"), text(precision.half)),
        ]

    # The picture of the interval, in the middle of an axis that is twice as wide

    @cached_property
    def scale(self) -> Scale:
        half = self.solution.precision.half
        return Scale(-2 * half, 2 * half, half, zero_stands_out=False, label=self._label)

    @cached_property
    def interval(self) -> Interval:
        precision = self.solution.precision
        estimate = Estimate(0.0, -precision.half, precision.half, precision.variance)
        return Interval.of(self.scale, estimate)

    def _label(self, away: float, _places: int) -> str:
        """Return a value that lies so far from the middle of the interval."""
        if not self.question.is_mean:
            return f"{decimal_text(100 * (float(self.scenario.at) + away), 1)}%"
        if not away:
            return _("mean")
        return f"{'+' if away > 0 else '−'}{self.question.half_width_text(abs(away))}"

    @cached_property
    def pictures(self) -> list[Curve]:
        """Return how the ± changes with each of the other two."""
        return [
            curves.with_protection(self.scenario, self.solution),
            curves.with_answers(self.scenario, self.solution),
        ]

    @cached_property
    def risks(self) -> list[tuple[str, str, list[Guess]]]:
        """Return ε and guesses at most about one answer, a person and a household."""
        person, asked = self.split.loss, self.split.reported
        answers = ngettext(
            "about one person, who answers this question",
            "about one person, who answers all %(q)s questions",
            asked,
        ) % {"q": asked}
        risks = [
            (_("about one answer"), self.question.loss),
            (answers, person),
            (_("about a household of three who answer alike"), person**USUAL_HOUSEHOLD),
        ]
        return [
            (about, floatformat(epsilon_above(loss), 2), guesses(loss)) for about, loss in risks
        ]

    @cached_property
    def others(self) -> list[Other]:
        """Return this plan and the nearest others, each whole: answers, ±, ε and odds."""
        mine, n = Other(_("keep this plan"), self.solution, _("nothing")), self.solution.n // 4
        others = [mine, *filter(None, (self._better(), self._fewer()))]
        if n >= MIN_OTHER:
            change = _("three quarters of the answers need not be found")
            rougher = _("accept a rougher answer")
            others.append(self._other(rougher, n, self.solution.epsilon, change))
        return others

    def _better(self) -> Other | None:
        least, now = self.scenario.limits[0], self.solution
        epsilon = max((now.epsilon * BETTER).quantize(Decimal("0.01")), least)
        if epsilon >= now.epsilon:
            return None
        try:
            n = answers_for(self.scenario, epsilon, now.precision.half)
        except Unreachable:
            return None
        more = _("%(more)s more answers to collect") % {"more": count(n - now.n)}
        return self._other(_("protect people better"), n, epsilon, more)

    def _fewer(self) -> Other | None:
        n, title = self.solution.n // 2, _("find only half the people")
        if n < MIN_OTHER:
            return None
        try:
            epsilon = epsilon_for(self.scenario, n, self.solution.precision.half)
        except Unreachable as unreachable:
            best = self.scenario.limits[1]
            change = _("± %(half)s is the best there is, at ε %(epsilon)s") % {
                "half": self.question.half_width_text(unreachable.best.half),
                "epsilon": epsilon_text(best),
            }
            return self._other(title, n, best, change)
        guess = even_guess(self.scenario.question.at(epsilon).loss)
        change = _("a guess of 50 becomes at most %(guess)s in 100") % {"guess": guess}
        return self._other(title, n, epsilon, change)

    def _other(self, title: str, n: int, epsilon: Decimal, change: str) -> Other:
        plan = Solution(n, epsilon, self.scenario.precision(n, epsilon))
        risky = is_risky(plan.question.loss) and plan.question.loss > self.question.loss
        return Other(title, plan, change, risky)


def compare(
    question: QuestionAtEpsilon,
    one: Decimal,
    other: Decimal,
    power: Decimal,
    asked: Fraction,
) -> dict[str, str] | None:
    """Return how many people, of whom a share is `asked`, two groups of one size need to be told
    apart, and how many plain answers would do it; None where what is planned for is no share.
    """
    if question.channel.learns is not Learns.SHARES:
        return None
    margin = question.channel.margins()[0]
    response = Response(float(margin.lie), margin.contrast)
    shares, target = (float(one) / 100, float(other) / 100), Target(power=float(power) / 100)
    n = math.ceil(two_samples(response, *shares).smallest(target).n / asked)
    plainly = two_samples(Response(0.0, 1.0), *shares).smallest(target).n
    return {"each": count(n), "both": count(2 * n), "plainly": count(plainly)}
