"""What the planner says: why a way was chosen, what of it a draft holds, how the ± of each question
goes with n, and the buttons that mend what cannot be had.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import groupby

from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy

from dpengine.local.channel import Channel
from dpengine.local.ways import Kind
from dpengine.privacy import plain
from surveys.charts.scales import Scale, position
from surveys.design.goal import MAX_ANSWERS, Goal, Outcome, Topic
from surveys.design.models import Question
from surveys.design.sharing import batch_for
from surveys.guesses import LIKELY, even_guess_within
from surveys.planning.scenarios import PlannedStudy
from surveys.planning.wishes import Planned
from surveys.planning.wording import count, decimal_text, epsilon_text

STUDY_FIELDS = {  # that a plan writes
    "expected": gettext_lazy("Answers expected"),
    "asked": gettext_lazy("Questions each person is asked"),
    "person": gettext_lazy("one person, all together: ε"),
    "cap": gettext_lazy("Cap for all releases, ε"),
    "release_epsilon": gettext_lazy("Privacy loss of one release, ε"),
    "smallest_batch": gettext_lazy("Minimum number of responses to publish"),
}
WIDE = 25.0  # ± in points, from which on a study's rule waits for somebody to confirm it


@dataclass(frozen=True, slots=True)
class Mend:
    """A button: what it says, and the address of the page with it done."""

    text: str
    address: str


@dataclass(frozen=True, slots=True)
class Bar:
    """An interval in the picture of a question, centred: its number of people, ±, and place."""

    people: str
    half: str
    x: str
    width: str
    y: int


@dataclass(frozen=True, slots=True)
class Line:
    """A question's row: its ± at half of n, n, and twice n."""

    label: str
    matters: str
    asked: str  # people
    bars: list[Bar]


