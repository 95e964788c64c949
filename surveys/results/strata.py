"""What a release of an invited list says of each of its groups, beside the numbers of all."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from surveys.charts.scales import percent
from surveys.design.calendars import calendar_of
from surveys.plan.content import PlanQuestion, Stratum
from surveys.releases import comparisons, numbers
from surveys.releases.numbers import Numbers, QuestionNumbers
from surveys.releases.queries.base import Query
from surveys.results.tables import NumberTable


@dataclass(frozen=True, slots=True)
class ByStratum:
    """Tables of each answer by group of the list, and what the weighting leaves open."""

    tables: list[NumberTable]
    unheard: str  # the groups of which nobody answered
    off_at_most: str  # points, by which several groups that are told as one can move a share

    @classmethod
    def of(
        cls,
        question: PlanQuestion,
        weighted: QuestionNumbers,
        query: Query,
        content: Numbers,
        order: Sequence[int] = (),
    ) -> "ByStratum | None":
        """Return the groups of a release, or None where a list's strata are not told apart."""
        plan = query.plan
        beside = comparisons.of_strata(plan, query, content, weighted)
        if beside is None or plan.content.invited is None:
            return None
        strata = plan.content.invited.strata
        named = [(_label(name, part.reports, strata), own) for name, part, own in beside.parts]
        named += [
            (_("All responses, unweighted"), beside.unweighted),
            (_("All, weighted"), weighted),
        ]
        off = float(beside.weights.off_at_most)
        return cls(
            tables=[NumberTable.of(table) for table in _tables(question, named, order)],
            unheard=", ".join(strata[at].name for at in beside.weights.unheard),
            off_at_most=percent(off) if off else "",
        )


def _label(name: str, reports: Sequence[int], strata: Sequence[Stratum]) -> str:
    """Return a part's name, how many answers it holds, and how many people were invited."""
    held = [at for at, many in enumerate(reports) if many]
    people = sum(strata[at].people for at in held)
    parts = {"name": name, "came": f"{sum(reports):,}", "people": f"{people:,}"}
    return _("%(name)s: %(came)s answers, %(people)s invited") % parts


def _tables(
    question: PlanQuestion, named: Sequence[tuple[str, QuestionNumbers]], order: Sequence[int]
) -> list[numbers.Table]:
    if order:
        return [
            numbers.Table(
                question.choices[at],
                [own.choices[at].scaled(100).row(label, "percent") for label, own in named],
            )
            for at in order
        ]
    means = [(label, own.mean) for label, own in named if own.mean]
    if not means or calendar_of(question):
        return []
    rows = [mean.row(label, question.unit) for label, mean in means]
    return [numbers.Table(_("Mean"), rows)]
