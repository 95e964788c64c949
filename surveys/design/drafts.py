"""Edit a draft: its texts, its questions, their order.

Each edit holds the study, so that nobody opens it meanwhile, and what touches ε is a line of its
history, with who did it and why, which its members can read.
"""

import contextlib
import datetime
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.text import slugify
from django.utils.translation import gettext as _

from surveys import languages
from surveys.design import blocks, changes, combinations, revisions, selectors, sharing, terms
from surveys.design.locks import lock_draft
from surveys.design.models import Question, Study, Translation
from surveys.design.questions import decline
from surveys.design.refusals import Refused
from surveys.messages import message
from surveys.plan.records import ONE_ANSWER

WRITTEN = message("written in the draft of wave %(wave)s")

MAX_QUESTIONS = 60
MAX_SLUG = 50  # which leaves room for a number after it
USUAL_EPSILON = Decimal(1)  # where a person's ε is not shared
Fields = dict[str, Any]  # of a question or a study, by name, as the model has them
COPIED = tuple(
    field.attname
    for field in Question._meta.concrete_fields
    if field.attname not in ("id", "study_id", "position")
)


@contextlib.contextmanager
def editing(
    *, study_id: int, who: str, now: datetime.datetime, why: str | None = None
) -> Iterator[Study]:
    """Hold a draft while it is edited; then write down what has changed, as its next revision, and
    what of that are terms.

    A person's ε that its questions share is shared again. It and what a publication costs follow
    the waves that are planned, unless somebody says another. With its first question that is sent
    as given, its cap and its batch come within what such answers need. What the site's
    admin has given beyond that was given for these questions: it lapses when one of them changes,
    or in how many waves they are asked with a cap each.
    """
    with transaction.atomic():
        study = lock_draft(study_id=study_id)
        before, had = changes.terms_of(study), _sent_as_given(study)
        was = Study.objects.get(pk=study_id)
        with revisions.recorded(study, who=who, now=now):
            yield study
            saved = Study.objects.get(pk=study_id)
            is_usual = saved.release_epsilon == was.release_epsilon == terms.usual_cost(was)
            if saved.planned != was.planned and is_usual:
                saved.release_epsilon = terms.usual_cost(saved)
            limits = selectors.site_limits()
            if saved.person == was.person == sharing.usual_person(limits, was):
                saved.person = sharing.usual_person(limits, saved)
            now_asked = _sent_as_given(saved)
            more_waves = saved.unit == combinations.IN_WAVE and saved.planned != was.planned
            if now_asked != had or more_waves:
                saved.given_cap = saved.given_batch = saved.given_why = saved.given_by = None
            if now_asked and (not had or (saved.unit == ONE_ANSWER and now_asked != had)):
                terms.fit_given(saved)
            saved.save()
            sharing.share(saved)
        reason = WRITTEN(wave=study.wave) if why is None else why
        changes.record_changes(of=saved, before=before, who=who, why=reason, now=now)


@transaction.atomic
def delete_draft(*, study_id: int) -> None:
    """Delete a study that has never opened, with its questions, members and history."""
    study = lock_draft(study_id=study_id)
    if study.plans.exists():
        raise Refused(
            _("“%(study)s” has opened before: it stays. Nothing was deleted.") % {"study": study}
        )
    study.delete()


@transaction.atomic
def rename_draft(*, study_id: int, slug: str) -> Study:
    """Give a study that has never opened another address."""
    study = lock_draft(study_id=study_id)
    if study.plans.exists():
        raise Refused(
            _("“%(study)s” has opened before: its link is out. Nothing was changed.")
            % {"study": study}
        )
    study.slug = slug
    try:
        study.clean_fields(exclude=[f.name for f in Study._meta.fields if f.name != "slug"])
        study.validate_unique()
    except ValidationError as error:
        raise Refused(" ".join(error.messages)) from error
    if problem := terms.problems(study).get("slug"):
        raise Refused(problem)
    study.save(update_fields=["slug"])
    return study


def _sent_as_given(study: Study) -> list[Fields]:
    """Return all that a draft says of its questions that are sent as given, wherever they stand."""
    questions = (
        study.questions.filter(protection=Question.Protection.PUBLICATION).order_by("name").values()
    )
    return [
        {part: value for part, value in question.items() if part != "position"}
        for question in questions
    ]


