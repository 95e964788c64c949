"""The forms of a draft. Errors stand at the field, and what was typed stays."""

from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from surveys.design import queries as design
from surveys.design import services
from surveys.design.models import FollowUps, Layout, Question, Results, Rule, Study

EVERY = ("every", "continual")  # rules with a number of hours
HAS_CHOICES = ("single", "multiple", "likert")


class Marked:
    """A form whose fields with an error say so to a screen reader, and where their message stands."""

    def mark(self: Any) -> None:
        """Mark the fields; called once the form was found wanting."""
        for name, field in self.fields.items():
            bound = self[name]
            described = [f"{bound.auto_id}_helptext"] if field.help_text else []
            if self.errors.get(name):
                field.widget.attrs["aria-invalid"] = "true"
                described.append(f"{bound.auto_id}_error")
            if described:
                field.widget.attrs["aria-describedby"] = " ".join(described)

    @property
    def count(self: Any) -> int:
        """Return how many fields need another look."""
        return len(self.errors)


class BeginForm(Marked, forms.ModelForm):
    """What a study needs before anything is asked."""

    class Meta:
        model = Study
        fields = ("title", "organisation", "purpose", "contact", "language")
        widgets: dict[str, Any] = {"purpose": forms.Textarea(attrs={"rows": 3})}
        labels = {
            "title": gettext_lazy("Title"),
            "organisation": gettext_lazy("Who asks"),
            "purpose": gettext_lazy("Why, in a sentence or two"),
            "contact": gettext_lazy("Whom to write to"),
            "language": gettext_lazy("Language of the questions"),
        }
        help_texts = {
            "title": gettext_lazy("Respondents read it first."),
            "organisation": gettext_lazy("The name of your institute, team or office."),
            "purpose": gettext_lazy("Respondents read it before they answer, and everyone in the registry."),
            "contact": gettext_lazy("An address for questions about the study. Respondents see it."),
            "language": "",
        }


