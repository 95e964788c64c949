"""Compare groups and waves: differences of shares, from numbers already published and from nothing else.

Groups come from a cross-table that somebody asked for; waves from what the rule published of each. Both are
post-processing and cost nothing (surveys/releases/comparisons.py says how intervals are made).
"""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from surveys.dashboard.pictures import percent
from surveys.dashboard.readers import with_plan
from surveys.dashboard.sheets import Ruler
from surveys.design import queries as design
from surveys.design.models import Plan
from surveys.people import queries as people
from surveys.people.models import Right
from surveys.releases import queries as releases
from surveys.releases.models import Release, Step
from surveys.releases.queries import Publication, comparisons

LEAST_SPAN = 20.0  # points that a ruler of differences shows, so that a small difference looks small


@dataclass(frozen=True, slots=True)
class Row:
    """One difference, in points, as a table and a picture show it."""

    answer: str
    one: str
    other: str
    value: str
    low: str
    high: str
    x: str
    width: str
    centre: str
    is_known: bool
    verdict: str  # more, fewer or unclear: picks the words beside it


@dataclass(frozen=True, slots=True)
class Found:
    """Differences that share a picture."""

    title: str
    rows: list[Row]
    ruler: Ruler


@dataclass(frozen=True, slots=True)
class Raw:
    """One difference as shares of one."""

    answer: str
    one: tuple[float, float, float] | None
    other: tuple[float, float, float] | None
    value: float | None
    low: float
    high: float


def found_of(title: str, raw: list[Raw]) -> Found:
    known = [each for each in raw if each.value is not None]
    reach = max([LEAST_SPAN / 2, *(100 * max(abs(each.low), abs(each.high)) for each in known)])
    ruler = Ruler.covering([{"value": 0.0, "low": -reach, "high": reach}], "points")
    if ruler is None:
        raise ValueError("a ruler around 0 always covers something")
    return Found(title, [_row(each, ruler) for each in raw], ruler)


def _row(raw: Raw, ruler: Ruler) -> Row:
    is_known = raw.value is not None
    low, high, value = 100 * raw.low, 100 * raw.high, 100 * (raw.value or 0.0)
    return Row(
        answer=raw.answer,
        one=_share(raw.one),
        other=_share(raw.other),
        value=_signed(value) if is_known else "",
        low=_signed(low),
        high=_signed(high),
        x=ruler.at(low) if is_known else "",
        width=ruler.width(low, high) if is_known else "",
        centre=ruler.at(value) if is_known else "",
        is_known=is_known,
        verdict="more" if is_known and low > 0 else "fewer" if is_known and high < 0 else "unclear",
    )


def _share(limits: tuple[float, float, float] | None) -> str:
    if limits is None:
        return _("too few to say")
    value, low, high = (percent(each) for each in limits)
    return _("%(value)s%%, %(low)s to %(high)s") % {"value": value, "low": low, "high": high}


def _signed(points: float) -> str:
    text = percent(points / 100)
    return f"+{text}" if points > 0 and float(f"{points:.1f}") else text


# Groups


@dataclass(frozen=True, slots=True)
class Groups:
    """A cross-table that was published, and the two of its groups that are compared."""

    publication: Publication
    names: list[str]  # of the groups
    one: int
    other: int
    found: Found

    @property
    def first(self) -> str:
        return self.names[self.one]

    @property
    def second(self) -> str:
        return self.names[self.other]


def crosstabs_of(plan: Plan) -> list[Publication]:
    """Return the cross-tables that were published of a study, newest first."""
    return [each for each in releases.publications_of(plan.study) if each.request.kind == "crosstab" and each.release]