@transaction.atomic
def new_draft(*, texts: Fields, questions: Sequence[Fields] = ()) -> Study:
    """Make a study to be drafted, within the site's limits, at an address made of its title.

    A person's ε is spent on its questions as the planner proposes, unless they come with a way of
    their own; and publications may say as much: then they need no noise of their own.
    """
    _refuse_too_many(len(questions))
    limits = selectors.site_limits()
    cap = min(sharing.usual_person(limits), limits.cap_ceiling)
    expected = texts.get("expected") or sharing.USUAL_EXPECTED
    study = Study(
        slug=free_slug(str(texts["title"])),
        is_planned=not (texts.get("asked") or _are_set(questions) or _are_joined(questions)),
        smallest_batch=sharing.batch_for(expected),
        cap=cap,
        epsilon_floor=limits.epsilon_floor,
        epsilon_ceiling=limits.epsilon_ceiling,
        zone=settings.STUDY_TIME_ZONE,
        **{**texts, "expected": expected},
    )
    study.person = None if _are_set(questions) else sharing.usual_person(limits, study)
    study.release_epsilon = terms.usual_cost(study)
    study.full_clean()
    study.save()
    for position, fields in enumerate(questions, start=1):
        _make(study, {**fields, "position": position})
    if _sent_as_given(study):
        terms.fit_given(study)
        study.save()
    sharing.share(study)
    return study


def _are_set(questions: Sequence[Fields]) -> bool:
    """Tell whether an ε of these is set by hand: then a person's is shared no more."""
    return any(
        each.get("epsilon") is not None
        and each.get("protection") != Question.Protection.PUBLICATION
        for each in questions
    )


def _are_joined(questions: Sequence[Fields]) -> bool:
    """Tell whether some of these come with what they are sent in: then nothing is planned."""
    return any(each.get("together") for each in questions)


def free_slug(title: str) -> str:
    """Return an address that no study has and that no page of the site is."""
    stem = slugify(title)[:MAX_SLUG].strip("-_") or "study"
    taken = (
        set(Study.objects.filter(slug__startswith=stem).values_list("slug", flat=True))
        | terms.RESERVED
    )
    numbered = (f"{stem}-{number}" for number in range(2, 10_000))
    return next(slug for slug in (stem, *numbered) if slug not in taken)


def save_study(
    *, study: Study, fields: Sequence[str], who: str, now: datetime.datetime, why: str | None = None
) -> Study:
    """Save these fields of a draft as they were typed, and what follows from them: a smallest batch
    that nobody set follows the answers expected, and who says how many questions each person is
    asked plans no more.
    """
    with editing(study_id=study.pk, who=who, now=now, why=why) as saved:
        follows: Fields = {}
        usual = sharing.batch_for(saved.expected or sharing.USUAL_EXPECTED)
        if "expected" in fields and saved.smallest_batch == usual:
            batch = sharing.batch_for(study.expected or sharing.USUAL_EXPECTED)
            follows["smallest_batch"] = max(batch, terms.least_batch(saved))
        if "asked" in fields and "is_planned" not in fields:
            follows["is_planned"] = False
        for name in follows.keys() - set(fields):
            setattr(study, name, follows[name])
        study.save(update_fields=[*fields, *(follows.keys() - set(fields))])
    return study


def add_questions(
    *, study_id: int, questions: Sequence[Fields], who: str, now: datetime.datetime
) -> list[Question]:
    """Put questions at the end of a draft."""
    with editing(study_id=study_id, who=who, now=now) as study:
        last = study.questions.count()
        _refuse_too_many(last + len(questions))
        if _are_set(questions):
            _share_no_more(study)
        if _are_joined(questions):
            plan_no_more(study)
        return [
            _make(study, {**each, "position": last + at})
            for at, each in enumerate(questions, start=1)
        ]


def _share_no_more(study: Study) -> None:
    """Let each question keep the ε that it has, because one of them is set by hand."""
    study.person, study.is_planned = None, False
    study.save(update_fields=["person", "is_planned"])


def plan_no_more(study: Study) -> None:
    """Let a draft keep its way, because somebody sets it by hand."""
    study.is_planned = False
    study.save(update_fields=["is_planned"])


