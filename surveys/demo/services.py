"""Bring the demo: six studies, their accounts, and 3,615 people who answer as browsers do, 1,551
of them twice.

The fourth asks in every way there is, two questions of each of 3,000 made-up people. The fifth has
an answer that the team can read, the sixth asks a list; both wait for their first answer.

Everything goes through the doors that anyone else uses: the study is opened, every answer is
randomised by the channel of the frozen Plan, every report is read and accepted by intake,
then swept, closed and published, or asked for by the researcher. Calling it again changes nothing.
"""

import datetime
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction

from surveys.aggregation import services as aggregation
from surveys.demo import DEMO, WHY
from surveys.demo.answers import Answers, people_of_health, people_with_habits
from surveys.demo.kinds import SLEEP, SLEEP_IN_CHINESE, SLEEP_QUESTIONS, made_up_people
from surveys.demo.studies import (
    CARE,
    CARE_IN_CHINESE,
    CARE_QUESTIONS,
    HABITS,
    HABITS_ASKED,
    HABITS_CHECKED,
    HABITS_QUESTIONS,
    HEALTH,
    HEALTH_QUESTIONS,
    MEDICINES,
    MEDICINES_QUESTIONS,
    NIGHTS,
    NIGHTS_IN_CHINESE,
    NIGHTS_LIST,
    NIGHTS_QUESTIONS,
    Fields,
)
from surveys.design import services as design
from surveys.design.drafts import save_translation
from surveys.design.models import Plan, Unit
from surveys.intake.reports import Report, open_envelope, read_report
from surveys.intake.services import accept_many
from surveys.invited import services as invited
from surveys.invited.lists import Entry
from surveys.people import services as people
from surveys.people.models import Role
from surveys.releases import selectors as published, services as releases

LOGINS = {"admin": "demo-admin", "researcher": "demo-researcher"}  # name, and role: password


@dataclass(frozen=True, slots=True)
class DemoStudy:
    """A study, who answers it, and whether it is closed then."""

    study: Fields
    questions: Sequence[Fields]
    people: Callable[[], list[Answers]] = list  # nobody
    closes: bool = False
    in_chinese: Fields | None = None
    asks: Mapping[str, int] | None = None  # of an invited list: how many people, by stratum


STUDIES = (
    DemoStudy(HEALTH, HEALTH_QUESTIONS, people_of_health, closes=True),
    DemoStudy(MEDICINES, MEDICINES_QUESTIONS),
    DemoStudy(HABITS, HABITS_QUESTIONS, people_with_habits, closes=True),
    DemoStudy(SLEEP, SLEEP_QUESTIONS, made_up_people, in_chinese=SLEEP_IN_CHINESE),
    DemoStudy(CARE, CARE_QUESTIONS, in_chinese=CARE_IN_CHINESE),
    DemoStudy(NIGHTS, NIGHTS_QUESTIONS, in_chinese=NIGHTS_IN_CHINESE, asks=NIGHTS_LIST),
)


def bring(*, now: datetime.datetime) -> None:
    """Make whatever of the demo is not there yet."""
    plans: dict[str, Plan] = {}
    with transaction.atomic():
        admin, researcher = (
            people.ensure_user(username=name, password=password, is_site_admin=name == "admin")
            for name, password in LOGINS.items()
        )
        for demo in STUDIES:
            given = {"given_by": admin.pseudonym} if "given_cap" in demo.study else {}
            translations = {"zh-hans": demo.in_chinese} if demo.in_chinese else {}
            plan, is_new = ensure_study(
                {**demo.study, **given},
                demo.questions,
                now,
                translations,
                admin.pseudonym,
                demo.asks,
            )
            plans[plan.study.slug] = plan
            people.share(study=plan.study, user=researcher, role=Role.OWNER)
            if is_new:
                answer_as_browsers(plan, demo.people(), now.date())
            if is_new and demo.closes:
                design.close_plan(plan_id=plan.pk, today=now.date())
    aggregation.sweep_all(today=now.date())
    releases.publish_due(now=now)
    habits = plans[str(HABITS["slug"])]
    if not published.requests_of(habits.study).exists():
        ask_as_a_researcher(habits, researcher.pseudonym, now)


def ensure_study(
    study: Fields,
    questions: Sequence[Fields],
    now: datetime.datetime,
    translations: Mapping[str, Fields] | None = None,
    who: str = DEMO,
    asks: Mapping[str, int] | None = None,
) -> tuple[Plan, bool]:
    """Return the open or closed Plan of a study, making and opening it if there is none of its
    name. ValueError names a unit that no study can have.
    """
    if (unit := study.get("unit", Unit.RESPONDENT_IN_STUDY)) not in Unit.values:
        raise ValueError(f"unit: expected one of {', '.join(Unit.values)}, got {unit!r}")
    made = design.draft_study(study=study, questions=list(questions))
    if (plan := made.plan) is not None:
        return plan, False
    for language, content in (translations or {}).items():
        save_translation(study_id=made.pk, language=language, content=content, who=who, now=now)
    if asks:
        invited.add_people(study_id=made.pk, entries=_people_of(asks))
    return invited.launch(study=made, who=who, now=now, why=WHY), True


def _people_of(strata: Mapping[str, int]) -> list[Entry]:
    """Return a list of people who are nobody: no letter reaches an address under .example."""
    named = [(name, number) for name, count in strata.items() for number in range(1, count + 1)]
    return [
        Entry(f"{name.lower()}-{number}@aldermoor.example", stratum=name) for name, number in named
    ]


@transaction.atomic
def ask_as_a_researcher(plan: Plan, who: str, now: datetime.datetime) -> None:
    """Ask for what the demo shows, and publish it as a worker does: here and now, for none is
    running yet.
    """
    for kind, parameters in HABITS_ASKED:
        asked = releases.ask_for(plan=plan, kind=kind, parameters=parameters, who=who, now=now)
        series = releases.publish(request_id=asked.pk, now=now)
        if kind == "check":
            releases.take_step(series_id=series.pk, now=now, question=HABITS_CHECKED)


def answer_as_browsers(plan: Plan, truths: list[Answers], today: datetime.date) -> None:
    """Post one report for every person: their answers as the Plan's channels send them, and
    nothing else.
    """
    reports = (_as_sent(plan, person) for person in truths)
    accept_many(plan=plan, reports=reports, today=today)


def _as_sent(plan: Plan, person: Answers) -> Report:
    """Return a report of these answers, read from the bytes that a browser would send."""
    content = plan.content
    asked = content.sets[content.draw_set()] | content.cleartext.keys()
    answers = content.randomised({name: person[name] for name in person if name in asked})
    report_id = secrets.token_hex(16)
    message = {"plan": plan.digest, "report_id": report_id, "answers": answers}
    return read_report(open_envelope(json.dumps(message).encode()), plan)
