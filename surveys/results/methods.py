"""Methods texts to cite, in three lengths, from the frozen Plan, the release and the ledger.

Nothing in them is typed by hand for one study: what the Plan does not say, they do not say.
"""

import re
from collections.abc import Iterator
from fractions import Fraction

from django.utils import formats
from django.utils.translation import gettext as _, gettext_lazy, ngettext

import dpengine
from dpengine.privacy import plain, round_down
from surveys.design import wording
from surveys.design.models import Rule, Unit
from surveys.ledger.selectors import SHOWN_PLACES
from surveys.messages import listed, translate
from surveys.releases import selectors as releases
from surveys.results.metadata import Metadata, shown_epsilon

MANY_ROWS = 6  # more are counted, and not named
SOURCES = {
    "warner": "Warner, S. L. (1965). Randomized response: a survey technique for eliminating "
    "evasive answer bias. Journal of the American Statistical Association, 60, 63–69.",
    "local": "Kasiviswanathan, S. P., Lee, H. K., Nissim, K., Raskhodnikova, S., & Smith, A. "
    "(2011). What can we learn privately? SIAM Journal on Computing, 40, 793–826.",
    "subset": "Ye, M., & Barg, A. (2018). Optimal schemes for discrete distribution estimation "
    "under locally differential privacy. IEEE Transactions on Information Theory, 64, 5662–5676.",
    "one_of": "Wang, N., Xiao, X., Yang, Y., et al. (2019). Collecting and analyzing "
    "multidimensional data with local "
    "differential privacy. IEEE 35th International Conference on Data Engineering, 638–649.",
    "number": "Duchi, J. C., Jordan, M. I., & Wainwright, M. J. (2018). Minimax optimal "
    "procedures for locally private estimation. Journal of the American Statistical Association, "
    "113, 182–201.",
    "square": "Li, Z., Wang, T., Lopuhaä-Zwakenberg, M., Li, N., & Škoric, B. (2020). Estimating "
    "numerical distributions under local differential privacy. SIGMOD, 621–635.",
    "dwork": "Dwork, C., McSherry, F., Nissim, K., & Smith, A. (2006). Calibrating noise to "
    "sensitivity in private data analysis. Theory of Cryptography, 265–284.",
    "laplace": "Ghosh, A., Roughgarden, T., & Sundararajan, M. (2012). Universally "
    "utility-maximizing privacy mechanisms. SIAM Journal on Computing, 41, 1673–1693.",
    "gaussian": "Canonne, C. L., Kamath, G., & Steinke, T. (2020). The discrete Gaussian for "
    "differential privacy. Advances in Neural Information Processing Systems, 33.",
    "counter": "Fichtenberger, H., Henzinger, M., & Upadhyay, J. (2023). Constant matters: "
    "fine-grained error bound on differentially private continual observation. ICML, PMLR 202.",
    "concentrated": "Bun, M., & Steinke, T. (2016). Concentrated differential privacy: "
    "simplifications, extensions, and lower bounds. Theory of Cryptography, 635–658.",
    "interval": "Clopper, C. J., & Pearson, E. S. (1934). The use of confidence or fiducial limits "
    "illustrated in the case of the binomial. Biometrika, 26, 404–413.",
    "known_sum": "Hay, M., Rastogi, V., Miklau, G., & Suciu, D. (2010). Boosting the accuracy of "
    "differentially private histograms through consistency. Proceedings of the VLDB Endowment, 3, "
    "1021–1032.",
    "opendp": "The OpenDP Team (2025). OpenDP library, version 0.16.0. https://opendp.org",
}

