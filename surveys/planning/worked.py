"""Everything that the planner shows for three dials: the page's numbers, in the words and units of its reader."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from dpengine.inference.power import Response, Target, two_samples
from dpengine.local.distribution import Distribution
from dpengine.local.number import NumberChannel
from dpengine.local.one_of import OneOf
from dpengine.privacy import epsilon_above, plain
from surveys.design import documents
from surveys.design import queries as design
from surveys.planning import curves, sharing
from surveys.planning.curves import Curve
from surveys.planning.dials import Setting, Solved, Unreachable, answers_for, epsilon_for
from surveys.planning.risks import RISKY, Risks
from surveys.planning.sharing import Share, Way
from surveys.planning.topics import Drawn
from surveys.planning.widths import width_of

BETTER = Decimal("0.7")  # of ε, in “protect people better”
MANY_POINTS = 1000  # from here on three digits would need a power of ten
LEAST_BETTER = 10  # answers, below which there is no half of them to ask


def count(number: float) -> str:
    """Return a whole number as people of this language write it."""
    return str(number_format(round(number), use_l10n=True, force_grouping=True))


def half_width(half: float, drawn: Drawn) -> str:
    """Return a ± in points, or in the number's own unit with three digits that count."""
    if not drawn.is_mean:
        return decimal_text(100 * half, 1)
    return decimal_text(half, max(0, 2 - math.floor(math.log10(half))) if half > 0 else 2)


def unit_of(drawn: Drawn) -> str:
    """Return the word after a ±."""
    if not drawn.is_mean:
        return _("points")
    return _("months") if drawn.content["kind"] == "month" else drawn.content["unit"] or _("units")


def epsilon_text(epsilon: Decimal | float) -> str:
    """Return an ε with two places, three where it is small."""
    return decimal_text(float(epsilon), 2 if epsilon >= Decimal("0.1") else 3)


def decimal_text(number: float, places: int) -> str:
    """Return a number rounded to so many places, as people of this language write it. (Django would cut it off.)"""
    return str(number_format(f"{number:.{places}f}", use_l10n=True, force_grouping=True))


@dataclass(frozen=True)
class Other:
    """Another way to plan it, in one row."""

    title: str
    n: str
    half: str
    epsilon: str
    odds: design.Odds | None
    change: str
    is_mine: bool = False
    is_risky: bool = False


@dataclass(frozen=True)
class Tick:
    x: str
    label: str
    anchor: str


@dataclass(frozen=True)
class Picture:
    """A curve with its words."""

    id: str
    title: str
    sentence: str
    said: str  # for who cannot see it
    curve: Curve
    here_label: str
    lines: tuple[dict[str, str], ...]
    marks: tuple[dict[str, str], ...]


@dataclass(frozen=True)
class Made:
    """The picture of one interval, and its layers in words."""

    bars: tuple[tuple[str, str, str], ...]  # which noise, where it begins, how wide it is
    ticks: tuple[Tick, ...]


