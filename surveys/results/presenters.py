"""What the registry's pages say, in whole sentences with their numbers, for a translator."""

from dataclasses import dataclass

from django.utils import formats
from django.utils.translation import gettext as _, gettext_noop, ngettext

from surveys.design import wording
from surveys.design.calendars import amount_text
from surveys.guesses import even_guess
from surveys.messages import listed
from surveys.plan.kinds import WITH_STEPS
from surveys.results.registered import RegisteredQuestion, RegisteredStudy

RULES = {
    "every": gettext_noop(
        "Published %(span)s and once more after the close, each time only if %(n)s answers "
        "or more are new. Each time costs at most ε %(epsilon)s."
    ),
    "continual": gettext_noop(
        "Published %(span)s, at most %(times)s times. All of it costs ε %(epsilon)s, "
        "charged on the first day."
    ),
    "on-request": gettext_noop(
        "Published when a researcher asks. By itself, a query reveals at most ε %(epsilon)s; what "
        "all of them add up to is bounded by the cap. Not for fewer than %(n)s answers."
    ),
    "when-closed": gettext_noop(
        "Published once, after the close, and not for fewer than %(n)s answers. That costs "
        "at most ε %(epsilon)s."
    ),
}


@dataclass(frozen=True, slots=True)
class StudyPresenter:
    """The sentences of one study's page."""

    record: RegisteredStudy

    @property
    def picture(self) -> tuple[str, str, str] | None:
        """Return the words of one hundred people who answer a question, and of what that many of
        them send and do not; None where it has no odds.
        """
        question, odds = self.record.first, self.record.first.first_odds
        if odds is None:
            return None
        number = {"number": question.number}
        if question.question.kind == "multiple":
            heading = _(
                "Of 100 people whose device picked an option that they ticked in question "
                "%(number)s,"
            )
            return heading % number, _("send “ticked”"), _("send “not ticked”")
        if odds.choices == 2:
            yes, no = question.choices[:2]
            heading = _("Of 100 people who answer “%(choice)s” to question %(number)s,")
            send = _("send “%(choice)s”")
            return (
                heading % {**number, "choice": yes},
                send % {"choice": yes},
                send % {"choice": no},
            )
        heading = _("Of 100 people who choose an answer to question %(number)s,") % number
        if odds.size == 1:
            return heading, _("send that answer"), _("send one of the others")
        return heading, _("have it among those sent"), _("do not")

    @property
    def given(self) -> str:
        """Which answers nobody changes."""
        names, record = self.record.cleartext, self.record
        if not names or not record.changes_answers:
            return ""
        counts = {"n": len(names), "all": len(record.questions), "names": ", ".join(names)}
        return (
            ngettext(
                "%(n)s of %(all)s answers is not randomised (%(names)s): anyone who runs this "
                "site can read it, at ε = ∞.",
                "%(n)s of %(all)s answers are not randomised (%(names)s): anyone who runs this "
                "site can read them, at ε = ∞.",
                len(names),
            )
            % counts
        )

    @property
    def together(self) -> str:
        """What one person gives away in all."""
        record, amounts = (
            self.record,
            {"epsilon": self.record.device_epsilon, "n": self.record.waves},
        )
        if not record.changes_answers:
            amounts["epsilon"] = "∞"
        elif record.cleartext:
            return _("All randomised answers of one person together: ε %(epsilon)s.") % amounts
        if record.waves > 1:
            return (
                _("One person, in all %(n)s waves together, each randomised anew: ε %(epsilon)s.")
                % amounts
            )
        if record.waves == 0:
            return _("One person, in one wave, all together: ε %(epsilon)s.") % amounts
        return _("One person, all together: ε %(epsilon)s.") % amounts

    @property
    def drawn(self) -> str:
        """Say that devices draw what they ask, and what is sent as one answer; else nothing."""
        content = self.record.content
        if not content.draws_questions:
            return " ".join(self._together)
        text = _(
            "Each device picks at random which %(asked)s of the %(all)s randomised questions it "
            "asks, out of %(sets)s sets. The choice can be seen; it does not depend on an answer. "
            "“All together” is the set with the largest loss."
        )
        sizes = sorted({len(each) for each in content.sets})
        asked = "–".join(map(str, dict.fromkeys((sizes[0], sizes[-1]))))
        said = text % {"asked": asked, "all": len(content.channels), "sets": len(content.sets)}
        return " ".join([said, *self._together])

    @property
    def _together(self) -> list[str]:
        """Say which questions are sent as one answer, by their labels, and what that means."""
        text = _(
            "The answers to %(labels)s are sent as one answer: the loss of each is the loss of all "
            "of them together."
        )
        content = self.record.content
        return [
            text % {"labels": listed(content.question(name).label for name in block.questions)}
            for block in content.blocks
            if block.is_joint
        ]

    @property
    def repeats(self) -> str:
        """What holds where a device did not draw anew."""
        if not self.record.may_repeat:
            return ""
        return _(
            "A device that keeps its key sends an unchanged answer the same way again. That "
            "reveals nothing more about the answer, but whether it changed is not protected."
        )

    @property
    def guess(self) -> str:
        """How far a stranger with every message comes."""
        return _(
            "From all randomised answers of one person, a guess between two equally likely facts "
            "about them is right at most %(n)s times in 100."
        ) % {"n": even_guess(self.record.loss)}

    @property
    def rate(self) -> str:
        weekly = self.record.account.budget.weekly
        if not weekly:
            return self.record.per_week
        amounts = {"amount": self.record.per_week, "limit": f"{weekly:f}"}
        return _("%(amount)s of at most %(limit)s") % amounts

    @property
    def rule(self) -> str:
        """When something is published, and what that costs."""
        terms = self.record.content.publication
        parts = {
            "epsilon": self.record.release_epsilon,
            "n": _number(terms.smallest_batch),
            "times": _number(terms.horizon),
            "span": wording.hours_said(terms.hours),
        }
        after = _(
            "A release that does not fit under the cap is refused. At the cap, or on the last day, "
            "publishing ends and the answers are deleted."
        )
        return f"{_(RULES[terms.rule]) % parts} {after}"

    @property
    def one_answer(self) -> str:
        """How the first answer is protected, in a cell."""
        first = self.record.first
        if first.question.is_cleartext:
            return _("not randomised")
        if first.first_odds is None:
            return _("a number, randomised")
        if first.first_odds.choices == 2:
            return f"{first.first_odds.own_said} : {first.first_odds.rest_said}"
        return _("%(own)s of 100") % {"own": first.first_odds.own_said}

    @property
    def beside(self) -> str:
        """What a guess is right without it, and which answer it is."""
        first, all_of_them = self.record.first, len(self.record.questions)
        if first.first_odds is None:
            return changed(first)
        said = [_("blind guess %(luck)s") % {"luck": first.first_odds.luck_of_hundred}]
        counts = {"n": len(self.record.cleartext), "all": all_of_them, "number": first.number}
        if self.record.cleartext:
            said.append(_("%(n)s of %(all)s not randomised") % counts)
        elif all_of_them > 1:
            said.append(_("question %(number)s of %(all)s") % counts)
        return " · ".join(said)

    @property
    def in_waves(self) -> str:
        """Of which answers, and of how many waves, the ε of one person is."""
        record, n = self.record, {"n": len(self.record.plans)}
        said = []
        if record.cleartext and record.changes_answers:
            said.append(_("randomised: %(epsilon)s") % {"epsilon": record.device_epsilon})
        if record.waves > 1:
            said.append(_("in %(n)s waves") % n)
        elif n["n"] > 1:
            said.append(_("in each of %(n)s waves") % n)
        return " ".join(said)

    @property
    def since(self) -> str:
        """Until when it goes on, or since when it does not."""
        record, days = self.record, self.record.days_left
        if record.state == "spent":
            return _("publishes nothing more")
        if days is not None:
            return ngettext("lasts %(n)s more day", "lasts %(n)s more days", days) % {"n": days}
        return wording.StudyStatus.of(record.study, record.plan).since

    @property
    def burn(self) -> str:
        """The chart in a sentence."""
        chart, statement, n = self.record.chart, self.record.statement, self.record.account.count
        amounts = {
            "sign": statement.measure,
            "total": statement.spent,
            "cap": statement.cap,
            "n": n,
        }
        spent = (
            ngettext(
                "%(sign)s used so far: %(total)s of a cap of %(cap)s, in %(n)s release.",
                "%(sign)s used so far: %(total)s of a cap of %(cap)s, in %(n)s releases.",
                n,
            )
            % amounts
        )
        if not chart.reaches_cap:
            return spent
        day = formats.date_format(chart.ends)
        return f"{spent} " + _("At this rate the cap is reached on %(day)s.") % {"day": day}

    @property
    def questions(self) -> list[tuple[RegisteredQuestion, str, str]]:
        """Every question, with its choices or bounds and what chance does to its answer."""
        questions = self.record.questions
        return [(question, choices(question), changed(question)) for question in questions]