@dataclass(frozen=True)
class Plan:
    """What comes of a goal, for the page."""

    planned: Planned
    labels: Sequence[tuple[str, str]]  # of each question, and how it matters
    limits: tuple[Decimal, Decimal]  # of the ε of an answer
    path: str
    query: Callable[..., str]  # of the page's address, with some of its fields changed

    @property
    def outcome(self) -> Outcome:
        return self.planned.outcome

    @property
    def goal(self) -> Goal:
        return self.outcome.goal

    @property
    def guess(self) -> str:
        """Return how often of 100 a guess between two is right at most."""
        return even_guess_within(self.goal.epsilon)

    @property
    def half(self) -> str:
        return decimal_text(self.outcome.half(), 1)

    @cached_property
    def declining(self) -> str:
        """Say what it costs that people may decline; nothing where nothing asked for has that."""
        without, with_it = (self.outcome.that_declines(declines=each) for each in (False, True))
        if without.goal == with_it.goal:
            return ""
        text = _("With “Prefer not to say” it is ± %(with_it)s, without it ± %(without)s.")
        halves = {"with_it": with_it.half(), "without": without.half()}
        return text % {name: decimal_text(half, 1) for name, half in halves.items()}

    @property
    def other(self) -> Mend:
        """Return the way to let people decline, or no more: of a draft, where its questions are."""
        if self.planned.study is not None:
            build = reverse("drafting:build", args=[self.planned.study.slug])
            return Mend(_("Change it"), f"{build}#declining")
        if any(topic.declines for topic in self.goal.topics):
            return Mend(_("Remove it"), self.address(declines=""))
        return Mend(_("Offer it"), self.address(declines="yes"))

    @property
    def is_wide(self) -> bool:
        """Tell whether an interval would say so little that a rule waits."""
        return max(self._halves(self.goal.n)) > WIDE

    def _halves(self, n: int) -> list[float]:
        return [100 * self.outcome.way.half(at, n) for at in range(len(self.goal.topics))]

    # Why

    @property
    def why(self) -> str:
        """Say in one sentence why this way is the best that can be launched."""
        outcome = self.outcome
        values = {
            "asked": self.asked_of[0],
            "of": self.asked_of[1],
            "half": self.half,
            "split": decimal_text(outcome.half(outcome.proposal.kinds[Kind.SPLIT]), 1),
        }
        if self.goal.units == 1:
            return _("There is one question: it gets all of a person’s ε.")
        return self._why() % values

    def _why(self) -> str:
        outcome, asked = self.outcome, self.outcome.asked
        if outcome.together and asked is None:
            return _(
                "Everyone is asked everything, some of it sent as one answer: ± "
                "%(half)s. With ε split over all it would be ± %(split)s."
            )
        if outcome.together and asked == 1:
            return _(
                "Each person is asked %(asked)s of %(of)s, sent as one answer "
                "with all of ε: ± %(half)s. With ε split over all it would be ± "
                "%(split)s."
            )
        if outcome.together:
            return _(
                "Each person is asked %(asked)s of %(of)s, some of it sent as one answer: ± "
                "%(half)s, where ε split over all would give ± %(split)s."
            )
        if asked is None:
            return _("Everyone is asked everything, each with its part of ε: ± %(half)s.")
        if asked == 1:
            return _(
                "Each person is asked 1 of %(of)s, with all of ε: ± %(half)s, where ε "
                "split over all would give ± %(split)s."
            )
        return _(
            "Each person is asked %(asked)s of %(of)s, which share ε: ± %(half)s, where "
            "ε split over all would give ± %(split)s."
        )

    @property
    def asked_of(self) -> tuple[str, int]:
        """Return how many questions each person is asked, and of how many."""
        least, most = self.outcome.questions_asked
        asked = f"{most}" if least == most else _("%(a)s or %(b)s") % {"a": least, "b": most}
        if most - least > 1:
            asked = _("%(a)s to %(b)s") % {"a": least, "b": most}
        return asked, self.goal.units

    # What a draft holds

    @property
    def asked(self) -> str:
        asked, of = self.asked_of
        if self.outcome.asked is None:
            return _("all %(of)s") % {"of": of}
        return _("%(asked)s of %(of)s, which their device draws") % {"asked": asked, "of": of}

    @property
    def together(self) -> list[str]:
        """Say what is sent as one answer: how many of what, once for what is alike."""
        found = Counter(
            tuple(Counter(self.labels[at][0] for at in places).items())
            for places in self.outcome.together
        )
        answers = []
        for parts, times in found.items():
            said = " + ".join(f"{many} × {label}" if many > 1 else label for label, many in parts)
            answers.append(f"{said} ({times} ×)" if times > 1 else said)
        return answers

    @property
    def channels(self) -> str:
        """Say what each kind of question is sent through."""
        alone = [
            _channel_text(self.goal.topics[at], channel)
            for block in self.outcome.way.blocks
            if not block.is_joint
            for at, channel in zip(block.questions, block.channels, strict=True)
        ]
        joined = [_("one of all combinations of answers, by chance")]
        parts = sorted(set(alone)) + (joined if self.outcome.together else [])
        epsilons = sorted(set(self.outcome.epsilons))
        ends = dict.fromkeys((epsilon_text(epsilons[0]), epsilon_text(epsilons[-1])))
        text = _("%(channels)s; ε %(amount)s a question")
        if self.outcome.together:
            text = _("%(channels)s; ε %(amount)s an answer")
        return text % {
            "channels": ", ".join(parts),
            "amount": " – ".join(ends),
        }

    @property
    def batch(self) -> int:
        return batch_for(self.goal.n)

    @property
    def cap(self) -> str:
        return epsilon_text(self.planned.cap)

    # How the ± goes with n

    @cached_property
    def scale(self) -> Scale:
        """Return a scale around 0 that holds the widest ± at half of n."""
        widest = max(self._halves(max(self.goal.n // 2, 1)))
        wanted = float(self.goal.half or 0)
        return Scale(-max(widest, wanted) * 1.02, max(widest, wanted) * 1.02)

    @property
    def wanted(self) -> list[str]:
        """Return where the ± that is wanted ends, on both sides."""
        if self.goal.half is None:
            return []
        return [self.scale.at(sign * float(self.goal.half)) for sign in (-1, 1)]

    @cached_property
    def lines(self) -> list[Line]:
        """Return a row for each question, one for all that are alike and neighbours."""
        return [
            self._line(label, [at for at, _label in group])
            for label, group in groupby(enumerate(self.labels), lambda each: each[1])
        ]

    def _line(self, label: tuple[str, str], places: Sequence[int]) -> Line:
        n, at = self.goal.n, places[0]
        bars = []
        for y, people in ((2, max(n // 2, 1)), (16, n), (30, 2 * n)):
            half = 100 * self.outcome.way.half(at, people)
            part = 2 * half / (self.scale.high - self.scale.low)
            text = decimal_text(half, 1)
            bars.append(Bar(count(people), text, self.scale.at(-half), position(part), y))
        text = f"{count(len(places))} × {label[0]}" if len(places) > 1 else label[0]
        return Line(text, label[1], count(n * self.outcome.way.chances[at]), bars)

    # What mends it

    @cached_property
    def refusal(self) -> str:
        """Say what cannot be had."""
        if (too_little := min(self.outcome.epsilons)) < self.limits[0]:
            return _("A question would get ε %(least)s: this site takes %(floor)s at least.") % {
                "least": f"{plain(too_little):f}",
                "floor": f"{plain(self.limits[0]):f}",
            }
        if self.outcome.is_reached:
            return ""
        return _(
            "± %(wanted)s is not reached: %(n)s people at this ε give ± %(half)s for what matters "
            "most."
        ) % {
            "wanted": f"{plain(self.goal.half or Decimal(0)):f}",
            "n": count(self.goal.n),
            "half": self.half,
        }

    @cached_property
    def mends(self) -> list[Mend]:
        return [Mend(text, self.address(**changes)) for text, changes in self._mends()]

    @property
    def narrower(self) -> list[Mend]:
        """Return how many people would keep every interval within what a rule publishes."""
        needed = math.ceil(self.goal.n * (max(self._halves(self.goal.n)) / WIDE) ** 2)
        text = _("%(n)s people") % {"n": count(needed)}
        return [Mend(text, self.address(n=str(needed)))] if needed <= MAX_ANSWERS else []

    def _mends(self) -> Iterator[tuple[str, Mapping[str, str]]]:
        outcome = self.outcome
        if min(outcome.epsilons) < self.limits[0]:
            yield _("as many as is best"), {"asked": ""}
            return
        half = outcome.half_to_be_had
        yield _("use ± %(half)s") % {"half": decimal_text(float(half), 1)}, {"half": f"{half}"}
        if needed := outcome.people_needed:
            yield _("%(n)s people") % {"n": count(needed)}, {"n": str(needed)}
        if asked := outcome.better_asked:
            text = _("ask each person %(asked)s of %(of)s")
            yield text % {"asked": asked, "of": self.goal.units}, {"asked": ""}
        if epsilon := outcome.epsilon_needed(self.limits[1]):
            guess = even_guess_within(epsilon)
            text = _("ε %(epsilon)s: a guess right %(guess)s times in 100")
            values = {"epsilon": f"{plain(epsilon):f}", "guess": guess}
            yield text % values, {"epsilon": f"{plain(epsilon):f}"}

    def address(self, **changes: str) -> str:
        return f"{self.path}?{self.query(**changes)}"

    @property
    def needs_reason(self) -> bool:
        """Tell whether a launch would ask why a person must give away so much."""
        return self.outcome.way.loss > LIKELY


def _channel_text(topic: Topic, channel: Channel) -> str:
    if topic.kind == "multiple" and channel.held > 1:
        return _("%(told)s of the ticks at once, picked by chance") % {"told": channel.held}
    if topic.kind == "multiple":
        return _("one of the ticks, picked by chance")
    if not topic.choices:
        return _("a number as one of a few")
    if topic.choices == 2:
        return _("yes or no, turned over by chance")
    return _("one or several of the choices, by chance")


def changes(planned: PlannedStudy, found: Planned) -> list[tuple[str, str, str]]:
    """Return all that a plan writes into a draft: what, as it is, and as it would be."""
    lines = [
        (str(STUDY_FIELDS[name]), _field(getattr(planned.study, name)), _field(value))
        for name, value in found.fields.items()
    ]
    for question, epsilon in zip(planned.protected, found.epsilons, strict=True):
        what = _("ε of “%(question)s”") % {"question": question.label}
        lines.append((what, _field(question.epsilon), _field(epsilon)))
    for question, way in zip(planned.protected, found.ways, strict=True):
        values = {"question": question.label}
        before = _sent_with(planned, question, {e.name: e.together for e in planned.protected})
        sent_in = dict(zip((e.name for e in planned.protected), found.sent_in, strict=True))
        after = _sent_with(planned, question, sent_in)
        if before != after:
            lines.append((_("“%(question)s” is sent") % values, before, after))
        if question.matters != way["matters"]:
            weights = dict(Question.Matters.choices)
            now, then = str(weights[question.matters]), str(weights[way["matters"]])
            lines.append((_("“%(question)s” matters") % values, now, then))
    return lines


def _sent_with(planned: PlannedStudy, question: Question, sent_in: Mapping[str, str]) -> str:
    """Say in what a question is sent: by itself, or as one answer with others."""
    own = sent_in[question.name]
    others = [
        f"“{each.label}”"
        for each in planned.protected
        if own and each.name != question.name and sent_in[each.name] == own
    ]
    return _("as one answer with %(others)s") % {"others": ", ".join(others)} if own else _("alone")


def _field(value: Decimal | int | None) -> str:
    if value is None:
        return "–"
    return epsilon_text(value) if isinstance(value, Decimal) else count(value)
