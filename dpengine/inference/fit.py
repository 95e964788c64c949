"""How well a model fits the cells it was fitted to.

    G² = 2 Σ observed · ln(observed / expected), chi-square with df = cells free − parameters fitted

when the model holds and cells are not small (Wilks 1938). A large G² where two channels asked the
same question says that one share cannot explain both: non-compliance may be at work.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special


@dataclass(frozen=True, slots=True)
class Fit:
    g2: float
    df: int

    @property
    def p(self) -> float | None:
        """Return the chance of so large a G² when the model holds; None when nothing is left to test."""
        return float(special.chdtrc(self.df, max(self.g2, 0.0))) if self.df > 0 else None


def fit_of(observed: Sequence[float], expected: Sequence[float], df: int) -> Fit:
    """Return G² of observed against expected counts. An empty cell adds nothing."""
    seen, fitted = np.asarray(observed, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    if seen.shape != fitted.shape:
        raise ValueError(f"expected as many cells as observed, got {fitted.size} and {seen.size}")
    return Fit(g2=2 * float(special.rel_entr(seen, fitted).sum()), df=df)
