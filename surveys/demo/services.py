"""Bring the demo: two studies, three accounts, and 3,615 people who answer as browsers do.

Everything goes through the doors that anyone else uses: the study is opened, every answer is
randomised by the channel of the frozen Plan, every report is read and accepted by intake,
then swept, closed and published. Calling it again changes nothing.
"""

import datetime
import json
import secrets
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from dpengine.local.channels import Channel
from dpengine.randomness import Words, system_words
from surveys.aggregation import services as aggregation
from surveys.demo import answers
from surveys.demo.studies import HEALTH, HEALTH_QUESTIONS, MEDICINES, MEDICINES_QUESTIONS
from surveys.design import documents
from surveys.design import services as design
from surveys.design.models import Plan
from surveys.intake.reports import open_envelope, read_report
from surveys.intake.services import accept
from surveys.people import services as people
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
            people.ensure_user(username=x.username, password=x.password, is_admin=x.role == "admin") for x in LOGINS
        ]
        health, is_new = ensure_study(HEALTH, HEALTH_QUESTIONS, now.date())
        medicines, _ = ensure_study(MEDICINES, MEDICINES_QUESTIONS, now.date())
        for study in (health.study, medicines.study):
            people.share(study=study, user=users[1])
        if is_new:
            answer_as_browsers(health, answers.people(), now.date())
            design.close_plan(plan_id=health.pk, today=now.date())
    aggregation.sweep_all(today=now.date())
    releases.publish_due(now=now)


def ensure_study(study: dict[str, Any], questions: list[dict[str, Any]], today: datetime.date) -> tuple[Plan, bool]:
    """Return the open or closed Plan of a study, making and opening it if there is none of its name."""
    made = design.draft_study(study=study, questions=questions)
    plan = made.plan
    return (plan, False) if plan else (design.open_study(study_id=made.pk, today=today), True)


def answer_as_browsers(plan: Plan, truths: list[dict[str, int]], today: datetime.date) -> None:
    """Post one report for every person: their answers changed by the Plan's channels, and nothing else."""
    channels = documents.channels(plan.content)
    for truth in truths:
        envelope = open_envelope(message(plan.digest, truth, channels))
        accept(plan=plan, report=read_report(envelope, plan), today=today)


def message(digest: str, truth: dict[str, int], channels: dict[str, Channel], words: Words = system_words) -> bytes:
    """Return the bytes that a browser would send for these true answers."""
    randomised = {name: channel.randomise(truth[name], words) for name, channel in channels.items()}
    return json.dumps({"plan": digest, "report_id": secrets.token_hex(16), "answers": randomised}).encode()
