"""The kinds of statistics that a researcher can ask for, by their names in a request; in the order of the list."""

from surveys.releases.asked.base import Asked
from surveys.releases.asked.check import Check
from surveys.releases.asked.crosstab import Crosstab
from surveys.releases.asked.linear_regression import LinearRegression
from surveys.releases.asked.mean import Mean
from surveys.releases.asked.most_common import MostCommon
from surveys.releases.asked.price import Price
from surveys.releases.asked.quantile import Quantile
from surveys.releases.asked.ranges import Ranges
from surveys.releases.asked.shares import Shares
from surveys.releases.asked.synthetic import Synthetic
from surveys.releases.asked.trusted import Trusted
from surveys.releases.asked.watch import Watch

ALL: tuple[type[Asked], ...] = (
    Shares,
    Crosstab,
    MostCommon,
    Mean,
    Quantile,
    Ranges,
    LinearRegression,
    Synthetic,
    Watch,
    Check,
    Price,
    Trusted,
)
KINDS: dict[str, type[Asked]] = {kind.kind: kind for kind in ALL}
