"""Read what was published and what was asked for; tell what can be asked, from public quantities only."""

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor, sqrt
from typing import Any

from django.db.models import QuerySet
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from surveys.aggregation import queries as aggregation
from surveys.design import queries as design
from surveys.design.models import Plan, Study, Unit
from surveys.ledger import queries as ledger
from surveys.ledger.models import Entry
from surveys.releases import comparisons as comparisons
from surveys.releases import covered, statistics
from surveys.releases.asked import KINDS
from surveys.releases.asked.base import Asked, Refused, Standing
from surveys.releases.asked.shares import Shares
from surveys.releases.continual import Continual
from surveys.releases.covered import Cover as Cover
from surveys.releases.covered import document_of as document_of
from surveys.releases.models import Release, Request, Series, Step
from surveys.releases.verification import faults as faults
from surveys.releases.words import told as told

__all__ = ["Asked", "Refused", "Standing"]

SCHEDULE = "the study's rule"  # who asks, when nobody does: no account can have this name


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
        """Return what it is called by in its study. The row of the ledger is `entry.position`, everywhere."""
        return self.entry.number or 0

    @property
    def is_by_rule(self) -> bool:
        return self.request.who == SCHEDULE

    @property
    def published_on(self) -> datetime.date:
        if self.release is not None:
            return self.release.published_on
        return self.steps[-1].published_on if self.steps else self.entry.day

    @property
    def asked(self) -> Asked:
        return asked_of(self.request)

    @property
    def title(self) -> str:
        return heading(self.request.plan, self.asked)


def publications_of(study: Study) -> list[Publication]:
    """Return all that a study has published, newest first."""
    releases = Release.objects.filter(request__plan__study=study).select_related("request__plan", "entry")
    series = Series.objects.filter(request__plan__study=study).select_related("request__plan", "entry")
    found = [Publication(each.request, each.entry, each, None) for each in releases] + [
        Publication(each.request, each.entry, None, each, tuple(each.published.all()))
        for each in series.prefetch_related("published")
    ]
    return sorted(found, key=lambda each: each.number, reverse=True)


def covers(publication: Publication) -> list[Cover]:
    """Return the rows of the ledger that vouch for a publication's numbers, each step's of a series."""
    return covered.covers(publication.entry, [publication.release] if publication.release else publication.steps)


def publication_numbered(study: Study, number: int) -> Publication | None:
    """Return the publication that a study calls by this number."""
    return next((each for each in publications_of(study) if each.number == number), None)


def releases_of(study: Study) -> list[Release]:
    """Return a study's releases, by its rule and on request, newest first. Series have steps instead."""
    found = Release.objects.filter(request__plan__study=study)
    return list(found.select_related("request__plan", "entry").order_by("-pk"))


def by_rule_of(study: Study) -> list[Release | Step]:
    """Return the shares that a study's rule published, wave by wave and refresh by refresh, newest first."""
    made = Release.objects.filter(request__plan__study=study, request__who=SCHEDULE)
    steps = Step.objects.filter(series__request__plan__study=study, series__request__who=SCHEDULE)
    found: list[Release | Step] = [
        *made.select_related("request__plan", "entry"),
        *steps.select_related("series__request__plan", "series__entry"),
    ]
    return sorted(found, key=lambda each: each.published_at, reverse=True)


def latest_releases(plans: Iterable[Plan]) -> dict[int, Release | Step]:
    """Return the newest release, or step, that the rule of each Plan made, by Plan id."""
    by_rule = Release.objects.filter(request__plan__in=plans, request__who=SCHEDULE)
    found: dict[int, Release | Step] = {
        release.request.plan_id: release for release in by_rule.select_related("request", "entry").order_by("pk")
    }
    steps = Step.objects.filter(series__request__plan__in=plans, series__request__who=SCHEDULE)
    for step in steps.select_related("series__request", "series__entry").order_by("pk"):
        found[step.series.request.plan_id] = step
    return found


def last_by_rule(plan: Plan) -> Release | Step | None:
    return latest_releases([plan]).get(plan.pk)


def series_by_rule(plan: Plan) -> Series | None:
    """Return the series of a Plan whose refreshes were all paid on the first day, once that day has come."""
    return Series.objects.filter(request__plan=plan, request__who=SCHEDULE).first()


def answers_so_far(plan: Plan) -> int:
    """Return how many reports came: the one public quantity of a change-one study."""
    return aggregation.received(plan)


def batch_sizes(plan: Plan) -> list[int]:
    """Return how many reports each sealed batch holds: a public quantity of a change-one study too."""
    return aggregation.batch_sizes(plan)


# What was asked for


def requests_of(study: Study) -> QuerySet[Request]:
    """Return what researchers asked of a study, newest first."""
    found = Request.objects.filter(plan__study=study).exclude(who=SCHEDULE)
    return found.select_related("plan__study").order_by("-confirmed_at", "-pk")


