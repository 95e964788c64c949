"""Find Plans, and read what they say."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from math import ceil, floor
from typing import Any

from django.db import connection
from django.db.models import F, QuerySet

from dpengine.local.distribution import Distribution
from dpengine.local.number import NumberChannel
from dpengine.local.one_of import OneOf
from dpengine.local.subset import Subset
from dpengine.privacy import guess_within, plain
from surveys.design import documents, site, terms
from surveys.design.models import DraftChange, Panel, Picture, Plan, Question, SiteLimits, Study

ALMOST = Fraction(199, 200)  # above it, people of 100 would be 100: they are “>99”
MOST_CHANGES = 100  # shown at once


def latest_plan(slug: str) -> Plan | None:
    """Return the newest Plan of a study: the one its link opens."""
    return Plan.objects.filter(study__slug=slug).select_related("study").order_by("-wave").first()


def plan_of(*, slug: str, digest: str) -> Plan | None:
    """Return the Plan of a study that a report was drawn with, open or not."""
    return Plan.objects.filter(study__slug=slug, digest=digest).first()


def earlier_digests(plan: Plan) -> list[str]:
    """Return the digests of a study's Plans before this one: what an old link names."""
    return list(Plan.objects.filter(study=plan.study_id, wave__lt=plan.wave).values_list("digest", flat=True))


def picture(sha256: str) -> Picture | None:
    return Picture.objects.filter(sha256=sha256).first()


def studies() -> QuerySet[Study]:
    """Return all studies, drafts too."""
    return Study.objects.all()


def published_studies() -> QuerySet[Study]:
    """Return the studies that have opened at least once."""
    return Study.objects.filter(plans__isnull=False).distinct()


def changes_of(owner: Study | Panel) -> list[DraftChange]:
    """Return what was changed of a draft, newest first: for its members."""
    return list(owner.changes.all()[:MOST_CHANGES])


def who_edited(studies: Iterable[Study]) -> set[str]:
    """Return by what name the histories of these drafts call whoever edited them."""
    found = DraftChange.objects.filter(study__in=studies)
    return set(found.order_by().values_list("who", flat=True).distinct())


def site_limits() -> SiteLimits:
    """Return what every draft and every opening of the site is held to, as it is now."""
    return SiteLimits.objects.filter(pk=1).first() or site.usual_limits()


def allowed_epsilon(study: Study, limits: SiteLimits | None = None) -> tuple[Decimal, Decimal]:
    """Return the least and the greatest ε an answer of this study may have: its own limits and the site's both hold."""
    return terms.allowed_epsilon(study, limits or site_limits())


def problems_of_given(study: Study) -> dict[str, str]:
    """Return what of a study's terms cannot be, for one of its questions is sent as given; nothing if none is."""
    return terms.problems_of_given(study, study.questions.all() if study.pk else [])


def publication_terms(study: Study) -> dict[str, Any]:
    """Return when and at what cost a study publishes, as its Plan says or would say."""
    return terms.publication(study)


def drafts() -> QuerySet[Study]:
    """Return the studies whose present wave has not opened, and still may."""
    return Study.objects.filter(retired_on=None).exclude(plans__wave=F("wave"))


def drafts_beyond(limits: SiteLimits) -> list[tuple[Study, str]]:
    """Return the drafts that could not open within these limits, and why not."""
    found = []
    for study in drafts().prefetch_related("questions"):
        outside = (_outside(study, question, limits) for question in study.questions.all())
        given = problems_of_given(study).values()
        problems = [terms.problem_of_cap(study, limits), *given, *outside]
        if problem := next(filter(None, problems), ""):
            found.append((study, problem))
    return found


def _outside(study: Study, question: Question, limits: SiteLimits) -> str:
    if question.protection != Question.Protection.DEVICE:
        return ""
    problem = terms.problem_of_epsilon(study, question.epsilon, limits)
    return f"{question.name}: {problem}" if problem else ""


def plans() -> QuerySet[Plan]:
    return Plan.objects.select_related("study")


def is_retired(plan: Plan) -> bool:
    """Tell whether a Plan's study is retired, as the database has it now."""
    return Study.objects.filter(pk=plan.study_id, retired_on__isnull=False).exists()


def ended_on(plan: Plan, today: datetime.date) -> datetime.date | None:
    """Return the day from which on nothing is published of a Plan's study, if it has come; as the database has it now.

    The day of its retirement counts even if no worker has retired it yet. Whoever publishes asks after locking the
    budget, which retiring locks too: then the answer holds to the end.
    """
    study = Study.objects.get(pk=plan.study_id)
    if study.retired_on is not None:
        return study.retired_on
    return study.retires_on if study.retires_on is not None and study.retires_on <= today else None


def retired_plans() -> QuerySet[Plan]:
    """Return the Plans of retired studies: what each room has to erase its part of."""
    return Plan.objects.filter(study__retired_on__isnull=False)


