"""Methods texts to cite, in three lengths, generated from the frozen Plan, the release and the ledger.

Nothing in them is typed by hand for one study: what the Plan does not say, they do not say.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils import formats
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from surveys.dashboard.facts import Facts, epsilon_of, shown_epsilon, version
from surveys.releases import queries as releases

SOURCES = {
    "warner": "Warner, S. L. (1965). Randomized response: a survey technique for eliminating evasive answer bias. "
    "Journal of the American Statistical Association, 60, 63–69.",
    "local": "Kasiviswanathan, S. P., Lee, H. K., Nissim, K., Raskhodnikova, S., & Smith, A. (2011). What can we learn "
    "privately? SIAM Journal on Computing, 40, 793–826.",
    "subset": "Ye, M., & Barg, A. (2018). Optimal schemes for discrete distribution estimation under locally "
    "differential privacy. IEEE Transactions on Information Theory, 64, 5662–5676.",
    "one_of": "Wang, N., Xiao, X., Yang, Y., et al. (2019). Collecting and analyzing multidimensional data with local "
    "differential privacy. IEEE 35th International Conference on Data Engineering, 638–649.",
    "number": "Duchi, J. C., Jordan, M. I., & Wainwright, M. J. (2018). Minimax optimal procedures for locally private "
    "estimation. Journal of the American Statistical Association, 113, 182–201.",
    "square": "Li, Z., Wang, T., Lopuhaä-Zwakenberg, M., Li, N., & Škoric, B. (2020). Estimating numerical "
    "distributions under local differential privacy. SIGMOD, 621–635.",
    "dwork": "Dwork, C., McSherry, F., Nissim, K., & Smith, A. (2006). Calibrating noise to sensitivity in private "
    "data "
    "analysis. Theory of Cryptography, 265–284.",
    "laplace": "Ghosh, A., Roughgarden, T., & Sundararajan, M. (2012). Universally utility-maximizing privacy "
    "mechanisms. SIAM Journal on Computing, 41, 1673–1693.",
    "gaussian": "Canonne, C. L., Kamath, G., & Steinke, T. (2020). The discrete Gaussian for differential privacy. "
    "Advances in Neural Information Processing Systems, 33.",
    "counter": "Fichtenberger, H., Henzinger, M., & Upadhyay, J. (2023). Constant matters: fine-grained error bound on "
    "differentially private continual observation. ICML, PMLR 202.",
    "concentrated": "Bun, M., & Steinke, T. (2016). Concentrated differential privacy: simplifications, extensions, "
    "and lower bounds. Theory of Cryptography, 635–658.",
    "interval": "Clopper, C. J., & Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the "
    "case of the binomial. Biometrika, 26, 404–413.",
    "opendp": "The OpenDP Team (2025). OpenDP library, version 0.16.0. https://opendp.org",
}


@dataclass(frozen=True, slots=True)
class Methods:
    """The same truth in three lengths."""

    sentence: str
    paragraph: str
    section: str


def methods_of(facts: Facts) -> Methods:
    texts = (_sentence(facts), " ".join(_paragraph(facts)), "\n\n".join(_section(facts)))
    return Methods(*(re.sub(r"(?<=[。\uff1b]) ", "", text) for text in texts))


def _sentence(facts: Facts) -> str:
    text = {
        "organisation": facts.plan.spoken["organisation"],
        "n": _number(facts.n),
        "total": facts.total,
        "charged": facts.charged,
        "digest": facts.plan.digest[:12],
    }
    if not facts.device:
        return _(
            "%(n)s answers to a survey of %(organisation)s were kept encrypted, and published as totals with "
            "differentially private noise (Candor; plan %(digest)s)."
        ) % {**text}
    if not facts.made:
        return _(
            "Each answer to this survey of %(organisation)s is randomised on the respondent’s device (local "
            "differential "
            "privacy, ε = %(total)s for a whole form) before it is sent (Candor; plan %(digest)s)."
        ) % {**text}
    return _(
        "%(n)s answers to a survey of %(organisation)s were randomised on the respondents’ devices (local differential "
        "privacy, ε = %(total)s for a whole form), and shares were published with further noise at %(charged)s "
        "(Candor; "
        "plan %(digest)s)."
    ) % {**text}


def _paragraph(facts: Facts) -> Iterator[str]:
    yield _when(facts)
    if facts.device:
        yield _device(facts)
    if facts.given:
        yield _given(facts)
    yield _release(facts)
    if facts.made:
        yield _(
            "Shares were estimated without bias through the odds of the devices; 95%% intervals count sampling, "
            "devices and publication, and unprojected estimates may fall below 0."
        ).replace("%%", "%")
    yield _cap(facts)


def _section(facts: Facts) -> Iterator[str]:
    yield _titled(_("Data collection"), f"{_when(facts)} {_unit(facts)}")
    if facts.device:
        yield _titled(_("Protection on the device"), f"{_device(facts)} {_channels(facts)}\n{_questions(facts)}")
    if facts.given:
        yield _titled(_("Answers sent as given"), _given(facts))
    yield _titled(_("Publication"), f"{_release(facts)} {_cap(facts)} {_checked(facts)}")
    if facts.made:
        yield _titled(_("Estimation"), _estimation(facts))
    yield _titled(_("What is not protected"), _not_protected(facts))
    yield _titled(_("Software"), _software(facts))
    yield _titled(_("References"), "\n".join(SOURCES[name] for name in SOURCES if name in _cited(facts)))


def _titled(title: str, text: str) -> str:
    return f"{title}\n{text}"


def _when(facts: Facts) -> str:
    plan = facts.plan
    text = {
        "title": facts.plan.spoken["title"],
        "organisation": facts.plan.spoken["organisation"],
        "wave": plan.wave,
        "n": _number(facts.n),
        "first": _day(plan.opened_on),
        "last": _day(plan.closed_on) if plan.closed_on else "",
    }
    if plan.closed_on:
        return (
            _(
                "“%(title)s” (%(organisation)s, wave %(wave)s) was collected with Candor from %(first)s to %(last)s; "
                "%(n)s answers are counted."
            )
            % text
        )
    return (
        _(
            "“%(title)s” (%(organisation)s, wave %(wave)s) has been collected with Candor since %(first)s; %(n)s "
            "answers "
            "are counted so far."
        )
        % text
    )


def _unit(facts: Facts) -> str:
    if facts.content["unit"] == "respondent-in-wave":
        record = _("One record is one person in one wave;")
    else:
        record = _("One record is one person in all waves of the study;")
    return f"{record} " + _(
        "neighbouring data sets differ in the answers of one record, and the number of answers is public. Anyone with "
        "the link could answer; answers were not tied to a list of people, so the sample is one of volunteers unless "
        "its recruitment says otherwise."
    )


def _device(facts: Facts) -> str:
    least, most = facts.epsilons
    text = {"count": len(facts.device), "least": least, "most": most, "total": facts.total}
    if least == most:
        each = (
            ngettext(
                "The answer to %(count)s question was changed by chance in the respondent’s browser before it was sent "
                "(randomised response; ε-local differential privacy with ε = %(least)s).",
                "The answers to %(count)s questions were changed by chance in the respondent’s browser before they "
                "were "
                "sent (randomised response; ε-local differential privacy with ε = %(least)s an answer).",
                len(facts.device),
            )
            % text
        )
    else:
        each = (
            _(
                "The answers to %(count)s questions were changed by chance in the respondent’s browser before they "
                "were "
                "sent (randomised response; ε-local differential privacy with ε = %(least)s to %(most)s an answer)."
            )
            % text
        )
    every = _(
        "All answers of one form together lose at most ε = %(total)s. The server never received the answers that were "
        "chosen, only the changed ones."
    )
    return f"{each} {every % text}"


def _channels(facts: Facts) -> str:
    kinds, found = facts.kinds_of_channel, []
    if "table" in kinds:
        found.append(
            _("A table of whole-number weights gives the chance of every report after every answer (Warner 1965).")
        )
    if "subset" in kinds:
        found.append(
            _(
                "Questions with more choices use subset selection: a report holds one choice or several, the true "
                "one more often than the others (Ye and Barg 2018)."
            )
        )
    if "one_of" in kinds:
        found.append(
            _(
                "Where several options can be ticked, each browser reports on one of them, chosen by chance, and "
                "spends all "
                "of ε on it (Wang et al. 2019)."
            )
        )
    if "number" in kinds:
        found.append(
            _(
                "Numbers are rounded by chance to a grid, and a table found by linear programming has the least "
                "variance of "
                "the mean for the worst answer (compare Duchi et al. 2018)."
            )
        )
    return " ".join(found)


def _questions(facts: Facts) -> str:
    lines = [
        _("– %(label)s: ε = %(epsilon)s, e^ε = %(top)s/%(bottom)s exactly.")
        % {
            "label": question["label"],
            "epsilon": shown_epsilon(question["loss"]),
            "top": question["loss"][0],
            "bottom": question["loss"][1],
        }
        for question in facts.device
    ]
    return "\n".join(lines)


def _given(facts: Facts) -> str:
    labels = ", ".join(question["label"] for question in facts.given)
    return _(
        "Sent as given over an encrypted connection, kept encrypted, and published only as totals with noise: "
        "%(labels)s."
    ) % {"labels": labels}


def _release(facts: Facts) -> str:
    entry, made = facts.entry, facts.made
    if entry is None or made is None:
        return _("No numbers of this wave have been published by its rule yet.")
    return _(
        "The counts of reports were published on %(day)s with integer noise drawn once (%(mechanism)s; sensitivity: "
        "%(sensitivity)s), at a cost of %(charged)s, row %(row)s of the public ledger."
    ) % {
        "day": _day(made.published_on),
        "mechanism": releases.told(entry.mechanism),
        "sensitivity": releases.told(entry.sensitivity),
        "charged": facts.charged,
        "row": entry.position,
    }


def _cap(facts: Facts) -> str:
    if facts.delta:
        return _(
            "All publications of the study together are capped at ε = %(cap)s, δ = %(delta)s, composed as concentrated "
            "differential privacy (Bun and Steinke 2016)."
        ) % {"cap": facts.cap, "delta": facts.delta}
    return _("All publications of the study together are capped at ε = %(cap)s (δ = 0), their ε added up.") % {
        "cap": facts.cap
    }


def _checked(facts: Facts) -> str:
    return _("The plan, every charge and every number can be read and checked at %(address)s.") % {
        "address": facts.address
    }


def _estimation(facts: Facts) -> str:
    return _(
        "From a noisy count y of n reports the share is estimated as (y/n − b)/(a − b), where a and b are the chances "
        "that "
        "a report holds the choice when it was and was not the answer; it is unbiased and may leave 0 to 1. The 95%% "
        "interval inverts the binomial tails with the law of the noise convolved in (after Clopper and Pearson 1934), "
        "so "
        "that it holds at the edges and for every n. Its variance is split into sampling, randomisation on devices and "
        "publication noise. Differences of released shares combine both intervals with the correlation of their "
        "errors. "
        "Answers were taken as a random sample of people. Test and average the unprojected estimates; those that add "
        "up "
        "to 100 are for display."
    ).replace("%%", "%")


def _not_protected(facts: Facts) -> str:
    return _(
        "That somebody took part and how many did; who saw the screen; a device or a form that somebody has changed. "
        "The "
        "guarantee bounds what a report adds to what was known before; it does not make answers more honest. Whoever "
        "answers several times, or sends false reports, can skew the estimates."
    )


def _software(facts: Facts) -> str:
    return _(
        "Candor %(version)s (plan format %(format)s, SHA-256 of the plan %(digest)s); noise drawn by OpenDP 0.16.0."
    ) % {"version": version(), "format": facts.content["format"], "digest": facts.plan.digest}


def _cited(facts: Facts) -> set[str]:
    kinds, noises = facts.kinds_of_channel, " ".join(facts.noises)
    cited = {
        "local": bool(facts.device),
        "warner": "table" in kinds,
        "subset": "subset" in kinds,
        "one_of": "one_of" in kinds,
        "number": "number" in kinds,
        "square": any("bins" in question.get("channel", {}) or "bins" in question for question in facts.device),
        "dwork": bool(facts.made),
        "laplace": "Laplace" in noises,
        "gaussian": "Gaussian" in noises,
        "counter": "continual" in noises,
        "concentrated": bool(facts.delta),
        "interval": bool(facts.made),
        "opendp": True,
    }
    return {name for name, is_cited in cited.items() if is_cited}


def _number(n: int) -> str:
    return formats.number_format(n, use_l10n=True, force_grouping=True)


def _day(day: object) -> str:
    return str(formats.date_format(day, "DATE_FORMAT"))  # type: ignore[arg-type]


__all__ = ["Methods", "epsilon_of", "methods_of"]
