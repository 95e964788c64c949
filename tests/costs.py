"""A cost that any budget takes: of a report that no device changed, so that it is what it is."""

from fractions import Fraction

from dpengine.contraction import Noise, Reading
from dpengine.privacy import Cost

BARE = "elsewhere/1/given"


def pure(epsilon) -> Cost:
    noise = Noise(frozenset([BARE]), Fraction(epsilon))
    cost = Cost.pure(Fraction(epsilon))
    return Cost(rho=cost.rho, epsilon=cost.epsilon, reading=Reading({BARE: None}, [noise]))
