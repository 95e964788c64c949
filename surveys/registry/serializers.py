"""The registry's own documents, for machines. Exact: fractions are pairs of decimal strings,
amounts decimal strings.

Their shape is in schemas/: a change that a reader could stumble over makes a new file and a new
number. In version 4, `row` is the position in the whole chain everywhere, a release has a `number`
of its own beside it, and what the chain vouches for is named.
"""

import datetime
from collections.abc import Callable
from dataclasses import asdict
from decimal import Decimal
from fractions import Fraction
from typing import Any

from rest_framework.serializers import (
    BooleanField,
    CharField,
    DateField,
    Field,
    IntegerField,
    Serializer,
    SerializerMethodField,
)

from dpengine.privacy import epsilon_above, round_up
from surveys.design.models import Plan
from surveys.design.selectors import Odds
from surveys.guesses import Guess
from surveys.ledger import selectors as ledger
from surveys.ledger.selectors import Chain, StatementLine, written
from surveys.plan.content import to_document
from surveys.registry import scripts
from surveys.registry.privacy_loss import USUAL_DELTA, Household, Loss, Shuffled
from surveys.registry.studies import RegisteredQuestion, RegisteredStudy
from surveys.releases import selectors as releases
from surveys.releases.selectors import Publication

FORMAT, LEDGER_FORMAT = "candor-registry/5", "candor-ledger/3"
INDEX_FORMAT, SEGMENT_FORMAT = "candor-ledger-index/1", "candor-ledger-segment/1"
SCHEMAS = {"study-5": FORMAT, "ledger-3": LEDGER_FORMAT}
ALWAYS = ("name", "kind", "label", "text", "protection", "choices")  # of a question
WHERE_USED = ("least", "most", "unit", "wanted", "bins", "asked_if", "group")
NOT_PROTECTED = {
    "how-many": "how many people answered",
    "screen": "from who sees the screen, or holds the device with the page open: everything",
    "device": "from who controls the device or its browser: everything",
    "other-scripts": "from a site that sends other scripts than it publishes: everything",
    "order": "the order in which reports came, until they are sealed, and in backups made before",
    "false-reports": "the results, from people who send false reports or more than one",
}
CLEARTEXT_NOT_PROTECTED = (
    "answers sent as given, from who runs the site, and from who has the database and its "
    "key: everything"
)
NAMED = {"ε": "epsilon", "ρ": "rho"}
HOW_TO_CHECK = (
    "A row's digest is the SHA-256 of the row without its digest, as JSON with sorted keys, no "
    "spaces and UTF-8. Every row holds the digest of the row before as `previous`; the first holds "
    "64 zeros. The head is the digest of the last row, the length how many rows there are. Keep "
    "both: they show a tail that is cut later."
)


def pair(fraction: Fraction) -> list[str]:
    return [str(part) for part in fraction.as_integer_ratio()]


def rounded_up(value: Fraction, places: int = 18) -> str:
    return written(round_up(value, places))


def epsilon_of(loss: Fraction) -> str:
    """Return the ε of a loss e^ε, rounded up."""
    return written(epsilon_above(loss))


def plain_part(part: Any) -> dict[str, object]:
    """Return a part of a Plan as its bytes have it: keys in order."""
    return dict(sorted(to_document(part).items()))


def moment(at: datetime.datetime) -> str:
    return at.isoformat(timespec="seconds")


class Shown(Field):
    """A value as a function writes it."""

    def __init__(self, show: Callable[[Any], Any], **kwargs: Any) -> None:
        super().__init__(read_only=True, **kwargs)
        self.show = show

    def to_representation(self, value: Any) -> Any:
        return self.show(value)


class LossSerializer(Serializer[Loss]):
    epsilon = Shown(written)
    delta = Shown(rounded_up)


class LocalSerializer(Serializer[RegisteredStudy]):
    """What who sees every message learns. Numbers are of the answers that the device changes."""

    infinite = Shown(bool, source="cleartext")
    sent_as_given = Shown(list, source="cleartext")
    loss = Shown(pair)
    epsilon = Shown(epsilon_of, source="loss")
    worst_case_guess = Shown(lambda loss: pair(Guess(50, loss).chance), source="loss")
    worst_case_odds = Shown(pair, source="loss")


class AccountantsSerializer(Serializer[Any]):
    """What was lost at one δ, by each theorem; null where one has no finite ε."""

    delta = Shown(rounded_up)
    basic = Shown(written)
    advanced = Shown(written)
    optimal = Shown(written)
    zcdp = Shown(written, source="concentrated")
    renyi = Shown(written)