CHANNELS = {  # by kind
    "table": gettext_lazy(
        "A table of whole-number weights gives the chance of every report after every answer "
        "(Warner 1965)."
    ),
    "subset": gettext_lazy(
        "Questions with more choices use subset selection: a report holds one choice or several, "
        "the true one more often than the others (Ye and Barg 2018)."
    ),
    "one_of": gettext_lazy(
        "Where several options can be ticked, each browser reports on one or a few of them, chosen "
        "by chance, and spends all of ε on them (Wang et al. 2019)."
    ),
    "number": gettext_lazy(
        "Numbers are rounded by chance to a grid, and a table found by linear programming has the "
        "least variance of the mean for the worst answer (compare Duchi et al. 2018)."
    ),
}
ESTIMATION = gettext_lazy(
    "From a published count y of n reports the share is estimated as (y/n − b)/(a − b), where a "
    "and b are the chances that a report holds the choice when it was and was not the answer; it "
    "is unbiased and may leave 0 to 1. The 95%% interval inverts the binomial tails with the law "
    "of any noise convolved in (after Clopper and Pearson 1934), so that it holds at the edges and "
    "for every n. Its variance is split into sampling, randomisation on devices and any noise of "
    "publication. Differences of released shares combine both intervals with the correlation of "
    "their errors. Answers were taken as a random sample of people. Test and average the "
    "unprojected estimates; those that add up to 100 are for display."
)
KNOWN_SUM = gettext_lazy(
    "Where a question has three choices or more, k in all, what their noisy counts add up to "
    "beyond the sum that n makes public was taken out of each in equal parts first (Hay et al. "
    "2010): y is what is left, and its noise has 1/k less variance."
)
NOT_PROTECTED = gettext_lazy(
    "That a person took part, and how many did. People who saw the screen. A "
    "device or a form that someone has changed. The guarantee bounds what a "
    "response adds to earlier knowledge; it does not make answers more honest. "
    "People who answer several times, or send false responses, can skew the "
    "estimates."
)


NOT_HIDDEN_FROM_SITE = gettext_lazy(
    "From people who run the site: that a person took part, and how many did. "
    "People who saw the screen. A device or a form that someone has changed. The "
    "guarantee bounds what a response adds to earlier knowledge; it does not make"
    " answers more honest. People who answer several times, or send false "
    "responses, can skew the estimates."
)


def methods_of(metadata: Metadata) -> dict[str, str]:
    """Return the same truth in three lengths, each by its name."""
    section = "\n\n".join(f"{title}\n{text}" for title, text in _section(metadata))
    texts = {
        "sentence": _sentence(metadata),
        "paragraph": " ".join(_paragraph(metadata)),
        "section": section,
    }
    return {length: re.sub(r"(?<=[。\uff1b]) ", "", text) for length, text in texts.items()}


def _sentence(metadata: Metadata) -> str:
    text = {
        "organisation": metadata.plan.spoken.organisation,
        "n": _people(metadata),
        "total": metadata.total,
        "charged": metadata.charged,
        "digest": metadata.plan.digest[:12],
    }
    said = _(
        "%(n)s answers to a survey of %(organisation)s were randomised on the respondents’ "
        "devices (local differential privacy, ε = %(total)s for a whole form), and shares were "
        "published with further noise at %(charged)s (Candor; plan %(digest)s)."
    )
    if not metadata.device:
        said = _(
            "%(n)s answers to a survey of %(organisation)s were kept encrypted, and published "
            "only as totals with differentially private noise (Candor; plan %(digest)s)."
        )
    elif not metadata.release:
        said = _(
            "Each answer to this survey of %(organisation)s is randomised on the respondent’s "
            "device (local differential privacy, ε = %(total)s for a whole form) before it is "
            "sent (Candor; plan %(digest)s)."
        )
    elif not metadata.is_noisy:
        said = _(
            "%(n)s answers to a survey of %(organisation)s were randomised on the "
            "respondents’ devices (local differential privacy, ε = %(total)s for a whole "
            "form), and shares were published without further noise, at %(charged)s (Candor; "
            "plan %(digest)s)."
        )
    return said % text


def _paragraph(metadata: Metadata) -> Iterator[str]:
    yield _when(metadata)
    if metadata.device:
        yield _device(metadata)
    if metadata.cleartext:
        yield _given(metadata)
    yield _release(metadata)
    if metadata.release:
        yield _(
            "Shares were estimated without bias through the odds of the devices; 95%% intervals "
            "count sampling, devices and publication, and unprojected estimates may fall below 0."
        ).replace("%%", "%")
    yield _cap(metadata)


