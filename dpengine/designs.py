"""The field's randomised-response designs, each once: exact chances of a report after an answer.

Reports and answers of a binary design are 0 = no, 1 = yes (crosswise: same, triangular: a triangle,
kuk: red). With y₁ = P(1 | yes) and y₀ = P(1 | no), and a share λ of reports of 1:

    e^ε = max(y₁/y₀, y₀/y₁, (1 − y₁)/(1 − y₀), (1 − y₀)/(1 − y₁))
    share of yes = (λ − y₀)/(y₁ − y₀)

Where a chance is 0 some report proves or rules out an answer: ε = ∞. Such designs (direct, mangat,
triangular) can be analysed, not collected: dpengine.local.table refuses their tables. Designs with
two parameters, where people may lie, are in dpengine.inference.designs.

A design is its function here: the parameters are the parts that a command line spells.

Sources    Warner 1965; Greenberg, Abul-Ela, Simmons and Horvitz 1969; Kuk 1990; Mangat 1994; Yu,
           Tian and Tang 2008; Liu and Chow 1976; Kairouz, Bonawitz and Ramage 2016; names and
           parameters as in Blair, Imai and Zhou 2015 and in Lensvelt-Mulders et al. 2005.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

from dpengine.checks import require

Exact = Fraction | int | str | Decimal
Chances = tuple[tuple[Fraction, ...], ...]  # [answer][report]

# An exponent that would take for ever to write out
HUGE = re.compile(r"e[+-]?\d{4}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Design:
    """One table of chances for everyone."""

    spec: str  # as it is written: warner:p=3/4
    chances: Chances
    first: int = 0  # the outcome's lowest code
    size: int = 1  # choices that a report holds: reports are the sets of so many, in order

    def __post_init__(self) -> None:
        require(
            len(set(self.chances)) != 1,
            "design {}: every report is as likely after each answer: nothing can be learned",
            self.spec,
        )

    @property
    def is_binary(self) -> bool:
        return len(self.chances) == len(self.chances[0]) == 2

    @property
    def affine(self) -> tuple[Fraction, Fraction]:
        """Return c0 and c1: P(1) = c0 + c1·π, or a choice's own report of P = b + (a − b)·π.

        ValueError where reports and choices do not go together, or choices are treated unlike.
        """
        if self.is_binary:
            (_, no), (_, yes) = self.chances
            return no, yes - no
        own = {row[choice] for choice, row in enumerate(self.chances) if len(row) > choice}
        others = {
            chance for i, row in enumerate(self.chances) for j, chance in enumerate(row) if i != j
        }
        require(
            len(self.chances) == len(self.chances[0]) and len(own) == 1 and (len(others) == 1),
            "design {}: a plan needs one report per choice, and all choices treated alike",
            self.spec,
        )
        truth, lie = own.pop(), others.pop()
        return lie, truth - lie

    @property
    def loss(self) -> Fraction | None:
        """Return e^ε exactly; None where a report proves or rules out an answer."""
        columns = [column for column in zip(*self.chances, strict=True) if any(column)]
        if any(0 in column for column in columns):
            return None
        return Fraction(max(max(column) / min(column) for column in columns))

    @property
    def epsilon(self) -> float | None:
        loss = self.loss
        return None if loss is None else math.log(loss.numerator) - math.log(loss.denominator)


def direct() -> Chances:
    """Return the plain question."""
    return _binary(Fraction(1), Fraction(0))


def coin() -> Chances:
    """Return the coin of the book: heads, the truth; tails, what a second coin says.

    P(yes | yes) = 3/4, P(yes | no) = 1/4, e^ε = 3. Dwork and Roth 2014, § 3.2. It is forced("1/2",
    "1/4", "1/4").
    """
    return warner("3/4")


def warner(p: Exact) -> Chances:
    """Return Warner's mirrored question: with chance p "I have it", else "I have it not".

    The question is whether that is true.

    P(yes | yes) = p, P(yes | no) = 1 − p; e^ε = p/(1 − p), or its inverse below 1/2; p = 3/4: ε
    = ln 3. Warner 1965. At p = 1/2 both answers make the same reports.
    """
    chance = chance_of("p", p)
    return _binary(chance, 1 - chance)


def crosswise(p: Exact) -> Chances:
    """Return the crosswise model: asked with an innocent statement that holds for a share p.

    The answer is "same" or "different".

    Report 1 is "both or none is true". P(1 | yes) = p, P(1 | no) = 1 − p: Warner's table,
    without a device. e^ε = p/(1 − p) or its inverse; p = 1/4: ε = ln 3. Yu, Tian and Tang 2008.
    What people answer by heart about birthdays has no such guarantee.
    """
    return warner(p)


def forced(p: Exact, yes: Exact, no: Exact) -> Chances:
    """Return forced response: with chance p the truth, else a forced yes or no; p + yes + no = 1.

    P(yes | yes) = p + yes, P(yes | no) = yes; e^ε = max((p + yes)/yes, (p + no)/no); p = 2/3, yes =
    no = 1/6: e^ε = 5. Boruch 1971; Fox and Tracy 1986. Without a forced no, a no proves a no.
    """
    truth, always, never = chance_of("p", p), chance_of("yes", yes), chance_of("no", no)
    require(truth + always + never == 1, "p + yes + no must be 1, got {}", truth + always + never)
    return _binary(truth + always, always)


def forced_choices(p: Exact, forced: Sequence[Exact]) -> Chances:
    """Return forced response with k choices.

    With chance p the truth, else choice j with chance forced[j].

    P(j | i) = p·[i = j] + forced[j]; e^ε = 1 + p/min forced; p = 1/2, forced 1/4, 1/4: the
    coin. Of all forced chances, equal ones give the least ε for a p: they are k-ary randomised
    response. Liu and Chow 1976.
    """
    truth = chance_of("p", p)
    others = [chance_of(f"forced[{choice}]", chance) for choice, chance in enumerate(forced)]
    require(
        truth + sum(others) == 1,
        "p and the forced chances must add up to 1, got {}",
        truth + sum(others),
    )
    return tuple(
        tuple(truth * (i == j) + other for j, other in enumerate(others))
        for i in range(len(others))
    )


def unrelated(p: Exact, q: Exact) -> Chances:
    """Return the unrelated question of known prevalence.

    With chance p the question, else one to which q say yes.

    P(yes | yes) = p + (1 − p)q, P(yes | no) = (1 − p)q; p = 1/2, q = 1/2: the coin. e^ε = 1 + p
    / ((1 − p)·min(q, 1 − q)). Greenberg et al. 1969.
    """
    chance, prevalence = chance_of("p", p), chance_of("q", q)
    return forced(chance, (1 - chance) * prevalence, (1 - chance) * (1 - prevalence))


def disguised(yes: Exact, no: Exact | None = None) -> Chances:
    """Return the disguised response.

    One card from the yes-stack or the no-stack, and only its colour is told.

    yes and no are the shares of red cards in the two stacks; no = 1 − yes if left out (Blair,
    Imai and Zhou). P(red | yes) = yes, P(red | no) = no; yes = 4/5, no = 1/5: e^ε = 4. Kuk 1990
    with one card. A stack of one colour, Kuk's shares of 0 or 1, makes the other colour a
    proof.
    """
    red = chance_of("yes", yes)
    return _binary(red, 1 - red if no is None else chance_of("no", no))


def kuk(p1: Exact, p2: Exact) -> Chances:
    """Return Kuk's two packs, drawn from once: shares p1 and p2 of red cards. Kuk 1990."""
    return _binary(chance_of("p1", p1), chance_of("p2", p2))


