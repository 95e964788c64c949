"""Read what was published and asked for; tell what can be asked, from public values."""

import datetime
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, sqrt
from operator import itemgetter

from django.db.models import F, IntegerField, Prefetch, Q, QuerySet, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Cast
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from dpengine.central.counter import Strategy
from dpengine.central.counts import Mechanism
from dpengine.privacy import plain
from surveys import clock
from surveys.aggregation import selectors as aggregation
from surveys.design import selectors as design
from surveys.design.models import Plan, Study
from surveys.ledger import selectors as ledger
from surveys.ledger.models import Entry
from surveys.messages import message, translate
from surveys.plan.content import PlanContent, PublicationTerms
from surveys.releases import covered, statistics
from surveys.releases.covered import Cover
from surveys.releases.models import Release, Request, Series, Step
from surveys.releases.numbers import Document
from surveys.releases.queries import ALL, KINDS
from surveys.releases.queries.base import InteractiveQuery, Query
from surveys.releases.queries.continual import Continual
from surveys.releases.queries.parameters import WrongParameter
from surveys.releases.queries.people import People
from surveys.releases.queries.shares import Shares
from surveys.releases.statistics import Part

# Who asks, when nobody does: no account can have this name.
SCHEDULE = message("the study's rule")()
# What the ledger says of who wants intervals that say next to nothing
ANYWAY = message("confirmed publishing in spite of wide intervals")
MOST_ANSWERS = 10**6
ANSWERS = Cast(KT("numbers__n"), IntegerField())  # how many a release, or a step, counts
WITH_QUESTIONS = [kind.kind for kind in ALL if "question_form" in vars(kind)]  # at each step


# What was published


@dataclass(frozen=True, slots=True)
class Publication:
    """A release or a series: what somebody paid for, with the numbers that came of it."""

    request: Request
    entry: Entry
    release: Release | None
    series: Series | None
    steps: tuple[Step, ...] = ()

    @property
    def number(self) -> int:
        """Return its number in its study. The row of the ledger is `entry.position`."""
        return self.entry.number or 0

    @property
    def drawn(self) -> tuple[Release | Step, ...]:
        """Return its release, or all steps of its series."""
        return (self.release,) if self.release else self.steps

    @property
    def is_by_rule(self) -> bool:
        return self.request.who == SCHEDULE

    @property
    def published_on(self) -> datetime.date:
        return self.drawn[-1].published_on if self.drawn else self.entry.day

    @property
    def query(self) -> Query:
        return query_of(self.request)

    @property
    def title(self) -> str:
        return heading(self.request.plan, self.query)


def publications_of(study: Study, *, numbers: bool = True) -> list[Publication]:
    """Return all that a study has published, newest first. Without `numbers`, each release reads
    its own when they are first used: a study publishes for years.
    """
    return _publications(Q(request__plan__study=study), numbers=numbers)


def asked_of(study: Study) -> list[Publication]:
    """Return what a study has published because somebody asked, newest first."""
    return _publications(Q(request__plan__study=study) & ~Q(request__who=SCHEDULE))


def _publications(wanted: Q, *, numbers: bool = True) -> list[Publication]:
    with_plan = ("request", "entry")  # the Plan, which many have in common, is read once
    releases = Release.objects.filter(wanted).select_related(*with_plan).annotate(answers=ANSWERS)
    series = Series.objects.filter(wanted).select_related(*with_plan)
    steps = Step.objects.all()
    if not numbers:
        releases, steps = releases.defer("numbers"), steps.defer("numbers")
    series = series.prefetch_related("request__plan", Prefetch("published", steps))
    publications = [
        Publication(drawn.request, drawn.entry, drawn, None)
        for drawn in releases.prefetch_related("request__plan")
    ] + [
        Publication(drawn.request, drawn.entry, None, drawn, tuple(drawn.published.all()))
        for drawn in series
    ]
    return sorted(publications, key=lambda publication: publication.number, reverse=True)


