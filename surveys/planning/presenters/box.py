"""The box with its three questions: rows, labels, and what is wrong with what was typed, each with
the button that mends it.
"""

from dataclasses import dataclass
from decimal import Decimal

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext as _

from dpengine.privacy import plain
from surveys.design.models import Question, Study
from surveys.planning.forms import MAX_QUESTIONS, WEIGHTS, TopicForm
from surveys.planning.presenters.planner import Mend
from surveys.planning.wishes import MAX_ROWS, USUAL, Checked, FreeWishes, StudyWishes, Wishes
from surveys.planning.wording import count


def label_of(row: TopicForm) -> tuple[str, str]:
    """Return what questions that nobody has written yet are called, and how they matter."""
    kinds = dict(row.fields["kind"].choices)  # type: ignore[attr-defined]
    weights = dict(row.fields["weight"].choices)  # type: ignore[attr-defined]
    typed = row.cleaned_data
    label = str(kinds[typed["kind"]])
    if row.has_choices:
        label = _("%(kind)s, %(k)s choices") % {"kind": label, "k": typed["choices"]}
    return label, str(weights[typed["weight"]])


Part = tuple[BoundField, str, bool]  # of a row: with an id of its own, and whether it is hidden
Row = tuple[list[Part], str]  # and the address without it; empty where it is the only one


def rows(wishes: FreeWishes, path: str) -> list[Row]:
    """Return the rows of the box."""
    numbers = range(len(wishes.rows))
    found = []
    for at, form in enumerate(wishes.rows):
        parts = [
            (field, f"{field.name}_{at + 1}", field.name == "choices" and not form.has_choices)
            for field in form
        ]
        rest = [number for number in numbers if number != at]
        found.append((parts, f"{path}?{wishes.query_with_rows(rest)}" if rest else ""))
    return found


def labels(wishes: StudyWishes) -> list[tuple[str, str]]:
    """Return the questions of a draft, and how each matters."""
    weights = dict(WEIGHTS)
    return [
        (question.label, str(weights.get(form["weight"].value(), "")))
        for question, form in wishes.weights
    ]


def with_another(wishes: FreeWishes, path: str) -> str:
    """Return the address with one row more; nothing where there are enough."""
    number = len(wishes.rows) + 1
    return f"{path}?{wishes.query_with_rows(range(number))}" if number <= MAX_ROWS else ""


# What was typed and cannot be worked out


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, the id of the field that it is in, and the button that mends it."""

    text: str
    field: str
    mend: Mend


def problems(wishes: Wishes, path: str) -> list[Problem]:
    """Return all that is wrong with an address, each with what mends it."""
    found = [
        _problem(each, name, f"{errors[0]}", path)
        for each in wishes.checked()
        for name, errors in each.form.errors.items()
    ]
    if isinstance(wishes, StudyWishes):
        found += [_unfit(wishes.planned.study, *each) for each in wishes.unfit]
    elif isinstance(wishes, FreeWishes) and (more := _too_many(wishes, path, not found)):
        found.append(more)
    if not found and wishes.all_are_nice:
        text = _("All are nice to have: something must be useful or decisive.")
        mend = Mend(_("the first is useful"), f"{path}?{wishes.query_that_matters}")
        found.append(Problem(text, "", mend))
    elif not found and (most := wishes.most_to_ask):
        values = {"asked": wishes.data["asked"], "most": most}
        text = _("Each person cannot be asked %(asked)s questions: only %(most)s can be drawn.")
        mend = Mend(_mend_text("asked", f"{most}"), f"{path}?{wishes.query(asked=f'{most}')}")
        found.append(Problem(text % values, "asked", mend))
    return found


def _problem(checked: Checked, name: str, error: str, path: str) -> Problem:
    value = _mended(checked.form, name)
    values = {"field": checked.form.fields[name].label, "problem": error, "place": checked.place}
    if checked.place:
        text = _("%(place)s, “%(field)s”: %(problem)s") % values
    else:
        text = _("“%(field)s”: %(problem)s") % values
    mend = Mend(_mend_text(name, value), f"{path}?{checked.query_with(name, value)}")
    return Problem(text, checked.id_of(name), mend)


def _unfit(study: Study, question: Question, why: str) -> Problem:
    """Return what is wrong with a drafted question; only its author can mend it."""
    text = _("“%(question)s”: %(problem)s") % {"question": question.label, "problem": why}
    place = f"/studies/{study.slug}/build/questions/{question.name}/"
    return Problem(text, "", Mend(_("Change the question"), place))


def _too_many(wishes: FreeWishes, path: str, is_valid: bool) -> Problem | None:
    """Return what is wrong where an address has too many rows or questions."""
    if wishes.too_many_rows:
        values = {"most": MAX_ROWS, "found": len(wishes.data.getlist("many"))}
        text = _("There can be %(most)s rows of questions; this address has %(found)s.")
        kept = wishes.query_with_rows(range(MAX_ROWS))
        return Problem(
            text % values, "many_1", Mend(_("keep %(most)s rows") % values, f"{path}?{kept}")
        )
    if is_valid and wishes.questions > MAX_QUESTIONS:
        values = {"most": MAX_QUESTIONS, "found": wishes.questions}
        text = _("A plan can have %(most)s questions; this one has %(found)s.")
        fewer = wishes.data.copy()
        rest = len(wishes.rows) - 1
        fewer.setlist("many", [str(MAX_QUESTIONS - rest), *["1"] * rest])
        mend = Mend(_("%(most)s questions") % values, f"{path}?{fewer.urlencode()}")
        return Problem(text % values, "many_1", mend)
    return None


def _mended(form: forms.Form, name: str) -> str:
    """Return the nearest value that is allowed, or the usual one."""
    field = form.fields[name]
    if not isinstance(field, forms.IntegerField | forms.DecimalField):
        return USUAL[name]
    try:
        typed = Decimal(str(form[name].value()))
    except ArithmeticError:
        return USUAL[name]
    least, most = Decimal(str(field.min_value)), Decimal(str(field.max_value))
    if not typed.is_finite() or least <= typed <= most:
        return USUAL[name]
    return f"{plain(least if typed < least else most):f}"


def _mend_text(name: str, value: str) -> str:
    texts = {
        "n": _("%(value)s people"),
        "epsilon": _("use ε %(value)s"),
        "half": _("use ± %(value)s"),
        "asked": _("ask each person %(value)s"),
        "many": _("make it %(value)s"),
        "choices": _("make it %(value)s"),
    }
    if name in texts and value:
        return texts[name] % {"value": count(int(value)) if name == "n" else value}
    return {
        "half": _("the best there is"),
        "asked": _("as many as is best"),
        "kind": _("yes or no"),
        "weight": _("useful"),
    }[name]
