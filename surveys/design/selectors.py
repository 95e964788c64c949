"""Find Plans, and read what they say."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, When
from django.utils.translation import gettext as _, gettext_lazy
from msgspec import MsgspecError

from dpengine.local.channel import Learns
from dpengine.local.choose import ways
from dpengine.privacy import Neighbours, epsilon_above
from surveys import languages
from surveys.design import documents, news, terms
from surveys.design.models import (
    Catalogue,
    DraftChange,
    Panel,
    Picture,
    Plan,
    Question,
    SiteLimits,
    Study,
)
from surveys.design.site import site_limits as site_limits
from surveys.design.summaries import Changed
from surveys.guesses import of_hundred
from surveys.plan.content import PlanContent, PlanQuestion
from surveys.plan.kinds import KINDS

ALMOST = Fraction(199, 200)  # above it, people of 100 would be 100: they are “>99”
MAX_CHANGES = 100  # shown at once
WAYS = {  # what each device would do, by its name in dpengine.local.choose
    "keep": gettext_lazy("keep the answer %(own)s times of 100 and turn it otherwise"),
    "forced": gettext_lazy("force answers, three yes for one no"),
    "bits": gettext_lazy("send a bit for every answer, each turned as often"),
    "uneven bits": gettext_lazy("send a bit for every answer, ones turned more often"),
    "one of": gettext_lazy("name one answer"),
    "one": gettext_lazy("name one answer, the true one more often than another"),
    "several": gettext_lazy(
        "name %(size)s of the %(all)s answers, the true one more often than another"
    ),
}


def latest_plan(slug: str) -> Plan | None:
    """Return the newest Plan of a study: the one its link opens."""
    return Plan.objects.filter(study__slug=slug).select_related("study").order_by("-wave").first()


def plans_of(digests: Iterable[str]) -> list[Plan]:
    """Return the Plans with these digests, open or not."""
    return list(Plan.objects.filter(digest__in=digests).select_related("study"))


def published_among(slugs: Iterable[str]) -> set[str]:
    """Return which of these names studies have that opened at least once."""
    found = published_studies().filter(slug__in=slugs).order_by()
    return set(found.values_list("slug", flat=True))


def has_plan(*, slug: str, digest: str) -> bool:
    """Tell whether a study has opened with this Plan, without reading it."""
    return Plan.objects.filter(study__slug=slug, digest=digest).exists()


def earlier_digests(plan: Plan) -> list[str]:
    """Return the digests of a study's Plans before this one: what an old link names."""
    return list(
        Plan.objects.filter(study=plan.study_id, wave__lt=plan.wave).values_list(
            "digest", flat=True
        )
    )


def catalogues(content: PlanContent) -> list[Catalogue]:
    """Return the words of the form in the languages of a Plan, all that this site has had."""
    served = filter(None, map(languages.words_of, content.languages))
    tags = {words.tag for words in served}
    return list(Catalogue.objects.filter(tag__in=tags))


def picture(sha256: str) -> Picture | None:
    return Picture.objects.filter(sha256=sha256).first()


def studies() -> QuerySet[Study]:
    """Return all studies, drafts too."""
    return Study.objects.all()


def panels() -> QuerySet[Panel]:
    return Panel.objects.all()


def published_studies() -> QuerySet[Study]:
    """Return the studies that have opened at least once."""
    return Study.objects.filter(plans__isnull=False).distinct()


def changes_of(owner: Study | Panel) -> list[DraftChange]:
    """Return what was changed of a draft, newest first: for its members."""
    return list(owner.changes.all()[:MAX_CHANGES])


def who_edited(studies: Iterable[Study]) -> set[str]:
    """Return by what name the histories of these drafts call whoever edited them."""
    changes = DraftChange.objects.filter(study__in=studies)
    return set(changes.order_by().values_list("who", flat=True).distinct())


def drafts() -> QuerySet[Study]:
    """Return the studies whose present wave has not opened, and still may."""
    return Study.objects.filter(retired_on=None).exclude(plans__wave=F("wave"))


def drafts_beyond(limits: SiteLimits) -> list[tuple[Study, str]]:
    """Return the drafts that could not open within these limits, and why not."""
    beyond = []
    for study in drafts().prefetch_related("questions"):
        questions = study.questions.all()
        given = terms.problems_of_given(study, questions).values()
        problems = [terms.problem_of_cap(study, limits), *given]
        for question in questions:
            problem = terms.problem_of_epsilon(study, question.epsilon, limits)
            if problem and question.protection == Question.Protection.DEVICE:
                problems.append(f"{question.label}: {problem}")
        problems.append(_problem_of_person(study, list(questions), limits))
        if problem := next(filter(None, problems), ""):
            beyond.append((study, problem))
    return beyond