def covers(publication: Publication) -> list[Cover]:
    """Return the rows that vouch for a publication's numbers, each step's of a series."""
    return covered.covers(publication.entry, publication.drawn)


def publication_numbered(study: Study, number: int) -> Publication | None:
    """Return the publication that a study calls by this number."""
    wanted = Q(request__plan__study=study, entry__number=number)
    return next(iter(_publications(wanted)), None)


def by_rule_of(study: Study, *, numbers: bool = False) -> list[Release | Step]:
    """Return the shares that a study's rule published, of all waves, newest first, each with how
    many `answers` it counts. Without `numbers`, each reads its own when they are first used.
    """
    releases, steps = _by_rule(design.plans().filter(study=study))
    if not numbers:
        releases, steps = releases.defer("numbers"), steps.defer("numbers")
    published: list[Release | Step] = [
        *releases.annotate(answers=ANSWERS)
        .select_related("request", "entry")
        .prefetch_related("request__plan"),
        *steps.annotate(answers=ANSWERS)
        .select_related("series__request", "series__entry")
        .prefetch_related("series__request__plan"),
    ]
    return sorted(published, key=lambda drawn: drawn.published_at)[::-1]


def latest_releases(plans: Iterable[Plan]) -> dict[int, Release | Step]:
    """Return the newest release, or step, that the rule of each Plan made, by Plan id. Of earlier
    ones only the moments are read.
    """
    releases, steps = _by_rule(plans)
    moments = [
        *releases.values_list("published_at", "request__plan", "pk", Value(False)),
        *steps.values_list("published_at", "series__request__plan", "pk", Value(True)),
    ]
    newest = {plan: (pk, is_step) for _, plan, pk, is_step in sorted(moments, key=itemgetter(0))}
    of_releases = [pk for pk, is_step in newest.values() if not is_step]
    of_steps = [pk for pk, is_step in newest.values() if is_step]
    found: list[Release | Step] = [
        *releases.filter(pk__in=of_releases).select_related("request__plan", "entry"),
        *steps.filter(pk__in=of_steps).select_related("series__request__plan", "series__entry"),
    ]
    return {drawn.request.plan_id: drawn for drawn in found}


def _by_rule(plans: Iterable[Plan]) -> tuple[QuerySet[Release], QuerySet[Step]]:
    """Return what the rules of Plans published: releases and steps."""
    releases = Release.objects.filter(request__plan__in=plans, request__who=SCHEDULE).exclude(
        request__statistic__kind=People.kind
    )
    steps = Step.objects.filter(series__request__plan__in=plans, series__request__who=SCHEDULE)
    return releases, steps


def spent_as_planned(budget_ids: Iterable[int]) -> set[int]:
    """Return those of these budgets whose study's rule has published all that it will, or can pay
    what comes next.
    """
    newest = design.newest_plans().filter(study__budget__in=budget_ids)
    plans = [plan for plan in newest if publishes_by_rule(plan)]
    last, came = latest_releases(plans), answers_of(plans)

    def is_done(plan: Plan) -> bool:
        drawn, least = last.get(plan.pk), plan.content.publication.smallest_batch
        if drawn is None or isinstance(drawn, Step):  # of which all were paid with the first
            return drawn is not None
        return not plan.is_open and (came[plan.pk] or 0) - drawn.content.n < least

    found = [plan for plan in plans if is_done(plan) or rule_can_pay(plan)]
    return {plan.study.budget_id for plan in found if plan.study.budget_id is not None}


def last_by_rule(plan: Plan) -> Release | Step | None:
    return latest_releases([plan]).get(plan.pk)


def series_by_rule(plan: Plan) -> Series | None:
    """Return the series that a Plan's rule began by paying for every refresh, if it has."""
    return Series.objects.filter(request__plan=plan, request__who=SCHEDULE).first()


def answers_so_far(plan: Plan) -> int | None:
    """Return how many reports came, where that is public; else how many were counted, with noise,
    None before they were.
    """
    return answers_of([plan])[plan.pk]


