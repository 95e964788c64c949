"""The field's randomised-response designs, as tables: skins that explain one channel in different ways.

Binary designs have answer and report 0 = no, 1 = yes. With y₁ = P(yes | yes) and y₀ = P(yes | no)

    e^ε = max(y₁/y₀, y₀/y₁, (1 − y₁)/(1 − y₀), (1 − y₀)/(1 − y₁))     share of yes = (λ − y₀)/(y₁ − y₀)

when a share λ of reports says yes. Chances are exact: a Fraction, a Decimal or a text such as "2/3".
W is their least common denominator, so weights are chances without rounding, and so is the loss.

A design is refused for collection when some report would prove an answer (ε = ∞): its table has a
zero, or, for designs that are no table, REFUSED says why. They can be analysed when imported
(dpengine.inference.designs). Equal rows teach nothing, and are refused too.

Sources    Warner 1965; Greenberg, Abul-Ela, Simmons and Horvitz 1969; Kuk 1990; Yu, Tian and Tang 2008;
           names and parameters as in Blair, Imai and Zhou 2015, Design and Analysis of the Randomized Response
           Technique, and in Lensvelt-Mulders et al. 2005.
"""

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from dpengine.local.table import MOST_CELLS, Table
from dpengine.privacy import exponential_below
from dpengine.randomness import WORD

Exact = Fraction | int | str | Decimal

BINARY = ("no", "yes")  # answers, and reports
HUGE = re.compile(r"e[+-]?\d{4}", re.IGNORECASE)  # an exponent that would take for ever to write out

_LIST = (
    "a count of none, or of all items, proves the sensitive answer, and nothing hides it from those who know "
    "the answers to the other items"
)
REFUSED = {
    "direct": "the report is the answer",
    "mangat": "who has the trait always says yes, so a no proves that its sender has not",
    "triangular": "a circle is drawn only by those who have neither trait, so it proves a no",
    "list experiment": _LIST,
    "item count": _LIST,
    "unmatched count": _LIST,
    "sld": "who has the trait and does not lie always says yes, so among the honest a no proves a no",
    "cdm": "only yes is forced, so among those who follow the rules a no proves a no",
}


def refuse(name: str) -> None:
    """Raise ValueError with the reason if a design of this name must not be used for collection."""
    if reason := REFUSED.get(name.lower()):
        raise ValueError(f"{name} can be analysed when imported, not collected (infinite ε): {reason}")


def coin() -> Table:
    """Return the coin of the book: heads, the truth; tails, what a second coin says.

    P(yes | yes) = 3/4, P(yes | no) = 1/4, e^ε = 3. Dwork and Roth 2014, § 3.2. It is forced("1/2", "1/4", "1/4").
    """
    return Table.coin()


def warner(p: Exact) -> Table:
    """Return Warner's mirrored question: with chance p "I have it", else "I have it not"; is it true?

    P(yes | yes) = p, P(yes | no) = 1 − p; e^ε = p/(1 − p), or its inverse below 1/2; p = 3/4: ε = ln 3.
    Warner 1965. At p = 1/2 both answers make the same reports.
    """
    chance = _chance("p", p)
    return _binary(chance, 1 - chance)


def forced(p: Exact, yes: Exact, no: Exact) -> Table:
    """Return forced response: with chance p the truth, else a forced yes or no; p + yes + no = 1.

    P(yes | yes) = p + yes, P(yes | no) = yes; e^ε = max((p + yes)/yes, (p + no)/no);
    p = 2/3, yes = no = 1/6: e^ε = 5. Boruch 1971; Fox and Tracy 1986. Without a forced no, a no proves a no.
    """
    truth, always, never = _chance("p", p), _chance("yes", yes), _chance("no", no)
    if truth + always + never != 1:
        raise ValueError(f"p + yes + no must be 1, got {truth + always + never}")
    return _binary(truth + always, always)


def forced_choices(p: Exact, forced: Sequence[Exact]) -> Table:
    """Return forced response with k choices: with chance p the truth, else choice j with chance forced[j].

    P(j | i) = p·[i = j] + forced[j]; e^ε = 1 + p/min forced; p = 1/2, forced 1/4, 1/4: the coin.
    Of all forced chances, equal ones give the least ε for a p: they are k-ary randomised response. Liu and Chow 1976.
    """
    truth = _chance("p", p)
    others = [_chance(f"forced[{choice}]", chance) for choice, chance in enumerate(forced)]
    if truth + sum(others) != 1:
        raise ValueError(f"p and the forced chances must add up to 1, got {truth + sum(others)}")
    return custom([[truth * (i == j) + other for j, other in enumerate(others)] for i in range(len(others))])


def crosswise(p: Exact) -> Table:
    """Return the crosswise model: asked with an innocent statement that holds for a share p; "same" or "different"?

    Report 1 is "both or none is true". P(1 | yes) = p, P(1 | no) = 1 − p: Warner's table, without a device.
    e^ε = p/(1 − p) or its inverse; p = 1/4: ε = ln 3. Yu, Tian and Tang 2008. Here the browser draws the
    innocent answer, so p is exact; what people answer by heart about birthdays has no such guarantee.
    """
    return warner(p)