@dataclass(frozen=True)
class Worked:
    """What follows from three dials that agree."""

    setting: Setting
    solved: Solved
    all_losses: tuple[Fraction, ...]  # of all protected questions of one person

    @property
    def drawn(self) -> Drawn:
        return self.solved.drawn

    @property
    def n(self) -> str:
        return count(self.solved.n)

    @property
    def half(self) -> str:
        return half_width(self.solved.width.half, self.drawn)

    @property
    def unit(self) -> str:
        return unit_of(self.drawn)

    @property
    def epsilon(self) -> str:
        return epsilon_text(self.solved.epsilon)

    @property
    def layers(self) -> list[tuple[str, str]]:
        """Return the half-widths of sampling, with devices, with publication, by the letter of their texture."""
        width = self.solved.width
        return [
            (noise, half_width(part, self.drawn))
            for noise, part in zip("sdp", (width.sampling, width.device, width.half), strict=True)
        ]

    @property
    def is_multiple(self) -> bool:
        return bool(self.drawn.content["kind"] == "multiple")

    @property
    def odds(self) -> design.Odds | None:
        return odds_of(self.drawn)

    @cached_property
    def risks(self) -> Risks:
        return Risks.of(self.drawn.loss, self.all_losses)

    @property
    def plain(self) -> str:
        return count(self.solved.width.plain)

    @property
    def price(self) -> str:
        """Return how many answers the protection costs."""
        return count(max(self.solved.n - self.solved.width.plain, 0))

    @cached_property
    def by_protection(self) -> Curve:
        return curves.with_protection(self.setting, self.solved)

    @cached_property
    def by_answers(self) -> Curve:
        return curves.with_answers(self.setting, self.solved)

    @cached_property
    def pictures(self) -> list[Picture]:
        return [self._by_protection(), self._by_answers()]

    def _by_protection(self) -> Picture:
        curve = self.by_protection
        return self._picture(
            "e",
            curve,
            _("with protection"),
            _("%(n)s answers. To the left: better protected, less precise.") % {"n": self.n},
            _("± %(half)s at ε %(epsilon)s") % {"half": self.half, "epsilon": self.epsilon},
            [_("ε %(epsilon)s") % {"epsilon": epsilon_text(mark.value)} for mark in curve.marks],
        )

    def _by_answers(self) -> Picture:
        curve = self.by_answers
        return self._picture(
            "n",
            curve,
            _("with answers"),
            self._with_answers() % {"epsilon": self.epsilon},
            _("± %(half)s at %(n)s") % {"half": self.half, "n": self.n},
            [count(mark.value) for mark in curve.marks],
        )

    def _with_answers(self) -> str:
        if self.drawn.is_distribution:
            return _("ε %(epsilon)s. To the right: more people, more precise.")
        return _("ε %(epsilon)s. Four times the answers halve the two lower layers.")

    def _picture(self, id: str, curve: Curve, title: str, sentence: str, here: str, marks: list[str]) -> Picture:
        ends = {
            "first": half_width(curve.first[1], self.drawn),
            "last": half_width(curve.last[1], self.drawn),
            "left": marks[0],
            "right": marks[-1],
            "here": here,
            "unit": self.unit,
        }
        return Picture(
            id=id,
            title=title,
            sentence=sentence,
            said=_("Half-width in %(unit)s: %(first)s at %(left)s, %(last)s at %(right)s; here %(here)s") % ends,
            curve=curve,
            here_label=here,
            lines=tuple({"y": each.y, "above": each.above, "label": self._short(each.value)} for each in curve.lines),
            marks=tuple(
                {"x": mark.x, "anchor": mark.anchor, "label": label}
                for mark, label in zip(curve.marks, marks, strict=True)
            ),
        )

    def _short(self, value: float) -> str:
        """Return a level of a picture, without needless zeros."""
        shown = value if self.drawn.is_mean else 100 * value
        return count(shown) if shown >= MANY_POINTS else str(number_format(f"{shown:.3g}", use_l10n=True))

    @cached_property
    def made(self) -> Made:
        """Return the picture of the interval, in the middle of an axis that is twice as wide."""
        width = self.solved.width
        span = 4 * width.half
        bars = [
            (noise, f"{50 - 100 * part / span:.2f}%", f"{200 * part / span:.2f}%")
            for noise, part in (("p", width.half), ("d", width.device), ("s", width.sampling))
        ]
        return Made(tuple(bars), tuple(self._ticks(span)))

    def _ticks(self, span: float) -> list[Tick]:
        anchors = ("start", "middle", "middle", "middle", "end")
        return [
            Tick(f"{25 * place}%", self._around((place - 2) * span / 4), anchor) for place, anchor in enumerate(anchors)
        ]

    def _around(self, away: float) -> str:
        """Return a value that lies so far from the middle of the interval."""
        if not self.drawn.is_mean:
            return f"{decimal_text(100 * (float(self.setting.at) + away), 1)}%"
        sign = "+" if away > 0 else "−" if away < 0 else ""
        return f"{sign}{half_width(abs(away), self.drawn)}" if away else _("mean")

    @cached_property
    def others(self) -> list[Other]:
        """Return this plan and the nearest others, each whole: answers, ±, ε and odds."""
        found = [self._row(_("keep this plan"), self.solved.n, self.drawn, self.solved.epsilon, _("nothing"), True)]
        return [*found, *filter(None, (self._better(), self._fewer(), self._rougher()))]

    def _better(self) -> Other | None:
        epsilon = max((self.solved.epsilon * BETTER).quantize(Decimal("0.01")), self.setting.limits[0])
        if epsilon >= self.solved.epsilon:
            return None
        try:
            n = answers_for(self.setting, epsilon, self.solved.width.half)
        except Unreachable:
            return None
        more = _("%(more)s more answers to collect") % {"more": count(n - self.solved.n)}
        return self._row(_("protect people better"), n, self.setting.topic.at(epsilon), epsilon, more)

    def _fewer(self) -> Other | None:
        n = self.solved.n // 2
        if n < LEAST_BETTER:
            return None
        title = _("find only half the people")
        try:
            epsilon = epsilon_for(self.setting, n, self.solved.width.half)
        except Unreachable as unreachable:
            best = self.setting.limits[1]
            said = _("± %(half)s is the best there is, at ε %(epsilon)s") % {
                "half": half_width(unreachable.best.half, self.drawn),
                "epsilon": epsilon_text(best),
            }
            return self._row(title, n, self.setting.topic.at(best), best, said)
        drawn = self.setting.topic.at(epsilon)
        guess = Risks.of(drawn.loss, [drawn.loss]).answer.becomes[1]
        said = _("a guess of 50 becomes at most %(guess)s in 100") % {"guess": guess}
        return self._row(title, n, drawn, epsilon, said)

    def _rougher(self) -> Other | None:
        n = self.solved.n // 4
        if n < LEAST_BETTER:
            return None
        said = _("three quarters of the answers need not be found")
        return self._row(_("accept a rougher answer"), n, self.drawn, self.solved.epsilon, said)

    def _row(self, title: str, n: int, drawn: Drawn, epsilon: Decimal, change: str, is_mine: bool = False) -> Other:
        width = width_of(drawn, self.setting.law(drawn), n, self.setting.at)
        half = half_width(width.half, drawn)
        is_risky = not is_mine and drawn.loss > max(RISKY, self.drawn.loss)
        return Other(title, count(n), half, epsilon_text(epsilon), odds_of(drawn), change, is_mine, is_risky)