def answers_of(plans: Sequence[Plan]) -> dict[int, int | None]:
    """Return the same of several Plans, by id."""
    public = [plan for plan in plans if plan.content.n_is_public]
    hidden = [plan for plan in plans if not plan.content.n_is_public]
    listed = [plan for plan in public if _changes_daily(plan)]
    told = dict.fromkeys((plan.pk for plan in plans), None) | aggregation.received_of(public)
    told |= aggregation.sealed_before(listed, _today()) if listed else {}
    return told | (_told_of(hidden) if hidden else {})


def _changes_daily(plan: Plan) -> bool:
    """Tell whether how many answers came changes at midnight only: of a list, every count that
    follows arrivals is a clock, by which who saw somebody fetch a ticket could join them.
    """
    return plan.content.invited is not None and not plan.study.is_retired


def _today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()


def people(plan: Plan) -> int | None:
    """Return how many people numbers are about: those that may be counted by now; where whether
    somebody took part is protected, the noisy number, None before it was drawn.
    """
    if not plan.content.n_is_public:
        return _told_of([plan]).get(plan.pk)
    if _is_counted_daily(plan):
        return aggregation.sealed_before([plan], _today())[plan.pk]
    return aggregation.sealed_reports(plan)


def _is_counted_daily(plan: Plan) -> bool:
    """Tell whether numbers are about batches of earlier days only, so that what is published tells
    of none that was sealed today: those of a list while it takes answers.
    """
    return plan.is_open and _changes_daily(plan)


def countable_batches(plan: Plan) -> int:
    """Return how many batches may be counted by now."""
    if _is_counted_daily(plan):
        return aggregation.batches_before(plan, _today())
    return aggregation.sealed_batches(plan)


def _told_of(plans: Iterable[Plan]) -> dict[int, int]:
    """Return the noisy numbers of people that were published, by Plan id."""
    counted = Release.objects.filter(request__plan__in=plans, request__statistic__kind=People.kind)
    return {
        release.request.plan_id: release.content.n
        for release in counted.select_related("request").order_by("-pk")
    }


def batch_sizes(plan: Plan) -> list[int]:
    """Return how many reports each sealed batch holds, where that is public; of a list, of those
    sealed by midnight.
    """
    if not plan.content.n_is_public:
        return []
    days = [_today()] if _changes_daily(plan) else []
    return aggregation.batch_sizes(plan, *days)


def batches_named(plan: Plan) -> int:
    """Return the sealed batches that a request names; 0, all there are of a closed wave, where how
    many there are would tell how many took part.
    """
    return countable_batches(plan) if plan.content.n_is_public else 0


# What was asked for


def requests_of(study: Study) -> QuerySet[Request]:
    """Return what researchers asked of a study, newest first."""
    requests = Request.objects.filter(plan__study=study).exclude(who=SCHEDULE)
    return requests.select_related("plan__study").order_by("-confirmed_at", "-pk")


def unanswered_of(study: Study) -> list[Request]:
    """Return what was asked for and is not drawn: a worker is at it, or the ledger refused it."""
    return list(requests_of(study).filter(release=None, series=None))


def title_of(request: Request) -> str:
    return heading(request.plan, query_of(request))


def request_named(study: Study, digest: str) -> Request | None:
    return (
        Request.objects.filter(plan__study=study, digest=digest)
        .select_related("plan__study")
        .first()
    )


def same_request(plan: Plan, query: Query) -> Request | None:
    """Return the request that this would repeat, if it is drawn or its asker pays."""
    requests = Request.objects.filter(digest=digest_now(plan, query), refused="")
    return requests.select_related("plan__study").first()


def digest_now(plan: Plan, query: Query) -> str:
    """Return the name of the request that asking this now would be."""
    return statistics.digest(statistic(plan, query, batches_named(plan)))


def people_counted(plan: Plan) -> int:
    """Return how many answers a request would be about, as far as it is told."""
    return people(plan) or 0


