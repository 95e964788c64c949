"""What a release tells of one person, as a picture: the loss that was drawn with its numbers.

Columns are how often a draw of this release loses so much. A line marks what no draw passes, or
what draws pass with a small chance only. From the Plan and the request alone: it shows nothing that
was drawn.

Where a loss has no bound, the line is at a loss b and its chance c, P(L > b) ≤ c, not at an ε that
holds with a δ: such an ε is passed more often than δ (dpengine.losses).
    (ε, δ)            b = ε + ln 2, c = 2δ.
    ρ, Gaussian noise the law itself says it, at c = δ of the study.
    ρ, other noise    b = ρ + 2√(ρ·ln(1/δ)), c = δ (Bun and Steinke 2016, Prop. 1.3).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from django.utils.translation import gettext as _

from dpengine.losses import LossLaw
from surveys.charts.intervals import Bar
from surveys.charts.scales import (
    Scale,
    chance_text,
    number_text,
    percent,
    position,
    round_steps,
)
from surveys.releases.losses import is_noisy, loss_of
from surveys.releases.selectors import Publication
from surveys.results.measured import upright_scale

COLUMNS = 25  # odd: 0 and both ends stand in the middle of one
FILLED = 0.86  # of a column's place
NEARLY = 0.999  # of all draws are in the picture, at least
LINES = 6  # across, at most
PLACES = 3
SEEN = 1e-9  # of all draws: less is rounding


@dataclass(frozen=True)
class LossPicture:
    """The law of a release's loss, and what it passes with a small chance only."""

    law: LossLaw
    most: float
    chance: Fraction = Fraction(0)  # of more than that
    is_of_rho: bool = False  # what is bounded is ρ, not ε
    is_noisy: bool = True  # else the devices' chance is all there is

    @classmethod
    def of(cls, publication: Publication) -> "LossPicture":
        query = publication.query
        law, cost = loss_of(query), query.cost
        if cost.epsilon is not None:
            most = law.greatest + (math.log(2) if cost.delta else 0)
            return cls(law, most, 2 * cost.delta, is_noisy=is_noisy(query))
        caps, rho = publication.request.plan.content.caps, float(cost.rho)
        delta = Fraction(str(caps.central_delta))  # which every cap on ρ has
        most = rho + 2 * math.sqrt(-rho * math.log(delta))
        if law.is_exact:
            most = law.at_most(1 - float(delta))
        return cls(law, most, delta, is_of_rho=True)

    @property
    def end(self) -> float:
        nearly_most = min(self.law.at_most(NEARLY * (1 - self.law.unbounded)), self.law.greatest)
        return max(self.most, abs(self.law.at_most(1 - NEARLY)), nearly_most)

    @cached_property
    def shares(self) -> list[float]:
        """Return the share of draws in each column; what is farther out is in the outermost.

        A loss between the middles of two columns is in both, more in the nearer: else columns would
        beat against the steps between losses.
        """
        width = 2 * self.end / (COLUMNS - 1)
        places = np.clip((self.law.losses + self.end) / width, 0, COLUMNS - 1)
        left = np.minimum(places.astype(int), COLUMNS - 2)
        found = np.zeros(COLUMNS)
        np.add.at(found, left, self.law.chances * (left + 1 - places))
        np.add.at(found, left + 1, self.law.chances * (places - left))
        return [max(float(share), 0.0) for share in found]

    @cached_property
    def scale(self) -> Scale:
        """Return the scale across, half a column wider than the ends, with round lines."""
        half = self.end / (COLUMNS - 1)
        step = next(round_steps(2 * self.end / (LINES - 1)))
        return Scale(-self.end - half, self.end + half, step)

    @cached_property
    def upright(self) -> Scale:
        return upright_scale(max(self.shares))

    @property
    def columns(self) -> list[Bar]:
        gap = (1 - FILLED) / 2
        return [
            Bar(
                "p",
                x=position((place + gap) / COLUMNS),
                y=self.upright.from_top(share),
                width=position(FILLED / COLUMNS),
                height=position(self.upright.part(share)),
            )
            for place, share in enumerate(self.shares)
            if share > SEEN
        ]

    @property
    def bound(self) -> str:
        """Return where the line stands."""
        return self.scale.at(self.most)

    @property
    def caption(self) -> str:
        if self.law.is_exact:
            return _("How often a release loses this much, with the noise of this release")
        if self.is_of_rho:
            return _("How often a release loses this much, with Gaussian noise of the same ρ")
        return _(
            "How often a release loses this much, at worst: no other noise of the same ε loses more"
        )

    @property
    def lines(self) -> list[tuple[str, str, str]]:
        """Return in words how much is lost: what, the loss, and how many times the odds.

        Noise that loses no more has no greater mean and no greater end, but can have a greater
        median: where the law is such a bound, it says no parts of draws.
        """
        rows = [(_("on average at most"), self.law.mean)]
        if self.law.is_exact:
            rows = [
                (_("on average"), self.law.mean),
                (_("in half of all draws at most"), self.law.at_most(0.5)),
                (_("in 99 of 100 draws at most"), self.law.at_most(0.99)),
            ]
        rare = _("but for a chance of %(chance)s at most") % {"chance": chance_text(self.chance)}
        rows.append((rare if self.chance else _("never more than"), self.most))
        return [
            (what, _amount(loss), number_text(math.ceil(100 * math.exp(loss) - 1e-6) / 100, 2))
            for what, loss in rows
            if math.isfinite(loss)
        ]

    @property
    def description(self) -> str:
        """Say the picture for those who cannot see it."""
        below = float(self.law.chances[self.law.losses < 0].sum())
        return _(
            "Columns from a loss of %(least)s to %(most)s. Below 0, where the numbers point the "
            "wrong way, are %(below)s of 100 draws; a line marks %(bound)s."
        ) % {
            "least": _amount(-self.end),
            "most": _amount(self.end),
            "below": percent(below, 0),
            "bound": _amount(self.most),
        }


def _amount(loss: float) -> str:
    """Return a loss for people, rounded up."""
    rounded = math.ceil(loss * 10**PLACES - 1e-6) / 10**PLACES
    return number_text(rounded, PLACES).rstrip("0").rstrip(".") if rounded else "0"
