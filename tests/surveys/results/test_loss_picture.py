"""The picture of a release's loss, on its page."""

import html
import math
import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.template.loader import render_to_string

from dpengine.losses import LossLaw
from surveys.releases.queries import KINDS
from surveys.results.loss_picture import COLUMNS, LossPicture
from tests.surveys.releases.queries import scored_plans


def published(kind: str, plan: Any, **parameters: Any) -> Any:
    query = KINDS[kind].read(plan, {"epsilon": "0.6", **parameters})
    return SimpleNamespace(query=query, request=SimpleNamespace(plan=plan))


SHARES = published("shares", scored_plans.everything(), questions=["colour"])
IN_RHO = published("shares", scored_plans.everything(rho=True), questions=["colour"])
SMOOTH = published(
    "quantile",
    scored_plans.everything(rho=True),
    question="hours",
    percent="50",
    method="smooth",
    delta="0.0000001",
)

QUANTILE = published(
    "quantile",
    scored_plans.everything(rho=True),
    question="hours",
    percent="50",
    method="exponential",
)


@pytest.mark.parametrize("publication", [SHARES, IN_RHO, SMOOTH])
def test_its_columns_are_all_draws_and_none_is_outside(publication: Any) -> None:
    picture = LossPicture.of(publication)
    assert sum(picture.shares) + picture.law.unbounded == pytest.approx(1)
    assert len(picture.shares) == COLUMNS
    for column in picture.columns:
        left, width, top, height = (
            float(part[:-1]) for part in (column.x, column.width, column.y, column.height)
        )
        assert 0 <= left <= left + width <= 100
        assert top + height == pytest.approx(100, abs=0.02)
        assert 0 <= height <= 100
    assert 50 < float(picture.bound[:-1]) <= 100


def test_the_columns_stand_at_their_losses_and_the_bound_in_the_middle_of_the_last() -> None:
    picture = LossPicture.of(SHARES)
    own = dict(enumerate(picture.shares))
    coin = 1 / (1 + math.exp(-0.3))
    assert own[0] == pytest.approx((1 - coin) ** 2)
    assert own[COLUMNS // 2] == pytest.approx(2 * coin * (1 - coin))
    assert own[COLUMNS - 1] == pytest.approx(coin**2)
    assert float(picture.bound[:-1]) == pytest.approx(100 - 50 / COLUMNS, abs=0.01)


def test_it_says_the_law_in_words() -> None:
    assert LossPicture.of(SHARES).lines == [
        ("on average", "0.09", "1.10"),
        ("in half of all draws at most", "0", "1.00"),
        ("in 99 of 100 draws at most", "0.6", "1.83"),
        ("never more than", "0.6", "1.83"),
    ]


def test_a_law_that_stands_for_another_says_nothing_of_parts_of_draws() -> None:
    """Two coins of 0.3 pass 0 in fewer than half of all draws. Noise that only tells whether both
    fell the wrong way is a function of them, loses no more, and passes 0 in 82 of 100.
    """
    p = 1 / (1 + math.exp(-0.3))
    both, told = LossLaw.coin(0.3).times(2), math.log((1 - (1 - p) ** 2) / (1 - p**2))
    assert both.at_most(0.5) == pytest.approx(0)
    assert told > 0.2
    assert 1 - (1 - p) ** 2 > 0.8
    lines = LossPicture(both, both.greatest).lines
    assert lines[0] == ("on average at most", "0.09", "1.10")
    assert [what for what, *_ in lines] == ["on average at most", "never more than"]


def test_half_of_all_draws_of_gaussian_noise_lose_their_mean_at_most() -> None:
    assert LossPicture.of(IN_RHO).lines[1] == ("in half of all draws at most", "0.18", "1.20")


def test_noise_without_an_end_is_said_by_its_own_law_at_the_study_s_delta() -> None:
    """ε 0.6 pays ρ = 0.18: a normal loss of mean 0.18 and standard deviation 0.6, whose 10⁻⁶ is
    4.753 of them above the mean. Gaussian noise has ε 2.76 at this δ, and passes it 9 times as
    often.
    """
    picture = LossPicture.of(IN_RHO)
    what, loss, times = picture.lines[-1]
    assert what == "but for a chance of 10⁻⁶ at most"
    assert float(loss) == pytest.approx(0.18 + 0.6 * 4.7534, abs=0.002)
    assert float(times) == pytest.approx(math.exp(float(loss)), abs=0.02)
    assert picture.caption == "How often a release loses this much, with the noise of this release"
    epsilon = picture.law.epsilon(1e-6)
    passed = float(picture.law.chances[picture.law.losses > epsilon].sum())
    assert passed > 8e-6


def test_a_delta_of_its_own_is_passed_with_twice_its_chance_at_twice_the_odds() -> None:
    """δ = 10⁻⁷ less what rounding leaves: (ε, δ) says no more of the chance of a loss above ε."""
    picture = LossPicture.of(SMOOTH)
    what, loss, times = picture.lines[-1]
    assert what == "but for a chance of 1.3·10⁻⁷ at most"
    assert SMOOTH.query.cost.delta == pytest.approx(6.25e-8)
    assert float(loss) == pytest.approx(0.6 + math.log(2), abs=0.001)
    assert float(times) == pytest.approx(2 * math.exp(0.6), abs=0.01)
    assert not picture.law.is_exact


def test_what_is_no_gaussian_noise_is_said_by_its_rho() -> None:
    """A quantile with its limits chooses as well as it adds noise."""
    picture = LossPicture.of(QUANTILE)
    rho = float(QUANTILE.query.cost.rho)
    assert picture.caption.endswith("with Gaussian noise of the same ρ")
    assert picture.most == pytest.approx(rho + 2 * math.sqrt(rho * 6 * math.log(10)))


@pytest.mark.parametrize("epsilon", [0.001, 0.05, 1.0, 20.0])
def test_small_and_great_losses_have_round_lines(epsilon: float) -> None:
    picture = LossPicture(LossLaw.coin(epsilon), epsilon)
    ticks = picture.scale.ticks
    assert 3 <= len(ticks) <= 7
    assert "0" in {tick.label.strip("0.") or "0" for tick in ticks}
    assert float(picture.upright.high) >= max(picture.shares)


@pytest.mark.parametrize("publication", [SHARES, IN_RHO, SMOOTH])
def test_its_page_says_it_without_eyes_and_without_a_style(publication: Any) -> None:
    shown = {"picture": LossPicture.of(publication), "plan": publication.request.plan}
    page = render_to_string("results/loss.html", shown)
    assert "style=" not in page
    (label,) = re.findall(r'role="img" aria-label="([^"]+)"', page)
    assert re.search(r"Columns from a loss of −[\d.]+ to [\d.]+\.", html.unescape(label))
    assert len(re.findall("<tr>", page)) == (5 if publication is not SMOOTH else 3)
