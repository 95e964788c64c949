"""How the reports of an invited Plan with strata are parted, and what each part weighs: from public
numbers only, which are how many of each stratum were invited and how many reports came.

Parts      A batch is of one stratum, or of several that are sealed together as “other”. While the
           wave takes reports, a stratum is sealed once twice as many wait as hide one another
           (`least_together`), and so many are left: at the last sweep each stratum that ever had
           enough has enough again. Then those with fewer are sealed together, and if even they are
           too few, with the next smallest. So no part ever has fewer, unless all reports are.
Loss       Under change-one a person answers otherwise, with the same ticket: stratum and moment
           stay, and with them the part. Parts are of disjoint people, and which there are says
           nothing of an answer. So the counts of all parts, each with noise of its own, lose what
           those of the part that loses most do (parallel composition; McSherry 2009, Thm 4), and
           all have the same noise: one part's loss is charged, read through the devices' own
           chance too (`counts: answers`), for a reading is of one person's reports. A household
           can be in several strata, and is charged k times one person's: each person's part.
Weights    W_h = people invited in stratum h of all, in the Plan. n_gh reports of h are in part g,
           and n_h in all. A report of h stands for W_h/n_h of the list, so that part g weighs

               w_g = Σ_h W_h·n_gh/n_h,    estimate Σ_g w_g·θ_g,    variance Σ_g w_g²·Var_g

           post-stratification where every part is a stratum (Holt and Smith 1979; Cochran 1977,
           § 5A.9), given how many came. The interval is put together from those of the parts, which
           share nothing (MOVER, Zou, Huang and Zhang 2009): Σ w θ − √(Σ w_g²(θ_g − l_g)²), and the
           like above. A stratum of which nobody answered is spoken for by the others, as they
           are weighted among themselves; it is named.
Other      In a part of several strata people count as they came, b_gh = n_gh/n_g, and should by
           a_gh = W_h·n_gh/(n_h·w_g). With θ_h of those of h in it, its bias is Σ(b − a)·θ_h, and
           the whole is off by at most Σ_g w_g·½Σ_h|a_gh − b_gh| times the difference of the largest
           and the smallest θ_h (`off_at_most`, for a share): 0 where the list's sizes weigh its
           strata alike, and where every part is a stratum.
No finite  population correction: it holds of people chosen by chance, and who answers chose
           themselves; of a stratum that answered whole, what is left is too wide an interval.
By hand    300 and 700 invited, 60 and 70 came, in parts of their own, yes 30 and 7: .3·.5 + .7·.1 =
           .22, as they came 37/130 = .285. Of 40 and 20 that came together each of the first
           stands for .3/40, of the others for .7/20: a = .3, .7, b = ⅔, ⅓, off by at most .367.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from surveys.plan.invited import FEWEST

Reports = Sequence[int]  # of a part, how many of each stratum


def least_together(smallest_batch: int) -> int:
    """Return how many reports of a stratum are sealed at least."""
    return max(smallest_batch, FEWEST)


def least_waiting(smallest_batch: int) -> int:
    """Return how many must wait of a stratum while more can come."""
    return 2 * least_together(smallest_batch)


def due(waiting: Mapping[int, int], smallest_batch: int) -> dict[int, int]:
    """Return how many reports of which strata are sealed while more can come."""
    least = least_together(smallest_batch)
    return {at: many - least for at, many in waiting.items() if many >= 2 * least}


def together(waiting: Mapping[int, int], smallest_batch: int) -> list[int]:
    """Return the strata whose last reports are sealed as one; all others by themselves."""
    least = least_together(smallest_batch)
    order = sorted((at for at, many in waiting.items() if many), key=lambda at: (waiting[at], at))
    few = [at for at in order if waiting[at] < least]
    for at in order[len(few) :]:
        if not 0 < sum(waiting[each] for each in few) < least:
            break
        few.append(at)
    return few


def sizes(many: int, most: int, least: int) -> list[int]:
    """Return how many reports batches hold: `most` each, the last with those left over after it
    that would be fewer than `least`.
    """
    found = []
    while many:
        size = many if many < most + least else most
        found.append(size)
        many -= size
    return found


@dataclass(frozen=True, slots=True)
class Weights:
    """What each part of a release weighs, and how far off the weighting can be."""

    parts: tuple[Fraction, ...]  # adding up to 1
    unheard: tuple[int, ...]  # the strata of which no report is there
    off_at_most: Fraction  # of a share


def weights(people: Sequence[int], parts: Sequence[Reports]) -> Weights:
    """Return the weights of parts, of each how many reports of each stratum it holds; so many
    people were invited of each stratum.
    """
    came = [sum(of_stratum) for of_stratum in zip(*parts, strict=True)]
    heard = sum(many for many, reports in zip(people, came, strict=True) if reports)
    stands = [  # for how much of the list one report does
        Fraction(many, heard * reports) if reports else Fraction(0)
        for many, reports in zip(people, came, strict=True)
    ]
    masses = [[each * many for each, many in zip(stands, part, strict=True)] for part in parts]
    found = tuple(sum(mass, Fraction(0)) for mass in masses)
    off = sum(map(_off, masses, parts), Fraction(0))
    return Weights(found, tuple(at for at, reports in enumerate(came) if not reports), off)


def _off(mass: Sequence[Fraction], part: Reports) -> Fraction:
    """Return w_g·½Σ|a − b| of one part."""
    weight, n = sum(mass, Fraction(0)), sum(part)
    return sum((abs(a - weight * b / n) for a, b in zip(mass, part, strict=True)), Fraction(0)) / 2


def only_stratum(part: Iterable[int]) -> int | None:
    """Return the stratum of a part that holds reports of one alone; None: of several."""
    held = [at for at, many in enumerate(part) if many]
    return held[0] if len(held) == 1 else None
