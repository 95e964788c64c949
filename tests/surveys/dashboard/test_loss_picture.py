"""The picture of a release's loss, on its page."""

import html
import math
import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.template.loader import render_to_string

from dpengine.losses import LossLaw
from surveys.dashboard.loss_picture import COLUMNS, LossPicture
from surveys.releases.queries import KINDS
from tests.surveys.releases.queries import scored_plans


def published(kind: str, plan: Any, **parameters: Any) -> Any:
    query = KINDS[kind].read(plan, {"epsilon": "0.6", **parameters})
    return SimpleNamespace(query=query, request=SimpleNamespace(plan=plan))


def picture_of_law(law: LossLaw, epsilon: float = 0.6, delta: float = 0.0) -> LossPicture:
    return LossPicture(law, epsilon, delta)


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


@pytest.mark.parametrize("publication", [SHARES, IN_RHO, SMOOTH])
def test_its_columns_are_all_draws_and_none_is_outside(publication: Any) -> None:
    picture = LossPicture.of(publication)
    assert sum(picture.shares) + picture.law.unbounded == pytest.approx(1)
    assert len(picture.shares) == COLUMNS
    for column in picture.columns:
        left, width, top, height = (
            float(part[:-1]) for part in (column.x, column.width, column.top, column.height)
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


def test_noise_without_an_end_has_the_study_s_delta() -> None:
    """ε 0.6 pays ρ = 0.18: at δ = 10⁻⁶ Gaussian noise has ε 2.81, by the exact formula."""
    picture = LossPicture.of(IN_RHO)
    what, loss, _ = picture.lines[-1]
    assert what == "but for a chance of 1e-06 at most"
    assert float(loss) == pytest.approx(picture.epsilon, abs=0.002)
    assert picture.law.delta(picture.epsilon) == pytest.approx(1e-6, rel=1e-3)


def test_a_delta_of_its_own_is_said() -> None:
    assert LossPicture.of(SMOOTH).lines[-1][0].startswith("but for a chance of ")
    assert not LossPicture.of(SMOOTH).law.is_exact


@pytest.mark.parametrize("epsilon", [0.001, 0.05, 1.0, 20.0])
def test_small_and_great_losses_have_round_lines(epsilon: float) -> None:
    picture = picture_of_law(LossLaw.coin(epsilon), epsilon)
    ticks = picture.scale.ticks
    assert 3 <= len(ticks) <= 7
    assert "0" in {tick.label.strip("0.") or "0" for tick in ticks}
    assert float(picture.upright.high) >= max(picture.shares)


@pytest.mark.parametrize("publication", [SHARES, IN_RHO, SMOOTH])
def test_its_page_says_it_without_eyes_and_without_a_style(publication: Any) -> None:
    page = render_to_string("dashboard/loss.html", {"picture": LossPicture.of(publication)})
    assert "style=" not in page
    (label,) = re.findall(r'role="img" aria-label="([^"]+)"', page)
    assert re.search(r"Columns from a loss of −[\d.]+ to [\d.]+\.", html.unescape(label))
    assert len(re.findall("<tr>", page)) == 5
