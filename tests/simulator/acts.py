"""All that can happen, each through the door that people and workers use."""

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import RequestFactory

from surveys.celery import app
from surveys.design import refusals, selectors as design, services as lives
from surveys.design.models import Plan
from surveys.erasing import InUse
from surveys.intake import door, views
from surveys.ledger import selectors as accounts, services as ledger
from surveys.releases import selectors as published, services as releases
from surveys.releases.queries.parameters import WrongParameter
from tests.simulator import clock, world as worlds
from tests.simulator.world import ADMIN, ON_REQUEST, OTHER, RESEARCHER, Message, World

try:  # the door that takes many at once
    from surveys.intake import posts
except ImportError:
    posts = None  # type: ignore[assignment]
REFUSALS = (
    refusals.CannotOpen,
    refusals.Refused,
    ledger.Refused,
    releases.CannotAsk,
    WrongParameter,
    InUse,
    CommandError,
)
Act = Callable[[], Any]  # with a fault anywhere in it
SHARES = [Decimal("0.55"), Decimal("0.7"), Decimal(1)]  # of what is left: two are too much
SWEEP = "surveys.aggregation.tasks.sweep_all"
LITTLE = Decimal("0.01")  # ε that nobody asks for
REQUESTS = RequestFactory(SERVER_NAME="127.0.0.1")


class Free:
    """No brake: how fast reports may come is tried elsewhere."""

    def place(self, request: Any) -> int:
        return 0

    def study(self, key: int) -> int:
        return 0


def post(message: Message) -> int:
    """Send a message; return the status, and let the device know it."""
    at = message.begin()
    request = REQUESTS.post(
        f"/api/v1/studies/{message.slug}/reports", message.body, content_type="application/json"
    )
    answer = views.take_report(request, message.slug)
    message.hear(at, answer.status_code, answer.content)
    return int(answer.status_code)


def post_together(messages: list[Message]) -> int:
    """Send messages in one group; return the greatest status, and let each device know its own."""
    tries = [(message, message.begin()) for message in messages]
    read = [posts.enter(message.slug, message.body) for message in messages]
    for (message, at), verdict in zip(tries, posts.answer_all(read), strict=True):
        message.hear(at, verdict.status, verdict.body)
    return max(message.told[at] or 0 for message, at in tries)


def do_task(name: str, args: Any = (), kwargs: Any = None) -> None:
    """Do a task as a worker does."""
    app.tasks[name](*args, **(kwargs or {}))


def beats() -> list[str]:
    return [entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()]


# What each makes of the world: the acts to do, in order, each of which may fail anywhere


def new_posts(world: World) -> list[Act]:
    plan = world.plan()
    made = [world.message(plan) for _ in range(world.chance.randint(1, 4))]
    return [lambda message=each: post(message) for each in made]


def groups(world: World) -> list[Act]:
    """Send new messages, old ones and other words under old ids in one group."""
    kinds = [new_message, new_message, old_message, other_words]
    sent = [world.chance.choice(kinds)(world) for _ in range(world.chance.randint(1, 6))]
    return [lambda: post_together(sent)]


def new_message(world: World) -> Message:
    return world.message(world.plan())


def old_message(world: World) -> Message:
    return world.chance.choice(world.messages) if world.messages else new_message(world)


def other_words(world: World) -> Message:
    return world.message(world.plan(), old_message(world).report_id)


def retries(world: World) -> list[Act]:
    """Send again what was sent, mostly what was not answered."""
    if not world.messages:
        return []
    unheard = [each for each in world.messages if not each.told or each.told[-1] in (None, 503)]
    old = world.chance.choice(
        unheard if unheard and world.chance.random() < 0.7 else world.messages
    )
    return [lambda: post(old)] * world.chance.randint(1, 2)


def conflict(world: World) -> list[Act]:
    """Send other words under an id that was used."""
    other = other_words(world)
    return [lambda: post(other)]


def beat(world: World) -> list[Act]:
    name = world.chance.choice(beats())
    return [lambda: do_task(name)]


def sweep_and_publish(world: World) -> list[Act]:
    """Sweep, do what the broker has then, and publish."""
    names = [name for name in beats() if "publish" in name]
    publish = [lambda name=each: do_task(name) for each in names]
    return [lambda: do_task(SWEEP), lambda: do_sent(world), *publish]


def do_sent(world: World) -> None:
    """Do all that the broker has; who is killed meanwhile had taken all of it."""
    for task in [world.next_task() for _ in world.sent[:]]:
        do_task(*task)


def deliver(world: World) -> list[Act]:
    """Do what the broker has: once, twice, or it is lost."""
    if not world.sent:
        return []
    task = world.next_task()
    return [lambda: do_task(*task)] * world.chance.choice([0, 1, 1, 2])


def ask(world: World) -> list[Act]:
    plan, who = world.plan(), world.chance.choice([RESEARCHER, OTHER])
    chosen = [each.name for each in plan.content.questions if each.name != "tag"]
    epsilon = world.chance.choice(["0.1", "0.3", "0.7"])
    parameters = {"questions": chosen[: world.chance.randint(1, len(chosen))], "epsilon": epsilon}

    def ask_for() -> None:
        releases.ask_for(
            plan=plan, kind="shares", parameters=parameters, who=who, now=clock.Clock.now()
        )

    return [ask_for]


def ask_again(world: World) -> list[Act]:
    """Confirm what was refused, or draw what a message asks for a second time."""
    requests = list(published.Request.objects.order_by("pk"))
    if not requests:
        return []
    request, now = world.chance.choice(requests), clock.Clock.now()
    confirm = {"request_id": request.pk, "who": RESEARCHER, "now": now}
    return [
        lambda: releases.confirm(**confirm),
        lambda: do_task("surveys.releases.tasks.publish", [request.pk]),
    ]