def _refuse_too_many(count: int) -> None:
    if count > MAX_QUESTIONS:
        raise Refused(
            _(
                "A study has at most %(most)s questions; this one would have %(found)s. Nothing "
                "was added."
            )
            % {"most": MAX_QUESTIONS, "found": count}
        )


def _make(study: Study, fields: Fields) -> Question:
    """Make a question. An ε that was set is never raised to the least allowed, for then a person
    would lose more than was said: the launch refuses it by name.
    """
    floor, ceiling = terms.allowed_epsilon(study, selectors.site_limits())
    wanted = fields.get("epsilon")
    epsilon = min(max(USUAL_EPSILON, floor) if wanted is None else Decimal(wanted), ceiling)
    name = free_name(study, str(fields.get("name", "")))
    return Question.objects.create(**{**fields, "study": study, "name": name, "epsilon": epsilon})


def free_name(study: Study, wanted: str = "") -> str:
    """Return a name for a question that no other one of the study has."""
    taken = set(study.questions.values_list("name", flat=True))
    if wanted and wanted not in taken:
        return wanted
    stem = wanted[:16] or "q"
    first = 2 if wanted else len(taken) + 1
    return next(
        f"{stem}{number}" for number in range(first, 10_000) if f"{stem}{number}" not in taken
    )


def save_question(
    *, question: Question, is_share: bool = False, who: str, now: datetime.datetime
) -> Question:
    """Save a question as it was typed; a new one stands last. What names it follows its name.

    An ε that is not its share was set by hand: then each question keeps its own. One that was left
    empty is its share as the draft is now, whatever others changed since the form was checked.
    """
    with editing(study_id=question.study_id, who=who, now=now) as study:
        was = Question.objects.filter(pk=question.pk).first()
        old = was and was.name
        shares = sharing.parts(study, question)
        if is_share:
            question.epsilon = shares.get(question.name, question.epsilon)
        if shares.get(question.name, question.epsilon) != question.epsilon:
            _share_no_more(study)
        if old is None:
            question.position = study.questions.count() + 1
            _refuse_too_many(question.position)
        question.save()
        if question.together:  # what is sent as one answer has one ε, and is declined as one
            own = list(study.questions.filter(together=question.together))
            for each in own:
                each.epsilon = question.epsilon
                if was is not None and was.may_decline != question.may_decline:
                    decline(each, offered=question.may_decline)
            Question.objects.bulk_update(own, ["epsilon", "may_decline", "codes"])
        if old is not None and old != question.name:
            study.questions.filter(asked_if=old).update(asked_if=question.name)
            for translation in study.translations.all():
                if old in (texts := translation.content.get("questions", {})):
                    texts[question.name] = texts.pop(old)
                    translation.save(update_fields=["content"])
    return question


def order_questions(
    *, study_id: int, names: Sequence[str], who: str, now: datetime.datetime
) -> None:
    """Put a draft's questions in this order; it must name each of them once."""
    with editing(study_id=study_id, who=who, now=now) as study:
        questions = {question.name: question for question in study.questions.all()}
        if sorted(names) != sorted(questions):
            raise Refused(
                _("The questions have changed meanwhile. Nothing was moved: look at them again.")
            )
        for position, name in enumerate(names, start=1):
            questions[name].position = position
        Question.objects.bulk_update(questions.values(), ["position"])


def move_question(*, study_id: int, name: str, by: int, who: str, now: datetime.datetime) -> int:
    """Move a question up (−1) or down (1); return the place where it stands now, from 1."""
    names = list(Question.objects.filter(study_id=study_id).values_list("name", flat=True))
    if name not in names:
        raise Question.DoesNotExist
    place = names.index(name)
    target = min(max(place + by, 0), len(names) - 1)
    names.insert(target, names.pop(place))
    order_questions(study_id=study_id, names=names, who=who, now=now)
    return target + 1


def duplicate_question(*, study_id: int, name: str, who: str, now: datetime.datetime) -> Question:
    """Put a copy of a question right after it."""
    with editing(study_id=study_id, who=who, now=now) as study:
        if study.questions.count() >= MAX_QUESTIONS:
            raise Refused(
                _("A study has at most %(most)s questions. Nothing was copied.")
                % {"most": MAX_QUESTIONS}
            )
        asked = study.questions.get(name=name)
        fields = {field: getattr(asked, field) for field in COPIED}
        alone = {"name": free_name(study), "together": ""}
        return _insert(study, {**fields, **alone}, asked.position + 1)