def statistic(plan: Plan, query: Query, batches: int) -> Document:
    """Return the canonical request: the same one again is the same release."""
    return {
        "batches": batches,  # the first so many; sealed, so the number names their content
        "kind": query.kind,
        "mechanism": query.mechanism,
        "parameters": query.document(),
        "plan": plan.digest,
    }


def drawn(request: Request) -> Release | Series | None:
    """Return what answered a request, if anything has."""
    release: Release | Series | None = Release.objects.filter(request=request).first()
    return release or Series.objects.filter(request=request).first()


def waiting_requests() -> QuerySet[Request]:
    """Return the confirmed requests that nothing has answered yet, the oldest first."""
    return Request.objects.filter(is_waiting=True).order_by("confirmed_at", "pk")


def query_of(request: Request) -> Query:
    return read(request.plan, request.kind, request.parameters)


def read(plan: Plan, kind: str, parameters: Document) -> Query:
    """Return a query of this kind, at this setting; WrongParameter if there is none such."""
    query = KINDS.get(kind)
    if query is None:
        raise WrongParameter("kind", _("expected one of %(names)s") % {"names": ", ".join(kinds())})
    if not query.is_for(plan):
        text = _("none that goes on, for how often it does would tell how many take part")
        raise WrongParameter("kind", text)
    return query.read(plan, parameters)


def asked(plan: Plan, kind: str, parameters: Document) -> Query:
    """Return what somebody asks for now, from cleaned form data: ε is what this release alone lets
    out. WrongParameter if there is none such.
    """
    query = read(plan, kind, {**parameters, "alone": True})
    query.refuse_asked(people_counted(plan))
    return query


def kinds() -> dict[str, type[Query]]:
    """Return the kinds that researchers can ask, by their names in a request."""
    return {kind.kind: kind for kind in ALL}


def by_rule(plan: Plan) -> Query:
    """Return what a Plan's rule publishes: the shares of every question that can be counted."""
    rule = plan.content.of_shares
    kind = Continual.kind if rule.rule == Continual.kind else Shares.kind
    names = statistics.public_names(plan)
    parameters = {"epsilon": rule.epsilon, "questions": names, "rho": rule.rho}
    return read(plan, kind, {**parameters, "strategy": Strategy.WEIGHTED})


def next_by_rule(plan: Plan) -> Query:
    """Return what a Plan's rule publishes next: before all else, how many took part, where that is
    not public.
    """
    return by_rule(plan) if people(plan) is not None else People.of(plan)


def publishes_by_rule(plan: Plan) -> bool:
    """Tell whether a Plan's rule publishes anything."""
    return plan.content.publication.rule != "on-request" and bool(statistics.public_names(plan))


# What can be asked


def may_ask(plan: Plan, today: datetime.date) -> str:
    """Return why nothing can be asked of a Plan now, or nothing: from public quantities only."""
    rule, sealed = plan.content.publication, people(plan)
    if ended := design.ended_on(plan, today):
        return _("The study ended on %(day)s. It publishes nothing more.") % {
            "day": date_format(ended, "DATE_FORMAT")
        }
    if doubt := clock.doubt():
        return doubt
    if sealed is None:
        return _(
            "In this study it is protected whether somebody took part. Nothing is published before "
            "it has closed, and how many did has been counted."
        )
    if sealed < rule.smallest_batch:
        text = _("Nothing is published before %(least)s answers, and fewer have been counted yet.")
        if _closed_with_too_few(plan):
            text = _("Nothing is published before %(least)s answers, and fewer came.")
        return text % {"least": f"{rule.smallest_batch:,}"}
    if rule.rule == "on-request":
        return ""
    last, is_paid = last_by_rule(plan), rule.rule == Continual.kind
    if plan.is_open and not is_paid:
        return _("The study’s own numbers come first. You can ask for more when it has closed.")
    if last is None or (not is_paid and _rule_goes_on(plan, last)):
        return _("The study’s own numbers come first; they have not been published yet.")
    return ""