def unanswered_of(study: Study) -> list[Request]:
    """Return what was asked for and is not drawn: a worker is at it, or the ledger refused it."""
    return list(requests_of(study).filter(release=None, series=None))


def title_of(request: Request) -> str:
    return heading(request.plan, asked_of(request))


def request_named(study: Study, digest: str) -> Request | None:
    return Request.objects.filter(plan__study=study, digest=digest).select_related("plan__study").first()


def same_request(plan: Plan, asked: Asked) -> Request | None:
    """Return the request that asking this now would be, if it is drawn or somebody has confirmed it and pays."""
    found = Request.objects.filter(digest=digest_now(plan, asked), refused="")
    return found.select_related("plan__study").first()


def digest_now(plan: Plan, asked: Asked) -> str:
    """Return the name of the request that asking this now would be."""
    return statistics.digest(statistic(plan, asked, aggregation.sealed_batches(plan)))


def people_counted(plan: Plan) -> int:
    """Return how many answers a request would be about: those sealed by now."""
    return aggregation.sealed_reports(plan)


def statistic(plan: Plan, asked: Asked, batches: int) -> dict[str, Any]:
    """Return the canonical request: the same one again is the same release."""
    return {
        "batches": batches,  # the first so many; sealed, so the number names their content
        "kind": asked.kind,
        "mechanism": asked.mechanism,
        "parameters": asked.document(),
        "plan": plan.digest,
    }


def drawn(request: Request) -> Release | Series | None:
    """Return what answered a request, if anything has."""
    found: Release | Series | None = Release.objects.filter(request=request).first()
    return found or Series.objects.filter(request=request).first()


def waiting_requests() -> QuerySet[Request]:
    """Return the confirmed requests that nothing has answered yet, the oldest first."""
    return Request.objects.filter(release=None, series=None, refused="").order_by("confirmed_at", "pk")


def asked_of(request: Request) -> Asked:
    return read(request.plan, request.kind, request.parameters)


def read(plan: Plan, kind: str, parameters: Mapping[str, Any]) -> Asked:
    """Return one kind of statistic at one setting; Refused if there is no such kind or setting."""
    known: dict[str, type[Asked]] = {**KINDS, Continual.kind: Continual}
    found = known.get(kind)
    if found is None:
        raise Refused("kind", _("expected one of %(names)s") % {"names": ", ".join(KINDS)})
    return found.read(plan, parameters)


def kinds() -> dict[str, type[Asked]]:
    """Return the kinds of statistics that there are, by their names in a request."""
    return dict(KINDS)


def by_rule(plan: Plan) -> Asked:
    """Return what a Plan's rule publishes: the shares of every question that can be counted."""
    rule = plan.content["publication"]
    rho = {"rho": rule["rho"]} if "rho" in rule else {}
    kind = Continual.kind if rule["rule"] == Continual.kind else Shares.kind
    return read(plan, kind, {"epsilon": rule["epsilon"], "questions": statistics.public_names(plan), **rho})


# What can be asked


def may_ask(plan: Plan, today: datetime.date) -> str:
    """Return why nothing can be asked of a Plan now, or nothing if it can: from public quantities only."""
    rule, sealed = plan.content["publication"], aggregation.sealed_reports(plan)
    least: int = rule["smallest_batch"]
    if ended := design.ended_on(plan, today):
        text = _("The study was retired on %(day)s. Nothing is published from it any more.")
        return text % {"day": date_format(ended, "DATE_FORMAT")}
    if sealed < least:
        text = ngettext(
            "Nothing is published before %(least)s answers; %(count)s has come and been counted.",
            "Nothing is published before %(least)s answers; %(count)s have come and been counted.",
            sealed,
        )
        return text % {"least": f"{least:,}", "count": f"{sealed:,}"}
    if rule["rule"] == "on-request":
        return ""
    last = last_by_rule(plan)
    if rule["rule"] == "continual":
        return "" if last else _("The study’s own numbers come first; they have not been published yet.")
    if plan.is_open:
        return _("The study’s own numbers come first. You can ask for more when it has closed.")
    if last is None or _rule_goes_on(plan, last):
        return _("The study’s own numbers come first; they have not been published yet.")
    return ""


def _rule_goes_on(plan: Plan, last: Release | Step) -> bool:
    """Tell whether the rule of a closed Plan still publishes: its numbers must not become somebody's request."""
    if not aggregation.everything_is_sealed(plan):
        return True
    new = aggregation.sealed_reports(plan) - int(last.numbers["n"])
    cost, part = by_rule(plan).cost, part_of(plan)
    accounts = [ledger.account(budget_id) for budget_id in budgets_of(plan, SCHEDULE)]
    return new >= plan.content["publication"]["smallest_batch"] and all(
        account.can_pay(cost, part=part) for account in accounts
    )