class TextsForm(BeginForm):
    """A draft's texts, and when and at what cost numbers are published."""

    class Meta(BeginForm.Meta):
        fields = (  # type: ignore[assignment]
            *BeginForm.Meta.fields,
            *("layout", "follow_ups", "expected", "closes_on", "cap", "rule", "hours", "horizon", "release_epsilon"),
            *("smallest_batch", "results"),
        )
        widgets: dict[str, Any] = {
            **BeginForm.Meta.widgets,
            "closes_on": forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
            "layout": forms.RadioSelect,
            "follow_ups": forms.RadioSelect,
            "rule": forms.RadioSelect,
            "results": forms.RadioSelect,
        }
        labels = {
            **BeginForm.Meta.labels,
            "layout": gettext_lazy("How the questions stand"),
            "follow_ups": gettext_lazy("Questions that are not for everybody"),
            "expected": gettext_lazy("Answers you expect"),
            "closes_on": gettext_lazy("Last day of collecting"),
            "cap": gettext_lazy("Cap for all publications, ε"),
            "rule": gettext_lazy("Publish"),
            "hours": gettext_lazy("Hours between publications"),
            "horizon": gettext_lazy("Publications in all"),
            "release_epsilon": gettext_lazy("Cost of one publication, ε"),
            "smallest_batch": gettext_lazy("Fewest answers to publish"),
            "results": gettext_lazy("Results are for"),
        }
        help_texts = {
            **BeginForm.Meta.help_texts,
            "layout": "",
            "follow_ups": gettext_lazy(
                "Whoever watches a connection sees how long somebody took. Where questions are passed over, messages "
                "therefore wait some minutes on the device; who closes the page and never opens it again is not "
                "counted. Where everybody is asked they leave at once, but who is quick with “Does not apply” can be "
                "told by the time."
            ),
            "expected": gettext_lazy("For planning only."),
            "closes_on": gettext_lazy("In UTC. Without one, you close the wave yourself."),
            "cap": gettext_lazy("How much all publications together may ever give away about one person."),
            "rule": "",
            "hours": gettext_lazy("Counts only where something is published every so many hours."),
            "horizon": gettext_lazy("Counts only where all publications are paid on the first day."),
            "release_epsilon": gettext_lazy(
                "Shared by the questions. If a researcher asks: the most that one request may cost."
            ),
            "smallest_batch": gettext_lazy(
                "Nothing is published before so many answers, and nothing again before so many new ones."
            ),
            "results": "",
        }

    lasting = ("cap", "results")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["layout"].choices = [  # type: ignore[attr-defined]
            (Layout.SCREENS, _("One question a screen")),
            (Layout.PAGE, _("All questions on one page")),
        ]
        self.fields["follow_ups"].choices = [  # type: ignore[attr-defined]
            (FollowUps.EVERYBODY, _("Ask everybody, with “Does not apply” among the answers")),
            (FollowUps.SKIP, _("Pass them over where they do not apply; messages leave at set times")),
        ]
        self.fields["rule"].choices = [  # type: ignore[attr-defined]
            (Rule.WHEN_CLOSED, _("Once, when the wave has closed")),
            (Rule.EVERY, _("Every so many hours, and when it has closed")),
            (Rule.CONTINUAL, _("Every so many hours, all of them paid on the first day")),
            (Rule.ON_REQUEST, _("Only what a researcher asks for")),
        ]
        self.fields["results"].choices = [  # type: ignore[attr-defined]
            (Results.PUBLIC, _("Everyone")),
            (Results.MEMBERS, _("Only the researchers it is shared with")),
        ]
        if self.instance.plans.exists():
            for name in self.lasting:  # from the first opening on they stay
                self.fields[name].disabled = True

    def clean_cap(self) -> Decimal:
        cap: Decimal = self.cleaned_data["cap"]
        ceiling = design.site_limits().cap_ceiling
        if not self.fields["cap"].disabled and cap > ceiling:
            raise ValidationError(
                _("The cap must be at most the site’s limit of %(most)s; it is %(found)s.")
                % {"most": ceiling.normalize(), "found": cap.normalize()}
            )
        return cap

    def _post_clean(self) -> None:
        """Refuse where it is typed what a study with answers sent as given cannot open with."""
        super()._post_clean()  # type: ignore[misc]  # which puts what was typed on the study
        for name, problem in design.problems_of_given(self.instance).items():
            if name in self.changed_data and name not in self.errors:
                self.add_error(name, problem)