def _section(metadata: Metadata) -> Iterator[tuple[str, str]]:
    """Yield the parts of the longest text, each with its title."""
    kinds, cited = {question.channel.kind for question in metadata.device}, _cited(metadata)
    yield _("Data collection"), f"{_when(metadata)} {_unit(metadata)}"
    if metadata.device:
        channels = " ".join(str(text) for kind, text in CHANNELS.items() if kind in kinds)
        yield (
            _("Protection on the device"),
            f"{_device(metadata)} {channels}\n{_questions(metadata)}",
        )
    if metadata.cleartext:
        yield _("Answers that are not randomised"), _given(metadata)
    checked = _("The plan, every charge and every number can be read and checked at %(address)s.")
    checked %= {"address": metadata.address}
    yield _("Publication"), f"{_release(metadata)} {_cap(metadata)} {checked}"
    if metadata.release:
        texts = [str(ESTIMATION).replace("%%", "%")]
        texts += [str(KNOWN_SUM)] if "known_sum" in cited else []
        yield _("Estimation"), " ".join(texts)
    not_protected = NOT_PROTECTED if metadata.plan.content.n_is_public else NOT_HIDDEN_FROM_SITE
    yield _("What is not protected"), str(not_protected)
    yield _("Software"), _software(metadata)
    yield _("References"), "\n".join(SOURCES[name] for name in SOURCES if name in cited)


def _when(metadata: Metadata) -> str:
    plan = metadata.plan
    said = _(
        "“%(title)s” (%(organisation)s, wave %(wave)s) has been collected with Candor since "
        "%(first)s; %(n)s answers are counted so far."
    )
    if plan.closed_on:
        said = _(
            "“%(title)s” (%(organisation)s, wave %(wave)s) was collected with Candor from "
            "%(first)s to %(last)s; %(n)s answers are counted."
        )
    return said % {
        "title": plan.spoken.title,
        "organisation": plan.spoken.organisation,
        "wave": plan.wave,
        "n": _people(metadata),
        "first": _day(plan.opened_on),
        "last": _day(plan.closed_on) if plan.closed_on else "",
    }


def _unit(metadata: Metadata) -> str:
    content = metadata.plan.content
    record = _("One record is %(record)s;") % {"record": Unit(content.unit).label}
    neighbours = _(
        "neighbouring data sets differ in the answers of one record, and the number of answers is "
        "public."
    )
    if not content.n_is_public:
        neighbours = _(
            "neighbouring data sets differ in one record more or less, and the number of answers "
            "is published with noise only."
        )
    sample = _(
        "Anyone with the link could answer; answers were not tied to a list of people, so the "
        "sample is one of volunteers unless its recruitment says otherwise."
    )
    if content.invited is not None:
        people = sum(stratum.people for stratum in content.invited.strata)
        sample = ngettext(
            "%(people)s person on a list was invited, and could answer once; a response does not "
            "say whose it is.",
            "%(people)s people on a list were invited, and each could answer once; a response does "
            "not say whose it is.",
            people,
        ) % {"people": f"{people:,}"}
    return " ".join(filter(None, (record, neighbours, wording.of_person(content), sample)))


def _device(metadata: Metadata) -> str:
    losses = [question.loss for question in metadata.device if question.loss is not None]
    least, most = shown_epsilon(min(losses)), shown_epsilon(max(losses))
    text = {"count": len(metadata.device), "least": least, "most": most, "total": metadata.total}
    answers = _(
        "The answers to %(count)s questions were randomised in the respondent’s "
        "browser before they were sent (randomised response; ε-local differential privacy "
        "with ε = %(least)s to %(most)s an answer)."
    )
    if least == most:
        answers = ngettext(
            "The answer to %(count)s question was randomised in the respondent’s "
            "browser before it was sent "
            "(randomised response; ε-local differential privacy with ε = %(least)s).",
            "The answers to %(count)s questions were randomised in the respondent’s "
            "browser before they were sent (randomised response; ε-local differential privacy "
            "with ε = %(least)s an answer).",
            len(metadata.device),
        )
    every = _(
        "All answers of one form together lose at most ε = %(total)s. The server never received "
        "the answers that were chosen, only the changed ones."
    )
    parts = answers % text, _drawing(metadata), every % text, _waves(metadata)
    return " ".join(filter(None, parts))