def changed(question: RegisteredQuestion) -> str:
    """Say how an answer is randomised, beyond its odds between choices."""
    if question.question.is_cleartext:
        return _("not randomised: kept encrypted, published as totals only")
    if question.messages:
        return ngettext(
            "a number, randomised on the device to its one value",
            "a number, randomised on the device to one of %(n)s values",
            question.messages,
        ) % {"n": _number(question.messages)}
    if question.question.kind == "multiple" and (odds := question.first_odds):
        one = ngettext(
            "about %(n)s option", "about one of %(n)s options, picked at random", odds.options
        )
        several = _("about %(told)s of %(n)s options, picked at random")
        return (several if odds.told > 1 else one) % {"told": odds.told, "n": odds.options}
    return _("randomised on the device")


def choices(registered: RegisteredQuestion) -> str:
    """Return a question's choices, or the bounds of a number, and whom it is asked."""
    question = registered.spoken
    text = " · ".join(registered.choices)
    if question.kind in WITH_STEPS and not question.choices:
        bounds = {"least": question.least, "most": question.most}
        ends = {name: amount_text(question, bound, _number) for name, bound in bounds.items()}
        text = _("%(least)s to %(most)s %(unit)s") % {**ends, "unit": question.unit}
    text = text.strip()
    if question.asked_if is None:
        return text
    return _(
        "%(choices)s (asked after some answers to %(question)s; people who are not asked send a "
        "response too)"
    ) % {"choices": text, "question": question.asked_if.question}


def _number(number: int) -> str:
    return formats.number_format(number, use_l10n=True, force_grouping=True)
