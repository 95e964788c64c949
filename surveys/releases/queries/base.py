"""A query: what a researcher can ask for, and the frame that every kind of query shares.

A kind is a frozen dataclass in a module of its own. Its parameters are attributes, annotated with
how they are asked, read and written. It says what it costs and how far off it will be before
anything is drawn, and draws once. Errors and expectations depend on public values only: the Plan,
how many answered, the parameters.
"""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache, cached_property, reduce
from operator import add
from typing import Annotated, Any, ClassVar, Protocol, Self, get_type_hints

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from dpengine.central.counts import AsTheyCame
from dpengine.central.gaussian import DiscreteGaussian
from dpengine.contraction import Noise, loss_of, noise_within
from dpengine.estimates import Noise as NoiseLaw
from dpengine.privacy import Cost, Neighbours
from surveys.aggregation import selectors as aggregation
from surveys.design.models import Plan
from surveys.messages import Message, Text, listed, message, translate
from surveys.plan.content import ANSWERS, largest_loss
from surveys.releases.numbers import Document, Numbers
from surveys.releases.queries.parameters import (
    Alone,
    Context,
    Parameter,
    Question,
    Questions,
    WrongParameter,
    rho_alone,
)

WHOLE = Fraction(1)
FINE = 10**12  # parts of a nat that the ε of a ρ is rounded down to
Counts = Counter[tuple[Any, ...]]  # how many reports hold each combination of values
State = Document  # what a mechanism remembers between steps, ready for JSON; secret

HEADING = message("%(title)s: %(labels)s")
HEADING_IN_WAVE = message("%(title)s: %(labels)s, wave %(wave)s")
KNOWN_SUM = message(
    "How many answered is public. Three counts or more of one question, or of a table, were made "
    "to add up as those of so many reports do before shares were estimated: a part of the chance "
    "goes, and the shares add up to 100."
)

# The engine's own words: the laws of what it chooses, and what it refuses where a researcher's
# own choice can lead to it
ENGINE = (
    message("exponential mechanism", fills="law"),
    message("report noisy max", fills="law"),
    message("no noise", fills="noise"),
    message("discrete Laplace and no noise", fills="noise"),
    message("discrete Laplace", fills="noise"),
    message("discrete Gaussian", fills="noise"),
    message("discrete Gaussian and discrete Laplace", fills="noise"),
    message(
        "epsilon must be larger, or the bounds closer: the noise would be out of all proportion"
    ),
    message("delta must be larger, or epsilon: no scale keeps (ε, δ) = (%(epsilon)s, %(delta)s)"),
    message("queries must ask for something that is not public already"),
    message("queries must tell at most %(most)s parts of the domain apart, got %(count)s"),
    message("scale must be at most 2**50, got %(amount)s"),
    message("epsilon and delta are so small that noise would be more than 2**50"),
)


class Engine(Protocol):
    """A mechanism of dpengine, which knows what one draw costs."""

    @property
    def cost(self) -> Cost: ...


