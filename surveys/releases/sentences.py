"""The sentences that rows of the ledger, releases and expectations are made of, as they are written down: in English.

`words.py` finds a stored text among them, and says it in the reader's language. A test makes every kind of statistic
and holds each of its sentences to this list, so that none is forgotten.
"""

from django.utils.translation import gettext_noop as _

from surveys.releases.published import METHODS, NOTES, TABLES
from surveys.retelling import Sentence, ngettext

SEPARATE = (_("Nothing was published."), _("Nothing was opened."))  # after another sentence

TERMS = (  # of a study, a panel or the site, by the names that the ledger has for them
    *(_("unit"), _("neighbours"), _("cap for all publications, ε"), _("δ of the cap"), _("panel")),
    _("chance that the cap fails, δ"),  # as rows called it once: it said too little
    *(_("least ε of one answer"), _("greatest ε of one answer"), _("publish"), _("publications in all")),
    *(_("hours between"), _("cost of one publication, ε"), _("retires on"), _("cap for all answers of one person, ε")),
    _("greatest cap for all publications of a study, ε"),
    *(
        _("greatest cap where answers are sent as given, ε"),
        _("fewest answers to publish where they are sent as given"),
    ),
)

ONE_OF = {  # what stands in other sentences, and can be nothing else
    "title": (
        _("Shares of each answer"),
        _("Shares of each answer, refreshed"),
        _("Table of two questions"),
        _("Most common answers"),
        _("Mean of a number or of scored choices"),
        _("Median, or another quantile, of a number"),
        _("People in many ranges or groups"),
        _("Linear regression"),
        _("A synthetic data set"),
        _("Tell me when a share passes a limit"),
        _("Check numbers found elsewhere"),
        _("Price that earns most"),
        _("A statistic of raw answers, group by group"),
    ),
    "term": TERMS,
    "noise": (
        _("discrete Laplace"),
        _("discrete Gaussian"),
        _("discrete Gaussian and discrete Laplace"),
    ),
    "law": (_("exponential mechanism"), _("report noisy max")),
    "strategy": (
        _("cell by cell"),
        _("the queries themselves"),
        _("all cells but one"),
        _("optimised for Laplace noise"),
        _("optimised for Gaussian noise"),
        _("optimised for Gaussian noise, n known"),
    ),
    "way": (
        _("Exponential mechanism (no δ)"),
        _("Smooth sensitivity (median)"),
        _("Propose, test, release (median; may answer nothing)"),
    ),
    "result": (
        _("Mean without the lowest and highest tenth"),
        _("Mean"),
        _("Most common value"),
        _("Standard deviation"),
        _("Correlation with a second number"),
    ),
    "what_is_off": (_("each share"), _("the mean"), _("the share of people below the middle")),
    "unit": (_("percent"), _("people"), _("points"), _("months")),
    "side": (_("central"), _("local")),
    "record": (_("respondent-in-study"), _("respondent-in-wave"), _("respondent-in-panel")),
    "neighbours": (_("change-one"), _("add-remove")),
    "rule": (_("when-closed"), _("every"), _("continual"), _("on-request")),
    "errors": (
        _("Chance in each published count, on average"),
        _("Synthetic count from published count, on average"),
    ),
}

# Where a unit is a question's own (%(unit_word)s), it is said as it is; “points”, “people” and “months” are ours.

REASONS = (
    ngettext("Shares of %(count)s question", "Shares of %(count)s questions", "count"),
    ngettext("Shares of %(count)s question, wave %(wave)s", "Shares of %(count)s questions, wave %(wave)s", "count"),
    _("%(title)s: %(labels)s"),
    _("%(title)s: %(labels)s, wave %(wave)s"),
    _("Answers of wave %(wave)s of %(study)s"),
)

MECHANISMS = (
    ngettext("%(mechanism)s; %(n)s report", "%(mechanism)s; %(n)s reports", "n"),
    ngettext("%(noise)s, %(count)s tally", "%(noise)s, %(count)s tallies", "count"),
    _("continual counter, discrete Gaussian"),
    _("continual counter, discrete Gaussian, %(count)s refreshes"),
    _("%(noise)s, scale %(scale)s, %(count)s counts"),
    _("%(law)s, scale %(scale)s, best %(count)s of %(many)s"),
    _("%(law)s, scale %(scale)s, %(count)s prices"),
    _("discrete Laplace on counts, scale %(scale)s"),
    _("clamped mean, discrete Laplace of scales: %(scales)s"),
    _("sum %(scale)s"),
    _("sum %(scale)s, n %(other_scale)s"),
    _("sum %(scale)s, squares %(size)s"),
    _("sum %(scale)s, n %(other_scale)s, squares %(size)s"),
    _("%(noise)s on %(count)s counts (%(strategy)s), scale %(scale)s"),
    _("sums of squares and products with %(noise)s noise of scale %(scale)s"),
    _("%(noise)s on %(count)s tables, synthetic rows drawn from them"),
    _("sparse vector, discrete Laplace of scale %(scale)s and %(other_scale)s"),
    _("reusable holdout, %(count)s numbers, discrete Laplace of scales %(list)s"),
    _("subsample and aggregate, %(count)s groups, private median by report noisy max"),
    _("two limits by report noisy max"),
    _("report noisy max over %(count)s values, %(limits)s"),
    _("smooth sensitivity, r = %(r)s, discrete Laplace, δ = %(delta)s; %(limits)s"),
    _(
        "propose-test-release, step %(step)s, threshold %(threshold)s, discrete Laplace of scale %(scale)s and "
        "%(other_scale)s, δ = %(delta)s; %(limits)s"
    ),
    _("each answer changed on the device, as the Plan says"),
)

