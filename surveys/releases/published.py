"""The sentences of what is published, as releases keep them, in English: how it was made, notes, and tables.

Those of the ledger, and of what can be expected, are in `sentences.py`, which takes these up.
"""

from django.utils.translation import gettext_noop as _

from surveys.retelling import ngettext

METHODS = (
    _(
        "Chance was added to the counts of reports, once. From each noisy count the share of people was estimated "
        "through the odds of the devices; the intervals count sampling, devices and publication."
    ),
    _(
        "Chance was added once for the whole study, so that every refresh is paid for already: the counts so far are "
        "sums with noise that is shared between refreshes, and they drift less than counts with fresh noise each time. "
        "From each count the share of people was estimated; the intervals count sampling, devices and publication."
    ),
    _(
        "Chance was added once to the counts of pairs of reports. From them the shares of people were estimated "
        "through the odds of both questions' devices; estimates can fall below 0. Intervals hold in 95 of 100 studies, "
        "each cell on its own, and count sampling, devices and publication."
    ),
    _(
        "Chosen by the %(law)s: a more common answer is likelier to be named, and chance decides between answers that "
        "are close."
    ),
    _(
        "Chosen by the %(law)s from a list fixed before the answers were seen: a price that earns more is likelier to "
        "be named. How much it earns is not published."
    ),
    _(
        "%(way)s. The interval’s limits were drawn apart from the value, each at a rank that leaves room for sampling "
        "and for chance: it holds for the population in 95 of 100 such studies, whatever the answers’ shape."
    ),
    _(
        "Chance was added, once, to the counts from which all ranges can be worked out with the least error together; "
        "the ranges were worked out by least squares. The intervals count that chance: they are for the people who "
        "answered, and hold in 95 of 100 draws."
    ),
    _(
        "Chance was added, once, to the sums of squares and products of all columns; the coefficients were solved from "
        "them. The intervals count that chance and sampling (equal spread around the line), at 95 of 100."
    ),
    _(
        "People were dealt by chance into %(count)s groups; the statistic was computed on each, and the median of the "
        "results was chosen with chance added to ranks. The interval is for the typical result of a group of this "
        "size, in 95 of 100 such studies."
    ),
    _(
        "Chance was added, once, to the counts of every column and every pair of columns. The synthetic people were "
        "drawn from these counts alone: the distribution that fits them best and is otherwise as even as can be. "
        "Intervals are for the people who answered, and hold in 95 of 100 draws."
    ),
    _(
        "Compared with a limit that had chance added once, by a count that has new chance added at each look. Only the "
        "answer is published."
    ),
    _(
        "One sum of clamped numbers got chance added, once. The interval counts sampling, devices and publication; it "
        "holds in 95 of 100 such studies."
    ),
    _(
        "The mean was worked out from counts with chance added, once. The interval counts sampling, devices and "
        "publication; it holds in 95 of 100 such studies."
    ),
    _("The real answers are kept apart, with chance drawn for their threshold. State numbers one by one."),
    _("Compared with the real answers, within %(tolerance)s points, with chance in both."),
)

NOTES = (
    _(
        "Of a question with several ticks each report is about one option, drawn by chance. The count of an option is "
        "how many more reports say yes to it than no. Shares of options do not add up to 100."
    ),
    _(
        "The mean of a number follows from the counts of its reports through the Plan’s decoder. Its interval is all "
        "means that the reports, summed with their chance, do not reject."
    ),
    _(
        "How a number is spread is what makes its reports likeliest, smoothed. Its limits hold for each share and "
        "quartile by itself, whatever the answers are; they are wider than the estimate’s own errors."
    ),
    _("Shares, intervals and standard errors follow from the noisy counts."),
    _("Refresh %(number)s of %(all)s; %(left)s more are paid for."),
    _("How many answered is not public here: n was estimated from the noisy counts."),
    _("Shares within each group follow from the same numbers and cost nothing more (Fieller's intervals)."),
    _("Scores: %(list)s."),
    _("Answers beyond the question’s bounds count as the nearest bound."),
    _("The standard error is read off the interval."),
    _("The interval and the standard error."),
    _("A range can come out below 0 or above all: that is chance, left as it is so that parts add up."),
    _("Every range that is a sum or difference of these."),
    _("The shares of 100."),
    _("The standard deviation around the line is at most %(amount)s %(unit_word)s, for what was released."),
    _(
        "The predictors cannot be told apart at this much noise. A ridge penalty was added to have numbers at all: "
        "they lean towards 0, and no interval is given."
    ),
    _("Every regression on a part of these predictors."),
    _("The intervals and the residual spread."),
    _("A group in which the statistic could not be computed counts as the middle of what is possible."),
    _("A statistic that is biased in small groups is as biased here."),
    _("A synthetic count is no farther from the true one than both errors together, on average."),
    _("What three columns do together is not in it."),
    _("The synthetic people, and whatever is worked out from them."),
    ngettext(
        "%(left)s of %(all)s numbers is left. Question %(number)s.",
        "%(left)s of %(all)s numbers are left. Question %(number)s.",
        "left",
    ),
)

TABLES = (  # captions, rows and values; a question's own words stay as they are
    _("%(label)s: shares of people"),
    _("%(label)s: quartiles"),
    _("A quarter of people are at most"),
    _("Half of people are at most"),
    _("Three quarters of people are at most"),
    _("%(least)s to %(most)s"),
    _("%(least)s to %(most)s %(unit_word)s"),
    _("%(label)s and %(other)s: shares of all people"),
    _("%(label)s, among those with %(other)s: %(group)s"),
    _("too few to say"),
    _("%(label)s: most common answers"),
    _("%(label)s: the price that earns most"),
    _("Price"),
    _("Median"),
    _("%(percent)s of 100 are at or below"),
    _("not stable enough"),
    _("%(label)s: people in each range"),
    _("%(label)s: of 100 people"),
    _("%(label)s, by linear regression"),
    _("With all predictors at the middle of their bounds"),
    _("%(label)s: for each of its %(answer_unit)s"),
    _("%(result)s, of a group"),
    _("%(errors)s, in each table"),
    _("%(label)s: published counts"),
    _("%(label)s: is “%(answer)s” over %(percent)s %%?"),
    _("After look %(number)s"),
    _("passed"),
    _("not yet"),
    _("You found %(percent)s %%"),
    _("it stands"),
    _("%(label)s: %(answer)s and %(other)s: %(group)s"),
)