@dataclass(frozen=True)
class Query(ABC):
    """One kind of query, at one setting."""

    plan: Plan = field(compare=False, repr=False)
    alone: Annotated[bool, Alone()] = field(default=False, kw_only=True)

    kind: ClassVar[str]
    title: ClassVar[Message]
    sentence: ClassVar[str | Promise]
    needs: ClassVar[str | Promise] = gettext_lazy("It needs a number that is not randomised.")
    fewest: ClassVar[int] = 1  # questions that fit
    reads_views: ClassVar[bool] = False  # whether it can read a question sent in a joint answer
    blames: ClassVar[str] = "epsilon"  # the parameter, where the engine refuses a setting
    do_not_call_in_templates: ClassVar = True  # which show the class itself, as a kind

    @classmethod
    def is_for(cls, plan: Plan) -> bool:
        """Tell whether it can be asked at all, where its questions fit."""
        return True

    @staticmethod
    @abstractmethod
    def fits(question: Question) -> bool:
        """Tell whether it can be asked of a question."""

    @classmethod
    def fitting(cls, plan: Plan) -> Questions:
        """Return the questions that it can be asked of, by name."""
        return {
            question.name: question
            for question in plan.content.questions
            if (cls.reads_views or not question.together) and cls.fits(question)
        }

    @classmethod
    def can_be_asked(cls, plan: Plan) -> bool:
        """Tell whether a researcher can ask it of some questions of a Plan."""
        return cls.is_asked_together(plan, cls.fitting(plan)) and cls.is_for(plan)

    @classmethod
    def is_asked_together(cls, plan: Plan, questions: Questions) -> bool:
        """Tell whether one person can be asked as many of these as it needs."""
        content = plan.content
        held = (each | content.cleartext.keys() for each in content.sets)
        return any(len(questions.keys() & each) >= cls.fewest for each in held)

    @classmethod
    def lacks(cls, plan: Plan) -> str | Promise:
        """Return why it cannot be asked of a Plan that has no form of it."""
        questions = cls.fitting(plan)
        if len(questions) >= cls.fewest and not cls.is_asked_together(plan, questions):
            return _("No device is asked enough of its questions together.")
        return cls.needs

    @classmethod
    @cache
    def parameters(cls) -> dict[str, Parameter]:
        hints = get_type_hints(cls, include_extras=True)
        return {
            name: parameter
            for name, hint in hints.items()
            for parameter in getattr(hint, "__metadata__", ())
            if isinstance(parameter, Parameter)
        }

    @classmethod
    def form(cls, plan: Plan) -> type[forms.Form] | None:
        """Return the form of its parameters, or None if nothing in this Plan can be asked so."""
        if not cls.can_be_asked(plan):
            return None
        context = Context(plan, cls.fitting(plan))
        fields = {
            name: parameter.field(context)
            for name, parameter in cls.parameters().items()
            if parameter.is_offered(plan)
        }
        return type(f"{cls.__name__}Form", (forms.Form,), fields)

    @classmethod
    def read(cls, plan: Plan, parameters: Document) -> Self:
        """Return it from cleaned form data or a stored document, or raise WrongParameter."""
        context = Context(plan, cls.fitting(plan))
        for name, parameter in cls.parameters().items():
            value = parameters.get(name, parameter.initial)
            context.values[name] = parameter.read(value, name, context)
        try:
            query = cls(plan, **context.values).settled()
            _ = query.cost  # what cannot be drawn is refused before anything is charged
        except ValueError as error:
            raise WrongParameter(cls.blames, translate(str(error))) from error
        query.refuse_apart()
        return query

    def refuse_apart(self) -> None:
        """Refuse questions that no device is asked together: no report holds all of them."""
        if self.names and not self.plan.content.part_asked(self.names):
            names = (
                name for name, each in self.parameters().items() if each.names(getattr(self, name))
            )
            raise WrongParameter(next(names), _("expected questions that one person is asked"))

    def refuse_asked(self, n: int) -> None:
        """Raise WrongParameter where nobody may ask for it now, of so many answers, although what
        was asked so before stays.
        """
        return

    def settled(self) -> Self:
        """Return the same query with parameters that agree; WrongParameter if they cannot."""
        return self

    def document(self) -> Document:
        """Return its canonical parameters: the same again is the same request."""
        written = {
            name: parameter.written(getattr(self, name))
            for name, parameter in self.parameters().items()
        }
        return {name: value for name, value in sorted(written.items()) if value is not None}

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the questions whose joint counts it reads."""
        return tuple(
            name
            for attribute, parameter in self.parameters().items()
            for name in parameter.names(getattr(self, attribute))
        )

    @property
    def engine(self) -> Engine:
        """Return the mechanism of dpengine that draws, where one draws all."""
        raise NotImplementedError

    @property
    def engines(self) -> Sequence[Engine]:
        """Return all that draw."""
        return [self.engine]

    @property
    def noises(self) -> list[Noise]:
        """Return the noises that it publishes through, each with the reports that it covers."""
        everything = frozenset(map(self.plan.content.report_of, self.names))
        return [Noise(everything, pure_epsilon(engine)) for engine in self.engines]

    @cached_property
    def cost(self) -> Cost:
        """Return what one release loses of a record: of answers, if the Plan counts that, else of
        reports; of a household, of all its people.
        """
        content, noises = self.plan.content, self.noises
        reading = content.reading(self.names, noises)
        lost = loss_of([reading])
        if lost is not None and content.publication.counts == ANSWERS:
            return Cost.pure_exactly(lost, reading)
        drawn = list(zip(noises, self.engines, strict=True))
        costs = [  # of each set that a person can have sent
            reduce(add, (engine.cost for noise, engine in drawn if noise.reports & held))
            for held in reading.held()
        ]
        return replace(Cost.largest(costs), reading=reading).of_group(content.people)

    @property
    def asked_epsilon(self) -> Decimal:
        """Return the ε of the request."""
        return Decimal(getattr(self, "epsilon", 0))

    def rho_for(self, epsilon: Decimal) -> Fraction | None:
        """Return the ρ that noise is chosen for, at this ε of the request; None: for ε itself.

        The Plan decides that, by whether its cap has a δ, and never the size of the request.
        """
        if self.alone:
            content = self.plan.content
            return rho_alone(content, epsilon) if content.is_concentrated else None
        rho = rho_at(epsilon)
        return rho if self.is_paid_in(rho) else None

    def strength(self, epsilon: Decimal, shares: Sequence[Fraction] = (WHOLE,)) -> Fraction:
        """Return the ε of pure noise at this ε of the request: of one person of a record; of so
        much ρ, where the cap has a δ. Noises with these shares of ε cost ε²/2·Σ share² at most.
        """
        if not self.alone:
            return Fraction(epsilon)
        rho = self.rho_for(epsilon)
        if rho is None:
            return Fraction(epsilon) / self.plan.content.people
        square = 2 * rho / sum(share**2 for share in shares)
        return Fraction(math.isqrt(int(square * FINE**2)), FINE)

    def noise_for(self, epsilon: Decimal) -> Fraction | None:
        """Return the ε of one noise over all that it reads, with which answers lose so much.

        None: no noise is needed, for the devices' own chance does it.
        """
        content = self.plan.content
        if len({content.sent_in(name) for name in self.names}) == 1:
            question = content.question(self.names[0])
            return content.publication.noise_within(question, self.strength(epsilon))
        losses = {name: content.losses[name] for name in self.names}
        known = {name: loss for name, loss in losses.items() if loss is not None}
        records = [each & known.keys() for each in content.records]
        loss = largest_loss(records, known) if len(known) == len(losses) else None
        return noise_within(self.strength(epsilon), loss)

    @property
    @abstractmethod
    def mechanism(self) -> str: ...

    @property
    @abstractmethod
    def sensitivity(self) -> str: ...

    @property
    def published(self) -> int:
        """Return how many numbers a draw publishes: rows of its tables."""
        return 1

    @abstractmethod
    def expected(self, n: int) -> list[str]:
        """Say how far off it will be, for n answers, before anything is drawn."""

    def covers(self, n: int) -> float:
        """Return how much of all that is possible the widest interval is expected to cover, for n
        answers, from 0 to 1; where it tells none, what chance leaves open. Each kind that
        researchers ask says so: the preview warns by it.
        """
        raise NotImplementedError

    def people(self, batches: int) -> int:
        """Return how many reports in the first batches hold all that it reads: public where n is.

        Of what everybody is asked, all.
        """
        return aggregation.reports_in(self.plan, batches, self.names)

    def people_expected(self, n: int) -> int:
        """Return how many of so many reports are expected to hold all that it reads."""
        return round(n * self.plan.content.part_asked(self.names))

    def counted(self, batches: int) -> Any:
        """Return what it draws from, sealed in the first batches: joint counts of its questions.

        Nothing is locked meanwhile. A Refused says why it cannot be had, whatever the answers are.
        """
        return aggregation.joint(self.plan, self.names, batches)

    @abstractmethod
    def draw(self, counts: Any, n: int) -> Numbers:
        """Draw once from `counted`. A second call is a second release, and must be paid for."""

    def heading(self, labels: Mapping[str, str], wave: int) -> Text:
        """Return what a release of it is called, with the labels of questions by name."""
        parts = {"title": self.title(), "labels": listed(labels[name] for name in self.names)}
        return HEADING_IN_WAVE(**parts, wave=wave) if wave > 1 else HEADING(**parts)

    @cached_property
    def neighbours(self) -> Neighbours:
        return Neighbours(self.plan.content.neighbours)

    @property
    def n_is_public(self) -> bool:
        return self.plan.content.n_is_public

    def is_paid_in(self, rho: Fraction) -> bool:
        """Tell whether the noise of a request of before is chosen for ρ, and may be Gaussian: where
        the cap has a δ, and one request may cost so much. More could only be paid in ε.
        """
        rule, caps = self.plan.content.publication, self.plan.content.caps
        most = rule.rho if rule.rule == "on-request" else None
        return self.plan.content.is_concentrated and rho <= Fraction(most or caps.central_rho or 0)

    # What can be worked out from its numbers later

    def noise_of(self, name: str, numbers: Numbers) -> NoiseLaw | None:
        """Return the law of the noise in a question's published counts, if it publishes any."""
        return None

    def shown(self, numbers: Numbers) -> Numbers:
        """Return what was published with what pages work out from it beside, at no cost."""
        return numbers