def _problem_of_person(study: Study, questions: list[Question], limits: SiteLimits) -> str:
    """Return why one person may not give away what a draft's questions take; nothing if they may,
    or if no Plan can hold these questions anyway.
    """
    try:
        content = documents.compose(study, questions, ())
    except ValueError:
        return ""
    return terms.problem_of_person(content, limits)


def plans() -> QuerySet[Plan]:
    return Plan.objects.select_related("study")


def plans_in_order(ids: Iterable[int]) -> list[Plan]:
    """Return these Plans in this order. A list that is long is sorted by ids: documents are long
    too, and a database carries along what it sorts.
    """
    ids = list(ids)
    found = plans().in_bulk(ids)
    return [found[pk] for pk in ids]


def is_retired(plan: Plan) -> bool:
    """Tell whether a Plan's study is retired, as the database has it now."""
    return Study.objects.filter(pk=plan.study_id, retired_on__isnull=False).exists()


def ended_on(plan: Plan, today: datetime.date) -> datetime.date | None:
    """Return the day since which nothing is published of a Plan's study, as the database has it.

    The day of its retirement counts even if no worker has retired it yet. Whoever publishes asks
    after locking the budget, which retiring locks too: then the answer holds to the end.
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
    studies = list(studies)
    plans = newest_plans().filter(study__in=studies)
    newest = {plan.study_id: plan for plan in plans}
    return [Standing(study, newest.get(study.pk)) for study in studies]


def counted_live() -> QuerySet[Plan]:
    """Return the Plans, in no order, of which everybody may know at any moment how many answered:
    of a list it changes once a day, while it is asked.
    """
    told = plans().filter(study__neighbours=Neighbours.CHANGE_ONE)
    return told.exclude(study__is_invited=True, closed_on=None).order_by()


def in_grace(now: datetime.datetime) -> list[int]:
    """Return the ids of the waves that may still get answers of their last day, which has passed.
    One that cannot be read gets none.
    """
    over = Plan.objects.filter(closed_on=None, closes_on__lt=now.date()).order_by()
    return [plan.pk for plan in over if _may_get_more(plan, now)]


def _may_get_more(plan: Plan, now: datetime.datetime) -> bool:
    try:
        return not plan.is_past_grace(now)
    except (MsgspecError, ValueError):
        return False


def newest_plans() -> QuerySet[Plan]:
    """Return the newest Plan of every study that has opened, with its study."""
    later = Plan.objects.filter(study=OuterRef("study"), wave__gt=OuterRef("wave"))
    return Plan.objects.filter(~Exists(later)).select_related("study")


def registered_plans(words: str = "", **narrowed: str) -> QuerySet[Plan]:
    """Return the newest Plans of studies whose title or organisation hold all these words, and
    whose summary is as wanted; those that can be compared together, smallest ε of one person first.
    """
    plans = newest_plans().filter(**{f"summary__{name}": part for name, part in narrowed.items()})
    for word in words.casefold().split():
        plans = plans.filter(summary__words__contains=word)
    places = enumerate(Changed.values)
    place = Case(*(When(summary__changed=value, then=at) for at, value in places), default=-1)
    return plans.order_by("summary__unit", place, "summary__epsilon", "summary__title", "pk")


def due_for_a_sweep(plan_ids: Iterable[int]) -> dict[int, int]:
    """Return how many reports must wait for a sweep to be due, of those of these Plans of which
    everybody may know how many answered: a smallest batch, or one once the wave has closed.
    """
    rows = (
        counted_live()
        .filter(pk__in=plan_ids)
        .values_list("pk", "closed_on", "summary__smallest_batch")
    )
    return {pk: 1 if closed_on else max(1, smallest or 1) for pk, closed_on, smallest in rows}


def maybe_spent() -> QuerySet[Study]:
    """Return the living studies whose cap was found reached, or that the ledger has news of which
    nobody has looked at yet.
    """
    found = Q(spent_on__isnull=False) | Q(pk__in=news.of(news.CAPS).studies.values("pk"))
    return Study.objects.filter(found, retired_on=None)


class Taking(NamedTuple):
    """On which days, in UTC, an open Plan takes reports (`Plan.day_of`), and how many, of all and
    of each stratum.
    """

    last: datetime.date = datetime.date.max
    first: datetime.date = datetime.date.min
    most: int | None = None
    most_of_stratum: int | None = None

    @property
    def is_limited(self) -> bool:
        return self.most is not None or self.most_of_stratum is not None


def taking(plan_ids: Iterable[int]) -> dict[int, Taking]:
    """Return when each of these Plans that are open takes reports, and how many; and keep it so
    until this transaction ends.

    On PostgreSQL a shared lock makes a closing wait for reports under way, so that none is
    accepted after the last sweep; on SQLite every writing transaction excludes the others.
    """
    ids = sorted(set(plan_ids))
    lock = " FOR SHARE" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        places = ", ".join(["%s"] * len(ids))
        query = (
            "SELECT id, closes_on, begins_on, closes_at, stratum_closes_at FROM design_plan "  # noqa: S608
            f"WHERE closed_on IS NULL AND id IN ({places}) ORDER BY id{lock}"
        )
        cursor.execute(query, ids)
        rows: list[Any] = cursor.fetchall()
    return {
        plan_id: Taking(
            last=_day(closes_on) if closes_on else datetime.date.max,
            first=_day(begins_on) if begins_on else datetime.date.min,
            most=most,
            most_of_stratum=most_of_stratum,
        )
        for plan_id, closes_on, begins_on, most, most_of_stratum in rows
    }


def _day(stored: datetime.date | str) -> datetime.date:
    if isinstance(stored, str):  # as SQLite keeps it
        return datetime.date.fromisoformat(stored)
    return stored


def is_open_now(plan_id: int, today: datetime.date) -> bool:
    """Tell whether a Plan takes reports, and keep it so until this transaction ends."""
    found = taking([plan_id]).get(plan_id)
    return found is not None and today <= found.last


@dataclass(frozen=True, slots=True)
class Odds:
    """How a question's channel treats one of its answers: exact chances."""

    choices: int
    size: int  # how many choices one report holds
    own: Fraction  # chance that the report holds the answer that was given
    other: Fraction  # chance that it holds this answer when another was given
    luck: Fraction  # chance that it would hold it if it had nothing to do with the answer
    options: int = 0  # of several ticks: how many options there are,
    told: int = 1  # of which a report is about so many

    @property
    def own_of_hundred(self) -> int:
        return of_hundred(self.own)

    @property
    def rest_of_hundred(self) -> int:
        return 100 - self.own_of_hundred

    @property
    def own_said(self) -> str:
        """Return how many of 100 send their own answer, “>99” for 100. Twin of odds.js."""
        return ">99" if self.own > ALMOST else f"{self.own_of_hundred}"

    @property
    def rest_said(self) -> str:
        return "<1" if self.own > ALMOST else f"{self.rest_of_hundred}"

    @property
    def luck_of_hundred(self) -> int:
        return of_hundred(self.luck)