def _waves(metadata: Metadata) -> str:
    """Say how chance falls in several waves; nothing of one."""
    content = metadata.plan.content
    if content.waves < 2:
        return ""
    total = shown_epsilon(content.loss_of_waves)
    parts = {"wave": content.wave, "waves": content.waves, "total": total}
    if content.keeps_key:
        text = _(
            "This is wave %(wave)s of %(waves)s planned. Devices keep a key, by which an unchanged "
            "answer is sent the same way in every wave; an answer that changed is drawn anew, and "
            "that it changed can be seen. If all change in every wave, all waves together lose at "
            "most ε = %(total)s."
        )
    else:
        text = _(
            "This is wave %(wave)s of %(waves)s planned. Each wave draws anew, and all of them "
            "together lose at most ε = %(total)s."
        )
    return text % parts


def _drawing(metadata: Metadata) -> str:
    """Say who was asked what, where devices drew it, and what was sent as one answer."""
    content, said = metadata.plan.content, []
    if content.draws_questions:
        sizes = sorted({len(each) for each in content.sets})
        text = _(
            "Each device drew which %(asked)s of these %(all)s questions it asked, out of %(sets)s "
            "sets, without looking at an answer; the n of a question is how many were asked it."
        )
        asked = "–".join(str(each) for each in {sizes[0]: 0, sizes[-1]: 0})
        values = {"asked": asked, "all": len(metadata.device), "sets": len(content.sets)}
        said.append(text % values)
    one = _(
        "The answers to %(labels)s are sent as one, through one channel over their combinations; "
        "the ε beside each of them is that of all of them together."
    )
    said += [
        one % {"labels": listed(content.question(name).label for name in block.questions)}
        for block in content.blocks
        if block.is_joint
    ]
    if any(block.decline for block in content.blocks):
        said.append(_("Who declines one of the questions that are sent as one declines them all."))
    return " ".join(said)


def _questions(metadata: Metadata) -> str:
    lines = [
        _("– %(label)s: ε = %(epsilon)s, e^ε = %(top)s/%(bottom)s exactly.")
        % {
            "label": question.label,
            "epsilon": shown_epsilon(question.loss),
            "top": question.loss.numerator,
            "bottom": question.loss.denominator,
        }
        for question in metadata.device
        if question.loss is not None
    ]
    return "\n".join(lines)


def _given(metadata: Metadata) -> str:
    labels = listed(question.label for question in metadata.cleartext)
    return _(
        "Sent as given over an encrypted connection, kept encrypted, and published only as totals "
        "with noise: %(labels)s."
    ) % {"labels": labels}


def _release(metadata: Metadata) -> str:
    """Say what was published, by the rule or for a query, and how it was drawn."""
    described, asked = metadata.release or metadata.asked, metadata.asked
    if described is None:
        none = _("No numbers of this wave have been published by its rule yet.")
        return on_request(metadata) or none
    text = _(
        "The counts of reports were published on %(day)s with integer noise drawn once "
        "(%(mechanism)s; sensitivity: "
        "%(sensitivity)s), at a cost of %(charged)s, row %(row)s of the public ledger."
    )
    if asked:
        text = _(
            "“%(title)s” was published on %(day)s for a query (%(mechanism)s; "
            "sensitivity: %(sensitivity)s), with a privacy loss of %(charged)s, row "
            "%(row)s of the public ledger."
        )
    elif not metadata.is_noisy:
        text = _(
            "The counts of reports were published on %(day)s as they came: of %(whom)s, "
            "%(charged)s at most is lost by it, all that the device allowed, row %(row)s of the "
            "public ledger."
        )
    text %= {
        "title": asked.title if asked else "",
        "day": _day(described.published_on),
        "mechanism": translate(described.entry.mechanism),
        "sensitivity": translate(described.entry.sensitivity),
        "whom": wording.whom(metadata.plan.content.unit),
        "charged": metadata.charged,
        "row": described.entry.position,
    }
    return f"{text} {translate(asked.drawn[-1].content.method)}" if asked and asked.drawn else text


