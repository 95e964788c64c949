"""Released numbers as rows of a file, each with its interval, variance and mechanism.

Never a report: a row is a published number. Shares are in percent and their variances in squared
points, as the pages show them; `estimate` is unbiased and may be below 0, `projected` is what adds
up to 100.
"""

import datetime
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from dpengine.estimates import Variance
from surveys.design import selectors as design
from surveys.design.calendars import amount_text, calendar_of
from surveys.plan.content import PlanQuestion
from surveys.releases import comparisons
from surveys.releases.models import Release, Step
from surveys.releases.numbers import Figure, QuestionNumbers, Row, Table
from surveys.releases.selectors import Publication
from surveys.results.metadata import epsilon_of
from surveys.results.tables import is_number

BOTH_IN_DEVICE = gettext_lazy(
    "sampling and randomising on devices cannot be separated: both are in variance_device"
)
BOTH_IN_PUBLICATION = gettext_lazy(
    "sampling and release noise cannot be separated: both are in variance_publication"
)


# What a column holds, for programs that want to know: a code is a whole number that names
# something, points are shares and their errors
Kind = Literal["text", "day", "code", "count", "points", "number"]


def column(kind: Kind, label: str | Promise, **default: Any) -> Any:
    """Declare a column of a file, with what it is called for people."""
    return field(metadata={"kind": kind, "label": label}, **default)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRow:
    """One published number."""

    study: str = column("text", gettext_lazy("Study, the last part of its address"))
    wave: int = column("code", gettext_lazy("Wave"))
    release: int = column("code", gettext_lazy("Release: its number in the study"))
    step: int | None = column("code", gettext_lazy("Refresh of a series that was paid for at once"))
    published_on: datetime.date = column(  # noqa: RUF009
        "day", gettext_lazy("Day of publication")
    )
    kind: str = column("text", gettext_lazy("Kind of statistic"))
    table: str = column("text", gettext_lazy("Table"), default="")
    question: str = column("text", gettext_lazy("Question, its name in the plan"), default="")
    choice: int | None = column(
        "code", gettext_lazy("Choice, its number in the plan, from 0"), default=None
    )
    code: str = column("text", gettext_lazy("Choice, its own code in the plan"), default="")
    label: str = column("text", gettext_lazy("Choice, in words"), default="")
    estimate: float | None = column(
        "points",
        gettext_lazy("Estimate, unbiased: it may be below 0 or above 100"),
        default=None,
    )
    low: float | None = column(
        "points", gettext_lazy("Lower end of the 95 percent interval"), default=None
    )
    high: float | None = column(
        "points", gettext_lazy("Upper end of the 95 percent interval"), default=None
    )
    standard_error: float | None = column("points", gettext_lazy("Standard error"), default=None)
    unit: str = column("text", gettext_lazy("Unit of the estimate"), default="")
    variance_sampling: float | None = column(
        "number", gettext_lazy("Variance from sampling, in squared units"), default=None
    )
    variance_device: float | None = column(
        "number",
        gettext_lazy("Variance from changes on devices, in squared units"),
        default=None,
    )
    variance_publication: float | None = column(
        "number", gettext_lazy("Variance from publication noise, in squared units"), default=None
    )
    note: str = column("text", gettext_lazy("What cannot be distinguished"), default="")
    noisy_count: int | None = column(
        "count",
        gettext_lazy(
            "Count of reports, with publication noise; of options to tick, those that say yes less "
            "those that say no"
        ),
        default=None,
    )
    noise: str = column("text", gettext_lazy("Law of the noise in that count"), default="")
    noise_scale: float | None = column(
        "number", gettext_lazy("Scale of that noise; 0: none"), default=None
    )
    known_sum: int | None = column(
        "code",
        gettext_lazy(
            "1: the sum of the counts is public, and was used before people were estimated"
        ),
        default=None,
    )
    projected: float | None = column(
        "points", gettext_lazy("Nearest shares that add up to 100, for display"), default=None
    )
    n: int = column("count", gettext_lazy("Answers counted, a public quantity"))
    stratum: str = column(
        "text",
        gettext_lazy("Group of an invited list; empty: all people invited, weighted"),
        default="",
    )
    weight: float | None = column(
        "number", gettext_lazy("Share of the list that the group represents"), default=None
    )
    plain_answers_low: int | None = column(
        "count", gettext_lazy("As precise as this many direct answers, at least"), default=None
    )
    plain_answers_high: int | None = column(
        "count", gettext_lazy("As precise as this many direct answers, at most"), default=None
    )
    protection: str = column(
        "text", gettext_lazy("Protection of the answer: device, or publication only"), default=""
    )
    local_epsilon: float | None = column(
        "number", gettext_lazy("Local ε of one answer"), default=None
    )
    odds_own: float | None = column(
        "number",
        gettext_lazy("Chance that a report holds the choice when it was the answer"),
        default=None,
    )
    odds_other: float | None = column(
        "number",
        gettext_lazy("Chance that a report holds the choice when it was not the answer"),
        default=None,
    )
    mechanism: str = column("text", gettext_lazy("Publication noise"))
    sensitivity: str = column("text", gettext_lazy("Sensitivity of what got noise"))
    charge_epsilon: str = column("number", gettext_lazy("ε charged for the whole release"))
    charge_rho: str = column("number", gettext_lazy("ρ charged for the whole release"))
    neighbours: str = column("text", gettext_lazy("Neighbouring data sets"))
    privacy_unit: str = column("text", gettext_lazy("What one record is"))
    plan: str = column("text", gettext_lazy("SHA-256 of the plan"))