class CentralSerializer(Serializer[RegisteredStudy]):
    """What the budget of publications holds, and what that promises readers."""

    budget = CharField(source="account.budget.name")
    measure = Shown(NAMED.get, source="account.measure")
    cap = Shown(written, source="account.cap")
    cap_delta = Shown(written, source="account.budget.delta")
    spent = Shown(written, source="account.amount_spent")
    spent_delta = Shown(
        lambda account: rounded_up(account.spent.delta if account.spent else Fraction(0)),
        source="account",
    )
    left = Shown(written, source="account.amount_left")
    left_delta = Shown(rounded_up, source="account.left.delta")
    fixed_parts = BooleanField(source="account.budget.fixed_parts")
    promised = LossSerializer(source="cap")
    lost = LossSerializer(source="spent")
    accountants = AccountantsSerializer(source="compared")

    def to_representation(self, record: RegisteredStudy) -> Any:
        """Say the other measure of a cap that holds by either, last."""
        document, budget = super().to_representation(record), record.account.budget
        if not budget.is_either:
            return document
        account = record.account
        sign = "ρ" if account.measure == "ε" else "ε"
        left = account.left.rho if sign == "ρ" else account.left.epsilon
        return {
            **document,
            "or": {
                "measure": NAMED[sign],
                "cap": written(budget.cap_in(sign)),
                "left": None if left is None else written(account.left_in(sign)),
            },
        }


class WeekSerializer(Serializer[Any]):
    ends = Shown(moment)
    amount = Shown(written)


class BurnSerializer(Serializer[RegisteredStudy]):
    per_week = Shown(lambda rate: rounded_up(rate, 12), source="burn.per_week")
    weeks = WeekSerializer(many=True, source="burn.weeks")
    days_left = IntegerField()
    weekly_limit = Shown(written, source="account.budget.weekly")


class HouseholdSerializer(Serializer[Household]):
    people = IntegerField()
    local = LossSerializer()
    spent = LossSerializer()
    promised = LossSerializer(source="cap")


class AtRiskSerializer(Serializer[RegisteredStudy]):
    people = IntegerField(source="answers")
    delta = Shown(rounded_up, source="cap.delta")
    expected = Shown(pair, source="at_risk")
    advised_delta = Shown(pair)


class ShuffledSerializer(Serializer[Shuffled]):
    wave = IntegerField()
    reports = IntegerField()
    delta = Shown(lambda _batch: rounded_up(USUAL_DELTA), source="*")
    questions = Shown(lambda questions: {name: written(epsilon) for name, epsilon in questions})
    together = Shown(written)


class RetirementSerializer(Serializer[Any]):
    retires_on = DateField()
    retired_on = DateField()
    because = CharField(source="retired_because")


class OddsSerializer(Serializer[Odds]):
    """The chances that a message holds a choice: when given, when another was, by luck alone."""

    own = Shown(pair)
    other = Shown(pair)
    luck = Shown(pair)


class QuestionSerializer(Serializer[RegisteredQuestion]):
    """A question's own parts, those that it has, and what one answer loses."""

    def to_representation(self, instance: RegisteredQuestion) -> dict[str, object]:
        parts = to_document(instance.question)
        document = {name: parts[name] for name in (*ALWAYS, *WHERE_USED) if name in parts}
        loss, together = instance.question.loss, instance.question.together
        if loss is None:
            return {**document, "infinite": True}
        return {
            **document,
            "infinite": False,
            "channel": instance.question.channel_document or instance.question.channel.document(),
            **({"sent_in": together.name} if together else {}),
            "loss": pair(loss),
            "epsilon": epsilon_of(loss),
            "odds": [OddsSerializer(odds).data for odds in instance.odds],
        }


class WaveSerializer(Serializer[Plan]):
    wave = IntegerField()
    plan = CharField(source="digest")
    opened_on = DateField()
    closes_on = DateField()
    closed_on = DateField()
    loss = Shown(pair, source="content.loss")
    epsilon = Shown(epsilon_of, source="content.loss")
    caps = Shown(plain_part, source="content.caps")
    publication = Shown(plain_part, source="content.publication")
    questions = SerializerMethodField()

    def get_questions(self, plan: Plan) -> Any:
        return [QuestionSerializer(question).data for question in RegisteredQuestion.all_of(plan)]