def on_request(metadata: Metadata) -> str:
    """Say which rows hold what was asked for, where that is all that a study publishes."""
    plan = metadata.plan
    asked = [each for each in releases.asked_of(plan.study) if each.request.plan_id == plan.pk]
    rows = sorted(publication.entry.position for publication in asked)
    if not rows or plan.content.publication.rule != Rule.ON_REQUEST:
        return ""
    text = _("Numbers are published on request: rows %(rows)s of the public ledger.")
    if len(rows) == 1:
        text = _("Numbers are published on request: row %(rows)s of the public ledger.")
    if len(rows) > MANY_ROWS:
        text = _("Numbers are published on request: %(count)s rows of the public ledger.")
    return text % {"rows": ", ".join(map(str, rows)), "count": len(rows)}


def _cap(metadata: Metadata) -> str:
    caps, study = metadata.plan.content.caps, metadata.plan.study
    cap, budget = plain(study.cap), study.budget  # as they are now: lowered, it may be
    if budget is not None and budget.is_either:
        return _(
            "All publications of the study together are capped at ε = %(cap)s, δ = %(delta)s: by "
            "the sum of ε, or as concentrated differential privacy (ρ = %(rho)s; Bun and Steinke "
            "2016), whichever holds."
        ) % {
            "cap": cap,
            "delta": caps.central_delta,
            "rho": plain(round_down(Fraction(budget.rho), SHOWN_PLACES["ρ"])),
        }
    if caps.central_delta:
        return _(
            "All publications of the study together are capped at ε = %(cap)s, δ = %(delta)s, "
            "composed as concentrated differential privacy (Bun and Steinke 2016)."
        ) % {"cap": cap, "delta": caps.central_delta}
    return _(
        "All publications of the study together are capped at ε = %(cap)s (δ = 0), their ε added "
        "up."
    ) % {"cap": cap}


def _software(metadata: Metadata) -> str:
    text = _("Candor %(version)s (plan format %(format)s, SHA-256 of the plan %(digest)s).")
    if metadata.is_noisy or metadata.asked:
        text = _(
            "Candor %(version)s (plan format %(format)s, SHA-256 of the plan %(digest)s); noise "
            "drawn by OpenDP 0.16.0."
        )
    return text % {
        "version": dpengine.__version__,
        "format": metadata.plan.content.format,
        "digest": metadata.plan.digest,
    }


def _cited(metadata: Metadata) -> set[str]:
    kinds = {question.channel.kind for question in metadata.device}
    published = metadata.release.content.questions if metadata.release else ()
    noises = " ".join({numbers.mechanism.name for numbers in published})
    cited = {
        "local": bool(metadata.device),
        "warner": "table" in kinds,
        "subset": "subset" in kinds,
        "one_of": "one_of" in kinds,
        "number": "number" in kinds,
        "square": any(
            question.bins or "bins" in (question.channel_document or {})
            for question in metadata.device
        ),
        "dwork": metadata.is_noisy or bool(metadata.asked),
        "laplace": "Laplace" in noises,
        "gaussian": "Gaussian" in noises,
        "counter": "continual" in noises,
        "concentrated": bool(metadata.plan.content.caps.central_delta),
        "interval": bool(metadata.release),
        "known_sum": any(numbers.mechanism.known_sum for numbers in published),
        "opendp": metadata.is_noisy or bool(metadata.asked),
    }
    return {name for name, is_cited in cited.items() if is_cited}


def _people(metadata: Metadata) -> str:
    """Return how many answers there are, as far as it is told."""
    if metadata.n is None:
        return _("an unpublished number of")
    return wording.people_of(metadata.n, metadata.plan.content)


def _day(day: object) -> str:
    return str(formats.date_format(day, "DATE_FORMAT"))  # type: ignore[arg-type]