def mangat(p: Exact) -> Chances:
    """Return Mangat's design: carriers say yes; the others tell the truth with chance p.

    A no proves that one is none. Mangat 1994.
    """
    return _binary(Fraction(1), 1 - chance_of("p", p))


def triangular(p: Exact) -> Chances:
    """Return the triangular model: who has the trait or a harmless one (share p) draws a triangle.

    A circle proves a no. Yu, Tian and Tang 2008.
    """
    return _binary(Fraction(1), chance_of("p", p))


def subset(k: int, size: int, keep: Exact) -> Chances:
    """Return subset selection: a report holds `size` of k choices, the true one with chance keep.

    The others are drawn without replacement. Reports are the sets in the order of
    itertools.combinations: keep / C(k − 1, size − 1) for each that holds the answer, (1 − keep) /
    C(k − 1, size) for each other. e^ε = keep·(k − size)/((1 − keep)·size). Ye and Barg 2018.
    A set of one is k-ary randomised response: keep = e^ε/(e^ε + k − 1). Kairouz, Bonawitz and
    Ramage 2016.
    """
    require(1 <= size < k, "size must be 1 to {}, got {}", k - 1, size)
    own = chance_of("keep", keep)
    held, missed = own / math.comb(k - 1, size - 1), (1 - own) / math.comb(k - 1, size)
    return tuple(
        tuple(held if answer in each else missed for each in combinations(range(k), size))
        for answer in range(k)
    )


BINARY: dict[str, Callable[..., Chances]] = {
    design.__name__: design
    for design in (
        direct,
        coin,
        warner,
        forced,
        crosswise,
        unrelated,
        disguised,
        mangat,
        triangular,
        kuk,
    )
}


def _binary(yes_after_yes: Fraction, yes_after_no: Fraction) -> Chances:
    return (1 - yes_after_no, yes_after_no), (1 - yes_after_yes, yes_after_yes)


def chance_of(name: str, value: Exact) -> Fraction:
    """Return an exact chance from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, Fraction | int | str | Decimal):
        raise TypeError(
            f"{name} must be exact, got a {type(value).__name__}: a float such as 0.1 is not one "
            'tenth; write "1/10" or a Decimal'
        )
    try:
        if isinstance(value, str | Decimal) and HUGE.search(str(value)):
            raise ValueError("too long to be computed")
        chance = Fraction(value)
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        raise ValueError(
            f'{name} must be a fraction such as "2/3" or "0.25", got {value}'
        ) from error
    require(0 <= chance <= 1, "{} must be a chance, from 0 to 1, got {}", name, chance)
    return chance