def delete_question(*, study_id: int, name: str, who: str, now: datetime.datetime) -> Fields:
    """Take a question out of a draft; return what `restore_question` needs to bring it back."""
    with editing(study_id=study_id, who=who, now=now) as study:
        asked = study.questions.get(name=name)
        fields = {field: getattr(asked, field) for field in (*COPIED, "position")}
        asked.delete()
        return {**fields, "epsilon": str(fields["epsilon"])}


def restore_question(
    *, study_id: int, fields: Fields, who: str, now: datetime.datetime
) -> Question:
    """Bring back a question that was deleted, in its place."""
    with editing(study_id=study_id, who=who, now=now) as study:
        _refuse_too_many(study.questions.count() + 1)
        restored = {
            **fields,
            "epsilon": Decimal(fields["epsilon"]),
            "name": free_name(study, fields["name"]),
        }
        return _insert(study, restored, restored.pop("position"))


def _insert(study: Study, fields: Fields, position: int) -> Question:
    """Make a question at a place, and number all of them anew."""
    others = list(study.questions.all())
    inserted = Question.objects.create(study=study, position=position, **fields)
    others.insert(position - 1, inserted)
    for place, question in enumerate(others, start=1):
        question.position = place
    Question.objects.bulk_update(others, ["position"])
    return inserted


def set_protections(
    *,
    study_id: int,
    epsilons: dict[str, Decimal],
    planned: Fields | None = None,
    ways: Mapping[str, Fields] | None = None,
    who: str,
    why: str,
    now: datetime.datetime,
) -> Study:
    """Set the ε of questions by name, and fields of the study that were planned with them: all of
    it, or nothing. `ways`: how each question matters, and what it is sent in, by its name. The way
    is set by hand unless `is_planned` is among the fields.
    """
    with editing(study_id=study_id, who=who, now=now, why=why) as study:
        if ways or "asked" in (planned or {}):
            plan_no_more(study)
        for name, fields in (ways or {}).items():
            study.questions.filter(name=name).update(**fields)
        for question in study.questions.filter(name__in=epsilons):
            if problem := terms.problem_of_epsilon(
                study, epsilons[question.name], selectors.site_limits()
            ):
                raise Refused(f"{question.name}: {problem}")
            question.epsilon = epsilons[question.name]
            question.save(update_fields=["epsilon"])
        if epsilons:
            _share_no_more(study)
        if planned:
            _set_terms(study, planned)
        questions = list(study.questions.all()) if ways else []
        as_one = combinations.of_questions(study, questions, of=["sent"])
        for _name, problem in (*blocks.problems(questions), *as_one):
            raise Refused(problem)
    return study


def _set_terms(study: Study, fields: Fields) -> None:
    """Set fields of a draft; refuse what they make wrong, and not what was wrong before."""
    limits, questions = selectors.site_limits(), list(study.questions.all())
    before = terms.named_problems(study, questions, limits)
    for name, value in fields.items():
        setattr(study, name, value)
    after = terms.named_problems(study, questions, limits)
    if wrong := [problem for field, problem in after if (field, problem) not in before]:
        raise Refused(" ".join(wrong))
    study.save(update_fields=list(fields))


def save_translation(
    *, study_id: int, language: str, content: Fields, who: str, now: datetime.datetime
) -> Translation:
    """Keep a draft's texts in another language, whole or not: only a launch asks for all."""
    with editing(study_id=study_id, who=who, now=now) as study:
        if language == study.language:
            raise Refused(_("These texts are the study’s own. Nothing was changed."))
        if problem := languages.problem(language):
            raise Refused(problem)
        translation, _is_new = Translation.objects.update_or_create(
            study=study, language=language, defaults={"content": content}
        )
        return translation


def drop_translation(*, study_id: int, language: str, who: str, now: datetime.datetime) -> Fields:
    """Ask in this language no more; return the texts, so that they can be kept again."""
    with editing(study_id=study_id, who=who, now=now) as study:
        translation = study.translations.get(language=language)
        translation.delete()
        content: Fields = translation.content
        return content
