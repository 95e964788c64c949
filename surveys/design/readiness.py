"""Whether a draft can open, what its questions' protection does, and what its form would ask.

`Readiness.problems` is the one list of what keeps a draft from opening: pages show it, the launch
refuses by it. What it lets pass is a Plan, `Readiness.content`, which `verify` has proved.
"""

import contextlib
import copy
import datetime
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from django.db.models import Prefetch, prefetch_related_objects
from django.utils.translation import gettext as _, ngettext
from msgspec.structs import replace

from dpengine.privacy import epsilon_above
from surveys import languages
from surveys.design import blocks, days, documents, selectors, sharing, terms, texts, waves
from surveys.design.models import Question, SiteLimits, Study, Translation
from surveys.design.questions import content_of, unfit
from surveys.guesses import CLOSE, FAIR, even_guess
from surveys.plan.content import Invited, PlanContent, Stratum, Unsound
from surveys.plan.invited import FEWEST, MOST_STRATA, stand_in
from surveys.plan.verification import MAXIMUM_TOTAL, verify
from surveys.zones import UTC

DAY = 24  # hours
# Fields that stand on the page of limits; all others are on that of texts and terms
ON_LIMITS = {
    "cap",
    "cap_delta",
    "epsilon_ceiling",
    "neighbours",
    "panel",
    "person",
    "release_epsilon",
    "retires_on",
    "unit",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a draft cannot open yet: a question, by name, a language, its list, or a term of the
    study, by its field.
    """

    text: str
    question: str = ""
    language: str = ""
    label: str = ""  # of the question, for people
    is_of_list: bool = False
    term: str = ""

    def __str__(self) -> str:
        return f"{self.label}: {self.text}" if self.label else self.text

    @property
    def is_of_limits(self) -> bool:
        """Tell whether it is mended on *Limits*; else it is on *Texts and terms*."""
        return self.term in ON_LIMITS


@dataclass(frozen=True, slots=True)
class Consequence:
    """What a question's protection does, from its channel's integers; a problem if it has none."""

    problem: str = ""
    loss: Fraction | None = None  # None: sent as given
    odds: list[selectors.Odds] = field(default_factory=list)

    @property
    def epsilon(self) -> Decimal | None:
        return None if self.loss is None else epsilon_above(self.loss, places=2)

    @property
    def odd(self) -> selectors.Odds | None:
        """Return the odds to show first: of the answer that is kept most often."""
        return max(self.odds, key=lambda odds: odds.own) if self.odds else None

    @property
    def guess_said(self) -> str:
        """Say how often of a hundred a guess between two answers, even before, is right at most."""
        return even_guess(self.loss or Fraction(1))

    @property
    def tone(self) -> str:
        """Say how it reads at a glance: better than 75 : 25, to 90 : 10, beyond."""
        loss = self.loss or Fraction(1)
        return "risky" if loss > CLOSE else "calm" if loss <= FAIR else "middling"


def problem_of(question: Question, limits: SiteLimits | None = None) -> str:
    """Return why no Plan of the site can hold a question, or nothing if one can."""
    problem = unfit(question)
    if problem or question.protection != Question.Protection.DEVICE:
        return problem
    limits = limits or selectors.site_limits()
    return terms.problem_of_epsilon(question.study, question.epsilon, limits)


def consequence_in_draft(question: Question, *, is_share: bool) -> Consequence:
    """Return what the protection of a question that is being written would do in its draft; with an
    ε that was set by hand, if `is_share` is not said, which the others do not follow.
    """
    if is_share:
        questions = sharing.filled(question.study, question)[1]
        question = next(each for each in questions if each.name == question.name)
        return consequence_of(question, questions)
    questions = list(question.study.questions.all())
    for each in questions:  # what is sent as one answer has one ε
        if each.together and each.together == question.together:
            each.epsilon = question.epsilon
    return consequence_of(question, questions)


def consequence_of(question: Question, among: Iterable[Question] | None = None) -> Consequence:
    """Return what a question's protection does, saved or not."""
    try:
        content = content_of(question, among)
    except (ValueError, TypeError, ArithmeticError) as error:
        return Consequence(problem=str(error))
    if content.loss is None:
        return Consequence()
    return Consequence(loss=content.loss, odds=selectors.odds_of(content))


class Readiness:
    """A draft as it stands: read once, in a few queries whatever its length, and composed once."""

    def __init__(
        self, study: Study, invited: Invited | None = None, limits: SiteLimits | None = None
    ) -> None:
        """`invited`: the list as the Plan would have it, with keys that stand for those to come;
        None: nothing is told of a list. `limits`: those of the site, where they are held.
        """
        self.study = copy.copy(study)  # its questions are read now, whatever was read before
        self.study._prefetched_objects_cache = {}  # type: ignore[attr-defined]
        pictured = Question.objects.select_related("picture").defer("picture__content")
        prefetch_related_objects([self.study], Prefetch("questions", pictured), "translations")
        self.questions = list(self.study.questions.all())
        all_texts = self.study.translations.all()  # of its own language too, if that was changed
        self.translations = [each for each in all_texts if each.language != self.study.language]
        tags = [self.study.language, *(each.language for each in self.translations)]
        self.unspoken = {tag: problem for tag in tags if (problem := languages.problem(tag))}
        self.limits = limits or selectors.site_limits()
        self.of_list = list(problems_of_list(self.study, invited.strata)) if invited else []
        self.invited = _of_one_stratum(invited) if invited and self.of_list else invited
        self.unfit = {
            question.name: problem
            for question in self.questions
            if (problem := problem_of(question, self.limits))
        }
        self.lacking = {
            translation.language: parts
            for translation in self.translations
            if (parts := texts.missing(self.study, translation.content))
        }

    @cached_property
    def content(self) -> PlanContent | None:
        """What a Plan of all that is fit to be asked would say; None if nothing is."""
        fit = [question for question in self.questions if question.name not in self.unfit]
        with contextlib.suppress(ValueError):
            return self._composed(fit) if fit else None
        sound: list[Question] = []
        for question in fit:  # one refers to another that is not there, or not before it
            with contextlib.suppress(ValueError):
                content_of(question, [*sound, question])
                sound.append(question)
        with contextlib.suppress(ValueError):
            return self._composed(sound) if sound else None
        return None

    def _composed(self, questions: list[Question]) -> PlanContent:
        left_out = self.lacking.keys() | self.unspoken.keys()
        whole = [each for each in self.translations if each.language not in left_out]
        return documents.compose(self.study, questions, whole, self.invited)

    def problems(self, now: datetime.datetime) -> list[Problem]:
        """Return all that keeps it from opening; what shows only of the whole, once its parts are
        fit.
        """
        if not self.questions:
            return [Problem(_("Add a question first."))]
        labels = {question.name: question.label for question in self.questions}
        by_name = [*self.unfit.items(), *blocks.problems(self.questions)]
        found = [Problem(text, name, label=labels[name]) for name, text in by_name]
        named = terms.named_problems(self.study, self.questions, self.limits)
        found += [Problem(text, term=field) for field, text in [*named, *self._of_days(now)]]
        found += [
            _incomplete(translation, self.lacking[translation.language], labels)
            for translation in self.translations
            if translation.language in self.lacking
        ]
        found += [Problem(text, language=tag) for tag, text in self.unspoken.items()]
        return [*self.of_list, *found] or self._of_the_whole()

    def _of_days(self, now: datetime.datetime) -> Iterable[tuple[str, str]]:
        """Yield what of a draft's days has passed, each with its field."""
        study, today = self.study, now.astimezone(datetime.UTC).date()
        if study.closes_on is not None and study.closes_on < days.day_in(study.zone, now):
            text = _("The last day of collecting is in the past: %(day)s.")
            yield "closes_on", text % {"day": days.told(study.closes_on, study.zone)}
        if study.retires_on is not None and study.retires_on <= today:
            text = _("The study is to end on %(day)s: choose a day after today.")
            yield "retires_on", text % {"day": days.told(study.retires_on, UTC)}
        if study.is_invited and study.answers_from is not None and study.answers_from <= today:
            yield "answers_from", _("Answers must be sent from a day after today on.")

    def _of_the_whole(self) -> list[Problem]:
        """Tell what shows only when the Plan is composed."""
        content = self.content
        try:
            if content is None or len(content.questions) < len(self.questions):
                content = self._composed(self.questions)
        except ValueError as error:
            return [Problem(str(error))]
        if content.loss > MAXIMUM_TOTAL:
            text = _(
                "All answers of one person together lose ε %(total)s, and browsers refuse more "
                "than 8. Lower the ε of some questions, or ask fewer."
            )
            found = text % {"total": epsilon_above(content.loss, places=2)}
            return [Problem(found, term="person")]
        try:
            verify(content)
        except Unsound as error:
            return [Problem(str(error))]
        if found := terms.problem_of_person(content, self.limits):
            return [Problem(found, term="person")]
        field, found = waves.problem(self.study, content)
        return [Problem(found, term=field)] if found else []


def problems_of_list(study: Study, strata: list[Stratum]) -> Iterator[Problem]:
    """Yield why a draft cannot open with its list, which has these strata."""
    if not strata:
        yield Problem(_("The list is empty."), is_of_list=True)
        return
    if len(strata) > MOST_STRATA:
        text = _("A list has %(most)s strata at most, and this one %(count)s.")
        told = text % {"most": MOST_STRATA, "count": len(strata)}
        yield Problem(told, is_of_list=True)
    if study.rule in ("every", "continual") and study.hours < DAY:
        text = _("Numbers of a list change once a day: publish every 24 hours at most.")
        yield Problem(text, term="hours")
    if len(strata) > 1 and not strata[0].name:
        text = ngettext(
            "%(count)s person has no stratum, and others have one.",
            "%(count)s people have no stratum, and others have one.",
            strata[0].people,
        )
        yield Problem(text % {"count": strata[0].people}, is_of_list=True)
    if problem := problem_of_batch(study, sum(each.people for each in strata)):
        yield Problem(problem, term="smallest_batch")
    few = _("%(stratum)s has %(people)s people; %(least)s are needed to hide one among them.")
    for each in strata:
        if each.people < FEWEST:
            told = few % {"stratum": said(each.name), "people": each.people, "least": FEWEST}
            yield Problem(told, is_of_list=True)


def problem_of_batch(study: Study, people: int) -> str:
    """Return why nothing would ever be published of a list of so many people, or nothing: fewer are
    on it than have to answer. Of one that nobody is on yet, nothing is said.
    """
    if not people or people >= study.smallest_batch:
        return ""
    return _(
        "The list has %(people)s people, and nothing is published before %(least)s answers. Add "
        "people, or lower “Fewest answers to publish”."
    ) % {"people": people, "least": study.smallest_batch}


def said(stratum: str) -> str:
    """Return a stratum as pages call it."""
    return f"“{stratum}”" if stratum else _("The list")


def _of_one_stratum(invited: Invited) -> Invited:
    """Return what a preview says of a list that is not fit to open: all its people in one stratum,
    and no fewer than are needed.
    """
    people = max(FEWEST, sum(each.people for each in invited.strata))
    return replace(invited, strata=[Stratum(key=stand_in(0), name="", people=people)])


def _incomplete(
    translation: Translation, lacking: list[texts.Part], labels: Mapping[str, str]
) -> Problem:
    names = ", ".join(
        f"{labels.get(part.question, part.question)}: {part.name}" if part.question else part.name
        for part in lacking[:5]
    )
    more = len(lacking) - 5
    missing = (
        _("%(names)s and %(more)s more") % {"names": names, "more": more} if more > 0 else names
    )
    text = _("%(language)s is incomplete: %(missing)s.") % {
        "language": languages.name(translation.language),
        "missing": missing,
    }
    return Problem(text, language=translation.language)
