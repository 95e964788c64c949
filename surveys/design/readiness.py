"""Whether a draft can open, what its questions' protection does, and what its form would ask."""

import copy
import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from django.db.models import Prefetch, prefetch_related_objects
from django.utils.translation import gettext as _

from dpengine.privacy import epsilon_above
from surveys.design import blocks, days, documents, launch, selectors, sharing, terms, texts
from surveys.design.models import Question, SiteLimits, Study, Translation
from surveys.design.questions import content_of, unfit
from surveys.design.refusals import CannotOpen
from surveys.guesses import CLOSE, FAIR, even_guess
from surveys.plan.content import Invited, PlanContent
from surveys.plan.verification import MAXIMUM_TOTAL

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

    def __init__(self, study: Study, invited: Invited | None = None) -> None:
        """`invited`: the list as the Plan would have it, with keys that stand for those to come."""
        self.invited = invited
        self.study = copy.copy(study)  # its questions are read now, whatever was read before
        self.study._prefetched_objects_cache = {}  # type: ignore[attr-defined]
        pictured = Question.objects.select_related("picture").defer("picture__content")
        prefetch_related_objects([self.study], Prefetch("questions", pictured), "translations")
        self.questions = list(self.study.questions.all())
        self.translations = list(self.study.translations.all())
        self.limits = selectors.site_limits()
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
        whole = self._composed(fit)
        if whole is not None:
            return whole
        sound: list[Question] = []
        for question in fit:  # one refers to another that is not there, or not before it
            try:
                content_of(question, [*sound, question])
            except ValueError:
                continue
            sound.append(question)
        return self._composed(sound)

    def _composed(self, questions: list[Question]) -> PlanContent | None:
        whole = [each for each in self.translations if each.language not in self.lacking]
        try:
            return (
                documents.compose(self.study, questions, whole, self.invited) if questions else None
            )
        except ValueError:
            return None

    def problems(self, today: datetime.date) -> list[Problem]:
        """Return all that keeps it from opening, as far as it can be told before it is tried."""
        if not self.questions:
            return [Problem(_("There is no question yet."))]
        study = self.study
        labels = {question.name: question.label for question in self.questions}
        by_name = [*self.unfit.items(), *blocks.problems(study, self.questions)]
        problems = [Problem(text, name, label=labels[name]) for name, text in by_name]
        found = terms.named_problems(study, self.questions, self.limits)
        problems += [Problem(text, term=field) for field, text in found]
        last = study.closes_on
        if last and days.ends_at(last, study.zone) <= days.begins_at(today, None):
            text = _("The last day of collecting is in the past.")
            problems.append(Problem(text, term="closes_on"))
        if study.retires_on is not None and study.retires_on <= today:
            text = _("The day of retirement must come after today.")
            problems.append(Problem(text, term="retires_on"))
        problems += [
            _incomplete(translation, self.lacking[translation.language], labels)
            for translation in self.translations
            if translation.language in self.lacking
        ]
        return problems or self._refusal()

    def _refusal(self) -> list[Problem]:
        """Tell what shows only when the Plan is composed."""
        content = self.content
        if content is not None and content.loss > MAXIMUM_TOTAL:
            text = _(
                "All answers of one person together lose ε %(total)s, and browsers refuse more "
                "than 8. Lower the ε of some questions, or ask fewer."
            )
            found = text % {"total": epsilon_above(content.loss, places=2)}
            return [Problem(found, term="person")]
        if content is not None and (found := terms.problem_of_person(content, self.limits)):
            return [Problem(found, term="person")]
        is_whole = content is not None and len(content.questions) == len(self.questions)
        try:
            launch.frozen(self.study, content if is_whole else None)
        except CannotOpen as refusal:
            return [Problem(str(refusal))]
        return []


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
        "language": translation.get_language_display(),
        "missing": missing,
    }
    return Problem(text, language=translation.language)