def rivals(world: World, many: int) -> list[tuple[str, list[Act]]]:
    """Let so many ask, and draw what they asked for, where the budget can pay for one of them at
    most; nothing where nobody may ask, or nothing is left.
    """
    now, who = clock.Clock.now(), world.chance.choice([RESEARCHER, OTHER])
    plans = [
        plan for plan in design.plans().order_by("pk") if not published.may_ask(plan, now.date())
    ]
    if not plans:
        return []
    plan = world.chance.choice(plans)
    left = min(accounts.account(pk).amount_left for pk in published.budgets_of(plan, who))
    return [
        ("rivals", ask_and_draw(plan, who, left * world.chance.choice(SHARES), now))
        for _ in range(many)
        if left > LITTLE
    ]


def answers_to_ask_about(world: World) -> list[Act]:
    """Send what is enough to ask about a study that publishes on request, and sweep it."""
    plan = design.plans().filter(study__slug=ON_REQUEST).order_by("pk").last()
    made = [world.message(plan) for _ in range(worlds.SMALLEST)] if plan else []
    return [
        *(lambda message=each: post(message) for each in made),
        lambda: do_task(SWEEP),
        lambda: do_sent(world),
    ]


def ask_and_draw(plan: Plan, who: str, epsilon: Decimal, now: datetime.datetime) -> list[Act]:
    asked: list[int] = []
    chosen = next(each.name for each in plan.content.questions if each.name != "tag")
    parameters = {"questions": [chosen], "epsilon": f"{epsilon:.3f}"}

    def ask_for() -> None:
        request = releases.ask_for(
            plan=plan, kind="shares", parameters=parameters, who=who, now=now
        )
        asked.append(request.pk)

    def draw() -> None:
        for request_id in asked:
            do_task("surveys.releases.tasks.publish", [request_id])

    return [ask_for, draw]


def close(world: World) -> list[Act]:
    plan = world.plan()
    return [lambda: lives.close_plan(plan_id=plan.pk, today=clock.Clock.now().date())]


def open_wave(world: World) -> list[Act]:
    """Open a draft; of a study that has closed, the next wave."""
    study = world.study()
    opening = {"study_id": study.pk, "who": ADMIN, "why": "A test.", "now": clock.Clock.now()}
    begin = [] if study.plan is None else [lambda: lives.begin_wave(study_id=study.pk)]
    return [*begin, lambda: lives.open_study(**opening)]


def retire(world: World) -> list[Act]:
    """Retire a study that has opened; who does sees whether it is, and does it again if not."""
    retiring = {"study_id": world.plan().study_id, "because": "It is over.", "who": ADMIN}
    return [lambda: lives.retire(**retiring, now=clock.Clock.now())] * 2


def change_limits(world: World) -> list[Act]:
    study, now = world.study(), clock.Clock.now()
    by = {"study_id": study.pk, "who": ADMIN, "why": "Less is enough.", "now": now}
    new = study.cap - Decimal("0.2")
    weekly = world.chance.choice([None, Decimal("0.5"), Decimal(1)])
    return [
        world.chance.choice(
            [
                lambda: lives.lower_cap(new=new, **by),
                lambda: lives.set_weekly_limit(weekly=weekly, **by),
            ]
        )
    ]


def new_key(world: World) -> list[Act]:
    """Put a new key in front and seal everything with it; the old one goes when none needs it."""
    settings.PUBLICATION_KEYS = [world.new_key(), *settings.PUBLICATION_KEYS]

    def rotate() -> None:
        call_command("rotate_keys", verbosity=0, stdout=(said := Said()))
        if "needed no longer" in said.text:
            settings.PUBLICATION_KEYS = settings.PUBLICATION_KEYS[:1]

    return [rotate, rotate]


class Said:
    """What a command prints."""

    text = ""

    def write(self, text: str) -> None:
        self.text += text


def wait(world: World) -> list[Act]:
    by: dict[str, float] = world.chance.choice(
        [{"seconds": 20}, {"hours": 1}, {"hours": 1}, {"days": 1}, {"days": 8}]
    )
    clock.forward(**by)
    return []


def midnight(world: World) -> list[Act]:
    """Let the day end, and settle its receipts."""
    clock.forward(days=1)
    return [lambda: do_task("surveys.aggregation.tasks.settle")]


WEIGHTS: dict[Callable[[World], list[Act]], int] = {
    new_posts: 30,
    retries: 12,
    conflict: 5,
    sweep_and_publish: 14,
    beat: 12,
    deliver: 8,
    ask: 8,
    ask_again: 3,
    close: 2,
    open_wave: 4,
    retire: 2,
    change_limits: 2,
    new_key: 2,
    wait: 8,
    midnight: 3,
}

if posts:
    WEIGHTS[groups] = 15
POSTS = {
    "new_posts",
    "groups",
    "retries",
    "conflict",
}  # whoever sends one is told something, always


def some(world: World) -> tuple[str, list[Act]]:
    """Draw what happens next."""
    (kind,) = world.chance.choices(list(WEIGHTS), list(WEIGHTS.values()))
    return kind.__name__, kind(world)


def prepare() -> None:
    """Let the site be as it is in production, but for time, brakes and the size of batches."""
    from surveys.aggregation import services as aggregation

    app.loader.import_default_modules()
    clock.take_over()
    door.brake = Free()  # type: ignore[assignment]
    aggregation.MAX_BATCH = worlds.LARGEST
