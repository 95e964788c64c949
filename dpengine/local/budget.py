"""One ε over several questions: split it, or sample the questions.

Split      Every question is reported, question i with ε_i. A person's loss is the product of the
           questions' losses (basic composition, Thm 3.14), so Σ ε_i = ε. Shares are rounded down to
           nine places: never above.
Sample     Each device reports s of the q questions, all s-subsets alike, drawn without looking at
           an answer. Which were drawn is seen by everyone. For answers x and x', a drawn set S and
           its reports r

               Pr[S, r | x] / Pr[S, r | x'] = Π_{i ∈ S} Pr[r_i | x_i] / Pr[r_i | x'_i] ≤ Π_{i ∈ S}
               loss_i

           because the chance 1/C(q, s) of S cancels. Equality is reached: x and x' may differ in
           every question, and each r_i be the report that tells most. So e^ε is the largest product
           over the s-subsets, that of the s largest losses, and never less: hiding the average
           would need a set that nobody sees.
Variance   A question is reported by n·s/q people instead of n: its variance, sampling and device,
           grows by q/s, that of a table of two questions by q(q − 1)/(s(s − 1)). With equal parts
           of ε each report has ε/s, not ε/q. For small ε a variance is about c/ε²: q/s·c·s²/ε² =
           q·s·c/ε², least at s = 1; for large ε only people count, and s = q wins. `compare` says
           which, for the questions at hand.
By hand    Four yes/no questions, ε = ln 81: split, the coin for each (3⁴ = 81), variance × n where
           half say yes 1 each; s = 1: odds 81 to 1, 4·(1/4)/(80/82)² = 1.05; s = 2: odds 9 to 1,
           2·(1/4)/(8/10)² = 0.78: the best.
Sources    Basic composition: Dwork and Roth 2014; sampling of attributes: Nguyên et al. 2016; how
           many: Wang et al. 2019, § 5: about ε/2.5 of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from dpengine.checks import require
from dpengine.local.channels import channel_for
from dpengine.privacy import exponential_below, loss_of_all, round_down
from dpengine.randomness import Stream, sample, system_stream

HALF = Fraction(1, 2)


def split(total: Decimal, weights: Sequence[int | Fraction | Decimal]) -> list[Decimal]:
    """Return an ε for every question, in proportion to its weight, rounded down.

    Together at most the total.
    """
    exponential_below(total)  # refuses what is no ε
    parts = [_weight(number, weight) for number, weight in enumerate(weights)]
    require(parts, "weights must be one or more, got none")
    epsilons = [round_down(Fraction(total) * part / sum(parts)) for part in parts]
    if not all(epsilons):
        raise ValueError(
            f"question {epsilons.index(Decimal(0))} must get a billionth of ε or more, got less"
        )
    return epsilons


def sampled(losses: Sequence[Fraction], reported: int) -> Fraction:
    """Return the exact loss of reporting so many of the questions, drawn by chance.

    The product of the largest.
    """
    _check_reported(len(losses), reported)
    return loss_of_all(sorted(losses, reverse=True)[:reported])


def within(total: Decimal, losses: Sequence[Fraction], reported: int | None = None) -> bool:
    """Tell, exactly, whether the channels with these losses together stay within e^total."""
    return sampled(losses, len(losses) if reported is None else reported) <= exponential_below(
        total
    )


def choose_questions(questions: int, reported: int, words: Stream = system_stream) -> list[int]:
    """Return which questions this device reports, in order.

    Every set of so many is as likely as the next.
    """
    _check_reported(questions, reported)
    return sorted(sample(range(questions), reported, words))


@dataclass(frozen=True, slots=True)
class Allocation:
    """What comes of reporting so many of the questions: all of them is a split."""

    reported: int  # s
    questions: int  # q
    epsilon: Decimal  # of each report
    loss: Fraction  # of a person, exactly
    variances: tuple[Fraction, ...]  # × n, of one share of each question

    @property
    def worst(self) -> Fraction:
        return max(self.variances)


def compare(total: Decimal, choices: Sequence[int], share: Fraction = HALF) -> list[Allocation]:
    """Return what each number of reported questions gives, with equal parts of ε.

    Variances are of the share of a choice that so large a share of people have, 1/2 by default:
    the worst case of a yes/no question.
    """
    return [_allocation(total, choices, reported, share) for reported in range(1, len(choices) + 1)]


def best(allocations: Sequence[Allocation]) -> Allocation:
    """Return the one whose worst question has the least variance.

    Of equals, the one that reports most.
    """
    return min(allocations, key=lambda allocation: (allocation.worst, -allocation.reported))


def _allocation(
    total: Decimal, choices: Sequence[int], reported: int, share: Fraction
) -> Allocation:
    epsilon = split(total, [1] * reported)[0]
    channels = [channel_for(k, epsilon) for k in choices]
    return Allocation(
        reported=reported,
        questions=len(choices),
        epsilon=epsilon,
        loss=sampled([channel.loss for channel in channels], reported),
        variances=tuple(
            channel.variance(share) * Fraction(len(choices), reported) for channel in channels
        ),
    )


def _check_reported(questions: int, reported: int) -> None:
    require(questions >= 1, "questions must be 1 or more, got {}", questions)
    require(
        1 <= reported <= questions,
        "reported must be 1 to {} questions, got {}",
        questions,
        reported,
    )


def _weight(number: int, weight: int | Fraction | Decimal) -> Fraction:
    if isinstance(weight, bool) or not isinstance(weight, int | Fraction | Decimal):
        raise TypeError(
            f"weight {number} must be an integer, Fraction or Decimal, got a "
            f"{type(weight).__name__}"
        )
    require(
        (not isinstance(weight, Decimal) or weight.is_finite()) and weight > 0,
        "weight {} must be above 0, got {}",
        number,
        weight,
    )
    return Fraction(weight)
