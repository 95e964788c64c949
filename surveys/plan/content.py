"""What a Plan says, as values: read once from its bytes, and written again to the same bytes.

Canonical JSON: keys sorted, no spaces, UTF-8 as it is; only objects, lists, strings and
integers, and integers above 2⁵³ − 1 as decimal strings, so that every reader sees the same
numbers. The digest is the SHA-256 of these bytes. A part with a default is left out where it has
it. `verification.verify` proves what `read` only reads.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import msgspec

from dpengine.contraction import NOTHING, Noise, Reading, noise_within
from dpengine.local.blocks import Drawn
from dpengine.local.channel import Channel, Learns
from dpengine.local.channels import channel_from
from dpengine.local.cleartext import Cleartext
from dpengine.local.joint import Joint
from dpengine.privacy import loss_of_all, plain, round_down
from dpengine.randomness import Stream, system_stream
from surveys.plan.kinds import DISTRIBUTION, KINDS, PUBLICATION
from surveys.plan.records import ONE_ANSWER, answers_of, most_answers, n_is_public, people_in

LARGEST_NUMBER = 2**53 - 1  # that every JSON reader keeps exactly
POSITIVE = re.compile("[1-9][0-9]{0,999}")
ANSWERS = "answers"  # whose losses publications count
COMMON = 2  # the accounting that counts what reports have in common; older Plans do not
EVERY = "every"  # the rule by which a wave is published several times
FRESH, KEPT = "fresh", "kept"  # chance of a later wave: anew, or by a key that stays on the device
RHO_PLACES = 12
ABSENT: Any = msgspec.UNSET  # of a kind of question that has no such part


class Unsound(Exception):
    """A Plan that must not be served or answered: which part, what was expected, what came."""


class Part(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    dict=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """An object of a Plan."""


class Caps(Part, frozen=True, kw_only=True):
    """What all publications may ever lose, in decimals; a cap with a δ says ρ too."""

    central_epsilon: str
    central_delta: str | None = None
    central_rho: str | None = None
    panel: str | None = None


class PublicationTerms(Part, frozen=True, kw_only=True):
    """When numbers are published, and what one publication costs, in decimals."""

    epsilon: str
    rule: str
    smallest_batch: int
    counts: str = ""  # "answers": what these lose, through their devices' chance; else reports
    accounting: int = 0  # COMMON: with what reports have in common (contraction.py); 0: without
    widest: int = 0  # percent of what is possible: publishing waits where an interval is wider
    hours: int = 0
    horizon: int = 0
    rho: str | None = None

    def of_shares(self, unit: str, neighbours: str, questions: int) -> "PublicationTerms":
        """Return what is left for the shares of so many questions, as it is for one person.

        A household pays for each of its people; it has no ρ. Where how many took part is
        protected, to count them costs as much as one question more.
        """
        if n_is_public(neighbours):
            return self._times(Fraction(1, people_in(unit)))
        return self._times(Fraction(questions, people_in(unit) * (questions + 1)))

    def of_people(self, unit: str, questions: int) -> "PublicationTerms":
        """Return what is left to count people, likewise."""
        return self._times(Fraction(1, people_in(unit) * (max(questions, 1) + 1)))

    def common_of(self, question: "PlanQuestion") -> Fraction:
        """Return what the reports of a question have in common, where that is counted: c of
        dpengine.contraction; else 0.
        """
        is_counted = self.accounting == COMMON and question.loss is not None
        return question.channel.common if is_counted else NOTHING

    def noise_within(self, question: "PlanQuestion", epsilon: Fraction) -> Fraction | None:
        """Return the ε of the least noise over the reports of a question, with which one loses at
        most ε; None: no noise is needed.

        Where a wave is published several times, noise is chosen as if nothing were in common: each
        adds ε at most then. Else a later one could add more, and the cap would pay for fewer.
        """
        loss = question.loss if self.counts == ANSWERS else None
        common = NOTHING if self.rule == EVERY else self.common_of(question)
        return noise_within(epsilon, loss, common)

    def _times(self, share: Fraction) -> "PublicationTerms":
        if share == 1:
            return self
        rho = self.rho and f"{plain(round_down(Fraction(self.rho) * share, RHO_PLACES)):f}"
        epsilon = f"{plain(round_down(Fraction(self.epsilon) * share)):f}"
        return msgspec.structs.replace(self, epsilon=epsilon, rho=rho)


class Condition(Part, frozen=True, kw_only=True):
    """After which answers, by their index, of which earlier question this one is asked."""

    answers: list[int]
    question: str


class Group(Part, frozen=True, kw_only=True):
    """The matrix that a scale stands in, and what stands above it."""

    name: str
    text: str


class Picture(Part, frozen=True, kw_only=True):
    sha256: str
    text: str
    type: str
    width: int
    height: int


class QuestionTexts(Part, frozen=True, kw_only=True):
    """A question's texts in another language; of a group and a picture, their text."""

    choices: list[str] | None = None
    group: str | None = None
    help: str | None = None
    label: str | None = None
    picture: str | None = None
    text: str | None = None
    unit: str | None = None


