"""A synthetic data set: made-up people with the columns of the real ones, to try analyses on.

The mechanism is dpengine.central.synopsis: noisy tables of every column and every pair, and rows drawn from them. Only
questions whose answers are sent as given can be columns: of one that is changed on its device there are only reports,
and rows of made-up reports would be taken for answers.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dpengine.central import counts as tallies
from dpengine.central import synopsis
from dpengine.central.marginals import MOST_CELLS, MOST_COLUMNS, Marginal, Marginals
from dpengine.central.synopsis import Fit
from dpengine.privacy import Cost
from surveys.design.models import Plan
from surveys.releases import statistics
from surveys.releases.asked.base import (
    Counts,
    EpsilonInput,
    Numbers,
    Refused,
    epsilon_of,
    epsilon_text,
    neighbours_of,
    questions_of,
)

FEWEST_BINS, USUAL_BINS, MOST_BINS = 2, 10, 50


@dataclass(frozen=True)
class Synthetic:
    columns: tuple[dict[str, Any], ...]  # the questions
    bins: int
    epsilon: str
    cuts: tuple[tuple[range, ...], ...]  # the values of each cell of each column
    marginals: Marginals

    kind: ClassVar[str] = "synthetic"
    title: ClassVar[str | Promise] = gettext_lazy("A synthetic data set")
    sentence: ClassVar[str | Promise] = gettext_lazy(
        "A file of made-up people with the columns you choose. Tables of one and of two columns come out like the "
        "real ones, but for an error that is printed beside them; nothing else about the real people is in it."
    )

    @classmethod
    def form(cls, plan: Plan) -> type[forms.Form] | None:
        fitting = _fitting(plan)
        if not fitting:
            return None

        class SyntheticForm(forms.Form):
            questions = forms.MultipleChoiceField(
                choices=_offered(fitting),
                widget=forms.CheckboxSelectMultiple,
                label=_("Columns"),
                help_text=_("The numbers in brackets, multiplied, may be %(most)s at most.")
                % {"most": f"{MOST_CELLS:,}"},
            )
            bins = forms.IntegerField(
                min_value=FEWEST_BINS,
                max_value=MOST_BINS,
                initial=USUAL_BINS,
                label=_("Ranges that a number is cut into"),
                help_text=_("Fewer ranges: less error in each. Within a range all values are made alike."),
            )
            epsilon = EpsilonInput(help_text=_("A third for the columns, two thirds for the pairs of columns."))

        return SyntheticForm

    @classmethod
    def read(cls, plan: Plan, parameters: Mapping[str, Any]) -> Self:
        fitting = _fitting(plan)
        wanted = parameters.get("questions")
        if not isinstance(wanted, list) or not wanted or any(name not in fitting for name in wanted):
            raise Refused("questions", _("expected one or more of %(names)s") % {"names": ", ".join(fitting)})
        columns = tuple(question for name, question in fitting.items() if name in wanted)
        bins, epsilon = _bins(parameters), epsilon_of(parameters)
        if all(question["kind"] != "number" for question in columns):
            bins = USUAL_BINS  # nothing is cut: any number of ranges is the same request
        cuts = tuple(_cuts(question, bins) for question in columns)
        _check_cells([question["label"] for question in columns], [len(cut) for cut in cuts])
        marginals = _marginals(plan, Fraction(epsilon), [len(cut) for cut in cuts])
        return cls(columns, bins, epsilon_text(epsilon), cuts, marginals)

    def document(self) -> dict[str, Any]:
        return {"bins": self.bins, "epsilon": self.epsilon, "questions": list(self.questions)}

    @property
    def questions(self) -> tuple[str, ...]:
        return tuple(question["name"] for question in self.columns)

    @property
    def cost(self) -> Cost:
        return self.marginals.cost

    @property
    def mechanism(self) -> str:
        names = {type(table.choice.mechanism).__name__ for table in self.marginals.tables}
        said = " and ".join(name.replace("Discrete", "discrete ") for name in sorted(names))
        return f"{said} on {len(self.marginals.tables)} tables, synthetic rows drawn from them"

    @property
    def sensitivity(self) -> str:
        most = max(table.choice.tallies[0].moved for table in self.marginals.tables)
        return f"{most} count{'s' * (most > 1)} by 1 in each table"

    def expected(self, n: int) -> list[str]:
        lines = [
            f"{self._label(table)}: chance moves each of its {table.cells:,} counts by "
            f"{table.choice.mechanism.mean_absolute_error:,.1f} people on average{_of_all(table, n)}."
            for table in self.marginals.tables
        ]
        return [*lines, "What three columns do together is not kept: use this to try an analysis, not to conclude."]

    def draw(self, counts: Counts, n: int) -> Numbers:
        drawn = synopsis.draw(self.marginals, self._cells(counts))
        rows = synopsis.filled(drawn.rows, self.cuts)
        return {
            "tables": [
                _errors("Chance in each published count, on average", self._labels(drawn.fits, "noise")),
                _errors("Synthetic count from published count, on average", self._labels(drawn.fits, "distance")),
                *(
                    self._table(table, fit)
                    for table, fit in zip(self.marginals.tables, drawn.fits, strict=True)
                    if len(table.columns) == 1
                ),
            ],
            "method": "Chance was added, once, to the counts of every column and every pair of columns. The synthetic "
            "people were drawn from these counts alone: the distribution that fits them best and is otherwise as even "
            "as can be. Intervals are for the people who answered, and hold in 95 of 100 draws.",
            "notes": [
                "A synthetic count is no farther from the true one than both errors together, on average.",
                "What three columns do together is not in it.",
            ],
            "derived": ["The synthetic people, and whatever is worked out from them."],
            "columns": list(self.questions),
            "people": [[*self._texts(values), people] for values, people in sorted(rows.items())],
        }

    def _cells(self, counts: Counts) -> dict[tuple[int, ...], int]:
        found: dict[tuple[int, ...], int] = {}
        for values, people in counts.items():
            cells = tuple(_cell(value, cut) for value, cut in zip(values, self.cuts, strict=True))
            found[cells] = found.get(cells, 0) + people
        return found

    def _texts(self, values: tuple[int, ...]) -> list[int | str]:
        """Return what a row of the file says: a number, or the text of a choice."""
        return [
            question["choices"][value] if question["choices"] else value
            for question, value in zip(self.columns, values, strict=True)
        ]

    def _label(self, table: Marginal | Fit) -> str:
        return " × ".join(self.columns[column]["label"] for column in table.columns)

    def _labels(self, fits: tuple[Fit, ...], which: str) -> list[tuple[str, float]]:
        return [(self._label(fit), float(getattr(fit, which))) for fit in fits]

    def _table(self, table: Marginal, fit: Fit) -> dict[str, Any]:
        """Return one column's published counts, with intervals."""
        (column,) = table.columns
        reach = tallies.largest_error(table.choice.mechanism, 1)
        question, cut = self.columns[column], self.cuts[column]
        rows = [
            {
                "label": _say(question, values),
                "value": noisy,
                "low": max(noisy - reach, 0),
                "high": max(noisy + reach, 0),
                "standard_error": math.sqrt(table.choice.mechanism.variance),
                "unit": "people",
            }
            for values, noisy in zip(cut, fit.noisy, strict=True)
        ]
        return {"caption": f"{question['label']}: published counts", "rows": rows}


