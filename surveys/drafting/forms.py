"""The forms of a draft. Errors stand at the field, and what was typed stays."""

from collections.abc import Mapping
from copy import copy
from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.utils.translation import gettext as _, gettext_lazy, pgettext_lazy

from dpengine.privacy import plain
from surveys import languages
from surveys.design import blocks, selectors as design, sharing, terms
from surveys.design.calendars import CALENDARS, Calendar
from surveys.design.drafts import free_name
from surveys.design.models import Draws, FollowUps, Layout, Question, Results, Rule, Study
from surveys.design.pictures import keep_picture
from surveys.design.questions import is_scored, lines, unfit, usual_points
from surveys.design.readiness import problem_of, problem_of_batch
from surveys.design.refusals import Refused
from surveys.drafting.drafts import QuestionDraft
from surveys.invited import selectors as lists
from surveys.plan import kinds as plan_kinds
from surveys.plan.kinds import CONDITIONS, DEVICE, WITH_STEPS
from surveys.zones import UTC, zones

SHARES = "shares"  # of a scale; else its mean is wanted
EXPECTED = gettext_lazy(
    "A rough number is enough. It decides how the questions are asked, and what you can learn. You "
    "can change it until the launch."
)
WITH_CHOICES = ("single", "multiple", "likert")


