"""What is wanted, as an address holds it: of questions that nobody has written yet, or of a draft.

n, epsilon, half, asked        of the whole; what is missing is as usual
declines                       not empty where people may decline what is not written yet
many, kind, choices, weight    once for each row of questions alike
<name>-weight                  of a draft's question
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from functools import cached_property
from typing import NamedTuple, Self

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _

from dpengine.local.ways import Importance
from dpengine.privacy import epsilon_above, plain
from surveys.design import documents, selectors as design, terms
from surveys.design.blocks import IMPORTANCES
from surveys.design.goal import Goal, Outcome, Topic
from surveys.design.models import Question, Study
from surveys.design.questions import content_of
from surveys.design.sharing import batch_for
from surveys.plan.combinations import fits
from surveys.planning.forms import MAX_QUESTIONS, MIN_EPSILON, GoalForm, TopicForm, WeightForm
from surveys.planning.scenarios import PlannedStudy

MAX_ROWS = 8
GOAL = ("n", "epsilon", "half", "asked", "declines")
ROW = ("many", "kind", "choices", "weight")
USUAL = {
    "n": "800",
    "epsilon": "2",
    "half": "",
    "asked": "",
    "declines": "",
    "many": "1",
    "kind": "yes_no",
    "choices": "5",
    "weight": "useful",
}
FIRST = {"many": "6"}  # of the only row, where no address says another


class Checked(NamedTuple):
    """A form of an address: where it stands, the ids of its fields, and the address changed."""

    form: forms.Form
    place: str
    id_of: Callable[[str], str]
    query_with: Callable[[str, str], str]  # a field's name, its value


@dataclass(frozen=True)
class Wishes:
    """What is wanted, as an address says it, and the form that checks it."""

    data: QueryDict
    limits: tuple[Decimal, Decimal]  # of the ε of an answer

    @cached_property
    def form(self) -> GoalForm:
        """Return the form, within what a person and, where one question is drawn, an answer may."""
        site = design.site_limits()
        least = max(site.person_floor, MIN_EPSILON)
        return GoalForm(self.data, limits=(least, min(site.person_ceiling, self.limits[1])))

    def checked(self) -> Iterator[Checked]:
        """Yield every form."""
        yield Checked(self.form, "", str, lambda name, value: self.query(**{name: value}))

    @property
    def is_valid(self) -> bool:
        return all(each.form.is_valid() for each in self.checked())

    @property
    def weighed(self) -> list[Checked]:
        """Return the forms that say how much a question matters, or a row of them."""
        return [each for each in self.checked() if isinstance(each.form, WeightForm)]

    @property
    def all_are_nice(self) -> bool:
        return all(each.form.cleaned_data["weight"] == "nice" for each in self.weighed)

    @property
    def query_that_matters(self) -> str:
        """Return the address where the first question is useful."""
        return self.weighed[0].query_with("weight", "useful")

    @cached_property
    def goal(self) -> Goal | None:
        """Return what is wanted; None where something of it is wrong."""
        raise NotImplementedError

    @property
    def most_to_ask(self) -> int | None:
        """Return how many each person can be asked, where more are wanted than there are."""
        goal = self.goal
        return goal.units if goal and goal.asked and goal.asked > goal.units else None

    @cached_property
    def outcome(self) -> Outcome | None:
        """Return what comes of it; None where something cannot be worked out."""
        return None if self.goal is None or self.most_to_ask else Outcome(self.goal)

    def query(self, **changes: str) -> str:
        """Return the address with something changed."""
        data = self.data.copy()
        for name, value in changes.items():
            data[name] = value
        return data.urlencode()


class FreeWishes(Wishes):
    """Of questions that nobody has written yet."""

    @classmethod
    def of(cls, query: QueryDict) -> Self:
        """Return what an address wants, and as usual what it does not say."""
        data = QueryDict(mutable=True)
        for name in GOAL:
            data[name] = query.get(name, USUAL[name]).strip()
        many = max(len(query.getlist(name)) for name in ROW)
        first = {} if many else FIRST
        for name in ROW:
            typed = query.getlist(name)
            missing = [first.get(name, USUAL[name])] * (max(many, 1) - len(typed))
            data.setlist(name, [*typed, *missing])
        limits = design.site_limits()
        return cls(data, (limits.epsilon_floor, limits.epsilon_ceiling))

    @cached_property
    def rows(self) -> list[TopicForm]:
        columns = [self.data.getlist(name)[:MAX_ROWS] for name in ROW]
        return [TopicForm(dict(zip(ROW, row, strict=True))) for row in zip(*columns, strict=True)]

    @property
    def too_many_rows(self) -> bool:
        return len(self.data.getlist("many")) > MAX_ROWS

    def checked(self) -> Iterator[Checked]:
        yield from super().checked()
        for at, row in enumerate(self.rows):
            yield Checked(
                row,
                _("Row %(row)s") % {"row": at + 1},
                lambda name, at=at: f"{name}_{at + 1}",  # type: ignore[misc]
                lambda name, value, at=at: self.query_of_row(at, **{name: value}),  # type: ignore[misc]
            )

    @property
    def questions(self) -> int:
        return sum(row.cleaned_data["many"] for row in self.rows)

    @property
    def fits(self) -> bool:
        """Tell whether what is wanted is of few enough questions, and of one that matters."""
        return (
            not self.too_many_rows
            and self.is_valid
            and self.questions <= MAX_QUESTIONS
            and not self.all_are_nice
        )

    def each(self) -> Iterator[TopicForm]:
        """Yield the row of every question."""
        for row in self.rows:
            for _number in range(row.cleaned_data["many"]):
                yield row

    @cached_property
    def goal(self) -> Goal | None:
        if not self.fits:
            return None
        declines = self.form.cleaned_data["declines"]
        topics = [row.topic.that_declines(declines=declines) for row in self.each()]
        return self.form.goal(topics)

    def query_of_row(self, number: int, **changes: str) -> str:
        """Change a row, which is numbered from 0."""
        data = self.data.copy()
        for name, value in changes.items():
            values = data.getlist(name)
            data.setlist(name, [*values[:number], value, *values[number + 1 :]])
        return data.urlencode()

    def query_with_rows(self, numbers: Sequence[int]) -> str:
        """Keep these rows, and add one for each number that none has."""
        data = self.data.copy()
        for name in ROW:
            values = self.data.getlist(name)
            data.setlist(name, [values[at] if at < len(values) else USUAL[name] for at in numbers])
        return data.urlencode()


@dataclass(frozen=True)
class StudyWishes(Wishes):
    """Of a draft's questions, as they are written."""

    planned: PlannedStudy

    @classmethod
    def of_study(cls, planned: PlannedStudy, query: QueryDict) -> Self:
        usual = {
            **USUAL,
            "n": str(planned.expected),
            "epsilon": _present(planned),
            **{_weight_of(each): each.matters for each in planned.protected},
        }
        data = QueryDict(mutable=True)
        for name in (*GOAL, *map(_weight_of, planned.protected)):
            data[name] = query.get(name, usual[name]).strip()
        return cls(data, planned.limits, planned)

    @cached_property
    def weights(self) -> list[tuple[Question, WeightForm]]:
        return [(each, WeightForm(self.data, prefix=each.name)) for each in self.planned.protected]

    def checked(self) -> Iterator[Checked]:
        yield from super().checked()
        for question, form in self.weights:
            yield Checked(
                form,
                question.label,
                lambda name, question=question: _weight_of(question),  # type: ignore[misc]
                lambda name, value, question=question: self.query(**{_weight_of(question): value}),  # type: ignore[misc]
            )

    @cached_property
    def unfit(self) -> list[tuple[Question, str]]:
        """Return the questions that cannot be asked yet, and why."""
        found = []
        for question in self.planned.protected:
            try:
                Topic.of(question, Importance.USEFUL)
            except ValueError as refusal:
                found.append((question, str(refusal)))
        return found

    @cached_property
    def goal(self) -> Goal | None:
        if not self.is_valid or self.unfit or self.all_are_nice:
            return None
        topics = [Topic.of(each, form.importance) for each, form in self.weights]
        can_draw = fits(protects=str(self.planned.study.neighbours), asked="drawn")
        return replace(self.form.goal(topics, self.planned.kept), can_draw=can_draw)