def _fitting(plan: Plan) -> dict[str, dict[str, Any]]:
    return questions_of(plan, protection="publication")


def _bins(parameters: Mapping[str, Any]) -> int:
    bins = parameters.get("bins", USUAL_BINS)
    if type(bins) is not int or not FEWEST_BINS <= bins <= MOST_BINS:
        raise Refused(
            "bins", _("expected a whole number from %(least)s to %(most)s") % {"least": FEWEST_BINS, "most": MOST_BINS}
        )
    return bins


def _cuts(question: Mapping[str, Any], bins: int) -> tuple[range, ...]:
    """Return the values of each cell: a choice each, or equal ranges of a number, the last perhaps shorter."""
    if question["kind"] != "number":
        return tuple(range(choice, choice + 1) for choice in range(len(question["choices"])))
    least, end = question["least"], question["most"] + 1
    width = -(-(end - least) // bins)
    return tuple(range(start, min(start + width, end)) for start in range(least, end, width))


def _cell(value: int, cut: tuple[range, ...]) -> int:
    return (value - cut[0].start) // len(cut[0])


def _offered(questions: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return the columns as a form offers them: each with how many answers it multiplies the combinations by."""
    cells = {
        name: f"{len(each['choices'])}" if each["choices"] else _("its ranges") for name, each in questions.items()
    }
    return [(name, f"{each['label']} ({cells[name]})") for name, each in questions.items()]


def _check_cells(labels: list[str], sizes: list[int]) -> None:
    """Refuse more combinations of answers than can be fitted, before anything is confirmed; say what would do."""
    cells = math.prod(sizes)
    if cells <= MOST_CELLS and len(sizes) <= MOST_COLUMNS:
        return
    text = _(
        "expected at most %(most)s combinations of answers, got %(product)s = %(got)s: choose fewer columns, or cut "
        "numbers into fewer ranges"
    ) % {"most": f"{MOST_CELLS:,}", "product": " × ".join(map(str, sizes)), "got": f"{cells:,}"}
    enough = [f"“{label}”" for label, size in zip(labels, sizes, strict=True) if cells // size <= MOST_CELLS]
    if enough and len(sizes) - 1 <= MOST_COLUMNS:
        text += ". " + _("Without one of these it fits: %(columns)s") % {"columns": ", ".join(enough)}
    raise Refused("questions", text)


def _marginals(plan: Plan, epsilon: Fraction, sizes: list[int]) -> Marginals:
    if statistics.is_concentrated(plan):
        return Marginals.for_rho(epsilon**2 / 2, sizes, neighbours_of(plan))
    return Marginals.for_epsilon(epsilon, sizes, neighbours_of(plan))


def _of_all(table: Marginal, n: int) -> str:
    return f", {100 * table.choice.mechanism.mean_absolute_error / n:.1f} of 100" if n else ""


def _say(question: Mapping[str, Any], values: range) -> str:
    if question["choices"]:
        return str(question["choices"][values[0]])
    return f"{values[0]}" if len(values) == 1 else f"{values[0]} to {values[-1]}"


def _errors(caption: str, errors: list[tuple[str, float]]) -> dict[str, Any]:
    missing = dict.fromkeys(("low", "high", "standard_error"))
    return {
        "caption": f"{caption}, in each table",
        "rows": [{"label": label, "value": value, **missing, "unit": "people"} for label, value in errors],
    }
