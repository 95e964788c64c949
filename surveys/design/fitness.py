"""Whether a draft can open, what each question's protection does, and what its form would ask as it stands."""

import datetime
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from django.db.models import Prefetch, prefetch_related_objects
from django.utils.translation import gettext as _

from dpengine.privacy import epsilon_above, guess_at_most
from surveys.design import documents, opening, queries, terms, texts
from surveys.design.models import Question, Study, Translation
from surveys.design.refusals import CannotOpen


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a draft cannot open yet. `question`: its name; `language`: whose texts; neither: the study’s own terms."""

    text: str
    question: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Consequence:
    """What a question's protection does, from its channel's integers; a problem if it has none."""

    problem: str = ""
    loss: Fraction | None = None  # None: sent as given
    odds: list[queries.Odds] = field(default_factory=list)

    @property
    def epsilon(self) -> Decimal | None:
        return None if self.loss is None else epsilon_above(self.loss, places=2)

    @property
    def odd(self) -> queries.Odds | None:
        """Return the odds to show first: of the answer that is kept most often."""
        return max(self.odds, key=lambda odds: odds.own) if self.odds else None

    @property
    def guess_said(self) -> str:
        """Say how often of a hundred a guess between two answers, even before, is right at most."""
        return queries.at_most_of_hundred(guess_at_most(self.loss or Fraction(1)))

    @property
    def tone(self) -> str:
        """Say how it reads at a glance: better than 75 : 25, to 90 : 10, beyond."""
        guess = guess_at_most(self.loss or Fraction(1))
        return "calm" if guess <= Fraction(3, 4) else "middling" if guess <= Fraction(9, 10) else "risky"


def problem_of(question: Question) -> str:
    """Return why no Plan can hold a question, or nothing if one can."""
    try:
        documents.check(question)
    except (ValueError, TypeError) as error:
        return str(error)
    if question.protection != Question.Protection.DEVICE:
        return ""
    return terms.problem_of_epsilon(question.study, question.epsilon, queries.site_limits())


def consequence_of(question: Question) -> Consequence:
    """Return what a question's protection does, saved or not."""
    try:
        content = documents.content_of(question)
    except (ValueError, TypeError, ArithmeticError) as error:
        return Consequence(problem=str(error))
    if "loss" not in content:
        return Consequence()
    return Consequence(loss=documents.loss_of_question(content), odds=queries.odds_of(content))


def problems_of(study: Study, today: datetime.date) -> list[Problem]:
    """Return all that keeps a draft from opening, as far as it can be told before it is tried."""
    questions = list(study.questions.all())
    if not questions:
        return [Problem(_("There is no question yet."))]
    found = [Problem(text, question.name) for question in questions if (text := problem_of(question))]
    found += [Problem(text) for text in terms.problems(study).values()]
    found += [Problem(text) for text in (terms.problem_of_cap(study, queries.site_limits()),) if text]
    found += [Problem(text) for text in terms.problems_of_given(study, questions).values()]
    found += [Problem(text) for text in _problems_of_days(study, today)]
    found += [problem for translation in study.translations.all() for problem in _incomplete(study, translation)]
    return found or _refusal(study)


def _problems_of_days(study: Study, today: datetime.date) -> list[str]:
    found = []
    if study.closes_on is not None and study.closes_on < today:
        found.append(_("The last day of collecting is in the past."))
    if study.retires_on is not None and study.retires_on <= today:
        found.append(_("The day of retirement must come after today."))
    return found


def _incomplete(study: Study, translation: Translation) -> list[Problem]:
    lacking = texts.missing(study, translation.content)
    if not lacking:
        return []
    names = ", ".join(f"{part.question}: {part.name}" if part.question else part.name for part in lacking[:5])
    more = len(lacking) - 5
    said = _("%(names)s and %(more)s more") % {"names": names, "more": more} if more > 0 else names
    text = _("%(language)s is incomplete: %(missing)s.") % {
        "language": translation.get_language_display(),
        "missing": said,
    }
    return [Problem(text, language=translation.language)]


def _refusal(study: Study) -> list[Problem]:
    """Compose the Plan, and tell what only then shows."""
    content = draft_content(study)
    total = documents.loss_of_plan(content) if content else Fraction(1)
    if total > documents.MAXIMUM_TOTAL:
        text = _(
            "All answers of one person together lose ε %(total)s, and browsers refuse more than 8. Lower the ε of some "
            "questions, or ask fewer."
        )
        return [Problem(text % {"total": epsilon_above(total, places=2)})]
    try:
        opening.frozen(study)
    except CannotOpen as refusal:
        return [Problem(str(refusal))]
    return []


def draft_content(study: Study) -> dict[str, Any] | None:
    """Return what a Plan of the draft would say, of what is fit to be asked; None if nothing is."""
    fit = [question for question in study.questions.all() if not problem_of(question)]
    complete = [each.pk for each in study.translations.all() if not texts.missing(study, each.content)]
    whole = _composed(study, fit, complete)
    if whole is not None:
        return whole
    kept: list[Question] = []
    for question in fit:  # one refers to another that is not there, or not before it
        if _composed(study, [*kept, question], complete) is not None:
            kept.append(question)
    return _composed(study, kept, complete)


def _composed(study: Study, questions: list[Question], translations: list[int]) -> dict[str, Any] | None:
    """Compose a Plan of some of a draft's questions and languages."""
    if not questions:
        return None
    draft = Study.objects.get(pk=study.pk)
    kept = Question.objects.filter(pk__in=[question.pk for question in questions])
    whole = Translation.objects.filter(pk__in=translations)
    prefetch_related_objects([draft], Prefetch("questions", kept), Prefetch("translations", whole))
    try:
        return documents.compose(draft)
    except (ValueError, documents.Unsound):
        return None
