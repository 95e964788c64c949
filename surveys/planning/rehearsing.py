"""The rehearsal's page: what is assumed of made-up people, and what would be published of them, again and again.

A step takes about a second. With scripts each step's page asks for the next one and shows how far it is; without,
one page takes all of it. What came of the steps so far travels with the page, signed: nothing is stored.
"""

import datetime
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from dpengine.local.number import NumberChannel
from dpengine.privacy import Neighbours, plain
from surveys.design import documents
from surveys.design import queries as design
from surveys.design import services as drafts
from surveys.people import queries as people
from surveys.planning.drafts import Planned
from surveys.planning.forms import Whole
from surveys.planning.people import WHOLE, crowd_of, rows_of, usual
from surveys.planning.pictures import Axis, Bar
from surveys.planning.rehearsal import Record, Stage
from surveys.planning.topics import drawn_of, is_on_request
from surveys.planning.worked import count, decimal_text, half_width, unit_of

SALT = "surveys.planning.rehearsal"
STEP_SECONDS = 1.0
MOST_DRAWS = 6_000_000  # answers of one rehearsal in all its repetitions: some twenty seconds
FEWEST_PEOPLE, MOST_PEOPLE = 50, 20_000  # of one rehearsal
OFF = 0.05  # percent by which shares may miss a hundred


