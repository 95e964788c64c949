"""Bring the demo: four studies, their accounts, and 3,615 people who answer as browsers do, 1,551 of them twice.

The fourth asks in every way there is, and 1,000 made-up people answer it.

Everything goes through the doors that anyone else uses: the study is opened, every answer is
randomised by the channel of the frozen Plan, every report is read and accepted by intake,
then swept, closed and published, or asked for by the researcher. Calling it again changes nothing.
"""

import datetime
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from django.db import transaction

from dpengine.randomness import Words, system_words
from surveys.aggregation import services as aggregation
from surveys.demo import answers
from surveys.demo.kinds import SLEEP, SLEEP_IN_CHINESE, SLEEP_QUESTIONS, made_up_people
from surveys.demo.studies import (
    HABITS,
    HABITS_ASKED,
    HABITS_CHECKED,
    HABITS_QUESTIONS,
    HEALTH,
    HEALTH_QUESTIONS,
    MEDICINES,
    MEDICINES_QUESTIONS,
)
from surveys.design import documents
from surveys.design import services as design
from surveys.design.models import Plan
from surveys.intake.reports import open_envelope, read_report
from surveys.intake.services import accept
from surveys.people import services as people
from surveys.people.models import Role
from surveys.releases import queries as published
from surveys.releases import services as releases


@dataclass(frozen=True, slots=True)
class Login:
    role: str
    username: str
    password: str


LOGINS = (
    Login("admin", "admin", "demo-admin"),
    Login("researcher", "researcher", "demo-researcher"),
)


def bring(*, now: datetime.datetime) -> None:
    """Make whatever of the demo is not there yet."""
    with transaction.atomic():
        users = [
            people.ensure_user(username=x.username, password=x.password, is_site_admin=x.role == "admin")
            for x in LOGINS
        ]
        by: dict[str, Any] = {"who": users[0].pseudonym, "now": now}
        health, is_new = ensure_study(HEALTH, HEALTH_QUESTIONS, **by)
        medicines, _ = ensure_study(MEDICINES, MEDICINES_QUESTIONS, **by)
        habits, is_open = ensure_study({**HABITS, "given_by": by["who"]}, HABITS_QUESTIONS, **by)
        sleep, is_asked = ensure_study(SLEEP, SLEEP_QUESTIONS, **by, translations={"zh-hans": SLEEP_IN_CHINESE})
        for study in (health.study, medicines.study, habits.study, sleep.study):
            people.share(study=study, user=users[1], role=Role.OWNER)
        if is_new:
            answer_as_browsers(health, answers.people(), now.date())
            design.close_plan(plan_id=health.pk, today=now.date())
        if is_open:
            answer_as_browsers(habits, answers.people_with_habits(), now.date())
            design.close_plan(plan_id=habits.pk, today=now.date())
        if is_asked:
            answer_as_browsers(sleep, made_up_people(), now.date())
    aggregation.sweep_all(today=now.date())
    releases.publish_due(now=now)
    if not published.requests_of(habits.study).exists():
        ask_as_a_researcher(habits, users[1].pseudonym, now)


def ensure_study(
    study: dict[str, Any],
    questions: list[dict[str, Any]],
    now: datetime.datetime,
    translations: Mapping[str, dict[str, Any]] = MappingProxyType({}),
    who: str = "the demo",
) -> tuple[Plan, bool]:
    """Return the open or closed Plan of a study, making and opening it if there is none of its name."""
    made = design.draft_study(study=study, questions=questions)
    if (plan := made.plan) is not None:
        return plan, False
    for language, content in translations.items():
        design.save_translation(study_id=made.pk, language=language, content=content, who=who, now=now)
    return design.open_study(study_id=made.pk, who=who, now=now), True


@transaction.atomic
def ask_as_a_researcher(plan: Plan, who: str, now: datetime.datetime) -> None:
    """Ask for what the demo shows, and publish it as a worker does: here and now, for none is running yet."""
    for kind, parameters in HABITS_ASKED:
        asked = releases.ask_for(plan=plan, kind=kind, parameters=parameters, who=who, now=now)
        made = releases.publish(request_id=asked.pk, now=now)
        if kind == "check":
            releases.take_step(series_id=made.pk, now=now, question=HABITS_CHECKED)


def answer_as_browsers(plan: Plan, truths: list[dict[str, Any]], today: datetime.date) -> None:
    """Post one report for every person: their answers changed by the Plan's channels, and nothing else.

    A true answer is the index of a choice, the ticked options, or of a number that devices change its steps from the
    least one.
    """
    channels = documents.channels(plan.content)
    questions = {question["name"]: question for question in plan.content["questions"]}
    for person in truths:
        truth = {name: documents.input_of(questions[name], answer) for name, answer in person.items()}
        envelope = open_envelope(message(plan.digest, truth, channels))
        accept(plan=plan, report=read_report(envelope, plan), today=today)


def message(digest: str, truth: dict[str, Any], channels: Mapping[str, Any], words: Words = system_words) -> bytes:
    """Return the bytes that a browser would send for what channels take of true answers; others are sent as given."""
    randomised = {name: channel.randomise(truth[name], words) for name, channel in channels.items()}
    given = {name: value for name, value in truth.items() if name not in channels}
    return json.dumps({"plan": digest, "report_id": secrets.token_hex(16), "answers": {**randomised, **given}}).encode()
