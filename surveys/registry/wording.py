"""What the registry's pages say, in whole sentences: a translator gets them one by one, with their numbers in them."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.utils import formats
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from surveys.design import documents, wording
from surveys.registry.records import MODELS, UNITS, Asked, Record

ALMOST = 199  # a loss above it: a guess is right more than 99 times in 100


@dataclass(frozen=True, slots=True)
class Group:
    """Studies whose ε may be compared with one another, and with no others."""

    unit: str | Promise
    model: str | Promise
    records: list[Record]


def groups(records: Iterable[Record]) -> list[Group]:
    """Return records, which come in order, apart by what counts as one and where answers are changed."""
    return [
        Group(UNITS.get(unit, unit), MODELS[model], list(found))
        for (unit, model), found in groupby(records, key=lambda record: record.kind)
    ]


@dataclass(frozen=True, slots=True)
class Picture:
    """One hundred people who answer a question: what that many of them send."""

    heading: str
    own: str
    rest: str


def picture(asked: Asked) -> Picture | None:
    """Return the words of a question's odds; None where it has none."""
    if asked.shown is None:
        return None
    number = {"number": asked.number}
    if asked.is_of_options:
        heading = _("Of 100 people asked by chance about an option that they ticked in question %(number)s,") % number
        return Picture(heading, _("send “ticked”"), _("send “not ticked”"))
    if asked.shown.choices == 2:
        yes, no = asked.choices[:2]
        heading = _("Of 100 people who answer “%(choice)s” to question %(number)s,") % {**number, "choice": yes}
        return Picture(heading, _("send “%(choice)s”") % {"choice": yes}, _("send “%(choice)s”") % {"choice": no})
    heading = _("Of 100 people who choose an answer to question %(number)s,") % number
    if asked.shown.size == 1:
        return Picture(heading, _("send that answer"), _("send one of the others"))
    return Picture(heading, _("have it among those sent"), _("do not"))


@dataclass(frozen=True, slots=True)
class Words:
    """The sentences of one study's page."""

    record: Record

    @property
    def picture(self) -> Picture | None:
        return picture(self.record.first)

    @property
    def state(self) -> str:
        """How it stands, with the day."""
        record, plan = self.record, self.record.plan
        if record.study.retired_on:
            return _("Retired on %(day)s") % {"day": formats.date_format(record.study.retired_on)}
        if plan.is_open and plan.closes_on:
            return _("Collecting until %(day)s") % {"day": formats.date_format(plan.closes_on)}
        if plan.closed_on is None:
            return _("Collecting")
        return _("Closed on %(day)s") % {"day": formats.date_format(plan.closed_on)}

    @property
    def answers(self) -> str:
        n = self.record.answers
        if self.record.plan.is_open:
            return ngettext("%(n)s answer so far", "%(n)s answers so far", n) % {"n": _number(n)}
        return ngettext("%(n)s answer", "%(n)s answers", n) % {"n": _number(n)}

    @property
    def given(self) -> str:
        """Which answers nobody changes."""
        names, record = self.record.given, self.record
        if not names or not record.changes_answers:
            return ""
        counts = {"n": len(names), "all": len(record.asked), "names": ", ".join(names)}
        return (
            ngettext(
                "%(n)s of %(all)s answers is sent as given (%(names)s): who runs this site can read it, at ε = ∞.",
                "%(n)s of %(all)s answers are sent as given (%(names)s): who runs this site can read them, at ε = ∞.",
                len(names),
            )
            % counts
        )

    @property
    def together(self) -> str:
        """What one person gives away in all."""
        record, said = self.record, {"epsilon": self.record.device_epsilon, "n": self.record.waves}
        if record.given:
            return _("All changed answers of one person together: ε %(epsilon)s.") % said
        if record.waves > 1:
            return _("One person, in all %(n)s waves together: ε %(epsilon)s.") % said
        if record.waves == 0:
            return _("One person, in one wave, all together: ε %(epsilon)s.") % said
        return _("One person, all together: ε %(epsilon)s.") % said

    @property
    def guess(self) -> str:
        """How far a stranger with every message comes."""
        if self.record.loss > ALMOST:
            return _("Who sees every message, knew nothing before and guesses between two can be right more than "
                     "99 times in 100.")  # fmt: skip
        return _("Who sees every message, knew nothing before and guesses between two is right at most %(n)s times "
                 "in 100.") % {"n": self.record.guess}  # fmt: skip

    @property
    def rate(self) -> str:
        weekly = self.record.account.budget.weekly
        if weekly:
            return _("%(amount)s of at most %(limit)s") % {"amount": self.record.per_week, "limit": f"{weekly:f}"}
        return self.record.per_week

    @property
    def lasts(self) -> str:
        days = self.record.days_left
        if self.record.state == "closed":
            return _("closed: only what is asked for costs")
        if days is None:
            return _("nothing is being spent")
        return ngettext("%(n)s day", "%(n)s days", days) % {"n": _number(days)}

    @property
    def ends(self) -> str:
        study = self.record.study
        if study.retired_on:
            return formats.date_format(study.retired_on)
        if study.retires_on:
            return _("%(day)s, or at the cap") % {"day": formats.date_format(study.retires_on)}
        return _("at the cap")

    @property
    def rule(self) -> str:
        """When something is published, and what that costs."""
        rule = self.record.content["publication"]
        every = wording.hours_said(rule.get("hours", 0))
        said = {**rule, "n": _number(rule["smallest_batch"]), "times": _number(rule.get("horizon", 0)), "span": every}
        return (_RULES[rule["rule"]]() % said) + _after()

    @property
    def burn(self) -> str:
        """The chart in a sentence."""
        drawn, n = self.record.chart, len(self.record.rows)
        said = {"sign": drawn.measure, "total": drawn.total, "cap": drawn.cap, "n": n}
        spent = (
            ngettext(
                "%(sign)s spent so far: %(total)s of a cap of %(cap)s, in %(n)s publication.",
                "%(sign)s spent so far: %(total)s of a cap of %(cap)s, in %(n)s publications.",
                n,
            )
            % said
        )
        if not drawn.reaches_cap:
            return spent
        day = formats.date_format(drawn.ends)
        return f"{spent} " + _("At this rate the cap is reached on %(day)s.") % {"day": day}

    @property
    def questions(self) -> list[tuple[Asked, str, str]]:
        """Every question, with its choices or bounds and what chance does to its answer."""
        return [(asked, _choices(asked), changed(asked)) for asked in self.record.asked]