@dataclass(frozen=True)
class Compared:
    """Two groups told apart: people in each, and how many plain answers would do it."""

    each: str
    both: str
    plainly: str


def compared(drawn: Drawn, one: Decimal, other: Decimal, power: Decimal) -> Compared | None:
    """Return how many people two groups of one size need, or None where what is planned for is no share."""
    channel = drawn.tally.channel
    if isinstance(channel, OneOf | NumberChannel | Distribution):
        return None
    margin = channel.margins()[0]
    asked = Response(float(margin.lie), margin.contrast)
    shares, target = (float(one) / 100, float(other) / 100), Target(power=float(power) / 100)
    n = two_samples(asked, *shares).smallest(target).n
    plainly = two_samples(Response(0.0, 1.0), *shares).smallest(target).n
    return Compared(count(n), count(2 * n), count(plainly))


@dataclass(frozen=True)
class Row:
    """One question in the table of shares."""

    name: str
    label: str
    is_given: bool
    choices: int
    kind: str
    weight: Decimal
    epsilon: str
    asked: Decimal
    odds: design.Odds | None
    half: str
    unit: str


def rows_of(shares: Sequence[Share]) -> list[Row]:
    return [_row(share) for share in shares]


def _row(share: Share) -> Row:
    question, drawn = share.setting.topic.question, share.drawn
    return Row(
        name=question.name,
        label=question.label,
        is_given=share.setting.topic.is_given,
        choices=len(drawn.content["choices"]),
        kind=str(question.kind),
        weight=share.weight,
        epsilon=epsilon_text(drawn.epsilon),
        asked=share.asked,
        odds=odds_of(drawn),
        half=half_width(share.width.half, drawn),
        unit=unit_of(drawn),
    )


@dataclass(frozen=True)
class Ways:
    """Splitting and sampling, side by side."""

    split: Way
    sampled: Way | None

    @property
    def rows(self) -> list[Row]:
        return rows_of(self.split.shares)

    @property
    def picked(self) -> list[Row]:
        return rows_of(self.sampled.shares) if self.sampled else []

    @property
    def epsilon(self) -> str:
        return epsilon_text(self.split.epsilon)

    @property
    def guess(self) -> str:
        return Risks.of(self.split.loss, [self.split.loss]).person.becomes[1]

    @property
    def is_risky(self) -> bool:
        return self.split.loss > RISKY

    @property
    def is_too_much(self) -> bool:
        """Whether browsers refuse a form that asks all of this of one person."""
        return self.split.loss > documents.MAXIMUM_TOTAL

    @property
    def most(self) -> str:
        return f"{plain(epsilon_above(documents.MAXIMUM_TOTAL, places=2)):f}"

    @property
    def is_sampling_better(self) -> bool:
        return self.sampled is not None and self.sampled.worst < self.split.worst


def ways_of(settings: Sequence[Setting], parts: Sequence[Decimal], weights: Sequence[Decimal], n: int) -> Ways:
    split = sharing.split(settings, parts, weights, n)
    return Ways(split, sharing.sampled(settings, sum(parts, Decimal(0)), n) if len(settings) > 1 else None)


def odds_of(drawn: Drawn) -> design.Odds | None:
    """Return the odds of a question's first choice that people see, from the channel's integers."""
    channel = drawn.tally.channel
    if drawn.is_slow or "channel" not in drawn.content:
        return None
    if isinstance(channel, OneOf):  # of the bit, once an option is picked
        return design.Odds(2, 1, channel.margin.truth, channel.margin.lie, Fraction(1, 2))
    return design.odds_of(drawn.content)[1 if drawn.content["kind"] == "yes_no" else 0]