SENSITIVITIES = (
    ngettext("%(count)s count by 1 in each tally", "%(count)s counts by 1 in each tally", "count"),
    ngettext(
        "%(count)s count by 1 in each tally, in one refresh",
        "%(count)s counts by 1 in each tally, in one refresh",
        "count",
    ),
    ngettext("%(count)s count by 1 in each table", "%(count)s counts by 1 in each table", "count"),
    _("%(count)s counts of pairs by 1 each"),
    _("scores of two answers %(count)s further apart"),
    _("revenues up to %(count)s further apart"),
    _("%(count)s counts by 1, L1"),
    _("%(count)s half units of the sum, L1"),
    _("%(count)s, L2 squared, of the strategy’s whole numbers"),
    _("%(count)s, L1, of the strategy’s whole numbers"),
    _("%(count)s, L2 squared, of the scaled products"),
    _("%(count)s, L1, of the scaled products"),
    _("every count by 1, all the same way"),
    _("n and every count by 1, all the same way"),
    _("%(count)s person in every comparison, 1 in every count"),
    _("the result of 1 group; ranks by 1 group"),
    _("smooth bound of the data’s own, within the ladder; ranks by 1 person"),
    _("%(count)s if the test passes; ranks by 1 person"),
    _("ranks by 1 person"),
    _("all answers of one person in this wave"),
)

ACTS = (
    _("opened"),
    _("lowered the cap"),
    _("set the weekly limit"),
    _("retired"),
    _("opened wave %(wave)s"),
    _("published step %(number)s"),
    _("found release"),
    _("found step %(number)s"),
    _("site: %(term)s"),
    _("%(study)s: %(term)s"),
    _("panel %(study)s: %(term)s"),
    _("%(study)s: ε of %(question)s"),
    _("%(study)s: where answers are sent as given"),
)

STATES = (
    _("none"),
    _("no limit"),
    _("no end"),
    _("retired on %(day)s"),
    _("%(cap)s in any seven days"),
    _("ε %(epsilon)s"),
    _("ρ %(rho)s"),
    _("ρ %(rho)s, δ %(delta)s"),
    _("ρ %(rho)s and δ %(delta)s"),
    _("%(side)s, %(record)s, %(neighbours)s"),
    _("%(side)s, %(record)s, %(neighbours)s, fixed parts"),
    _("%(side)s, %(record)s, %(neighbours)s; %(cap)s"),
    _("%(side)s, %(record)s, %(neighbours)s, fixed parts; %(cap)s"),
    _("cap %(cap)s at most, %(count)s answers at least"),
    _("sent as given: no finite ε on the way"),
    _("%(epsilon)s, changed on the device"),
    _("Plan %(digest)s; one person's answers: ε %(epsilon)s; publication: %(rule)s, ε %(amount)s"),
    _(
        "Plan %(digest)s; one person's answers: ε %(epsilon)s and answers sent as given; publication: %(rule)s, "
        "ε %(amount)s"
    ),
    _(
        "Plan %(digest)s; one person's answers: ε %(epsilon)s; publication: %(rule)s, ε %(amount)s; all publications: "
        "%(cap)s; one answer: ε %(least)s to %(most)s"
    ),
    _(
        "Plan %(digest)s; one person's answers: ε %(epsilon)s and answers sent as given; publication: %(rule)s, "
        "ε %(amount)s; all publications: %(cap)s; one answer: ε %(least)s to %(most)s"
    ),
)

WHYS = (
    _("opened with its study"),
    _("wave %(wave)s begins"),
    _("written in the draft of wave %(wave)s"),
    _("paid for in row %(number)s"),
    _("published before rows held digests: this is what was there on %(day)s"),
    _("the day of its retirement came"),
    _("its cap is reached"),
    _("the study's rule"),  # who acts, when nobody does
    _("the site"),
    _("the demo"),
    _("person %(code)s"),  # a pseudonym
)

REFUSALS = (  # kept with a request that could not be paid; made in ledger.refusals, ledger.services and here
    _("“%(budget)s” was retired on %(day)s: nothing is charged to it any more."),
    _("“%(budget)s”: this costs %(cost)s; %(left)s is left."),
    _(
        "“%(budget)s” may spend %(sign)s %(weekly)s in any seven days. This costs %(cost)s; "
        "%(left)s is left of that this week."
    ),
    _("“%(budget)s” has a cap on ε alone: it pays for pure ε only, not for a mechanism with a δ or a ρ."),
    _("δ must be below 1 in %(n)s people; it is %(delta)s. Nothing was published."),
    _("“%(study)s” is retired from %(day)s on. Nothing is published from it any more."),
)