def changed(asked: Asked) -> str:
    """What chance does to an answer, where odds between choices do not say it."""
    if asked.values:
        return ngettext(
            "changed on the device to one of %(n)s value", "changed on the device to one of %(n)s values", asked.values
        ) % {"n": _number(asked.values)}
    if asked.is_of_options and asked.shown:
        return ngettext("about %(n)s option", "about one of %(n)s options, chosen by chance", asked.shown.options) % {
            "n": asked.shown.options
        }
    return ""


def _choices(asked: Asked) -> str:
    """A question's choices, or the bounds of a number, and whom it is asked."""
    question = asked.said
    said = " · ".join(asked.choices)
    if "least" in question:
        said = _("%(least)s to %(most)s %(unit)s") % {**_bounds(question), "unit": question["unit"]}
    if "asked_if" in question:
        condition = {"choices": said.strip(), "question": question["asked_if"]["question"]}
        return (
            _("%(choices)s (asked after some answers to %(question)s; who is not asked sends a message too)")
            % condition
        )
    return said.strip()


def _bounds(question: dict[str, Any]) -> dict[str, str]:
    if question["kind"] == "month":
        return {name: documents.said_month(question[name]) for name in ("least", "most")}
    return {name: _number(question[name]) for name in ("least", "most")}


def _after() -> str:
    return " " + _("A publication that does not fit under the cap is refused; at the cap, or on the last day, nothing "
                   "is published again and answers are erased.")  # fmt: skip


_RULES = {
    "every": lambda: _("Published %(span)s and once more after the close, each time only if %(n)s answers "
                       "or more are new. Each time costs ε %(epsilon)s."),
    "continual": lambda: _("Published %(span)s, at most %(times)s times. All of it costs ε %(epsilon)s, "
                           "charged on the first day."),
    "on-request": lambda: _("Published when a researcher asks, at most ε %(epsilon)s a time, and nothing for fewer "
                            "than %(n)s answers."),
    "when-closed": lambda: _("Published once, after the close, and not for fewer than %(n)s answers. That costs "
                             "ε %(epsilon)s."),
}  # fmt: skip


def _number(number: int) -> str:
    return formats.number_format(number, use_l10n=True, force_grouping=True)