def _weight_of(question: Question) -> str:
    return f"{question.name}-weight"


def _present(planned: PlannedStudy) -> str:
    """Return the ε of a person as the draft has it, rounded up to a hundredth."""
    try:
        contents = [content_of(each) for each in planned.protected]
    except (ValueError, TypeError):  # one cannot be asked yet
        return USUAL["epsilon"]
    epsilon = epsilon_above(documents.loss_of_sets(contents, planned.sets))
    rounded = epsilon.quantize(Decimal("0.01"), ROUND_CEILING)
    return f"{plain(min(rounded, planned.limits[1])):f}"


@dataclass(frozen=True)
class Planned:
    """What a plan writes into a draft: each question's ε, what it is sent in, how it matters; and
    fields of the study.
    """

    outcome: Outcome
    keeps_cap: bool = False  # whether cap and batch are the study's own, with limits of their own
    counts_answers: bool = True  # whether charges are what answers lose through their devices
    study: Study | None = None  # the draft, whose waves share a person's ε and the cap

    @classmethod
    def of_study(cls, planned: PlannedStudy, outcome: Outcome) -> Self:
        given = len(planned.protected) < len(planned.questions)
        keeps_cap = given or planned.study.plans.exists()
        counts = terms.counts_answers(planned.study)
        return cls(outcome, keeps_cap, counts, planned.study)

    @property
    def epsilons(self) -> list[Decimal]:
        return self.outcome.epsilons

    @property
    def sent_in(self) -> list[str]:
        """Return the name of what each question is sent in with others; empty: by itself."""
        names = {
            place: f"as_one_{number}"
            for number, places in enumerate(self.outcome.together, start=1)
            for place in places
        }
        return [names.get(at, "") for at in range(len(self.outcome.goal.topics))]

    @property
    def ways(self) -> list[dict[str, str]]:
        """Return what of each question's way a draft keeps, as its fields have it."""
        weights = {value: name for name, value in IMPORTANCES.items()}
        return [
            {"matters": weights[topic.importance], "together": together}
            for topic, together in zip(self.outcome.goal.topics, self.sent_in, strict=True)
        ]

    @property
    def is_shared(self) -> bool:
        """Tell whether all share a person's ε equally: a draft shares it anew as it changes."""
        return not self.outcome.goal.kept and len(set(self.epsilons)) == 1

    @property
    def is_planned(self) -> bool:
        """Tell whether the way is the planner's own: a draft follows it as it changes."""
        return self.outcome.goal.asked is None

    @property
    def person(self) -> Decimal:
        """Return a person's ε in all waves that are planned: what is planned is one of them."""
        epsilon = self.outcome.goal.epsilon
        return epsilon if self.study is None else terms.in_all_waves(self.study, epsilon)

    @cached_property
    def cap(self) -> Decimal:
        """Return a person's ε, as far as the site goes."""
        ceiling: Decimal = design.site_limits().cap_ceiling
        return min(self.person, ceiling)

    @property
    def cost(self) -> Decimal:
        """Return what one publication costs: an equal part of the cap for each wave."""
        return self.cap if self.study is None else terms.usual_cost(self.study, self.cap)

    @property
    def adds_no_noise(self) -> bool:
        """Tell whether what devices send may be published as it is: its cost is at most the cap."""
        is_paid = self.cost == self.outcome.goal.epsilon
        return is_paid and self.counts_answers and not self.keeps_cap

    @property
    def fields(self) -> dict[str, Decimal | int | None]:
        goal = self.outcome.goal
        found: dict[str, Decimal | int | None] = {
            "expected": goal.n,
            "asked": self.outcome.asked,
            "person": self.person if self.is_shared or self.is_planned else None,
        }
        if not self.keeps_cap:
            batch = batch_for(goal.n)
            found |= {"cap": self.cap, "release_epsilon": self.cost, "smallest_batch": batch}
        return found
