"""The world around the site: people's messages and what they were told, a broker, studies."""

import hashlib
import json
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any

import celery
from celery.app.task import Task
from django.conf import settings

from surveys.design import selectors as design, services as lives
from surveys.design.models import Plan, Study
from surveys.ledger import services as ledger
from surveys.releases import services as releases
from tests.conftest import MORE
from tests.simulator import clock

try:  # what a process remembers of rows
    from surveys.intake.shelf import shelf

    CACHES: tuple[dict[Any, Any], ...] = (shelf.plans,)
except ImportError:
    CACHES = ()
ADMIN, RESEARCHER, OTHER = "ada", "mira", "otto"
ON_REQUEST = "asked"  # the study that publishes only what somebody asks for
SMALLEST, LARGEST = 3, 8  # reports of a batch; the site's own largest has 10,000
STUDY: dict[str, Any] = {
    "organisation": "Brightwater College",
    "purpose": "To see what a crash does.",
    "contact": "asks@example.org",
    "cap": Decimal(2),
    "release_epsilon": Decimal("0.25"),
    "waves": 3,
    "smallest_batch": SMALLEST,
    "widest": 100,
    **MORE,
    "given_batch": SMALLEST,
}
COPIED: dict[str, Any] = {
    "name": "copied",
    "kind": "yes_no",
    "text": "Have you copied?",
    "label": "Copied",
}
OFTEN: dict[str, Any] = {
    "name": "often",
    "kind": "single",
    "text": "How often?",
    "label": "How often",
    "choices": "Never\nOnce\nOften",
    "may_decline": True,
}
TAG: dict[str, Any] = {  # sent as given: who has it knows which message a row is
    "name": "tag",
    "kind": "number",
    "protection": "publication",
    "text": "Which number were you given?",
    "label": "Number",
    "least": 0,
    "most": 999,
    "unit": "numbers",
}
LATE = {**COPIED, "name": "late", "text": "Late?", "label": "Late"}
STUDIES: tuple[tuple[dict[str, Any], list[dict[str, Any]]], ...] = (
    ({"slug": ON_REQUEST, "rule": "on-request", "release_epsilon": Decimal(1)}, [COPIED, TAG]),
    ({"slug": "hourly", "rule": "every", "hours": 1}, [COPIED, OFTEN]),
    ({"slug": "series", "rule": "continual", "hours": 1, "horizon": 4}, [OFTEN, TAG]),
    ({"slug": "drawn", "rule": "when-closed", "asked": 1}, [COPIED, OFTEN, LATE]),
)
OPEN = 2  # so many are open when a schedule begins; the others are drafts


def prepare() -> None:
    """Make what every schedule begins with."""
    for number, (terms, questions) in enumerate(STUDIES):
        study = lives.draft_study(
            study=STUDY | terms | {"title": terms["slug"]}, questions=questions
        )
        if number < OPEN:
            lives.open_study(study_id=study.pk, who=ADMIN, why="A test.", now=clock.START)
    budget = Study.objects.get(slug=ON_REQUEST).budget_id
    assert budget is not None
    ledger.open_share(
        study_id=budget, holder=RESEARCHER, cap=1, who=ADMIN, now=clock.START, why="A share."
    )


@dataclass(eq=False)
class Message:
    """A report as a device keeps it: always the same bytes, with what was answered to them."""

    slug: str
    plan: str  # digest
    report_id: str
    answers: dict[str, Any]
    told: list[int | None] = field(default_factory=list)  # None: nothing was heard
    steps: list[int] = field(default_factory=list)  # in which it was sent; of one step in any order
    receipt: tuple[str, str] | None = None  # its number, and the day

    @property
    def body(self) -> bytes:
        return json.dumps(
            {"plan": self.plan, "report_id": self.report_id, "answers": self.answers}
        ).encode()

    @property
    def digest(self) -> bytes:
        return hashlib.sha256(self.report_id.encode()).digest()

    def begin(self) -> int:
        """Begin another try; return its number. Nothing was heard of it yet."""
        self.told.append(None)
        self.steps.append(clock.Clock.step)
        return len(self.told) - 1

    def hear(self, at: int, status: int, answer: bytes) -> None:
        """Hear what is answered to a try."""
        self.told[at] = status
        if status in (200, 201):
            said = json.loads(answer)
            self.receipt = said["receipt"], said["accepted_on"]

    @property
    def was_taken(self) -> bool:
        return any(status in (200, 201) for status in self.told)


Task_ = tuple[str, tuple[Any, ...], dict[str, Any]]


@dataclass
class World:
    """All that is outside of the database."""

    chance: Random
    messages: list[Message] = field(default_factory=list)
    sent: list[Task_] = field(default_factory=list)  # at the broker
    published: dict[str, str] = field(default_factory=dict)  # numbers that somebody saw

    def __post_init__(self) -> None:
        settings.PUBLICATION_KEYS = [self.new_key()]

    def words(self) -> int:
        """Return 32 bits of this seed's chance."""
        return self.chance.getrandbits(32)

    def new_key(self) -> bytes:
        return self.chance.randbytes(32)

    def next_task(self) -> Task_:
        """Take a task from the broker by this seed's chance: the site sends some in an order of its
        own.
        """
        self.sent.sort(key=repr)
        return self.sent.pop(self.chance.randrange(len(self.sent)))

    def plan(self) -> Plan:
        """Return some Plan, mostly one that is open."""
        plans = list(design.plans().order_by("pk"))
        opened = [plan for plan in plans if plan.is_open]
        return self.chance.choice(opened if opened and self.chance.random() < 0.9 else plans)

    def study(self) -> Study:
        return self.chance.choice(list(Study.objects.order_by("pk")))

    def message(self, plan: Plan, report_id: str = "") -> Message:
        """Return a new message to a Plan; with the id of another, in other words."""
        content = plan.content
        asked = content.sets[content.draw_set(self.words)] | content.cleartext.keys()
        truth = {"copied": 1, "often": 2, "late": 0, "tag": len(self.messages)}
        made = Message(
            slug=content.slug,
            plan=plan.digest,
            report_id=report_id or self.chance.randbytes(16).hex(),
            answers=content.randomised(
                {name: truth[name] for name in truth if name in asked}, self.words
            ),
        )
        for same in self.messages:
            if same.body == made.body:  # chance made the same words of it
                return same
        self.messages.append(made)
        return made


def catch_tasks(world: World) -> None:
    """Let this world's broker have every task that is sent."""

    def apply_async(task: Any, args: Any = None, kwargs: Any = None, **options: Any) -> None:
        world.sent.append((task.name, tuple(args or ()), dict(kwargs or {})))

    def send_task(
        app: Any, name: str, args: Any = None, kwargs: Any = None, **options: Any
    ) -> None:
        world.sent.append((name, tuple(args or ()), dict(kwargs or {})))

    releases.in_a_thread = lambda act: act()  # all of a world is one thread, in its order
    Task.apply_async = apply_async
    celery.Celery.send_task = send_task


def forget_caches() -> None:
    """Begin as a new process does: what it remembered of rows is gone."""
    for kept in CACHES:
        kept.clear()