class Texts(Part, frozen=True, kw_only=True):
    """A Plan's texts in another language, of its questions by their names."""

    organisation: str | None = None
    purpose: str | None = None
    questions: dict[str, QuestionTexts] | None = None
    title: str | None = None


def _given(texts: Part) -> dict[str, Any]:
    """Return the texts that there are."""
    found = {name: getattr(texts, name) for name in texts.__struct_fields__}
    return {name: text for name, text in found.items() if text is not None}


class Together(NamedTuple):
    """The answer that a question's is sent in: the joint one of a block, and its digit there."""

    joint: Joint
    loss: Fraction
    name: str  # of the block
    place: int


class PlanQuestion(Part, frozen=True, kw_only=True):
    """One question. A number or a month has least, most and unit, and counts whole steps.

    Where it is sent in one answer with others, the Plan's blocks say so: it has no channel and no
    loss of its own then, and `channel` is the view of its digit.
    """

    name: str
    kind: str
    protection: str
    label: str
    text: str
    help: str
    choices: list[str]  # then declining, then “Does not apply” or “Not asked”
    decline: int
    codes: list[str] = []  # of the choices, and of declining; none: files count choices from 0
    skipped: int = 0  # whether the last choice is for whom it does not concern
    asked_if: Condition | None = None
    follows: str = ""  # the question that it follows from, asked of all: both are one answer
    group: Group | None = None
    picture: Picture | None = None
    least: int = ABSENT
    most: int = ABSENT
    unit: str = ABSENT
    wanted: str = ""
    bins: int = 0
    own_loss: Fraction | None = msgspec.field(default=None, name="loss")
    channel_document: dict[str, Any] | None = msgspec.field(default=None, name="channel")

    @property
    def together(self) -> Together | None:
        """What it is sent in with other questions, if it is."""
        found: Together | None = self.__dict__.get("together_with")
        return found

    def sent_with(self, together: Together | None) -> "PlanQuestion":
        """Return itself, told what it is sent in with other questions, if it is."""
        if together is not None:
            self.__dict__["together_with"] = together
        return self

    @property
    def sent_in(self) -> str:
        """The name of the value that holds its answer: its own, or its joint block's."""
        return self.together.name if self.together else self.name

    @property
    def loss(self) -> Fraction | None:
        """Return e^ε of the report with its answer; None for one that is sent as given."""
        return self.together.loss if self.together else self.own_loss

    @cached_property
    def channel(self) -> Channel:
        """What changes an answer on the device, or sends it in the clear. ValueError if unsound."""
        kind = KINDS[self.kind]
        if self.together:
            return self.together.joint.view(self.together.place)
        if not self.is_cleartext:
            return kind.channel(self.channel_document, self.wanted, self.least, self.most)
        if kind.is_counted:
            return Cleartext.of_numbers(self.least, self.most)
        return Cleartext.of_choices(len(self.choices))

    @property
    def is_cleartext(self) -> bool:
        """Tell whether the answer is sent as given, and protected in publications only."""
        return self.protection == PUBLICATION

    @property
    def beside(self) -> int:
        """Return how many of the last choices answer nothing."""
        return self.decline + self.skipped

    @property
    def declined(self) -> int:
        """Return which choice declines, if one does."""
        return len(self.choices) - 1 - self.skipped

    @property
    def shown_order(self) -> list[int]:
        """The choices in the order in which people see them: Yes before No. Twin of odds.js."""
        order = list(range(len(self.choices)))
        return [1, 0, *order[2:]] if self.kind == "yes_no" else order

    def input_of(self, answer: Any) -> Any:
        """Return what the channel takes of a true answer: its bin, if a number's spread is wanted.

        An answer is the index of a choice, the ticked options, or whole steps from the least
        number. Twin of distribution.js.
        """
        if self.wanted != DISTRIBUTION:
            return answer
        return answer * self.bins // (self.most - self.least + 1)

    def bin_ends(self, first: int, last: int) -> tuple[int, int]:
        """Return the least and the greatest whole number in the bins from `first` to `last`."""
        span = self.most - self.least + 1
        start = -(-first * span // self.bins)
        end = -(-(last + 1) * span // self.bins) - 1
        return self.least + start, self.least + end

    def randomise(self, answer: Any, stream: Stream = system_stream) -> Any:
        """Return what a browser sends in place of a true answer."""
        return self.channel.randomise(self.input_of(answer), stream)

    def _spoken(self, texts: QuestionTexts) -> "PlanQuestion":
        found = _given(texts)
        for part in ("group", "picture"):  # whose texts stand inside of what they are about
            if (text := found.pop(part, None)) is not None and (own := getattr(self, part)):
                found[part] = msgspec.structs.replace(own, text=text)
        return msgspec.structs.replace(self, **found)


class Block(Part, frozen=True, kw_only=True):
    """Questions that are drawn as one, by their names, in the Plan's order.

    Where their answers are sent as one, it has a name and a channel, and they have none; and who
    declines one of them may decline all.
    """

    questions: list[str]
    name: str = ""
    decline: int = 0  # whether each question's declining is one of all of them
    loss: Fraction | None = None  # e^ε of the joint answer
    channel_document: dict[str, Any] | None = msgspec.field(default=None, name="channel")

    @property
    def is_joint(self) -> bool:
        return self.channel_document is not None

    def joint(self, questions: Sequence[PlanQuestion]) -> Joint:
        """Return the channel of the joint answer of these questions, which are its own."""
        channel = channel_from(self.channel_document or {}, Learns.SHARES)
        sizes = [len(each.choices) - self.decline for each in questions]
        return Joint.of(channel, sizes, [each.declined for each in questions if self.decline])


class DrawnSet(Part, frozen=True, kw_only=True):
    """Blocks, by their index, that one person is asked; drawn in proportion to its weight."""

    blocks: list[int]
    weight: int


class Stratum(Part, frozen=True, kw_only=True):
    """People of a list who are told apart in the open, and the key that signs their tickets."""

    key: str  # an RSA modulus, in hexadecimal digits
    name: str  # in the author's words; "" of a list that is one
    people: int


class Invited(Part, frozen=True, kw_only=True):
    """The list of people whom a Plan asks, each once, and when their reports leave."""

    strata: list[Stratum]
    moments: int  # minutes between common moments of UTC's clock
    answers_from: str | None = None  # a day of UTC, until which only tickets are fetched


class PlanContent(Part, frozen=True, kw_only=True):
    """All that a Plan says."""

    format: int
    slug: str
    wave: int
    title: str
    organisation: str
    purpose: str
    contact: str
    language: str
    results: str
    unit: str
    neighbours: str
    caps: Caps
    publication: PublicationTerms
    questions: list[PlanQuestion]
    loss: Fraction  # e^ε of all answers of one person that are changed on the device
    blocks: list[Block] = []
    drawn: list[DrawnSet] = []  # one of them by each device; none: everybody is asked everything
    invited: Invited | None = None  # None: whoever has the link
    layout: str = ""  # "page": all questions on one; else one a screen
    waves: int = 0  # that the study plans; 0: its first Plan was made before Plans said it
    draws: str = ""  # how chance falls in a later wave, FRESH or KEPT; "": likewise
    translations: dict[str, Texts] = {}

    def __post_init__(self) -> None:
        """Tell every question of a joint block what it is sent in."""
        for block in self.blocks:
            if not block.is_joint:
                continue
            own = [self.question(name) for name in block.questions]
            joint = block.joint(own)
            for place, each in enumerate(own):
                each.sent_with(Together(joint, block.loss or joint.loss, block.name, place))

    def question(self, name: str) -> PlanQuestion:
        """Return the question of this name. KeyError if there is none."""
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, PlanQuestion]:
        return {question.name: question for question in self.questions}

    @cached_property
    def channels(self) -> dict[str, Channel]:
        """The channel of every question that is protected on the device, by name, in order."""
        return {each.name: each.channel for each in self.questions if not each.is_cleartext}

    @cached_property
    def reports(self) -> dict[str, Channel]:
        """The channel of every value that a report can hold and chance has changed: of questions
        that are sent by themselves, in order, then of joint blocks.
        """
        alone = [each for each in self.questions if not (each.is_cleartext or each.together)]
        joint = {
            each.together.name: each.together.joint for each in self.questions if each.together
        }
        return {each.name: each.channel for each in alone} | joint

    @property
    def joint_names(self) -> frozenset[str]:
        """Return the names of the blocks whose questions are sent as one answer."""
        return frozenset(block.name for block in self.blocks if block.is_joint)

    def sent_in(self, name: str) -> str:
        """Return the name of the value that holds a question's answer: its own, or its block's."""
        return self.question(name).sent_in

    @cached_property
    def report_sets(self) -> list[frozenset[str]]:
        """`sets`, by the names of the values that are sent."""
        return [frozenset(map(self.sent_in, each)) for each in self.sets]

    @property
    def drawn_reports(self) -> list[frozenset[str]]:
        """Return `report_sets`, where a device draws one of them; else none."""
        return self.report_sets if self.drawn else []

    @cached_property
    def cleartext(self) -> dict[str, Channel]:
        """The channel of every question that is sent in the clear, by name, in order."""
        return {each.name: each.channel for each in self.questions if each.is_cleartext}

    @cached_property
    def sets(self) -> list[frozenset[str]]:
        """The names of what one person is asked that is changed on the device, for each set that
        can be drawn; where none are, all of them.
        """
        if not self.drawn:
            return [frozenset(each.name for each in self.questions if not each.is_cleartext)]
        return [
            frozenset(name for at in each.blocks for name in self.blocks[at].questions)
            for each in self.drawn
        ]

    @property
    def draws_questions(self) -> bool:
        """Tell whether devices draw what they ask: one set of all blocks leaves nothing to draw."""
        return len(self.drawn) > 1

    @property
    def drawn_sets(self) -> list[frozenset[str]]:
        """Return `sets`, where a device draws one of them; none where everybody is asked all."""
        return self.sets if self.drawn else []

    @cached_property
    def records(self) -> list[frozenset[str]]:
        """The names of all that one record can answer, for each there can be: a question with what
        follows from it, where one answer is protected; else what one person can be asked.
        """
        if self.unit == ONE_ANSWER:
            return answers_of(self.questions)
        return [each | self.cleartext.keys() for each in self.sets]

    @property
    def records_sent(self) -> list[frozenset[str]]:
        """Return `records`, by the names of the values that are sent."""
        return [frozenset(map(self.sent_in, each)) for each in self.records]

    @property
    def answers(self) -> int:
        """Return how many answers one person gives at most, each with what follows from it."""
        return most_answers(self.questions, self.drawn_sets)

    @property
    def loss_of_waves(self) -> Fraction:
        """Return e^ε of all answers of one person in all waves that are planned, if chance decides
        about each anew: so it does where draws are fresh, and where each answer has changed.
        """
        return self.loss ** max(self.waves, 1)

    @property
    def keeps_key(self) -> bool:
        """Tell whether devices keep a key, by which an answer that stays is sent alike again."""
        return self.draws == KEPT

    @property
    def loss_of_record(self) -> Fraction | None:
        """Return e^ε of all answers of one record; None if some can be sent as given."""
        if self.cleartext:
            return None
        if self.unit != ONE_ANSWER:
            return self.loss
        losses = {each.sent_in: each.loss for each in self.questions if each.loss is not None}
        return largest_loss(self.records_sent, losses)

    @property
    def weights(self) -> list[int]:
        """Return the weight of each of `sets`."""
        return [each.weight for each in self.drawn] or [1]

    def sets_with(self, names: Iterable[str]) -> list[int]:
        """Return the indices of the sets that hold all of these; what is sent as given, all do."""
        wanted = frozenset(names) - self.cleartext.keys()
        return [index for index, held in enumerate(self.sets) if wanted <= held]

    def part_asked(self, names: Iterable[str]) -> Fraction:
        """Return the share of people who are expected to be asked all of these."""
        weights = self.weights
        return Fraction(sum(weights[at] for at in self.sets_with(names)), sum(weights))

    def draw_set(self, stream: Stream = system_stream) -> int:
        """Return the index of the set that a device draws. Twin of drawn.js."""
        if not self.drawn:
            return 0
        return Drawn(tuple(tuple(each.blocks) for each in self.drawn), tuple(self.weights)).draw(
            stream
        )

    def randomised(
        self, answers: Mapping[str, Any], stream: Stream = system_stream
    ) -> dict[str, Any]:
        """Return what a device sends of these true answers: those sent as one, in one value."""
        sent: dict[str, Any] = {}
        for question in (each for each in self.questions if each.name in answers):
            if question.together is None:
                sent[question.name] = question.randomise(answers[question.name], stream)
            elif question.together.name not in sent:
                own = [answers[name] for name in self._block(question.together.name).questions]
                sent[question.together.name] = question.together.joint.randomise(own, stream)
        return sent

    def _block(self, name: str) -> Block:
        return next(block for block in self.blocks if block.name == name)

    @property
    def people(self) -> int:
        """Return how many people one record is, at most: what costs one person ε costs it so many
        times as much (group privacy; Dwork and Roth 2014, Thm 2.2).
        """
        return people_in(self.unit)

    @property
    def n_is_public(self) -> bool:
        """Tell whether how many took part is public. Else another answer is one person less and one
        more: it costs twice what taking part does.
        """
        return n_is_public(self.neighbours)

    @property
    def is_counted_live(self) -> bool:
        """Tell whether anybody may know at any moment how many came. Not of a list: who saw
        somebody fetch a ticket could join the two by time.
        """
        return self.n_is_public and self.invited is None

    @property
    def stratum_sizes(self) -> list[int]:
        """Return how many people of each stratum were invited, where reports are told apart by
        stratum: of a list that is one they are not, nor where how many took part is protected.
        """
        strata = self.invited.strata if self.invited and self.n_is_public else []
        return [each.people for each in strata] if len(strata) > 1 else []

    @property
    def counted(self) -> int:
        """Return how many questions a rule publishes: all but numbers that are sent as given."""
        return sum(
            not (each.is_cleartext and KINDS[each.kind].is_counted) for each in self.questions
        )

    @property
    def of_shares(self) -> PublicationTerms:
        """Return what a publication's shares cost one person at most."""
        return self.publication.of_shares(self.unit, self.neighbours, self.counted)

    @property
    def of_people(self) -> PublicationTerms:
        """Return what it costs one person that people are counted, where that is protected."""
        return self.publication.of_people(self.unit, self.counted)

    @property
    def is_concentrated(self) -> bool:
        """Tell whether the cap has a δ, so that publications are charged in ρ."""
        return self.caps.central_rho is not None

    @property
    def part(self) -> str:
        """Return the part of the people that it is about, to the ledger: the records of a wave stay
        in it where each is one of its own; else everybody.
        """
        return f"wave:{self.wave}" if self.unit == "respondent-in-wave" else ""

    def report_of(self, name: str) -> str:
        """Return what the ledger calls a person's report on a question, alone or in a block."""
        return f"{self.slug}/{self.wave}/{self.sent_in(name)}"

    @cached_property
    def losses(self) -> dict[str, Fraction | None]:
        """Return e^ε₀ of each question's report, by name: None where its chance does not count."""
        counted = self.publication.counts == ANSWERS
        return {each.name: each.loss if counted else None for each in self.questions}

    @cached_property
    def common(self) -> dict[str, Fraction]:
        """What the reports of each question have in common, where the Plan counts it."""
        found = {each.name: self.publication.common_of(each) for each in self.questions}
        return {name: common for name, common in found.items() if common}

    def reading(self, names: Iterable[str], noises: Sequence[Noise]) -> Reading:
        """Return what a release through some noises reads of a person, of these questions."""
        losses = {self.report_of(name): self.losses[name] for name in names}
        common = {self.report_of(each): self.common[each] for each in names if each in self.common}
        return Reading(losses, noises, self._reports, common)

    @cached_property
    def _reports(self) -> tuple[frozenset[str], ...]:
        """The reports of each set that can be drawn, or of each answer where one is protected; none
        where all that everybody sends is one record.
        """
        sets = self.records if self.unit == ONE_ANSWER else self.drawn_sets
        return tuple(frozenset(map(self.report_of, each)) for each in sets)

    def most_asked(self, names: Iterable[str]) -> int:
        """Return how many of these questions one record can answer."""
        return max(len(frozenset(names) & each) for each in self.records)

    @property
    def languages(self) -> list[str]:
        """Return the languages that it can be answered in, its own first."""
        return [self.language, *sorted(self.translations)]

    def spoken(self, language: str) -> "PlanContent":
        """Return what it says in one of its languages; as it stands, if it is not one of them."""
        texts = self.translations.get(language)
        if texts is None:
            return self
        own = _given(texts)
        said = own.pop("questions", {})
        questions = [
            question._spoken(said.get(question.name, QuestionTexts()))
            for question in self.questions
        ]
        return msgspec.structs.replace(self, questions=questions, **own)

    @property
    def passes_over(self) -> bool:
        """Tell whether what somebody answers can leave questions out, and so take less time."""
        return any(each.asked_if for each in self.questions) or any(
            block.decline for block in self.blocks
        )

    @property
    def minutes_between(self) -> int:
        """How many minutes are between moments at which a message may leave; 0: at once.

        Twin of intake/moments.js: a minute for the ends, and for each question 20 s and one for
        every ten bytes of words.
        """
        if not self.passes_over:
            return 0
        words = ["".join((each.text, each.help, *each.choices)) for each in self.questions]
        seconds = 60 + sum(20 + math.ceil(len(text.encode()) / 10) for text in words)
        return math.ceil(seconds / 60)


def largest_loss(sets: Iterable[Iterable[str]], losses: Mapping[str, Fraction]) -> Fraction:
    """Return the e^ε of a person who answers one of these sets: the chance that it was drawn is
    the same whatever the answers are, and cancels (dpengine.local.blocks).
    """
    return max(loss_of_all(losses[name] for name in each) for each in sets)


def pair(loss: Fraction) -> list[int | str]:
    """Write a loss down: two integers, above 2⁵³ − 1 as decimal strings."""
    return [part if part <= LARGEST_NUMBER else str(part) for part in loss.as_integer_ratio()]


def fraction(written: Any) -> Fraction:
    """Read a loss: two positive integers, as numbers or, above 2⁵³ − 1, as decimal strings."""
    match written:
        case [above, below] if _is_positive(above) and _is_positive(below):
            return _reduced(int(above), int(below))
    raise Unsound("loss: expected two whole numbers of 1 or more")


@lru_cache(maxsize=4096)  # the questions of a Plan have few losses
def _reduced(above: int, below: int) -> Fraction:
    return Fraction(above, below)


def _is_positive(part: Any) -> bool:
    if isinstance(part, str):
        return POSITIVE.fullmatch(part) is not None
    return type(part) is int and 1 <= part <= LARGEST_NUMBER


def _write_fraction(value: Any) -> Any:
    if isinstance(value, Fraction):
        return pair(value)
    raise TypeError(f"expected a part of a Plan, got a {type(value).__name__}")


def _read_fraction(kind: type, value: Any) -> Any:
    return fraction(value)


_plans = msgspec.json.Decoder(PlanContent, dec_hook=_read_fraction)


def to_document(content: Any) -> Any:
    """Return a part of a Plan, or what holds some, as plain JSON."""
    return msgspec.to_builtins(content, enc_hook=_write_fraction)


def canonical(content: Any) -> str:
    """Return the canonical JSON of a Plan."""
    document = to_document(content)
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(document: str) -> str:
    """Return the SHA-256 of a Plan's bytes, in hexadecimal digits."""
    return hashlib.sha256(document.encode()).hexdigest()


@lru_cache(maxsize=256)
def read(document: str) -> PlanContent:
    """Return what a frozen Plan says. A Plan never changes, so it is read once."""
    return _plans.decode(document)