def groups_of(publication: Publication, one: int, other: int) -> Groups | None:
    """Return the difference of every answer between two groups of a cross-table."""
    release = publication.release
    if release is None:
        return None
    content = publication.request.plan.spoken
    asked = publication.asked
    left, right = (next(q for q in content["questions"] if q["name"] == name) for name in asked.questions)
    names: list[str] = list(right["choices"])
    one, other = (place if 0 <= place < len(names) else 0 for place in (one, other))
    if one == other:
        other = (one + 1) % len(names)
    differences = comparisons.group_differences(asked, release.numbers, one, other)
    if differences is None:
        return None
    raw = [
        Raw(answer, _within(each.one), _within(each.other), each.value, each.low, each.high)
        for answer, each in zip(left["choices"], differences, strict=True)
    ]
    order = design.shown_order(left)
    if left["kind"] == "yes_no" and len(order) == 2:
        order = order[:1]  # No mirrors Yes
    return Groups(publication, names, one, other, found_of(left["text"], [raw[index] for index in order]))


def _within(share: comparisons.Within) -> tuple[float, float, float] | None:
    return None if share.value is None else (share.value, share.low, share.high)


# Waves


def newest_of_waves(plan: Plan) -> dict[int, Release | Step]:
    """Return the newest numbers that the rule published of each wave."""
    found: dict[int, Release | Step] = {}
    for each in releases.by_rule_of(plan.study):
        found.setdefault(each.request.plan.wave, each)
    return dict(sorted(found.items()))


def changes_between(plan: Plan, later: Release | Step, earlier: Release | Step) -> list[Found]:
    """Return, for every question of both waves, how its shares differ: the later less the earlier."""
    parts = {part["name"]: part for part in earlier.numbers.get("questions", ())}
    named = {question["name"]: question for question in later.request.plan.spoken["questions"]}
    found = []
    for part in later.numbers.get("questions", ()):
        if part["name"] not in parts or "choices" not in part or "choices" not in parts[part["name"]]:
            continue
        changes = comparisons.changes(part, parts[part["name"]])
        question = named[part["name"]]
        said = dict(zip((choice["choice"] for choice in part["choices"]), question["choices"], strict=True))
        raw = [
            Raw(said[each.choice], _limits(each.one), _limits(each.other), each.value, each.low, each.high)
            for each in changes
        ]
        if question["kind"] == "yes_no" and len(raw) == 2:
            raw = raw[1:]  # No mirrors Yes
        if raw:
            found.append(found_of(question["text"], raw))
    return found


def _limits(estimate: Any) -> tuple[float, float, float]:
    return estimate.value, estimate.low, estimate.high


@require_safe
@with_plan
def compare(request: HttpRequest, plan: Plan, *, shared: bool) -> HttpResponse:
    """Compare groups of a cross-table, and waves; both as the address says."""
    tables, waves = crosstabs_of(plan), newest_of_waves(plan)
    table = _table(tables, _whole(request, "table"))
    later = waves.get(_whole(request, "wave"), _at(waves, -1))
    earlier = waves.get(_whole(request, "against"), _at(waves, -2))
    differ = later is not None and earlier is not None and later != earlier
    context: dict[str, Any] = {
        "shared": shared,
        "study": plan.study,
        "plan": plan,
        "tables": tables,
        "groups": groups_of(table, max(_whole(request, "one"), 0), _second(request)) if table else None,
        "waves": waves,
        "later": later,
        "earlier": earlier,
        "changes": changes_between(plan, later, earlier) if differ and later and earlier else [],
        "may_ask": shared and people.may(request.user, Right.ASK, plan.study),
    }
    return render(request, "dashboard/compare.html", context)


def _table(tables: list[Publication], number: int) -> Publication | None:
    named = [each for each in tables if each.number == number]
    return (named or tables or [None])[0]  # type: ignore[list-item]


def _second(request: HttpRequest) -> int:
    return _whole(request, "other") if "other" in request.GET else 1


def _at(waves: dict[int, Release | Step], place: int) -> Release | Step | None:
    found = list(waves.values())
    return found[place] if len(found) >= -place else None


def _whole(request: HttpRequest, name: str) -> int:
    """Read a whole number of an address, −1 where there is none."""
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
