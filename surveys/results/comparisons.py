"""Compare groups and waves: differences of shares that are already published, and these shares
weighted to a population.

Groups come from a cross-table that somebody asked for; waves from what the rule published of each.
Both are post-processing and cost nothing (surveys/releases/comparisons.py says how intervals are
made).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from surveys.charts.scales import Scale, percent
from surveys.releases import comparisons
from surveys.releases.comparisons import Change, Difference
from surveys.releases.models import Release, Step
from surveys.releases.selectors import Publication
from surveys.results.forms import PopulationForm
from surveys.results.questions import drawn_choices
from surveys.results.tables import NumberRow, NumberTable

MIN_REACH = 0.1  # to either side of 0, so that a small difference looks small
LINES = 6
MANY = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceRow(NumberRow):
    """One difference, in points."""

    one: str
    other: str
    odds_ratio: str
    words: str  # which of both has more

    @property
    def data(self) -> SafeString:
        """Return it for people only: it is in no file."""
        return format_html("<b>{}</b>", self.value or "–")


@dataclass(frozen=True, slots=True)
class Differences:
    """Differences that share a picture."""

    title: str
    rows: list[DifferenceRow]
    scale: Scale
    first: str
    second: str


def differences_of(
    title: str, first: str, second: str, raw: Sequence[tuple[str, Difference | Change]]
) -> Differences:
    """Return how the first differs from the second in each answer's share."""
    known = [difference for _, difference in raw if difference.value is not None]
    reach = max([MIN_REACH, *(max(abs(each.low), abs(each.high)) for each in known)])
    scale = replace(
        Scale.around(-reach, reach, LINES),
        label=lambda share, places: percent(share, max(places - 2, 0)),
    )
    rows = []
    for answer, difference in raw:
        more = first if difference.low > 0 else second if difference.high < 0 else ""
        words = _("more often in %(first)s") % {"first": more} if more else _("not distinguished")
        one, other = (
            NumberRow.of("", share, percent, sign="%").both
            for share in (difference.one, difference.other)
        )
        limits = map(_times, difference.odds_ratio or ())
        ratio = dict(zip(("value", "low", "high"), limits, strict=False))
        odds_ratio = _("%(value)s, %(low)s to %(high)s") % ratio if ratio else _("too few to say")
        if difference.value is None:
            words = _("too few to say")
        texts = {"one": one, "other": other, "odds_ratio": odds_ratio, "words": words}
        rows.append(DifferenceRow.of(answer, difference, _signed, **texts))
    return Differences(title, rows, scale, first, second)


def _times(ratio: float) -> str:
    """Return a ratio as far as it says something: beyond a thousand it is told as that."""
    return f">{MANY}" if ratio > MANY else f"{ratio:.2f}"


def _signed(share: float) -> str:
    return f"+{percent(share)}" if round(100 * share, 1) > 0 else percent(share)


# Groups


@dataclass(frozen=True, slots=True)
class ComparedGroups:
    """A cross-table that was published, and the two of its groups that are compared."""

    publication: Publication
    options: list[tuple[int, str]]  # the names of the groups by their places
    one: int
    other: int
    differences: Differences
    every: list[
        NumberTable
    ]  # of every answer its share in all groups, and drawn towards their mean
    within: str  # the question that makes the groups
    population: PopulationForm
    weighted: list[
        NumberTable
    ]  # beside the shares as they came; empty until the population is known


def groups_of(
    publication: Publication, one: int, other: int, margins: Mapping[str, str]
) -> ComparedGroups | None:
    """Return the difference of every answer between two groups of a cross-table, and its shares
    weighted to the population's margins of the groups.
    """
    release, query = publication.release, publication.query
    if release is None or not isinstance(query, comparisons.Crosstab):
        return None
    by_name = {question.name: question for question in publication.request.plan.spoken.questions}
    left, right = (by_name[name] for name in query.names)
    names = right.choices
    one, other = (place if place < len(names) else 0 for place in (one, other))
    if one == other:
        other = (one + 1) % len(names)
    by_answer = comparisons.group_differences(query, release.content, one, other)
    if by_answer is None:
        return None
    answers = drawn_choices(left)
    raw = [(left.choices[place], by_answer[place]) for place in answers]
    differences = differences_of(left.text, names[one], names[other], raw)
    every = [query.in_groups(release.content, place) for place in answers]
    form = PopulationForm(names, margins if PopulationForm.is_sent(margins) else None)
    weighted = query.weighted(release.content, answers, form.population) if form.is_valid() else []
    return ComparedGroups(
        publication,
        list(enumerate(names)),
        one,
        other,
        differences,
        [NumberTable.of(table) for table in every if table is not None],
        right.text,
        form,
        [NumberTable.of(table) for table in weighted],
    )


# Waves


def changes_between(later: Release | Step, earlier: Release | Step) -> list[Differences]:
    """Return how the shares of every question of both waves differ: later less earlier."""
    before = {numbers.name: numbers for numbers in earlier.content.questions}
    by_name = {question.name: question for question in later.request.plan.spoken.questions}
    first, second = (
        _("wave %(wave)s") % {"wave": release.request.plan.wave} for release in (later, earlier)
    )
    differences = []
    for numbers in later.content.questions:
        if numbers.name not in before:
            continue
        question = by_name[numbers.name]
        spoken = {figure.choice: question.choices[figure.index] for figure in numbers.choices}
        changes = comparisons.changes(numbers, before[numbers.name])
        if question.kind == "yes_no" and len(changes) == 2:
            changes = changes[1:]  # No mirrors Yes
        if changes:
            raw = [(spoken[change.choice], change) for change in changes]
            differences.append(differences_of(question.text, first, second, raw))
    return differences