NO_COUNT: dict[str, Any] = {
    "noisy_count": None,
    "noise": "",
    "noise_scale": None,
    "known_sum": None,
}
COLUMNS = {column.name: column for column in fields(ExportRow)}


def export_rows(publications: Iterable[Publication]) -> list[ExportRow]:
    """Return every number of these publications, in their order; of a series, all its steps."""
    return [
        row
        for publication in publications
        for release in publication.drawn
        for row in _rows(publication, release)
    ]


def _rows(publication: Publication, release: Release | Step) -> Iterator[ExportRow]:
    plan, entry, content = publication.request.plan, publication.entry, release.content
    blank = ExportRow(
        study=plan.study.slug,
        wave=plan.wave,
        release=publication.number,
        step=release.number if isinstance(release, Step) else None,
        published_on=release.published_on,
        kind=publication.request.kind,
        n=content.n,
        mechanism=entry.mechanism,
        sensitivity=entry.sensitivity,
        charge_epsilon="" if entry.epsilon is None else str(entry.epsilon),
        charge_rho=str(entry.rho),
        neighbours=plan.content.neighbours,
        privacy_unit=plan.content.unit,
        plan=plan.digest,
    )
    for numbers in content.questions:
        asked = replace(blank, n=content.n_of(numbers))
        rows = question_rows(plan.content.question(numbers.name), numbers, asked)
        # what is put together has no count of its own
        yield from (replace(row, **NO_COUNT) for row in rows) if content.strata else rows
    for name, part in comparisons.strata_named(plan, content):
        for numbers in part.questions:
            asked = replace(blank, n=numbers.n, stratum=name, weight=part.weight)
            yield from question_rows(plan.content.question(numbers.name), numbers, asked)
    for table in () if content.questions else content.tables:
        for row in table.rows:
            yield table_row(table, row, blank)


def question_rows(
    question: PlanQuestion, numbers: QuestionNumbers, blank: ExportRow
) -> Iterator[ExportRow]:
    """Yield a question's rows: its choices, or its mean, or its ranges, quartiles and mean."""
    plain_low, plain_high = numbers.plain_answers or (None, None)
    blank = replace(
        blank,
        table=question.label,
        question=question.name,
        plain_answers_low=plain_low,
        plain_answers_high=plain_high,
        protection=question.protection,
        local_epsilon=None if question.loss is None else epsilon_of(question.loss),
    )
    odds = [] if question.is_cleartext else design.odds_of(question)
    for choice in numbers.choices:
        own = means_of(question, odds, choice.index) if len(odds) > choice.index else None
        yield replace(
            estimated(choice.scaled(100), blank),
            unit="percent",
            choice=choice.index,
            code=dict(enumerate(question.codes)).get(choice.index, ""),
            label=choice.choice,
            noisy_count=choice.noisy_count,
            noise=numbers.mechanism.name,
            noise_scale=numbers.mechanism.scale,
            known_sum=int(numbers.mechanism.known_sum),
            projected=100 * choice.projected,
            odds_own=own and own[0],
            odds_other=own and own[1],
        )
    for place, part in enumerate(numbers.ranges):
        least, most = (amount_text(question, end) for end in (part.least, part.most))
        label = _("%(least)s to %(most)s") % {"least": least, "most": most}
        yield replace(estimated(part.scaled(100), blank), unit="percent", choice=place, label=label)
    calendar = calendar_of(question)
    figures: list[tuple[str, Figure]] = [
        (_("%(part)s%% are at most this") % {"part": part.part}, part) for part in numbers.quartiles
    ]
    figures += [(_("mean"), numbers.mean)] if numbers.mean else []
    for label, figure in figures:
        unit = numbers.unit or ""
        if calendar:  # as a year, 2022.75 for October 2022, and in words
            words = {"what": label, "month": calendar.text(figure.estimate)}
            label, unit = _("%(what)s: %(month)s") % words, "year"
            figure = figure.scaled(1 / calendar.per_year)
        yield replace(estimated(figure, blank), label=label, unit=unit)


def means_of(
    question: PlanQuestion, odds: Sequence[design.Odds], choice: int
) -> tuple[float, float]:
    """Return what a report adds to a choice's count on average, if it was the answer and if not.

    Of a joint answer, which names several combinations that hold it.
    """
    if question.together:
        cells = question.together.joint.view(question.together.place).by_answer[choice]
        return float(cells.base + cells.contrast), float(cells.base)
    return float(odds[choice].own), float(odds[choice].other)


def estimated(figure: Figure, blank: ExportRow) -> ExportRow:
    """Return a row with a number, its interval and its variance."""
    row = replace(
        blank,
        estimate=figure.estimate,
        low=figure.low,
        high=figure.high,
        standard_error=figure.standard_error,
    )
    if not figure.variance:
        return row
    variance = Variance.read(figure.variance)
    note = BOTH_IN_DEVICE if variance.device else BOTH_IN_PUBLICATION
    return replace(
        row,
        variance_sampling=variance.sampling if variance.is_told_apart else None,
        variance_device=variance.device,
        variance_publication=variance.publication,
        note="" if variance.is_told_apart else str(note),
    )


def table_row(table: Table, row: Row, blank: ExportRow) -> ExportRow:
    """Return a row of a table; a value that is a word stands in its label."""
    is_word = row.value is not None and not is_number(row.value)
    return replace(
        blank,
        table=str(table.caption),
        label=f"{row.label}: {row.value}" if is_word else str(row.label),
        estimate=_number(row.value),
        low=_number(row.low),
        high=_number(row.high),
        standard_error=_number(row.standard_error),
        unit=row.unit,
    )


def _number(value: Any) -> float | None:
    """Return a number, or none where a release says in words that there is none."""
    return float(value) if is_number(value) else None