def unrelated(p: Exact, q: Exact) -> Table:
    """Return the unrelated question of known prevalence: with chance p the question, else one to which q say yes.

    P(yes | yes) = p + (1 − p)q, P(yes | no) = (1 − p)q; p = 1/2, q = 1/2: the coin.
    e^ε = 1 + p / ((1 − p)·min(q, 1 − q)). Greenberg et al. 1969. The browser draws the unrelated answer.
    """
    chance, prevalence = _chance("p", p), _chance("q", q)
    return forced(chance, (1 - chance) * prevalence, (1 - chance) * (1 - prevalence))


def disguised(yes: Exact, no: Exact | None = None) -> Table:
    """Return the disguised response: one card from the yes-stack or the no-stack, and only its colour is told.

    yes and no are the shares of red cards in the two stacks; no = 1 − yes if left out (Blair, Imai and Zhou).
    P(red | yes) = yes, P(red | no) = no; yes = 4/5, no = 1/5: e^ε = 4. Kuk 1990 with one card. A stack of
    one colour, Kuk's shares of 0 or 1, makes the other colour a proof.
    """
    red = _chance("yes", yes)
    return _binary(red, 1 - red if no is None else _chance("no", no))


def kary(k: int, epsilon: Decimal) -> Table:
    """Return k-ary randomised response: the truth with chance e^ε/(e^ε + k − 1), every other choice alike.

    P(j | i) = v/W for j ≠ i and at most e^ε times that for j = i: rounded towards privacy, by less than
    10⁻⁷ of the odds at ε ≤ 4. k = 3, e^ε = 5: rows 5, 1, 1. Kairouz, Bonawitz and Ramage 2016; a subset of size 1.
    """
    most = math.isqrt(MOST_CELLS)
    if not 2 <= k <= most:
        raise ValueError(f"k must be 2 to {most}, got {k}")
    loss = exponential_below(epsilon)
    other = int(WORD / (loss + k - 1))
    own = int(loss * other)
    return Table(tuple(tuple(own if report == answer else other for report in range(k)) for answer in range(k)))


def custom(matrix: Sequence[Sequence[Exact]], names: Sequence[str] = ()) -> Table:
    """Return the table of any matrix P[answer][report] of exact chances. Rows add up to 1.

    e^ε = max over reports of largest / smallest chance of its column, which must not be 0. Names are of reports
    and, where there are as many, of answers.
    """
    rows = [[_chance(f"chance [{a}][{r}]", chance) for r, chance in enumerate(row)] for a, row in enumerate(matrix)]
    for answer, row in enumerate(rows):
        if sum(row) != 1:
            raise ValueError(f"chances after answer {answer} must add up to 1, got {sum(row)}")
    _refuse_proofs(rows, names)
    total = math.lcm(*(chance.denominator for row in rows for chance in row))
    if total > WORD:
        raise ValueError(f"chances must have a common denominator of at most 2**32, got {total}")
    if rows and all(row == rows[0] for row in rows):
        raise ValueError("nothing can be learned: every answer makes the same reports")
    return Table(tuple(tuple(int(chance * total) for chance in row) for row in rows))


def _binary(yes_after_yes: Fraction, yes_after_no: Fraction) -> Table:
    return custom([[1 - yes_after_no, yes_after_no], [1 - yes_after_yes, yes_after_yes]], BINARY)


def _refuse_proofs(rows: Sequence[Sequence[Fraction]], names: Sequence[str]) -> None:
    """Refuse a table in which a report excludes an answer: whoever sends it has given that much away."""
    never = next((report for report, column in enumerate(zip(*rows, strict=False)) if not any(column)), None)
    if never is not None:
        raise ValueError(f"report {never} follows no answer: leave it out")
    for answer, row in enumerate(rows):
        if 0 in row:
            report = row.index(Fraction(0))
            said = names[report] if len(names) == len(row) else report
            excluded = names[answer] if len(names) == len(rows) else answer
            raise ValueError(
                f"infinite ε: a report of {said} never follows the answer {excluded}, "
                f"so it proves that its sender's answer is not {excluded}"
            )


def _chance(name: str, value: Exact) -> Fraction:
    """Return an exact chance from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, Fraction | int | str | Decimal):
        raise TypeError(
            f"{name} must be exact, got a {type(value).__name__}: a float such as 0.1 is not one tenth; "
            'write "1/10" or a Decimal'
        )
    try:
        if isinstance(value, str | Decimal) and HUGE.search(str(value)):
            raise ValueError("too long to be computed")
        chance = Fraction(value)
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        raise ValueError(f'{name} must be a fraction such as "2/3" or "0.25", got {value}') from error
    if not 0 <= chance <= 1:
        raise ValueError(f"{name} must be 0 to 1, got {value}")
    return chance