def odds_of(question: PlanQuestion) -> list[Odds]:
    """Return the odds of every choice of a Plan's question; none of a number, which has no choices.

    Of one that is sent in one answer with others they are those of the combination, unless just one
    is named. Of several ticks they are those of one option's tick, once chance has chosen it among
    those that are told of.
    """
    channel = question.channel
    if question.together and channel.held > 1:
        channel = question.together.joint.channel
    if channel.learns is Learns.TICKS:
        tick, options = channel.margins()[0], channel.answers
        odds = Odds(2, 1, tick.truth, tick.lie, Fraction(1, 2), options, channel.held)
        return [odds] * options
    if channel.learns is not Learns.SHARES:
        return []
    choices, size = channel.answers, channel.held
    return [
        Odds(choices, size, margin.truth, margin.lie, Fraction(size, choices))
        for margin in channel.margins()[: len(question.choices)]
    ]


def reason_for_channel(question: PlanQuestion) -> str:
    """Return in one sentence what the next best way than a question's channel would cost; nothing
    of a question that is sent as given, counted, or of several ticks.
    """
    is_choice = KINDS[question.kind].is_condition and not question.together
    if question.is_cleartext or not is_choice:
        return ""
    own, *others = ways(question.channel)
    other = min(others, key=lambda way: way.variance)
    return _(
        "Each device would %(way)s; at ε = %(epsilon)s the next best of the ways compared, to "
        "%(other_way)s, %(price)s."
    ) % {
        "way": WAYS[own.name] % own.figures,
        "epsilon": epsilon_above(question.channel.loss, 2),
        "other_way": WAYS[other.name] % other.figures,
        "price": _price(other.variance / own.variance),
    }


def _price(times: float) -> str:
    """Say how many more people another way needs for the same precision."""
    if times < 1.005:
        return _("needs as many people")
    if times < 2:
        return _("needs %(share)s %% more people to be as precise") % {
            "share": f"{100 * (times - 1):.0f}"
        }
    return _("needs %(times)s times as many people to be as precise") % {"times": f"{times:.1f}"}