class InteractiveQuery(Query):
    """A kind that goes on after its first draw."""

    @classmethod
    def is_for(cls, plan: Plan) -> bool:
        """Steps follow batches, and so tell how many took part."""
        return plan.content.n_is_public

    @abstractmethod
    def start(self, counts: Any, n: int) -> State:
        """Draw what is drawn once, and return the secret state."""

    @abstractmethod
    def step(
        self, state: State, counts: Any, n: int, question: Document | None = None
    ) -> tuple[State, Numbers]:
        """Return the state after one more step and what it publishes.

        state["over"] ends the series.
        """

    def question_form(self) -> type[forms.Form] | None:
        """Return the form of a researcher's `question` at a step.

        None: nobody asks, and it makes a step of its own for every batch that is sealed.
        """
        return None

    def draw(self, counts: Any, n: int) -> Numbers:
        """Return what the first step publishes."""
        return self.step(self.start(counts, n), counts, n)[1]


def pure_epsilon(engine: Engine) -> Fraction | None:
    """Return the ε of a mechanism; None if there is no finite one without a δ."""
    if isinstance(engine, AsTheyCame):
        return None
    return engine.cost.epsilon if engine.cost.is_pure else None


def noise_name(noise: object) -> str:
    """Return what the ledger calls this noise."""
    if isinstance(noise, AsTheyCame):
        return "no noise"
    return "discrete Gaussian" if isinstance(noise, DiscreteGaussian) else "discrete Laplace"


def digits(value: float) -> str:
    """Write a number to three digits, never with an exponent: 1240, not 1.24e+03."""
    return f"{float(f'{value:.3g}'):.12g}"


def plain_scale(scale: float | Fraction) -> str:
    """Return a scale of noise in six digits, without a power of ten: 4194300, not 4.1943e+06."""
    return f"{Decimal(f'{float(scale):.6g}'):f}"


def rho_at(epsilon: Decimal) -> Fraction:
    """Return the ρ that pure noise for ε costs at most: what requests of before were drawn for."""
    return Fraction(epsilon) ** 2 / 2