class QuestionForm(Marked, forms.ModelForm):
    """One question, with all that can be said of it. What does not belong to its kind is not kept."""

    condition = forms.ChoiceField(
        label=gettext_lazy("It is for"),
        required=False,
        help_text=gettext_lazy(
            "All are asked, and the form says whom it is for; or the others pass over it: “Texts and terms” has the "
            "choice for the study."
        ),
    )
    picture_file = forms.FileField(
        label=gettext_lazy("Picture"),
        required=False,
        help_text=gettext_lazy("PNG, JPEG, WebP or GIF, up to 8 MB. Only its pixels are kept."),
    )
    first_month = forms.RegexField(
        r"^\d{4}-(0[1-9]|1[0-2])$",
        label=gettext_lazy("First month"),
        required=False,
        widget=forms.TextInput(attrs={"type": "month", "placeholder": "2020-01"}),
    )
    last_month = forms.RegexField(
        r"^\d{4}-(0[1-9]|1[0-2])$",
        label=gettext_lazy("Last month"),
        required=False,
        widget=forms.TextInput(attrs={"type": "month", "placeholder": "2025-12"}),
    )
    drop_picture = forms.BooleanField(label=gettext_lazy("Remove the picture"), required=False)

    class Meta:
        model = Question
        fields = (
            *("kind", "text", "help", "choices", "may_decline", "least", "most", "unit", "wanted", "protection"),
            *("epsilon", "label", "name", "group", "group_text", "picture_text"),
        )
        widgets = {
            "text": forms.Textarea(attrs={"rows": 2}),
            "choices": forms.Textarea(attrs={"rows": 5}),
            "wanted": forms.RadioSelect,
            "protection": forms.RadioSelect,
        }
        labels = {
            "kind": gettext_lazy("Kind"),
            "text": gettext_lazy("Question"),
            "help": pgettext_lazy("beside a question", "Help"),
            "choices": gettext_lazy("Choices, one a line"),
            "may_decline": gettext_lazy("Offer “Prefer not to say”"),
            "least": gettext_lazy("Least"),
            "most": gettext_lazy("Greatest"),
            "unit": gettext_lazy("Unit"),
            "wanted": gettext_lazy("What you want to know"),
            "protection": gettext_lazy("How an answer is protected"),
            "epsilon": gettext_lazy("Loss of one answer, ε"),
            "label": gettext_lazy("Short form"),
            "name": gettext_lazy("Key"),
            "group": gettext_lazy("Matrix"),
            "group_text": gettext_lazy("Above the matrix"),
            "picture_text": gettext_lazy("What the picture shows, in words"),
        }
        help_texts = {
            "kind": "",
            "text": "",
            "help": gettext_lazy("A sentence below the question."),
            "choices": gettext_lazy("Of a scale, leave empty for the five usual points of agreement."),
            "may_decline": gettext_lazy("An answer like any other: chance can turn it over too."),
            "least": "",
            "most": "",
            "unit": gettext_lazy("What the number counts, such as days."),
            "wanted": "",
            "protection": "",
            "epsilon": "",
            "label": gettext_lazy("For tables. Left empty, it is made of the question."),
            "name": gettext_lazy("Its name in reports and files: small letters, digits and _."),
            "group": gettext_lazy("Scales that stand together under one name and have the same choices make a matrix."),
            "group_text": gettext_lazy("Such as “How much do you agree?”"),
            "picture_text": gettext_lazy("For those who do not see it. Needed with a picture."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        study, mine = self.instance.study, self.instance
        self.fields["kind"].choices = [  # type: ignore[attr-defined]
            (Question.Kind.YES_NO, _("Yes or no")),
            (Question.Kind.SINGLE, _("One of several choices")),
            (Question.Kind.MULTIPLE, _("Any of several choices")),
            (Question.Kind.LIKERT, _("A scale of agreement")),
            (Question.Kind.NUMBER, _("A whole number")),
            (Question.Kind.MONTH, _("A month and year")),
        ]
        self.fields["protection"].choices = [  # type: ignore[attr-defined]
            (Question.Protection.DEVICE, _("Changed by chance on the respondent’s device")),
            (Question.Protection.PUBLICATION, _("Sent as given, kept encrypted: your server can read it")),
        ]
        self.fields["wanted"].choices = [  # type: ignore[attr-defined]
            (Question.Wanted.MEAN, _("The mean")),
            (Question.Wanted.DISTRIBUTION, _("How answers are spread")),
        ]
        self.fields["condition"].choices = [("", _("Everyone"))]  # type: ignore[attr-defined]
        self.fields["condition"].choices += conditions_for(study, mine)  # type: ignore[attr-defined]
        self.fields["condition"].initial = condition_of(mine)
        if mine.kind == Question.Kind.MONTH:
            self.fields["first_month"].initial = month_said(mine.least)
            self.fields["last_month"].initial = month_said(mine.most)
        for name in ("label", "name", "wanted", "epsilon"):
            self.fields[name].required = False
        floor, ceiling = design.allowed_epsilon(study)
        self.fields["epsilon"].widget.attrs |= {"min": f"{floor:f}", "max": f"{ceiling:f}", "step": "any"}
        self.fields["epsilon"].help_text = _("Allowed here: %(floor)s to %(ceiling)s.") % {
            "floor": f"{floor.normalize():f}",
            "ceiling": f"{ceiling.normalize():f}",
        }

    def clean_text(self) -> str:
        return " ".join(str(self.cleaned_data["text"]).split())

    def clean_name(self) -> str:
        return self.cleaned_data["name"] or self.instance.name or services.free_name(self.instance.study)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        data["label"] = data.get("label") or data.get("text", "")[:80]
        data["wanted"] = data.get("wanted") or Question.Wanted.MEAN
        data["epsilon"] = data.get("epsilon") or self.instance.epsilon
        self._keep_what_fits(data)
        others = self.instance.study.questions.exclude(pk=self.instance.pk)
        if others.filter(name=data.get("name")).exists():
            self.add_error("name", _("Another question has this key: choose a different one."))
        self._check_picture(data)
        return data

    def _keep_what_fits(self, data: dict[str, Any]) -> None:
        """Empty what does not belong to the kind that was chosen: it may be there from another one."""
        kind = data.get("kind")
        if kind not in HAS_CHOICES:
            data["choices"] = ""
        if kind == "month":
            data["least"], data["most"] = months_of(data.get("first_month")), months_of(data.get("last_month"))
        elif kind != "number":
            data["least"] = data["most"] = None
        if kind != "number":
            data["unit"] = ""
        if kind in ("number", "month"):
            data["may_decline"] = False
        if kind != "likert":
            data["group"] = data["group_text"] = ""
        name, _dot, answers = str(data.get("condition", "")).partition(":")
        self.instance.asked_if = name
        self.instance.asked_if_answers = [int(answer) for answer in answers.split(",") if answer]

    def _check_picture(self, data: dict[str, Any]) -> None:
        if data.get("drop_picture"):
            self.instance.picture, data["picture_text"] = None, ""
            return
        if data.get("picture_file"):
            try:
                self.instance.picture = services.keep_picture(data["picture_file"])
            except services.Refused as refusal:
                self.add_error("picture_file", str(refusal))
        if self.instance.picture is not None and not data.get("picture_text", "").strip():
            self.add_error("picture_text", _("Say in words what the picture shows."))

    def _post_clean(self) -> None:
        """Let the question's own check speak at the field that it concerns."""
        super()._post_clean()  # type: ignore[misc]
        refused = self.errors.pop(NON_FIELD_ERRORS, None)
        if refused:
            self.add_error(field_refused(self.instance), list(refused.data))
        elif not self.errors and (problem := services.problem_of(self.instance)):
            self.add_error("epsilon", problem)


def field_refused(question: Question) -> str:
    """Return the field at which the refusal of a question stands: what its kind can have wrong."""
    if question.protection == Question.Protection.PUBLICATION and question.kind in ("multiple", "month"):
        return "protection"
    if question.kind in ("number", "month"):
        return "condition" if question.asked_if else "first_month" if question.kind == "month" else "least"
    return "choices" if question.kind in HAS_CHOICES else "epsilon"


def months_of(typed: str | None) -> int | None:
    """Return a month as the Plan counts it: months since year 0."""
    if not typed:
        return None
    year, month = map(int, typed.split("-"))
    return year * 12 + month - 1


def month_said(months: int | None) -> str:
    return "" if months is None else f"{months // 12:04d}-{months % 12 + 1:02d}"


def conditions_for(study: Study, mine: Question) -> list[tuple[str, str]]:
    """Return the conditions that a question can have: an earlier question and one of its answers."""
    found = []
    for question in study.questions.all():
        if mine.pk and (question.position, question.pk) >= (mine.position, mine.pk):
            break
        if question.kind in ("yes_no", "single", "likert"):
            options = list(enumerate(question.options))[: -1 if question.asked_if else None]  # not “Not asked”
            shown = reversed(options[:2]) if question.kind == "yes_no" else options
            found += [(f"{question.name}:{at}", condition_said(question, said)) for at, said in shown]
    present = condition_of(mine)
    if present and present not in dict(found):  # of several answers, or no longer before it
        found.append((present, _("As it is: %(condition)s") % {"condition": present_said(study, mine)}))
    return found


def condition_said(question: Question, answer: str) -> str:
    return _("Who answers “%(answer)s” to “%(question)s”") % {"answer": answer, "question": question.label}


def present_said(study: Study, mine: Question) -> str:
    """Say a condition that the list does not offer, in its answers' words; by its key if that question is gone."""
    other = next((each for each in study.questions.all() if each.name == mine.asked_if), None)
    if other is None:
        return mine.asked_if
    answers = [option for at, option in enumerate(other.options) if at in mine.asked_if_answers]
    return condition_said(other, _("” or “").join(answers))


def condition_of(question: Question) -> str:
    """Return a question's condition as the form's value: q1:0,2."""
    if not question.asked_if:
        return ""
    return f"{question.asked_if}:{','.join(map(str, question.asked_if_answers))}"