EXPECTED = (
    _(
        "%(label)s: %(what_is_off)s within ± %(half)s %(unit_word)s, in 95 of 100 such studies, of which chance added "
        "to the count is ± %(part)s."
    ),
    _(
        "Each share of all people within ± %(half)s points, in 95 of 100 such studies; in a plain survey of as many "
        "people, ± %(part)s at most."
    ),
    _("Laplace: the budget is pure, and Gaussian noise always needs a δ."),
    _(
        "Laplace: the smaller standard error of a count at this cost (%(scale)s for Laplace noise, %(other_scale)s for "
        "Gaussian)."
    ),
    _(
        "Gaussian: the smaller standard error of a count at this cost (%(scale)s for Laplace noise, %(other_scale)s "
        "for Gaussian)."
    ),
    _("So few answers, or so small a cost, tell nothing: no table should be asked for."),
    ngettext(
        "Each answer named is at most %(count)s person behind the most common of those left, in %(n)s of 100 draws.",
        "Each answer named is at most %(count)s people behind the most common of those left, in %(n)s of 100 draws.",
        "count",
    ),
    _("That is as many as answered: what is named will be little more than chance."),
    _("Devices changed the answers: answers within %(apart)s people of each other can change places."),
    _(
        "%(label)s: within ± %(half)s %(unit_word)s, in 95 of 100 such studies, if answers are as spread out as they "
        "can be. Chance added makes ± %(part)s of it."
    ),
    _(
        "The value named is off by at most %(ranks)s people in rank, in 95 of 100 draws; values are told apart in "
        "steps of %(step)s."
    ),
    _(
        "The value named is off by at most %(ranks)s people (%(share)s of 100) in rank, in 95 of 100 draws; values are "
        "told apart in steps of %(step)s."
    ),
    _("With so few answers at this ε a side of the interval will be the end of what can be answered."),
    _("The interval will reach from about rank %(low)s to rank %(high)s of %(n)s."),
    _("If people were spread evenly, chance would add ± %(half)s %(unit_word)s; fewer if they are close."),
    _(
        "If it answers, chance adds ± %(half)s %(unit_word)s. If people were spread evenly it would answer with chance "
        "%(chance)s of 100. No answer costs the same."
    ),
    _("%(label)s: within ± %(width)s people, in 95 of 100 draws."),
    _("%(label)s: within ± %(width)s people, %(share)s of 100, in 95 of 100 draws."),
    _(
        "%(label)s: chance added makes the slope uncertain by ± %(half)s %(unit_word)s per %(answer_unit)s, if its "
        "answers are spread evenly; sampling adds to that."
    ),
    _("With so few answers at this ε no interval can be expected: let it cost more, or wait."),
    _(
        "About %(size)s people in each group. The result named is off by at most %(ranks)s of %(count)s groups in "
        "rank, in 95 of 100 draws."
    ),
    _("With so few groups at this ε the interval will be all that the result can be."),
    _("%(label)s: chance moves each of its %(cells)s counts by %(width)s people on average."),
    _("%(label)s: chance moves each of its %(cells)s counts by %(width)s people on average, %(share)s of 100."),
    _("What three columns do together is not kept: use this to try an analysis, not to conclude."),
    _("%(label)s: chance moves each count by %(width)s people on average, over %(count)s refreshes."),
    _(
        "With %(n)s answers it is right if the share is more than %(points)s points from %(percent)s %%, in 95 of 100 "
        "such series of %(count)s looks; answers changed by devices can add to that."
    ),
    _("That is too much to mean anything: wait for more answers, or let it cost more."),
    _(
        "In %(count)s questions all comparisons are right, in 95 of 100 such series, for numbers that are off by "
        "%(points)s points more or less than %(tolerance)s."
    ),
    _("A number that is given has ± %(points)s points of chance added."),
    _("That is more than the tolerance: a wrong number may stand. Let it cost more, or allow more points."),
    _(
        "The price earns at most %(amount)s %(unit_word)s less than the best of the %(count)s prices, all buyers "
        "together, in %(n)s of 100 draws."
    ),
    _("Nobody can make any price more than %(times)s times as likely by answering otherwise."),
    _("That is all they could pay: what is named will be little more than chance."),
)

ENGINE = (  # what the engine refuses, where a researcher's own choice can lead to it
    _("epsilon must be larger, or the bounds closer: the noise would be out of all proportion"),
    _("delta must be larger, or epsilon: no scale keeps (ε, δ) = (%(epsilon)s, %(delta)s)"),
    _("queries must ask for something that is not public already"),
    _("queries must tell at most %(most)s parts of the domain apart, got %(count)s"),
    _("scale must be at most 2**50, got %(amount)s"),
    _("epsilon and delta are so small that noise would be more than 2**50"),
)

KNOWN: tuple[Sentence, ...] = (
    *(*REASONS, *MECHANISMS, *SENSITIVITIES, *ACTS, *STATES, *WHYS, *REFUSALS),
    *(*EXPECTED, *METHODS, *NOTES, *TABLES, *ENGINE),
)