class BeginForm(forms.ModelForm):
    """What a study needs before anything is asked."""

    is_invited = forms.TypedChoiceField(
        label=gettext_lazy("Who can answer"),
        choices=[
            (False, gettext_lazy("Anyone with the link")),
            (True, gettext_lazy("People on a list of 30 or more, each once")),
        ],
        coerce=lambda value: str(value) == "True",
        empty_value=False,  # type: ignore[arg-type]
        required=False,
        initial=False,
        widget=forms.RadioSelect,
        help_text=gettext_lazy(
            "With a list, each person answers once. The site does not record whose a response is."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen = self.instance.language
        self.fields["language"].widget = forms.Select(choices=languages.choices(chosen))

    def clean_language(self) -> str:
        tag: str = self.cleaned_data["language"].lower()
        if problem := languages.problem(tag):
            raise ValidationError(problem)
        return tag

    class Meta:
        model = Study
        fields = (
            "title",
            "organisation",
            "purpose",
            "contact",
            "language",
            "is_invited",
            "expected",
        )
        widgets: ClassVar[dict[str, forms.Widget]] = {"purpose": forms.Textarea(attrs={"rows": 3})}
        labels = {
            "title": gettext_lazy("Title"),
            "organisation": gettext_lazy("Organisation"),
            "purpose": gettext_lazy("Why, in a sentence or two"),
            "contact": gettext_lazy("Contact"),
            "language": gettext_lazy("Language of the questions"),
            "expected": gettext_lazy("Responses you expect"),
        }
        help_texts = {
            "title": gettext_lazy("Respondents read it first."),
            "organisation": gettext_lazy("The name of your institute, team or office."),
            "purpose": gettext_lazy(
                "Respondents read it before they answer, and everyone in the registry."
            ),
            "contact": gettext_lazy(
                "An address for questions about the study. Respondents see it."
            ),
            "language": "",
            "expected": EXPECTED,
        }


class WordsForm(forms.Form):
    """The words of a question that was planned: what it asks, and what can be answered."""

    text = forms.CharField(label=gettext_lazy("Question"), max_length=300)
    choices = forms.CharField(
        label=gettext_lazy("Choices, one a line"), widget=forms.Textarea(attrs={"rows": 4})
    )
    least = forms.IntegerField(label=gettext_lazy("Minimum"), initial=0)
    most = forms.IntegerField(label=gettext_lazy("Maximum"), initial=100)

    def __init__(self, *args: Any, kind: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind = kind
        shown = {"text"}
        if kind in WITH_CHOICES:
            shown.add("choices")
            self.fields["choices"].required = kind != "likert"
        elif kind in WITH_STEPS:
            shown |= {"least", "most"}
        for name in self.fields.keys() - shown:
            del self.fields[name]

    @property
    def kind_name(self) -> str:
        return str(Question.Kind(self.kind).label)

    def draft(self, epsilon: Decimal | None, way: Mapping[str, Any]) -> QuestionDraft:
        """Return the question, with an ε of its own or a share of the person's; `way`: what it is
        sent in, and how it matters.
        """
        typed = {name: value for name, value in self.cleaned_data.items() if value is not None}
        text = " ".join(typed.pop("text").split())
        typed |= {"kind": self.kind, "text": text, "label": text[:80], "epsilon": epsilon}
        return QuestionDraft(**typed, **way)

    def clean(self) -> None:
        """Refuse at its field what the draft would refuse."""
        super().clean()
        if self.errors:
            return
        fields = self.draft(Decimal(1), {}).fields()
        if problem := unfit(Question(**{**fields, "name": "q"})):
            field = "most" if "most" in self.fields else "choices"
            self.add_error(field if field in self.fields else "text", problem)


class TextsForm(BeginForm):
    """A draft's texts, and when and at what cost numbers are published."""

    layout = forms.ChoiceField(
        label=gettext_lazy("Layout of the questions"),
        choices=[
            (Layout.SCREENS, gettext_lazy("One question a screen")),
            (Layout.PAGE, gettext_lazy("All questions on one page")),
        ],
        widget=forms.RadioSelect,
    )
    follow_ups = forms.ChoiceField(
        label=gettext_lazy("Questions that do not apply to everyone"),
        choices=[
            (
                FollowUps.EVERYBODY,
                gettext_lazy("Ask everyone, with “Does not apply” among the answers"),
            ),
            (
                FollowUps.SKIP,
                gettext_lazy("Skip them where they do not apply; responses are sent at set times"),
            ),
        ],
        widget=forms.RadioSelect,
        help_text=gettext_lazy(
            "Anyone watching the network can see how long a person takes. If your"
            " form skips questions, responses wait a few minutes on the device "
            "before sending; people who close the page and never return are not "
            "counted. If everyone is asked, responses leave at once, but the time"
            " can reveal a quick “Does not apply”."
        ),
    )
    draws = forms.ChoiceField(
        label=gettext_lazy("How is an unchanged answer sent in a later wave?"),
        choices=[
            (
                Draws.FRESH,
                gettext_lazy("Randomised again. Each wave has its part of a person’s ε"),
            ),
            (
                Draws.KEPT,
                gettext_lazy("The same way again, by a key that stays on the device"),
            ),
        ],
        widget=forms.RadioSelect,
        required=False,
        help_text=gettext_lazy(
            "Only for studies of several waves. Randomised again, each wave needs"
            " more people for the same ±: Limits and Launch say how many. With a "
            "key, each wave is nearly as precise as a single one. One person then"
            " loses ε if nothing changes, and up to ε in each wave if everything "
            "does. Whether an answer changed can be seen. Someone with both the "
            "device and the database could work out answers."
        ),
    )
    rule = forms.ChoiceField(
        label=gettext_lazy("Publish"),
        choices=[
            (Rule.WHEN_CLOSED, gettext_lazy("Once, when the wave has closed")),
            (Rule.EVERY, gettext_lazy("Every few hours, and when it has closed")),
            (
                Rule.CONTINUAL,
                gettext_lazy("Every few hours, with the budget used on the first day"),
            ),
            (Rule.ON_REQUEST, gettext_lazy("Only what a researcher asks for")),
        ],
        widget=forms.RadioSelect,
    )
    zone = forms.ChoiceField(
        label=gettext_lazy("Time zone of its days"),
        choices=[(name, name) for name in zones()],
        widget=forms.TextInput({"list": "zones", "autocomplete": "off"}),
        error_messages={
            "invalid_choice": gettext_lazy("Choose a time zone of the list, such as Asia/Shanghai.")
        },
        help_text=gettext_lazy(
            "Its first and its last day are days there. Type a part of the name, such as Berlin. "
            "Days on receipts are in UTC everywhere."
        ),
    )
    results = forms.ChoiceField(
        label=gettext_lazy("Results are for"),
        choices=[
            (Results.PUBLIC, gettext_lazy("Everyone")),
            (Results.MEMBERS, gettext_lazy("Only the researchers it is shared with")),
        ],
        widget=forms.RadioSelect,
    )

    class Meta(BeginForm.Meta):
        fields = (  # type: ignore[assignment]
            *BeginForm.Meta.fields,
            "layout",
            "follow_ups",
            "asked",
            "waves",
            "draws",
            "begins_on",
            "closes_on",
            "zone",
            "answers_from",
            "closes_at",
            "stratum_closes_at",
            "cap",
            "rule",
            "hours",
            "horizon",
            "release_epsilon",
            "smallest_batch",
            "widest",
            "results",
        )
        widgets: ClassVar[dict[str, forms.Widget]] = {
            **BeginForm.Meta.widgets,
            "begins_on": forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
            "closes_on": forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
            "answers_from": forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        }
        labels = {
            **BeginForm.Meta.labels,
            "asked": gettext_lazy("How many of the questions is each person asked?"),
            "waves": gettext_lazy("How many waves do you plan?"),
            "begins_on": gettext_lazy("First day of collecting"),
            "closes_on": gettext_lazy("Last day of collecting"),
            "answers_from": gettext_lazy("Answers are sent from"),
            "closes_at": gettext_lazy("Close at this many responses"),
            "stratum_closes_at": gettext_lazy(
                "Close each group of the list at this many responses"
            ),
            "cap": gettext_lazy("Cap for all releases, ε"),
            "hours": gettext_lazy("Hours between releases"),
            "horizon": gettext_lazy("Number of releases"),
            "release_epsilon": gettext_lazy("Privacy loss of one release, ε"),
            "smallest_batch": gettext_lazy("Minimum number of responses to publish"),
            "widest": gettext_lazy("Widest interval to publish, %"),
        }
        help_texts = {
            **BeginForm.Meta.help_texts,
            "asked": gettext_lazy(
                "Leave empty to ask everyone every question. Otherwise each "
                "device picks this many randomised questions at random. Questions"
                " that follow from another come with it; questions sent as one "
                "answer count as one. Each person then loses less ε, and fewer "
                "people are asked each question."
            ),
            "waves": gettext_lazy(
                "A wave is one round of collecting. All of them share a person’s ε and the cap. "
                "Fixed from the first launch on. Empty: one."
            ),
            "begins_on": gettext_lazy(
                "Before it, the link says from when it takes answers. Empty: at once."
            ),
            "closes_on": gettext_lazy(
                "It ends at midnight in the time zone below. Without one, you close the wave "
                "yourself."
            ),
            "answers_from": gettext_lazy(
                "Only for a list, in UTC: people fetch their tickets before this day and answer "
                "from it on. It hides best which answer is whose. Empty: both at once."
            ),
            "closes_at": gettext_lazy(
                "Or slightly more: those that are on their way are taken. A list closes at the "
                "midnight after. Empty: any number."
            ),
            "stratum_closes_at": gettext_lazy(
                "Of an invited list only. It closes at the midnight after, so more may come. "
                "Empty: any number."
            ),
            "cap": gettext_lazy(
                "How much all publications together may ever give away about one person, or what "
                "else Limits says they protect."
            ),
            "hours": gettext_lazy("Only if something is published every few hours."),
            "horizon": gettext_lazy(
                "Counts only where all publications are paid on the first day."
            ),
            "release_epsilon": gettext_lazy(
                "Shared by the questions. If a researcher asks: the most that one request may cost."
            ),
            "smallest_batch": gettext_lazy(
                "Nothing is published before this many responses, and nothing "
                "again before this many new ones."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["is_invited"] = bool(self.instance.is_invited)
        self.initial["zone"] = self.instance.zone or UTC
        self.initial["waves"] = self.instance.planned
        self.initial["draws"] = terms.draws(self.instance)
        if not self.instance.says_waves:  # its first Plan does not: it goes on as it began
            del self.fields["waves"], self.fields["draws"]
        if self.instance.plans.exists():  # from the first opening on these stay
            for name in self.fields.keys() & {"cap", "draws", "is_invited", "results", "waves"}:
                self.fields[name].disabled = True

    def clean_cap(self) -> Decimal:
        cap: Decimal = self.cleaned_data["cap"]
        problem = terms.problem_of_cap(Study(cap=cap), design.site_limits())
        if problem and not self.fields["cap"].disabled:
            raise ValidationError(problem)
        return cap

    def add_error(self, field: str | None, error: Any) -> None:
        """Leave what is mended on *Limits* to the list of problems, which leads there."""
        if field is None and hasattr(error, "error_dict"):
            here = {name: found for name, found in error.error_dict.items() if name in self.fields}
            error = ValidationError(here)
        super().add_error(field, error)

    def _post_clean(self) -> None:
        """Refuse where it is typed what a study with answers sent as given cannot open with."""
        super()._post_clean()  # type: ignore[misc]  # which puts what was typed on the study
        questions = self.instance.questions.all() if self.instance.pk else []
        people = lists.listed(self.instance) if self.instance.pk else 0
        found = [
            ("asked", blocks.problem_of_asked(self.instance, questions)),
            ("smallest_batch", problem_of_batch(self.instance, people)),
            *terms.problems_of_given(self.instance, questions).items(),
        ]
        for name, problem in found:
            if problem and name in self.changed_data and name not in self.errors:
                self.add_error(name, problem)


class StepField(forms.RegexField):
    """A step of a calendar as it is typed, such as 2020-01, and as a Plan counts it."""

    def __init__(self, calendar: Calendar, *, label: Any, example: str) -> None:
        self.calendar = calendar
        super().__init__(
            calendar.pattern,
            label=label,
            required=False,
            widget=forms.TextInput(attrs={"type": calendar.input_type, "placeholder": example}),
        )

    def clean(self, value: Any) -> int | None:
        typed = super().clean(value)
        try:
            return self.calendar.step_of(typed) if typed else None
        except ValueError as error:
            raise forms.ValidationError(_("This must be a day, such as 2026-12-31.")) from error

    def prepare_value(self, value: Any) -> Any:
        return self.calendar.typed(value) if isinstance(value, int) else value


class QuestionForm(forms.ModelForm):
    """One question, with all that can be said of it. What does not belong to its kind is not
    kept.
    """

    kind = forms.ChoiceField(label=gettext_lazy("Kind"), choices=Question.Kind.choices)
    protection = forms.ChoiceField(
        label=gettext_lazy("How an answer is protected"),
        choices=[
            (
                Question.Protection.DEVICE,
                gettext_lazy("Randomised on the respondent’s device"),
            ),
            (
                Question.Protection.PUBLICATION,
                gettext_lazy("Not randomised, kept encrypted: your server can read it"),
            ),
        ],
        widget=forms.RadioSelect,
    )
    wanted = forms.ChoiceField(
        label=gettext_lazy("What you want to know"),
        choices=[
            (Question.Wanted.MEAN, gettext_lazy("Its mean")),
            (Question.Wanted.DISTRIBUTION, gettext_lazy("Its median, and how answers are spread")),
        ],
        required=False,
        widget=forms.RadioSelect,
    )
    of_scale = forms.ChoiceField(
        label=gettext_lazy("What you want to know"),
        choices=[
            (SHARES, gettext_lazy("How often each answer is chosen")),
            (plan_kinds.MEAN, gettext_lazy("Its mean, the first answer being 1")),
        ],
        initial=SHARES,
        required=False,
        widget=forms.RadioSelect,
        help_text=gettext_lazy(
            "A mean alone needs fewer people for the same ±: at ε = 1, about half"
            " as many for five points and a third for eleven. At ε = 4 it hardly "
            "differs. You then do not learn how often each answer is chosen."
        ),
    )
    condition = forms.ChoiceField(
        label=gettext_lazy("It is for"),
        required=False,
        help_text=gettext_lazy(
            "Everyone is asked, with “Does not apply”, or the others skip it: "
            "choose this for the study in “Texts and terms”."
        ),
    )
    picture_file = forms.FileField(
        label=gettext_lazy("Picture"),
        required=False,
        help_text=gettext_lazy("PNG, JPEG, WebP or GIF, up to 8 MB. Only its pixels are kept."),
    )
    drop_picture = forms.BooleanField(label=gettext_lazy("Remove the picture"), required=False)

    is_share = False  # its ε is left empty, and a person's is shared

    class Meta:
        model = Question
        fields = (
            "kind",
            "text",
            "help",
            "choices",
            "codes",
            "may_decline",
            "least",
            "most",
            "unit",
            "wanted",
            "protection",
            "epsilon",
            "matters",
            "label",
            "name",
            "group",
            "group_text",
            "picture_text",
            "drawn_in",
        )
        widgets = {
            "text": forms.Textarea(attrs={"rows": 2}),
            "choices": forms.Textarea(attrs={"rows": 5}),
            "codes": forms.Textarea(attrs={"rows": 3}),
        }
        labels = {
            "text": gettext_lazy("Question"),
            "help": pgettext_lazy("beside a question", "Help"),
            "choices": gettext_lazy("Choices, one a line"),
            "codes": gettext_lazy("Codes of the answers, one a line"),
            "may_decline": gettext_lazy("Offer “Prefer not to say”"),
            "least": gettext_lazy("Minimum"),
            "most": gettext_lazy("Maximum"),
            "unit": gettext_lazy("Unit"),
            "epsilon": gettext_lazy("Privacy loss of one answer, ε"),
            "matters": gettext_lazy("How much it matters"),
            "label": gettext_lazy("Short form"),
            "name": gettext_lazy("Key"),
            "group": gettext_lazy("Matrix"),
            "group_text": gettext_lazy("Above the matrix"),
            "picture_text": gettext_lazy("What the picture shows, in words"),
        }
        help_texts = {
            "help": gettext_lazy("A sentence below the question."),
            "choices": gettext_lazy(
                "Of a scale, leave empty for the five usual points of agreement."
            ),
            "may_decline": gettext_lazy(
                "An answer like any other: chance can turn it over too. Of questions that are sent "
                "as one answer, it is one choice for all."
            ),
            "least": "",
            "most": "",
            "unit": gettext_lazy("What the number counts, such as days."),
            "label": gettext_lazy("For tables. Left empty, it is made of the question."),
            "name": gettext_lazy("Its name in reports and files: small letters, digits and _."),
            "group": gettext_lazy(
                "Neighbouring scales with one name and the same choices form a matrix."
            ),
            "group_text": gettext_lazy("Such as “How much do you agree?”"),
            "picture_text": gettext_lazy("For those who do not see it. Needed with a picture."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        question, condition = self.instance, self.fields["condition"]
        if is_scored(question):
            self.initial.update(kind=plan_kinds.SCALE, of_scale=plan_kinds.MEAN)
        condition.choices = [("", _("Everyone")), *conditions_for(question)]  # type: ignore[attr-defined]
        condition.initial = condition_of(question)
        for kind, calendar in CALENDARS.items():
            bounds = (question.least, question.most) if question.kind == kind else (None, None)
            ends = zip(("first", "last"), calendar.labels, calendar.examples, bounds, strict=True)
            for end, label, example, bound in ends:
                field = StepField(calendar, label=label, example=example)
                field.initial = bound
                self.fields[f"{end}_{kind}"] = field
        for name in ("label", "name", "epsilon", "matters"):
            self.fields[name].required = False
        bounds = terms.allowed_epsilon(question.study, design.site_limits())
        floor, ceiling = (f"{plain(bound):f}" for bound in bounds)
        epsilon = self.fields["epsilon"]
        epsilon.widget.attrs |= {"min": floor, "max": ceiling, "step": "any"}
        allowed = _("Allowed here: %(floor)s to %(ceiling)s.")
        epsilon.help_text = allowed % {"floor": floor, "ceiling": ceiling}
        if (person := question.study.person) is not None:
            self.initial["epsilon"] = None
            shares = _("Empty: its share of the ε %(person)s that one person gives away.")
            epsilon.help_text = f"{shares % {'person': plain(person)}} {epsilon.help_text}"

    def clean_text(self) -> str:
        return " ".join(str(self.cleaned_data["text"]).split())

    def calendars(self) -> list[tuple[str, forms.BoundField, forms.BoundField]]:
        """Return each calendar's kind, and the fields of its first and its last step."""
        return [(kind, self[f"first_{kind}"], self[f"last_{kind}"]) for kind in CALENDARS]

    def counted_kinds(self) -> str:
        return " ".join(WITH_STEPS)

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"] or self.instance.name
        return name or free_name(self.instance.study)

    def clean(self) -> None:
        super().clean()
        data, question = self.cleaned_data, self.instance
        data["label"] = data.get("label") or data.get("text", "")[:80]
        data["wanted"] = data.get("wanted") or Question.Wanted.MEAN
        data["matters"] = data.get("matters") or question.matters
        self._keep_what_fits()
        self._score()
        name, _colon, answers = data.get("condition", "").partition(":")
        question.asked_if = name
        question.asked_if_answers = [int(answer) for answer in answers.split(",") if answer]
        if data.get("epsilon") is None and "epsilon" not in self.errors:
            data["epsilon"] = question.epsilon
            is_shared = question.study.person is not None
            self.is_share = is_shared and data.get("protection") == DEVICE
        others = question.study.questions.exclude(pk=question.pk)
        if others.filter(name=data.get("name")).exists():
            self.add_error("name", _("Another question has this key: choose a different one."))
        self._check_picture()

    def _keep_what_fits(self) -> None:
        """Empty what does not belong to the kind chosen: it may be there from another one."""
        data, kind = self.cleaned_data, self.cleaned_data.get("kind")
        has_steps, is_scale = kind in WITH_STEPS, kind == plan_kinds.SCALE
        if kind in CALENDARS:
            data |= {"least": data.get(f"first_{kind}"), "most": data.get(f"last_{kind}")}
        for name, belongs, empty in (
            ("choices", kind in WITH_CHOICES, ""),
            ("codes", not has_steps, ""),
            ("may_decline", not has_steps, False),
            ("least", has_steps, None),
            ("most", has_steps, None),
            ("unit", kind == plan_kinds.NUMBER, ""),
            ("group", is_scale, ""),
            ("group_text", is_scale, ""),
        ):
            if not belongs:
                data[name] = empty

    def _score(self) -> None:
        """Make a scale whose mean is wanted the number that it is: its points count from 1."""
        data = self.cleaned_data
        if data.get("kind") != plan_kinds.SCALE or data.get("of_scale") != plan_kinds.MEAN:
            return
        if data.get("protection") != DEVICE:
            self.add_error(
                "of_scale",
                _(
                    "A mean alone needs answers that are randomised. Choose that "
                    "protection, or how often each answer is chosen: a query can then"
                    " ask for the mean."
                ),
            )
            return
        points = lines(data["choices"]) or usual_points(self.instance)
        data |= {"kind": plan_kinds.NUMBER, "choices": "\n".join(points), "codes": ""}
        data |= {"least": 1, "most": len(points), "wanted": Question.Wanted.MEAN}

    def _check_picture(self) -> None:
        data, question = self.cleaned_data, self.instance
        if data.get("drop_picture"):
            question.picture, data["picture_text"] = None, ""
        elif data.get("picture_file"):
            try:
                question.picture = keep_picture(data["picture_file"])
            except Refused as refusal:
                self.add_error("picture_file", str(refusal))
        if question.picture is not None and not data.get("picture_text", "").strip():
            self.add_error("picture_text", _("Say in words what the picture shows."))

    def _post_clean(self) -> None:
        """Let the question's own check speak at the field that it concerns."""
        super()._post_clean()  # type: ignore[misc]
        if self.is_share and not self.errors:
            shares = sharing.parts(self.instance.study, self.instance)
            self.instance.epsilon = shares.get(self.instance.name, self.instance.epsilon)
        refused = self.errors.pop(NON_FIELD_ERRORS, None)
        if refused:
            self.add_error(field_refused(self.instance), list(refused.data))
        elif not self.errors and not self.is_share and (problem := problem_of(self.instance)):
            self.add_error("epsilon", problem)  # of a share that is too small the launch tells


def field_refused(question: Question) -> str:
    """Return the field at which the refusal of a question stands: what its kind can have wrong."""
    kind, without = plan_kinds.KINDS[question.kind], copy(question)
    without.codes = ""
    if question.codes and not unfit(without):
        return "codes"
    if kind.only_on_device and question.protection == "publication":
        return "protection"
    if is_scored(question) and question.may_decline:
        return "of_scale"
    if kind.is_counted and question.asked_if:
        return "condition"
    if is_scored(question):
        return "choices"
    if kind.is_counted:
        return f"first_{kind.name}" if kind.name in CALENDARS else "least"
    return "epsilon" if kind.name == "yes_no" else "choices"


def conditions_for(question: Question) -> list[tuple[str, str]]:
    """Return the conditions a question can have: an earlier question and one of its answers."""
    conditions = []
    others = list(question.study.questions.all())
    for other in others:
        if question.pk and (other.position, other.pk) >= (question.position, question.pk):
            break
        if other.kind in CONDITIONS:
            options = list(enumerate(other.options))
            shown = options[1::-1] if other.kind == "yes_no" else options
            if other.asked_if:
                shown = [option for option in shown if option != options[-1]]  # “Not asked”
            conditions += [
                (f"{other.name}:{at}", condition_text(other, text)) for at, text in shown
            ]
    present = condition_of(question)
    if present and present not in dict(conditions):  # of several answers, or no longer before it
        text = question.asked_if
        for other in (other for other in others if other.name == question.asked_if):
            known = dict(enumerate(other.options))
            answers = [known[at] for at in sorted(question.asked_if_answers) if at in known]
            text = condition_text(other, _("” or “").join(answers))
        conditions.append((present, _("As it is: %(condition)s") % {"condition": text}))
    return conditions


def condition_text(question: Question, answer: str) -> str:
    return _("People who answer “%(answer)s” to “%(question)s”") % {
        "answer": answer,
        "question": question.label,
    }


def condition_of(question: Question) -> str:
    """Return a question's condition as the form's value: q1:0,2."""
    if not question.asked_if:
        return ""
    return f"{question.asked_if}:{','.join(map(str, question.asked_if_answers))}"
