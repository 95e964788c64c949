"""The kinds of queries, by their names in a request: those that researchers ask, in the order of
the list, and those that only the rule of a study makes.
"""

from surveys.releases.queries.base import Query
from surveys.releases.queries.check import Check
from surveys.releases.queries.continual import Continual
from surveys.releases.queries.crosstab import Crosstab
from surveys.releases.queries.expression import Expression
from surveys.releases.queries.linear_regression import LinearRegression
from surveys.releases.queries.mean import Mean
from surveys.releases.queries.most_common import MostCommon
from surveys.releases.queries.people import People
from surveys.releases.queries.price import Price
from surveys.releases.queries.quantile import Quantile
from surveys.releases.queries.ranges import Ranges
from surveys.releases.queries.shares import Shares
from surveys.releases.queries.synthetic import Synthetic
from surveys.releases.queries.trusted import Trusted
from surveys.releases.queries.variance import Variance
from surveys.releases.queries.watch import Watch

ALL: tuple[type[Query], ...] = (
    Shares,
    Crosstab,
    MostCommon,
    Mean,
    Variance,
    Quantile,
    Ranges,
    LinearRegression,
    Synthetic,
    Watch,
    Check,
    Price,
    Trusted,
    Expression,
)
EVERY: tuple[type[Query], ...] = (*ALL, Continual, People)
KINDS: dict[str, type[Query]] = {kind.kind: kind for kind in EVERY}