def too_dear(plan: Plan, asked: Asked) -> str:
    """Return why one request may not cost so much, or nothing: a Plan on request names the most that one may."""
    rule = plan.content["publication"]
    if rule["rule"] != "on-request":
        return ""
    if "rho" in rule:
        return _dear("ρ", Fraction(rule["rho"]), asked.cost.rho)
    return _dear("ε", Fraction(rule["epsilon"]), asked.cost.epsilon)


def _dear(sign: str, most: Fraction, paid: Fraction | None) -> str:
    if paid is not None and paid <= most:
        return ""
    parts = {"most": f"{float(most):.3g}", "noise": f"{floor(1000 * sqrt(2 * most)) / 1000:g}"}
    if paid is None:
        return _("one request of this study may cost at most ε %(most)s, and this has no finite ε") % parts
    parts["costs"] = f"{float(paid):.3g}"
    if sign == "ρ":
        return (
            _(
                "one request of this study may cost at most ρ %(most)s (noise at ε %(noise)s costs so much), and this "
                "costs ρ %(costs)s"
            )
            % parts
        )
    return _("one request of this study may cost at most ε %(most)s, and this costs ε %(costs)s") % parts


def budgets_of(plan: Plan, who: str) -> list[int]:
    """Return the budgets that a release is charged to: the study's, and any of its panel and of the researcher."""
    study = plan.study
    if study.budget_id is None:
        raise RuntimeError(f"{plan} has no budget")
    own = ledger.share_of(who, study.budget_id)
    panel = study.panel.central_budget_id if study.panel else None
    return sorted({study.budget_id, *([own.pk] if own else []), *([panel] if panel else [])})


def part_of(plan: Plan) -> str:
    """Return the part of the people that a release is about: a record of a wave is in that wave for ever."""
    return f"wave:{plan.wave}" if plan.content["unit"] == Unit.RESPONDENT_IN_WAVE else ""


def reason(plan: Plan, asked: Asked) -> str:
    """Return what a release is, in the Plan's own words: for the ledger, in English."""
    return _heading(plan, plan.content, asked)


def heading(plan: Plan, asked: Asked) -> str:
    """Return what a release is, in the reader's language."""
    return _heading(plan, plan.spoken, asked)


def _heading(plan: Plan, content: dict[str, Any], asked: Asked) -> str:
    labels = {question["name"]: question["label"] for question in content["questions"]}
    parts: dict[str, Any] = {"wave": plan.wave, "title": asked.title}
    if isinstance(asked, Shares | Continual) and len(asked.names) > 2:
        count = parts["count"] = len(asked.names)
        if plan.wave > 1:
            return (
                ngettext(
                    "Shares of %(count)s question, wave %(wave)s",
                    "Shares of %(count)s questions, wave %(wave)s",
                    count,
                )
                % parts
            )
        return ngettext("Shares of %(count)s question", "Shares of %(count)s questions", count) % parts
    parts["labels"] = ", ".join(labels[name] for name in asked.questions)
    return (_("%(title)s: %(labels)s, wave %(wave)s") if plan.wave > 1 else _("%(title)s: %(labels)s")) % parts


# Series


def standing_of(request: Request) -> Standing:
    asked = asked_of(request)
    if not isinstance(asked, Standing):
        raise TypeError(f"{request} is no series")
    return asked


def series_that_go_on() -> QuerySet[Series]:
    """Return the series that researchers began and that are not over."""
    found = Series.objects.filter(is_over=False, request__plan__study__retired_on=None)
    return found.exclude(request__who=SCHEDULE).select_related("request__plan__study")


def has_new_batch(series: Series) -> bool:
    """Tell whether a series that goes on by itself has a batch to look at."""
    if standing_of(series.request).question_form(series.request.plan) is not None:
        return False
    return aggregation.sealed_batches(series.request.plan) > _batches_seen(series)


def batches_for_step(series: Series, asked: Standing) -> int:
    """Return the batches that a step counts: those of its request where somebody asks, else one more each time."""
    plan, named = series.request.plan, int(series.request.statistic["batches"])
    if series.request.who == SCHEDULE:
        return aggregation.sealed_batches(plan)
    if asked.question_form(plan) is not None:
        return named
    return _batches_seen(series) + 1 if series.steps else named


def _batches_seen(series: Series) -> int:
    last = series.published.last()
    return int(last.numbers["batches"]) if last else 0


# Warnings


def counts_published(study: Study) -> int:
    """Return how many numbers a study has published: each is an equation about its people's answers."""
    published = [
        numbers
        for each in publications_of(study)
        for numbers in ([each.release.numbers] if each.release else [step.numbers for step in each.steps])
    ]
    return sum(len(table["rows"]) for numbers in published for table in numbers["tables"])