class RehearsalForm(forms.Form):
    """How many people, how often, and what they are assumed to answer."""

    people = Whole(
        label=gettext_lazy("Made-up respondents"), min_value=FEWEST_PEOPLE, max_value=MOST_PEOPLE, initial=1000
    )
    runs = Whole(label=gettext_lazy("How often to repeat it"), min_value=20, max_value=1000, initial=200)

    def __init__(self, *args: Any, questions: list[dict[str, Any]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.questions = questions
        for question in questions:
            for place, (label, share) in enumerate(zip(rows_of(question), usual(question), strict=True)):
                self.fields[field_of(question, place)] = forms.DecimalField(
                    label=label, min_value=0, max_value=100, max_digits=5, decimal_places=2, initial=share / 100
                )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for question in self.questions:
            self._check(question, cleaned)
        if {"people", "runs"} <= cleaned.keys():
            draws = cleaned["people"] * cleaned["runs"] * len(self.questions)
            if draws > MOST_DRAWS:
                most = MOST_DRAWS // (cleaned["people"] * len(self.questions))
                said = _(
                    "That is %(draws)s answers to draw, at most %(most)s at once: repeat it %(runs)s times or less."
                )
                self.add_error("runs", said % {"draws": count(draws), "most": count(MOST_DRAWS), "runs": count(most)})
        return cleaned

    def _check(self, question: dict[str, Any], cleaned: dict[str, Any]) -> None:
        names = [field_of(question, place) for place in range(len(rows_of(question)))]
        if question["kind"] == "multiple" or any(name not in cleaned for name in names):
            return
        total = sum(cleaned[name] for name in names)
        if abs(float(total) - 100) > OFF:
            said = _("The shares of “%(question)s” must add up to 100; they add up to %(total)s.")
            self.add_error(names[0], said % {"question": question["label"], "total": plain(total)})

    @property
    def shares(self) -> dict[str, list[int]]:
        """Return the assumed shares in ten-thousandths."""
        return {
            question["name"]: [
                int(self.cleaned_data[field_of(question, place)] * WHOLE / 100)
                for place in range(len(rows_of(question)))
            ]
            for question in self.questions
        }

    @property
    def groups(self) -> list[tuple[dict[str, Any], list[forms.BoundField]]]:
        """Return every question with the fields of its shares."""
        return [
            (question, [self[field_of(question, place)] for place in range(len(rows_of(question)))])
            for question in self.questions
        ]


def field_of(question: dict[str, Any], place: int) -> str:
    return f"share_{question['name']}_{place}"


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def rehearse(request: HttpRequest, slug: str) -> HttpResponse:
    """Rehearse a study as it stands with made-up people, a step of it if this browser asks for steps."""
    study = get_object_or_404(people.studies_of(request.user), slug=slug)
    context: dict[str, Any] = {
        "study": study,
        "is_draft": study.plan is None and not study.is_retired,
        "here": request.path,
    }
    content, problem = _content(study)
    questions = [each for each in content["questions"] if not is_on_request(each)] if content else []
    if content is None or not questions:
        said = problem or _("No question of this study is published by its rule: there is nothing to rehearse.")
        return render(request, "planning/rehearse.html", {**context, "problem": said, "asked": bool(problem)})
    form = RehearsalForm(
        request.POST if request.method == "POST" else None,
        questions=questions,
        initial={"people": _usual_people(study)},
    )
    context |= {"form": form, "left_out": [each for each in content["questions"] if is_on_request(each)]}
    if request.method == "POST" and form.is_valid():
        context |= _rehearsed(request, content, form)
    return render(request, _template(request, form), {**context, "errors": _errors(form)})


def _content(study: Any) -> tuple[dict[str, Any] | None, str]:
    """Return the Plan as it is frozen, or as the draft would be; or why there is none."""
    if study.plan is not None:
        return study.plan.content, ""
    if not study.questions.exists():
        return None, _("This draft has no questions. Write one first.")
    try:
        content = documents.compose(study)
        documents.verify(content)
    except (ValueError, documents.Unsound) as error:
        return None, _("This draft makes no plan yet: %(why)s") % {"why": _why(study) or error}
    return content, ""


def _why(study: Any) -> str:
    """Say what keeps a draft from being a plan, as its own page and the launch say it."""
    labels = {each.name: each.label for each in study.questions.all()}
    found = drafts.problems_of(study, datetime.datetime.now(datetime.UTC).date())
    return " ".join(f"{labels[each.question]}: {each.text}" if each.question in labels else each.text for each in found)


def _usual_people(study: Any) -> int:
    """Return how many made-up people to begin with: as many as are expected, if a rehearsal takes so many."""
    return min(max(Planned(study).expected, FEWEST_PEOPLE), MOST_PEOPLE)


def _template(request: HttpRequest, form: RehearsalForm) -> str:
    is_step = bool(request.htmx) and request.htmx.target == "rehearsed"  # type: ignore[attr-defined]
    return "planning/rehearsed.html" if is_step and not form.errors else "planning/rehearse.html"


def _errors(form: RehearsalForm) -> list[tuple[str, str]]:
    return [(name, str(error)) for name, found in form.errors.items() for error in found]


def _rehearsed(request: HttpRequest, content: dict[str, Any], form: RehearsalForm) -> dict[str, Any]:
    crowd = crowd_of(content, form.shares)
    stage, truths = Stage.of(content, crowd), crowd.truths()
    record, wanted, digest = Record(), form.cleaned_data["runs"], _key(content, form)
    if (state := request.POST.get("state")) and (before := _read(state, digest)):
        record = before
    limit = STEP_SECONDS if request.htmx else float("inf")  # type: ignore[attr-defined]
    for elapsed in _seconds(limit):
        if record.runs >= wanted:
            break
        record.add(stage.rehearse(form.cleaned_data["people"]), truths)
        record.seconds += elapsed()
    return {
        "record": record,
        "wanted": wanted,
        "goes_on": record.runs < wanted,
        "state": signing.dumps({"key": digest, **record.document()}, salt=SALT, compress=True),
        "shown": Shown(content, stage, record, {name: [float(each) for each in row] for name, row in truths.items()}),
    }


def _seconds(limit: float) -> Iterator[Any]:
    """Yield, until so many seconds have passed, what tells how long this turn has taken."""
    start = time.perf_counter()
    while True:
        begun = time.perf_counter()
        yield lambda begun=begun: time.perf_counter() - begun
        if time.perf_counter() - start > limit:
            return


def _key(content: dict[str, Any], form: RehearsalForm) -> str:
    """Return the name of what is rehearsed: steps of another plan, or of other people, do not add up with these."""
    return documents.digest(documents.canonical({"people": form.cleaned_data["people"], "plan": content,
                                                 "shares": form.shares}))  # fmt: skip


def _read(state: str, key: str) -> Record | None:
    try:
        document = signing.loads(state, salt=SALT)
    except signing.BadSignature:
        return None
    return Record.read(document) if document.pop("key") == key else None


# What is shown


@dataclass(frozen=True)
class Row:
    """One choice in one rehearsal, and over all of them."""

    label: str
    truth: str
    value: str
    low: str
    high: str
    holds: bool
    bars: list[Bar]
    centre: str
    assumed: str  # where what was assumed stands
    bias: str
    margin: str
    off: float  # the bias as a number


@dataclass(frozen=True)
class Question:
    """One question's rehearsals."""

    number: int
    question: dict[str, Any]
    axis: Axis
    ticks: list[dict[str, str]]
    rows: list[Row]
    coverage: str
    coverage_low: str
    coverage_high: str
    half: str
    unit: str
    worst: Row  # the one with the largest bias
    is_low: bool  # whether fewer intervals hold than 95 of 100, beyond chance


@dataclass(frozen=True)
class Shown:
    """A record in words."""

    content: dict[str, Any]
    stage: Stage
    record: Record
    truths: dict[str, list[float]]

    @property
    def coverage(self) -> str:
        return _percent(self.record.coverage_of_all[0])

    @property
    def margins(self) -> tuple[str, str]:
        return _percent(self.record.coverage_of_all[1]), _percent(self.record.coverage_of_all[2])

    @property
    def seconds(self) -> str:
        return decimal_text(self.record.seconds, 1)

    @property
    def questions(self) -> list[Question]:
        return [self._question(number, part) for number, part in enumerate(self.stage.parts, start=1)]

    def _question(self, number: int, part: Any) -> Question:
        name, record = part.name, self.record
        drawn = drawn_of(part.question, Neighbours(self.content["neighbours"]))
        axis = Axis.covering(record.first[name], self.truths[name], part.question["least"] if drawn.is_mean else 0.0)
        covered, low, high = record.coverage(name)
        found = list(self._rows(part, axis, drawn.is_mean))
        rows = [found[place] for place in _order(part.question, found)]
        return Question(
            number=number,
            question=part.question,
            axis=axis,
            ticks=[{"x": tick.x, "anchor": tick.anchor, "label": _value(tick.label, drawn.is_mean, part.question)}
                   for tick in axis.ticks],
            rows=rows,
            coverage=_percent(covered),
            coverage_low=_percent(low),
            coverage_high=_percent(high),
            half=half_width(record.half_width(name), drawn),
            unit=unit_of(drawn),
            worst=max(found, key=lambda row: row.off),
            is_low=high < 0.95,
        )  # fmt: skip

    def _rows(self, part: Any, axis: Axis, is_mean: bool) -> Iterator[Row]:
        name, question = part.name, part.question
        labels = _labels(question, part.tally.channel)
        rows = zip(labels, self.record.first[name], self.truths[name], self.record.bias(name), strict=True)
        for label, estimate, truth, (bias, error) in rows:
            yield Row(
                label=label,
                truth=_value(truth, is_mean, question),
                value=_value(estimate.value, is_mean, question),
                low=_value(estimate.low, is_mean, question),
                high=_value(estimate.high, is_mean, question),
                holds=estimate.low <= truth <= estimate.high,
                bars=axis.bars(estimate),
                centre=axis.at(estimate.value),
                assumed=axis.at(truth),
                bias=_signed(bias, is_mean),
                margin=_signed(1.96 * error, is_mean).lstrip("+"),
                off=abs(bias),
            )


def _labels(question: dict[str, Any], channel: Any) -> list[str]:
    if isinstance(channel, NumberChannel):
        return [_("Mean")]
    return list(question["choices"]) or rows_of(question)


def _order(question: dict[str, Any], rows: list[Row]) -> list[int]:
    """Return the order in which people see a question's rows: Yes before No."""
    return design.shown_order(question) if question["choices"] else list(range(len(rows)))


def _value(value: float, is_mean: bool, question: dict[str, Any]) -> str:
    if not is_mean:
        return f"{_signed(value, False).lstrip('+')}%"
    if question["kind"] == "month":
        return str(documents.said_month(value))
    return decimal_text(value, 1).replace("-", "−")


def _signed(value: float, is_mean: bool) -> str:
    shown = value if is_mean else 100 * value
    text = decimal_text(abs(shown), 2 if is_mean else 1)
    return text if not float(f"{abs(shown):.2f}") else f"{'−' if value < 0 else '+'}{text}"


def _percent(part: float) -> str:
    return decimal_text(100 * part, 1)