class ChargeSerializer(Serializer[StatementLine]):
    """One publication, in the budget's own measure, and exactly what it was charged."""

    row = IntegerField(source="entry.position")
    day = DateField(source="entry.day")
    amount = Shown(written, source="exact_amount")
    total = Shown(written, source="exact_total")
    epsilon = Shown(written, source="entry.epsilon")
    rho = Shown(lambda entry: written(entry.rho or Decimal(0)), source="entry")
    delta = Shown(lambda entry: written(entry.delta or Decimal(0)), source="entry")
    part = CharField(source="entry.part")
    what = CharField(source="entry.reason")
    how = CharField(source="entry.mechanism")
    sensitivity = CharField(source="entry.sensitivity")
    who = CharField(source="entry.who")
    statistic = CharField(source="entry.statistic")
    digest = CharField(source="entry.digest")
    published = CharField(source="entry.published")


class CoverSerializer(Serializer[Any]):
    row = IntegerField()
    sha256 = CharField()
    step = IntegerField()
    found = BooleanField(source="is_found")


class PublicationSerializer(Serializer[Publication]):
    number = IntegerField()
    row = IntegerField(source="entry.position")
    wave = IntegerField(source="request.plan.wave")
    plan = CharField(source="request.plan.digest")
    kind = CharField(source="request.kind")
    published_on = DateField()
    answers = IntegerField(source="release.answers", allow_null=True)
    steps = SerializerMethodField()
    vouched = SerializerMethodField()

    def get_steps(self, publication: Publication) -> int | None:
        return len(publication.steps) if publication.series else None

    def get_vouched(self, publication: Publication) -> list[dict[str, object]]:
        return [CoverSerializer(cover).data for cover in releases.covers(publication)]


class LedgerSerializer(Serializer[Chain]):
    """The chain of the whole site, or its rows about one budget, with the end of the whole."""

    format = Shown(lambda _chain: LEDGER_FORMAT, source="*")
    head = CharField()
    length = IntegerField()
    budget = CharField()
    check = Shown(lambda _chain: HOW_TO_CHECK, source="*")
    rows = Shown(list)

    def to_representation(self, instance: Chain) -> dict[str, object]:
        document = super().to_representation(instance)
        if instance.budget is None:
            del document["budget"]
        return document


class StudySerializer(Serializer[RegisteredStudy]):
    """Everything on a study's page. Its context has `link`, which makes an address of a path."""

    format = Shown(lambda _study: FORMAT, source="*")
    schema = SerializerMethodField()
    as_of = Shown(moment, source="now")
    study = CharField(source="study.slug")
    title = CharField(source="content.title")
    organisation = CharField(source="content.organisation")
    purpose = CharField(source="content.purpose")
    contact = CharField(source="content.contact")
    results = CharField(source="content.results")
    languages = Shown(list, source="content.languages")
    unit = CharField(source="content.unit")
    neighbours = CharField(source="content.neighbours")
    model = CharField(source="model.value")
    state = CharField()
    answers = IntegerField()
    local = LocalSerializer(source="*")
    central = CentralSerializer(source="*")
    readers = LossSerializer()
    burn = BurnSerializer(source="*")
    households = HouseholdSerializer(many=True)
    at_risk = AtRiskSerializer(source="*")
    shuffled = ShuffledSerializer(many=True)
    retirement = RetirementSerializer(source="study")
    waves = WaveSerializer(many=True, source="plans")
    charges = ChargeSerializer(many=True, source="rows")
    ledger = SerializerMethodField()
    releases = PublicationSerializer(many=True, source="published")
    scripts = SerializerMethodField()
    not_protected = SerializerMethodField()
    links = SerializerMethodField()

    def get_schema(self, _study: RegisteredStudy) -> str:
        return str(self.context["link"]("/registry/schemas/study-5.json"))

    def get_ledger(self, study: RegisteredStudy) -> dict[str, object]:
        return LedgerSerializer(ledger.chain(study.account.budget.name)).data

    def get_scripts(self, _study: RegisteredStudy) -> dict[str, object]:
        files = [asdict(script) for script in scripts.served()]
        return {"digest": scripts.digest(), "files": files}

    def get_not_protected(self, study: RegisteredStudy) -> dict[str, str]:
        more = {"sent-as-given": CLEARTEXT_NOT_PROTECTED} if study.cleartext else {}
        found = NOT_PROTECTED | more
        if not study.content.n_is_public:
            del found["how-many"]
        return found

    def get_links(self, study: RegisteredStudy) -> dict[str, str]:
        slug, link = study.study.slug, self.context["link"]
        return {
            "form": link(f"/s/{slug}/") + f"#{study.plan.digest}",
            "page": link(f"/registry/{slug}/"),
            "deployment": link(f"/registry/{slug}.yaml"),
            "plan": link(f"/api/v1/studies/{slug}/plan"),
            "releases": link(f"/api/v1/studies/{slug}/releases"),
            "ledger": link("/registry/ledger.json"),
        }