class State(StrEnum):
    """How a study stands, for people to read."""

    DRAFT = "draft"
    COLLECTING = "collecting"
    CLOSED = "closed"
    RETIRED = "retired"


@dataclass(frozen=True, slots=True)
class Standing:
    """A study, its newest Plan if it has opened, and how it stands."""

    study: Study
    plan: Plan | None

    @property
    def state(self) -> State:
        if self.study.is_retired:
            return State.RETIRED
        if self.plan is None:
            return State.DRAFT
        return State.COLLECTING if self.plan.is_open else State.CLOSED


def standings(studies: Iterable[Study]) -> list[Standing]:
    """Return how studies stand, in their order, in one query."""
    kept = list(studies)
    newest = {plan.study_id: plan for plan in Plan.objects.filter(study__in=kept).order_by("wave")}
    return [Standing(study, newest.get(study.pk)) for study in kept]


def is_open_now(plan_id: int, today: datetime.date) -> bool:
    """Tell whether a Plan takes reports, and keep it so until this transaction ends.

    On PostgreSQL a shared lock makes a closing wait for reports under way, so that none is
    accepted after the last sweep; on SQLite every writing transaction excludes the others.
    """
    lock = " FOR SHARE" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        query = "SELECT closed_on IS NULL AND (closes_on IS NULL OR closes_on >= %s) FROM design_plan WHERE id = %s"
        cursor.execute(query + lock, [today.isoformat(), plan_id])
        row: Any = cursor.fetchone()
    return bool(row and row[0])


@dataclass(frozen=True, slots=True)
class Odds:
    """How a question's channel treats one of its answers: exact chances, from the Plan's integers."""

    choices: int
    size: int  # how many choices one report holds
    own: Fraction  # chance that the report holds the answer that was given
    other: Fraction  # chance that it holds this answer when another was given
    luck: Fraction  # chance that it would hold it if it had nothing to do with the answer
    options: int = 0  # of several ticks: how many options there are, of which a report is about one

    @property
    def own_of_hundred(self) -> int:
        return of_hundred(self.own)

    @property
    def rest_of_hundred(self) -> int:
        return 100 - self.own_of_hundred

    @property
    def own_said(self) -> str:
        """Return a person's own answer of 100 in words of the pages: “>99” where it would be 100. Twin of odds.js."""
        return ">99" if self.own > ALMOST else f"{self.own_of_hundred}"

    @property
    def rest_said(self) -> str:
        return "<1" if self.own > ALMOST else f"{self.rest_of_hundred}"

    @property
    def luck_of_hundred(self) -> int:
        return of_hundred(self.luck)


def odds_of(question: dict[str, Any]) -> list[Odds]:
    """Return the odds of every choice of a Plan's question: none of a number, of which no choice is kept or turned.

    Of several ticks they are those of one option's tick, once chance has chosen the option.
    """
    channel = documents.channels({"questions": [question]})[question["name"]]
    if isinstance(channel, NumberChannel | Distribution):
        return []
    if isinstance(channel, OneOf):
        tick = channel.margin
        return [Odds(2, 1, tick.truth, tick.lie, Fraction(1, 2), channel.options)] * channel.options
    size = channel.size if isinstance(channel, Subset) else 1
    luck = Fraction(size, channel.choices)
    return [Odds(channel.choices, size, margin.truth, margin.lie, luck) for margin in channel.margins()]


def shown_order(question: dict[str, Any]) -> list[int]:
    """Return a question's choices in the order in which people see them: Yes before No. Twin of odds.js."""
    order = list(range(len(question["choices"])))
    return [1, 0, *order[2:]] if question["kind"] == "yes_no" else order


def of_hundred(share: Fraction) -> int:
    """Return a share as people of 100; 0 and 100 only where it is exactly that. Twin of odds.js."""
    rounded = floor(share * 100 + Fraction(1, 2))
    return min(99, max(1, rounded)) if 0 < share < 1 else rounded


def at_most_of_hundred(share: Fraction) -> str:
    """Return a share as people of 100 who are meant by "at most": up to the next tenth, so that the words stay true.

    Beside odds, which are rounded to the nearest whole, it is then the same number said closer: 73, and 73.2 at most.
    What would be 100 is said to the hundredth or thousandth, if that keeps it below: “more than 99” is no bound.
    Twin of odds.js.
    """
    bounds = (Decimal(ceil(share * 100 * parts)) / parts for parts in (10, 100, 1000))
    return next((f"{plain(bound)}" for bound in bounds if bound < 100), ">99.9")


def guess_of_readers(capped: Study | Panel) -> Fraction:
    """Return how often a guess from all publications is right at most, by somebody who knows every other answer.

    Between two answers, as likely as each other before. Twin of given.js, which computes it from the Plan.
    """
    return guess_within(capped.cap, Fraction(capped.cap_delta))