def _closed_with_too_few(plan: Plan) -> bool:
    """Tell whether no more can come, nor be counted; false also where the public may not know."""
    if plan.is_open or not plan.content.n_is_public or _changes_daily(plan):
        return False
    return (answers_so_far(plan) or 0) < plan.content.publication.smallest_batch


def _rule_goes_on(plan: Plan, last: Release | Step) -> bool:
    """Tell whether the rule of a closed Plan still publishes: nobody may request its numbers."""
    if not aggregation.everything_is_sealed(plan):
        return True
    new = people_counted(plan) - last.content.n
    return new >= plan.content.publication.smallest_batch and rule_can_pay(plan)


@dataclass(frozen=True, slots=True)
class TooWide:
    """A question of which so many answers would say next to nothing, and how many would do."""

    label: str
    percent: int  # of all that is possible, which its interval is expected to cover
    answers: int | None  # with which no question would be as wide; None: no number of answers


def too_wide(plan: Plan, n: int) -> TooWide | None:
    """Return the question whose interval would cover most, if it is more than the Plan publishes
    by itself; from n, the channels and the Plan only.
    """
    widest = plan.content.publication.widest
    if not widest or not statistics.public_names(plan):
        return None
    query = by_rule(plan)
    if not isinstance(query, Shares):
        return None
    noise = statistics.noise_in_people(plan.content)
    covered, part = max(
        ((statistics.covered(part, n, noise), part) for part in query.parts),
        key=lambda pair: pair[0],
    )
    if 100 * covered <= widest:
        return None
    enough = [_answers_for(part, widest, noise) for part in query.parts]
    known = [each for each in enough if each is not None]
    answers = max(known) if len(known) == len(enough) else None
    return TooWide(part.question.label, round(100 * covered), answers)


def _answers_for(part: Part, widest: int, noise: Mechanism | None) -> int | None:
    """Return the least number of answers with which an interval is no wider than that;
    None if a million are not enough.
    """

    def is_enough(people: int) -> bool:
        return 100 * statistics.covered(part, people, noise) <= widest

    least = 1 + bisect_left(range(1, MOST_ANSWERS + 1), True, key=is_enough)
    return least if least <= MOST_ANSWERS else None


def waits(plan: Plan) -> TooWide | None:
    """Return what a Plan's rule waits for: intervals that say something, or somebody who wants
    them as they are.
    """
    if not plan.content.publication.widest or is_wanted_anyway(plan):
        return None
    return too_wide(plan, people_counted(plan))


def is_wanted_anyway(plan: Plan) -> bool:
    """Tell whether a researcher confirmed that wide intervals are published."""
    budget_id = plan.study.budget_id
    return budget_id is not None and ledger.has_act(budget_id, what=ANYWAY(), new=plan.digest)


def rule_can_pay(plan: Plan, now: datetime.datetime | None = None) -> bool:
    """Tell whether the budgets can pay what a Plan's rule publishes next, at a moment if given."""
    return can_pay(plan, next_by_rule(plan), SCHEDULE, now)


def can_pay(plan: Plan, query: Query, who: str, now: datetime.datetime | None = None) -> bool:
    """Tell whether the budgets can pay for a query, at a moment if given."""
    cost, part = query.cost, part_of(plan)
    accounts = map(ledger.account, budgets_of(plan, who))
    return all(account.can_pay(cost, part=part, now=now) for account in accounts)


def too_dear(plan: Plan, query: Query) -> str:
    """Return why a request may not cost so much, or nothing: a Plan on request sets a limit. Of a
    cap that holds by either, ε is one for pure noise too.
    """
    rule, cost, budget = plan.content.publication, query.cost, plan.study.budget
    if query.alone and rule.rho is not None:
        return _too_dear_alone(rule, query)
    is_in_rho = rule.rho is not None and not (cost.is_pure and budget and budget.is_either)
    paid = cost.rho if is_in_rho else cost.epsilon
    most = Fraction(rule.rho if rule.rho and is_in_rho else rule.epsilon)
    is_little = rule.rho is not None and cost.rho <= Fraction(rule.rho)
    if rule.rule != "on-request" or is_little or (paid is not None and paid <= most):
        return ""
    parts = {
        "most": f"{float(most):.3g}",
        "noise": f"{floor(1000 * sqrt(2 * most)) / 1000:g}",
        "costs": "" if paid is None else f"{float(paid):.3g}",
    }
    if paid is None:
        text = _("one request of this study may cost at most ε %(most)s, and this has no finite ε")
    elif is_in_rho:
        text = _(
            "one request of this study may cost at most ρ %(most)s (noise at ε %(noise)s costs "
            "so much), and this costs ρ %(costs)s"
        )
    else:
        text = _(
            "one request of this study may cost at most ε %(most)s, and this costs ε %(costs)s"
        )
    return text % parts


def _too_dear_alone(rule: PublicationTerms, query: Query) -> str:
    """Return the same of a request whose ε is what it alone lets out: its ρ says how much."""
    if rule.rule != "on-request" or query.cost.rho <= Fraction(rule.rho or 0):
        return ""
    text = _("one request of this study may let out ε %(most)s at most, and this is ε %(costs)s")
    return text % {"most": rule.epsilon, "costs": plain(query.asked_epsilon)}


def budgets_of(plan: Plan, who: str) -> list[int]:
    """Return the budgets that pay for a release: of the study, its panel and the researcher."""
    study = plan.study
    if study.budget_id is None:
        raise RuntimeError(f"{plan} has no budget")
    own = ledger.share_of(who, study.budget_id)
    panel = study.panel.central_budget_id if study.panel else None
    return sorted({study.budget_id, *([own.pk] if own else []), *([panel] if panel else [])})


def part_of(plan: Plan) -> str:
    """Return the part of the people that a release is about: a wave's records stay in it."""
    return plan.content.part


def reason(plan: Plan, query: Query) -> str:
    """Return what a release is, in the Plan's own words: for the ledger, in English."""
    return query.heading(_labels(plan.content), plan.wave)


def heading(plan: Plan, query: Query) -> str:
    """Return what a release is, in the reader's language."""
    return translate(query.heading(_labels(plan.spoken), plan.wave))


def _labels(content: PlanContent) -> dict[str, str]:
    return {question.name: question.label for question in content.questions}


# Series


def interactive_query_of(request: Request) -> InteractiveQuery:
    query = query_of(request)
    if not isinstance(query, InteractiveQuery):
        raise TypeError(f"{request} is no series")
    return query


def series_behind() -> list[Series]:
    """Return the series that researchers began, that go on by themselves, and that have not seen
    the last batch: each step sees one more than the step before.
    """
    going = Request.objects.filter(series__is_over=False, plan__study__retired_on=None)
    by_themselves = going.exclude(who=SCHEDULE).exclude(statistic__kind__in=WITH_QUESTIONS)
    named = Cast(KT("statistic__batches"), IntegerField())
    with_seen = by_themselves.annotate(
        sealed=aggregation.sealed_of("plan", "batches"), seen=named + F("series__steps") - 1
    )
    behind = with_seen.filter(sealed__gt=F("seen")).select_related("series", "plan__study")
    return [request.series for request in behind]


def has_new_batch(series: Series) -> bool:
    """Tell whether a series that goes on by itself has a batch to look at."""
    if interactive_query_of(series.request).question_form() is not None:
        return False
    return countable_batches(series.request.plan) > _batches_seen(series)


def batches_for_step(series: Series, query: InteractiveQuery) -> int:
    """Return how many batches a step counts: those of its request, or one more each time."""
    plan, named = series.request.plan, int(series.request.statistic["batches"])
    if series.request.who == SCHEDULE:
        return countable_batches(plan)
    if query.question_form() is not None:
        return named
    return _batches_seen(series) + 1 if series.steps else named


def _batches_seen(series: Series) -> int:
    last = series.published.last()
    return last.content.batches if last else 0
