"""Studies and questions, which can be edited, and Plans, which cannot.

A study is edited until it opens. Opening freezes a Plan: the bytes that the browser,
the aggregation and the registry read. Changing anything means a new wave, with a Plan
of its own; the old Plan stays (the database refuses to change or delete it).
"""

import datetime
from decimal import Decimal
from functools import cached_property

from django.core.exceptions import ValidationError
from django.core.serializers.json import DjangoJSONEncoder
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.urls import reverse
from django.utils.translation import get_language, gettext_lazy

from dpengine.privacy import LARGEST_EPSILON
from surveys import languages
from surveys.design import days, questions, terms
from surveys.ledger.models import Budget, EpsilonField
from surveys.plan import content as plans
from surveys.plan.content import PlanContent
from surveys.plan.verification import MAX_WAVES

# A message waits for its moment, which is at most an hour away unless texts are long, and for the
# next one if a connection failed: what was finished before midnight is here by the third.
GRACE, MOMENTS = datetime.timedelta(hours=3), 3
MIN_EPSILON = Decimal("0.01")  # below it no study of any size learns anything


class Rule(models.TextChoices):
    """When the numbers of a wave are published."""

    WHEN_CLOSED = "when-closed", gettext_lazy("once, when it has closed")
    EVERY = "every", gettext_lazy("every so many hours, and when it has closed")
    CONTINUAL = "continual", gettext_lazy("every so many hours, all of them paid on the first day")
    ON_REQUEST = "on-request", gettext_lazy("only what a researcher asks for")


class Delta(models.TextChoices):
    """Odds grow beyond twice what the cap says with a chance of 2δ at most. None: a pure cap."""

    NONE = "0", gettext_lazy("none: the cap always holds")
    SIX = "0.000001", gettext_lazy("one in a million")
    SEVEN = "0.0000001", gettext_lazy("one in ten million")
    EIGHT = "0.00000001", gettext_lazy("one in a hundred million")
    NINE = "0.000000001", gettext_lazy("one in a thousand million")


class Results(models.TextChoices):
    PUBLIC = "public", gettext_lazy("everyone")
    MEMBERS = "members", gettext_lazy("only the researchers it is shared with")


class Unit(models.TextChoices):
    """What one record is."""

    RESPONDENT_IN_STUDY = (
        "respondent-in-study",
        gettext_lazy("one person, in all waves of the study"),
    )
    RESPONDENT_IN_WAVE = "respondent-in-wave", gettext_lazy("one person, in one wave")
    ANSWER_IN_STUDY = (
        "answer-in-study",
        gettext_lazy("one answer of a person, in all waves of the study"),
    )
    HOUSEHOLD_OF_2 = "household-of-2", gettext_lazy("a household of at most 2 people")
    HOUSEHOLD_OF_3 = "household-of-3", gettext_lazy("a household of at most 3 people")
    HOUSEHOLD_OF_4 = "household-of-4", gettext_lazy("a household of at most 4 people")
    HOUSEHOLD_OF_5 = "household-of-5", gettext_lazy("a household of at most 5 people")


class Neighbours(models.TextChoices):
    """What of a record publications protect."""

    CHANGE_ONE = (
        "change-one",
        gettext_lazy("what was answered; how many answered is shown to everybody"),
    )
    ADD_REMOVE = (
        "add-remove",
        gettext_lazy("also whether somebody took part; how many did is shown with noise only"),
    )


class Draws(models.TextChoices):
    """How chance falls in the waves of a study."""

    FRESH = plans.FRESH, gettext_lazy("fresh: each wave changes answers by chance again")
    KEPT = plans.KEPT, gettext_lazy("kept: an answer that stays is sent the same way again")


class Layout(models.TextChoices):
    """How the questions stand on the form."""

    SCREENS = "screens", gettext_lazy("one question a screen")
    PAGE = "page", gettext_lazy("all questions on one page")


class FollowUps(models.TextChoices):
    """Who is asked a question that depends on an earlier answer."""

    EVERYBODY = (
        "everybody",
        gettext_lazy("everybody; who it does not concern answers “Does not apply”"),
    )
    SKIP = "skip", gettext_lazy("only whom it concerns; messages then wait for a set time")


class SiteLimits(models.Model):
    """What every new study of the site must keep to: one row, whose changes the ledger keeps."""

    epsilon_floor = EpsilonField(gettext_lazy("least ε of one answer"), default=MIN_EPSILON)
    epsilon_ceiling = EpsilonField(gettext_lazy("greatest ε of one answer"), default=4)
    person_floor = EpsilonField(gettext_lazy("least ε of one person"), default=MIN_EPSILON)
    person_ceiling = EpsilonField(gettext_lazy("greatest ε of one person"), default=8)
    cap_ceiling = EpsilonField(
        gettext_lazy("greatest cap for all publications of a study, ε"), default=8
    )

    class Meta:
        verbose_name_plural = gettext_lazy("site limits")
        constraints = (
            models.CheckConstraint(condition=models.Q(pk=1), name="one_row_of_site_limits"),
        )

    def __str__(self) -> str:
        return (
            f"ε of an answer {self.epsilon_floor} to {self.epsilon_ceiling}, of a person "
            f"{self.person_floor} to {self.person_ceiling}, caps to {self.cap_ceiling}"
        )


class Picture(models.Model):
    """An image that a question shows, by the SHA-256 of its bytes: it never changes."""

    sha256 = models.CharField(max_length=64, unique=True, editable=False)
    media_type = models.CharField(max_length=20, editable=False)
    width = models.PositiveIntegerField(editable=False)
    height = models.PositiveIntegerField(editable=False)
    content = models.BinaryField(editable=False)

    def __str__(self) -> str:
        return self.sha256[:12]


class Catalogue(models.Model):
    """The words of the form in one language, as a file: every one that this site has had. None is
    changed or deleted.
    """

    tag = models.CharField(max_length=languages.MAX_TAG)
    sha256 = models.CharField(max_length=64)
    content = models.BinaryField()
    is_ours = models.BooleanField(help_text="It came with the site; else an admin installed it.")
    day = models.DateField(help_text="Since when this site has it, in UTC.")

    class Meta:
        ordering = ("tag", "-pk")
        constraints = (
            models.UniqueConstraint(fields=("tag", "sha256"), name="one_catalogue_of_each_hash"),
        )

    def __str__(self) -> str:
        return f"{self.tag} {self.sha256[:12]}"

    @property
    def is_reviewed(self) -> bool:
        return self.is_ours and languages.is_reviewed(bytes(self.content))


class Panel(models.Model):
    """People who meet several studies: what all of these together may give away about one of them.

    Its unit is one person in all studies of the panel. A publication reads one wave of one study,
    in which a member has one record, so what it costs in that study (unit `respondent-in-study`) is
    what it costs here, and costs add up over studies as they do over waves. Both hold as long as
    nobody answers the same wave twice.
    """

    slug = models.SlugField(
        unique=True, max_length=60, help_text=gettext_lazy("Its name in the ledger: panel:slug")
    )
    name = models.CharField(max_length=120, help_text=gettext_lazy("Who they are."))
    unit = models.CharField(max_length=40, default="respondent-in-panel", editable=False)
    neighbours = models.CharField(max_length=20, choices=Neighbours, default=Neighbours.CHANGE_ONE)
    cap = EpsilonField(
        gettext_lazy("cap for all publications, ε"),
        default=4,
        validators=[MinValueValidator(MIN_EPSILON), MaxValueValidator(LARGEST_EPSILON)],
        help_text=gettext_lazy(
            "How much all publications of all its studies together may ever give away about one "
            "person."
        ),
    )
    cap_delta = models.CharField(
        gettext_lazy("δ of the cap"), max_length=20, choices=Delta, default=Delta.NONE
    )
    local_cap = EpsilonField(
        gettext_lazy("cap for all answers of one person, ε"),
        default=8,
        validators=[MinValueValidator(MIN_EPSILON), MaxValueValidator(LARGEST_EPSILON)],
        help_text=gettext_lazy(
            "Charged when a wave opens. Counts answers changed on the device; one sent as given "
            "has no ε."
        ),
    )
    central_budget = models.OneToOneField(
        Budget, on_delete=models.PROTECT, null=True, editable=False, related_name="+"
    )
    local_budget = models.OneToOneField(
        Budget, on_delete=models.PROTECT, null=True, editable=False, related_name="+"
    )

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Study(models.Model):
    """What is asked, by whom and why; a draft of its next wave until that opens."""

    slug = models.SlugField(
        unique=True, max_length=60, help_text=gettext_lazy("The last part of the link: /s/slug/")
    )
    title = models.CharField(max_length=120)
    organisation = models.CharField(max_length=120, help_text=gettext_lazy("Who asks."))
    purpose = models.TextField(
        max_length=600,
        help_text=gettext_lazy("Why, in a sentence or two that respondents and the public read."),
    )
    contact = models.EmailField(help_text=gettext_lazy("Who answers questions about the study."))
    language = models.CharField(
        max_length=languages.MAX_TAG,
        default=languages.SOURCE,
        help_text=gettext_lazy("What these texts are written in."),
    )
    layout = models.CharField(max_length=10, choices=Layout, default=Layout.SCREENS)
    follow_ups = models.CharField(
        gettext_lazy("follow-ups are asked of"),
        max_length=10,
        choices=FollowUps,
        default=FollowUps.EVERYBODY,
        db_default=FollowUps.EVERYBODY,
    )
    expected = models.PositiveIntegerField(
        gettext_lazy("answers expected"),
        null=True,
        blank=True,
        validators=[MinValueValidator(10), MaxValueValidator(10_000_000)],
        help_text=gettext_lazy("For planning only; what is precise enough depends on it."),
    )
    is_invited = models.BooleanField(
        gettext_lazy("it asks people on a list, each once"),
        null=True,  # no table is made anew; nothing is as good as no
        blank=True,
        help_text=gettext_lazy("Fixed for all waves from the first launch on."),
    )
    answers_from = models.DateField(
        gettext_lazy("answers are sent from"),
        null=True,
        blank=True,
        help_text=gettext_lazy(
            "Of a list: until this day, in UTC, people only fetch their tickets. Empty: both at "
            "once."
        ),
    )
    wave = models.PositiveSmallIntegerField(default=1, editable=False)
    waves = models.PositiveSmallIntegerField(
        gettext_lazy("waves planned"),
        null=True,  # no table is made anew
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_WAVES)],
        help_text=gettext_lazy("Fixed from the first launch on. Empty: one."),
    )
    draws = models.CharField(  # noqa: DJ001 (no table is made anew)
        gettext_lazy("chance in later waves"),
        max_length=10,
        choices=Draws,
        null=True,
        blank=True,
        help_text=gettext_lazy("Fixed from the first launch on."),
    )
    unit = models.CharField(max_length=40, choices=Unit, default=Unit.RESPONDENT_IN_STUDY)
    neighbours = models.CharField(max_length=20, choices=Neighbours, default=Neighbours.CHANGE_ONE)
    person = EpsilonField(
        gettext_lazy("one person, all together: ε"),
        null=True,
        blank=True,
        validators=[MinValueValidator(MIN_EPSILON), MaxValueValidator(LARGEST_EPSILON)],
        help_text=gettext_lazy(
            "Shared equally by the questions that are changed on the device. Empty: each has an ε "
            "of its own."
        ),
    )
    cap = EpsilonField(
        gettext_lazy("cap for all publications, ε"),
        default=2,
        validators=[MinValueValidator(MIN_EPSILON), MaxValueValidator(LARGEST_EPSILON)],
        help_text=gettext_lazy(
            "How much all publications together may ever give away about one person, or what else "
            "Limits says they protect."
        ),
    )
    cap_delta = models.CharField(
        gettext_lazy("δ of the cap"), max_length=20, choices=Delta, default=Delta.NONE
    )
    panel = models.ForeignKey(
        Panel,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="studies",
        help_text="The people who are asked, if the same ones meet several studies.",
    )
    epsilon_floor = EpsilonField(
        gettext_lazy("least ε of one answer"),
        default=MIN_EPSILON,
        validators=[MinValueValidator(MIN_EPSILON)],
        help_text=gettext_lazy("Set by the site’s admin: below it, answers are wasted."),
    )
    epsilon_ceiling = EpsilonField(
        gettext_lazy("greatest ε of one answer"),
        default=4,
        validators=[MaxValueValidator(LARGEST_EPSILON)],
        help_text=gettext_lazy("Set by the site’s admin: above it, answers are hardly protected."),
    )
    given_cap = EpsilonField(
        gettext_lazy("greatest cap where answers are sent as given, ε"),
        null=True,
        blank=True,
        validators=[MinValueValidator(MIN_EPSILON), MaxValueValidator(LARGEST_EPSILON)],
        help_text=gettext_lazy("Set by the site’s admin, with a reason. Empty: the usual 1."),
    )
    given_batch = models.PositiveIntegerField(
        gettext_lazy("fewest answers to publish where they are sent as given"),
        null=True,
        blank=True,
        validators=[MinValueValidator(10), MaxValueValidator(1_000_000)],
        help_text=gettext_lazy("Set by the site’s admin, with a reason. Empty: the usual 50."),
    )
    given_why = models.CharField(max_length=500, null=True, editable=False)  # noqa: DJ001 (no table is made anew)
    given_by = models.CharField(max_length=150, null=True, editable=False)  # noqa: DJ001 (no table is made anew)
    rule = models.CharField(
        gettext_lazy("publish"), max_length=20, choices=Rule, default=Rule.WHEN_CLOSED
    )
    horizon = models.PositiveSmallIntegerField(
        gettext_lazy("publications in all"),
        default=52,
        help_text=gettext_lazy("Counts only for “all of them paid on the first day”."),
        validators=[MinValueValidator(2), MaxValueValidator(4096)],
    )
    hours = models.PositiveSmallIntegerField(
        gettext_lazy("hours between"),
        default=24,
        help_text=gettext_lazy("Counts only where something is published every so many hours."),
        validators=[MinValueValidator(1)],
    )
    release_epsilon = EpsilonField(
        gettext_lazy("cost of one publication, ε"),
        default=1,
        validators=[MinValueValidator(MIN_EPSILON)],
        help_text=gettext_lazy(
            "Shared equally by the questions. If all are paid on the first day: the cost of all. "
            "If a researcher asks: the most that one request may cost."
        ),
    )
    widest = models.PositiveSmallIntegerField(
        gettext_lazy("widest interval to publish, %"),
        null=True,
        blank=True,
        help_text=gettext_lazy(
            "Of all that is possible. If an interval would be wider, publishing waits until a "
            "researcher confirms it. Empty: 50; 100: never wait."
        ),
        validators=[MinValueValidator(1), MaxValueValidator(100)],
    )
    asked = models.PositiveSmallIntegerField(
        gettext_lazy("questions each person is asked"),
        null=True,
        blank=True,
        help_text=gettext_lazy(
            "Of those that are changed on the device; a question that follows from another comes "
            "with it. Each device draws which. Empty: all."
        ),
        validators=[MinValueValidator(1)],
    )
    is_planned = models.BooleanField(  # nothing is as good as no: as no table is made anew
        null=True, editable=False, help_text="Whether the planner says how its ε is spent."
    )
    smallest_batch = models.PositiveIntegerField(
        default=100,
        validators=[MinValueValidator(10), MaxValueValidator(1_000_000)],
        help_text=gettext_lazy(
            "Nothing is published before so many answers, and nothing again before so many new "
            "ones."
        ),
    )
    results = models.CharField(
        gettext_lazy("results are for"), max_length=10, choices=Results, default=Results.PUBLIC
    )
    closes_on = models.DateField(
        null=True,
        blank=True,
        help_text=gettext_lazy("The last day of collecting. Optional."),
    )
    begins_on = models.DateField(
        null=True,
        blank=True,
        help_text=gettext_lazy("The first day of collecting. Empty: the day it opens."),
    )
    zone = models.CharField(  # noqa: DJ001 (no table is made anew)
        gettext_lazy("time zone"),
        max_length=64,
        null=True,
        blank=True,
        help_text=gettext_lazy("In which its first and its last day are counted. Empty: UTC."),
    )
    closes_at = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text=gettext_lazy("It closes once so many answers have come, or slightly more."),
    )
    stratum_closes_at = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text=gettext_lazy(
            "Of an invited list: of each group so many answers are taken, or slightly more."
        ),
    )
    retires_on = models.DateField(
        null=True,
        blank=True,
        help_text=gettext_lazy(
            "From this day on nothing is published ever again, and answers are erased."
        ),
    )
    retired_on = models.DateField(null=True, editable=False)
    retired_because = models.CharField(max_length=200, blank=True, editable=False)
    spent_on = models.DateField(
        null=True, editable=False, help_text="Since when its cap is reached; it retires soon."
    )
    budget = models.OneToOneField(Budget, on_delete=models.PROTECT, null=True, editable=False)

    class Meta:
        ordering = ("title",)
        verbose_name_plural = gettext_lazy("studies")
        permissions = (("set_limits", "Can set the least and the greatest ε of a study's answers"),)
        indexes = (
            models.Index(
                fields=("retires_on",),
                condition=models.Q(retired_on=None, retires_on__isnull=False),
                name="studies_to_retire",
            ),
            models.Index(
                fields=("spent_on",),
                condition=models.Q(retired_on=None, spent_on__isnull=False),
                name="studies_spent",
            ),
        )

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("form", args=[self.slug])

    def clean(self) -> None:
        if problems := terms.problems(self):
            raise ValidationError(problems)

    @property
    def plan(self) -> "Plan | None":
        """Return the Plan of the present wave, or None while it is a draft."""
        return self.plans.filter(wave=self.wave).first()

    @property
    def is_retired(self) -> bool:
        return self.retired_on is not None

    @property
    def says_waves(self) -> bool:
        """Tell whether its Plans say how many waves it plans: not where the first is older."""
        return self.draws != ""

    @property
    def planned(self) -> int:
        """Return how many waves it plans; 0 where nobody said, before Plans did."""
        return int(self.waves or 1) if self.says_waves else 0

    @property
    def is_fresh(self) -> bool:
        """Tell whether each wave changes answers by chance again."""
        return (self.draws or Draws.FRESH) == Draws.FRESH if self.says_waves else False


class Question(models.Model):
    """One question of the wave that is being drafted."""

    class Kind(models.TextChoices):
        YES_NO = "yes_no", gettext_lazy("Yes or no")
        SINGLE = "single", gettext_lazy("One of several choices")
        MULTIPLE = "multiple", gettext_lazy("Any of several choices")
        LIKERT = "likert", gettext_lazy("A scale of agreement")
        NUMBER = "number", gettext_lazy("A whole number")
        MONTH = "month", gettext_lazy("A month and year")
        DATE = "date", gettext_lazy("A date, to the week")

    class Protection(models.TextChoices):
        DEVICE = "device", gettext_lazy("randomised on the device")
        PUBLICATION = (
            "publication",
            gettext_lazy(
                "not randomised, kept encrypted, published only as statistics with random noise"
            ),
        )

    class Wanted(models.TextChoices):
        """What can be estimated of a number that is changed on the device."""

        MEAN = "mean", gettext_lazy("the mean")
        DISTRIBUTION = "distribution", gettext_lazy("how answers are spread")

    class Matters(models.TextChoices):
        """How many people a question is worth, beside another that needs as many."""

        DECISIVE = "decisive", gettext_lazy("decisive")
        USEFUL = "useful", gettext_lazy("useful")
        NICE = "nice", gettext_lazy("nice to have")

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="questions")
    position = models.PositiveSmallIntegerField(default=1)
    name = models.CharField(
        max_length=20,
        validators=[
            RegexValidator(
                r"^[a-z][a-z0-9_]*$", gettext_lazy("Small letters, digits and _, a letter first.")
            )
        ],
        help_text=gettext_lazy("Its key in reports, such as q1."),
    )
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.YES_NO)
    protection = models.CharField(max_length=12, choices=Protection, default=Protection.DEVICE)
    text = models.CharField(max_length=300)
    label = models.CharField(max_length=80, help_text=gettext_lazy("A short form, for tables."))
    help = models.CharField(max_length=300, blank=True)
    choices = models.TextField(
        blank=True,
        help_text=gettext_lazy(
            "One a line. Leave empty for yes or no, and for the five usual points of agreement."
        ),
    )
    codes = models.TextField(  # noqa: DJ001 (no table is made anew)
        null=True,
        blank=True,
        help_text=gettext_lazy(
            "One a line, in the order of the choices, and of “Prefer not to say” last; of yes or "
            "no, no first. Files carry them beside the words."
        ),
    )
    least = models.IntegerField(
        null=True, blank=True, help_text=gettext_lazy("The least number that counts.")
    )
    most = models.IntegerField(
        null=True, blank=True, help_text=gettext_lazy("The greatest number that counts.")
    )
    unit = models.CharField(
        max_length=40, blank=True, help_text=gettext_lazy("What the number counts, such as days.")
    )
    wanted = models.CharField(
        max_length=12,
        choices=Wanted,
        default=Wanted.MEAN,
        help_text=gettext_lazy("Of a number or month that is changed on the device."),
    )
    group = models.CharField(
        max_length=20,
        blank=True,
        help_text=gettext_lazy(
            "Adjacent scales with the same choices and the same group are shown as one matrix."
        ),
    )
    group_text = models.CharField(
        max_length=300, blank=True, help_text=gettext_lazy("What stands above the matrix.")
    )
    asked_if = models.CharField(
        max_length=20,
        blank=True,
        help_text=gettext_lazy("The name of an earlier question on whose answer this one depends."),
    )
    asked_if_answers = models.JSONField(
        default=list,
        blank=True,
        help_text=gettext_lazy(
            "The numbers of the answers, from 0, after which this one is asked."
        ),
    )
    together = models.CharField(
        max_length=20,
        blank=True,
        validators=[
            RegexValidator(
                r"^[a-z][a-z0-9_]*$", gettext_lazy("Small letters, digits and _, a letter first.")
            )
        ],
        help_text=gettext_lazy("Questions with the same name here are sent as one answer."),
    )
    drawn_in = models.CharField(
        gettext_lazy("Stays together as"),
        max_length=20,
        blank=True,
        validators=[
            RegexValidator(
                r"^[a-z][a-z0-9_]*$", gettext_lazy("Small letters, digits and _, a letter first.")
            )
        ],
        help_text=gettext_lazy(
            "Questions with the same name here are asked of the same people, where each device "
            "draws what it asks."
        ),
    )
    matters = models.CharField(
        max_length=10,
        choices=Matters,
        default=Matters.USEFUL,
        help_text=gettext_lazy(
            "Where each device draws what it asks: a decisive question is asked of more people."
        ),
    )
    picture = models.ForeignKey(
        Picture, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    picture_text = models.CharField(
        max_length=300, blank=True, help_text=gettext_lazy("What the picture shows, in words.")
    )
    may_decline = models.BooleanField(gettext_lazy("offers “Prefer not to say”"), default=False)
    epsilon = EpsilonField(
        gettext_lazy("loss of one answer, ε"),
        default=1,
        validators=[MinValueValidator(MIN_EPSILON)],
        help_text=gettext_lazy("1 sends 73 of 100 yes answers as yes, 27 as no."),
    )

    class Meta:
        ordering = ("position", "pk")
        constraints = (
            models.UniqueConstraint(fields=("study", "name"), name="question_names_differ"),
        )

    def __str__(self) -> str:
        return self.label

    @property
    def options(self) -> list[str]:
        """Return the choices, then declining, then "Does not apply" or "Not asked"."""
        return questions.options_of(self)

    def clean(self) -> None:
        if problem := questions.unfit(self):
            raise ValidationError(problem)


class Translation(models.Model):
    """A draft's texts in another language: its own, and those of its questions by name."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="translations")
    language = models.CharField(max_length=languages.MAX_TAG)
    content = models.JSONField(default=dict)

    class Meta:
        ordering = ("language",)
        constraints = (
            models.UniqueConstraint(
                fields=("study", "language"), name="one_translation_per_language"
            ),
        )

    def __str__(self) -> str:
        return f"{self.study} ({languages.name(self.language)})"


class DraftChange(models.Model):
    """A change of a draft's terms, for members of the study: it goes when the draft goes."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, null=True, related_name="changes")
    panel = models.ForeignKey(Panel, on_delete=models.CASCADE, null=True, related_name="changes")
    what = models.CharField(max_length=120)
    old = models.CharField(max_length=500)
    new = models.CharField(max_length=500)
    why = models.CharField(max_length=500)
    who = models.CharField(max_length=150)
    at = models.DateTimeField()

    class Meta:
        ordering = ("-at", "-pk")
        verbose_name = gettext_lazy("change of the draft")
        verbose_name_plural = gettext_lazy("changes of the draft")

    def __str__(self) -> str:
        return f"{self.what}: {self.old} → {self.new}"


class Revision(models.Model):
    """What one save changed of a draft, and who saved it. None is changed or deleted, as long as
    the study is there (revisions.py).
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField(help_text="From 1; a draft that nobody saved has none.")
    who = models.CharField(max_length=150)
    at = models.DateTimeField()
    changed = models.JSONField(
        encoder=DjangoJSONEncoder, help_text="Of each field, by its path: what it was, and is."
    )

    class Meta:
        ordering = ("study_id", "-number")
        constraints = (
            models.UniqueConstraint(fields=("study", "number"), name="one_save_per_revision"),
        )

    def __str__(self) -> str:
        return f"{self.study}, revision {self.number}"


class Plan(models.Model):
    """The frozen document of one wave. `document` is served as it is; `digest` is its SHA-256."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="plans")
    wave = models.PositiveSmallIntegerField()
    document = models.TextField()
    digest = models.CharField(max_length=64, unique=True)
    opened_on = models.DateField()
    closes_on = models.DateField(null=True, blank=True)
    begins_on = models.DateField(null=True, blank=True)
    zone = models.CharField(max_length=64, null=True, blank=True)  # noqa: DJ001 (as a study's)
    closes_at = models.PositiveIntegerField(null=True, blank=True)
    stratum_closes_at = models.PositiveIntegerField(null=True, blank=True)
    closed_on = models.DateField(null=True, blank=True)

    class Meta:
        ordering = ("study_id", "wave")
        constraints = (models.UniqueConstraint(fields=("study", "wave"), name="one_plan_per_wave"),)
        indexes = (  # a document is long: what is looked for each minute is found without it
            models.Index(
                fields=("closes_on",),
                condition=models.Q(closed_on=None, closes_on__isnull=False),
                name="plans_to_close",
            ),
            models.Index(fields=("study", "closed_on"), name="plans_of_studies"),
        )

    def __str__(self) -> str:
        return f"{self.study}, wave {self.wave}"

    def get_absolute_url(self) -> str:
        """Return where it is answered, in the reader's language if it speaks it."""
        language = get_language() or ""
        spoken = [language] if language in self.content.translations else []
        return reverse("form", args=[self.study.slug, *spoken])

    @cached_property
    def content(self) -> PlanContent:
        return plans.read(self.document)

    @property
    def is_open(self) -> bool:
        return self.closed_on is None

    def day_of(self, came: datetime.datetime) -> datetime.date:
        """Return the day, in UTC, that an answer counts for: from the first of its wave to the
        last, also where it came in the part of another day that the wave's zone adds (days.py), or
        may have been given on the last. What came too early or too late has a day outside.
        """
        day = came.date()
        if self.begins_on is not None:
            if self.is_early(came):
                return min(day, self.begins_on - days.ONE)
            day = max(day, self.begins_on)
        if self.closes_on is None:
            return day
        if self.is_past_grace(came):
            return max(day, self.closes_on + days.ONE)
        return min(day, self.closes_on)

    def is_past_grace(self, now: datetime.datetime) -> bool:
        """Tell whether what was sent on its last day is no longer waited for."""
        if not self.is_over(now - GRACE):  # before its document is read
            return False
        waits = datetime.timedelta(minutes=self.content.minutes_between)
        return self.is_over(now - max(GRACE, MOMENTS * waits))

    def takes_answers(self, now: datetime.datetime) -> bool:
        """Tell whether it is open and its last day has not passed, closed by a worker or not."""
        return self.is_open and not self.is_over(now) and not self.is_early(now)

    def is_over(self, now: datetime.datetime) -> bool:
        """Tell whether its last day has passed, in its time zone."""
        return self.closes_on is not None and now >= days.ends_at(self.closes_on, self.zone)

    def is_early(self, now: datetime.datetime) -> bool:
        """Tell whether its first day has not come, in its time zone."""
        return self.begins_on is not None and now < days.begins_at(self.begins_on, self.zone)

    @property
    def is_limited(self) -> bool:
        """Tell whether it closes, or one of its strata does, once so many answers have come."""
        return self.closes_at is not None or self.stratum_closes_at is not None

    @property
    def spoken(self) -> PlanContent:
        """Return its content in the reader's language, for pages; never hashed or served."""
        return self.content.spoken(get_language() or "")


class Summary(models.Model):
    """What lists look for and sort by, of a Plan and the waves before it: read off the documents
    when it opens, so that no list reads them all (summaries.py).
    """

    class Changed(models.TextChoices):
        """Which answers are changed on the device."""

        ALL = "device", gettext_lazy("all answers randomised on the device")
        SOME = "both", gettext_lazy("some answers not randomised")
        NONE = "given", gettext_lazy("no answer randomised")

    plan = models.OneToOneField(
        Plan, on_delete=models.PROTECT, related_name="summary", primary_key=True
    )
    title = models.CharField(max_length=200)
    words = models.TextField(help_text="Title and organisation, without capitals.")
    unit = models.CharField(max_length=40)
    changed = models.CharField(max_length=10, choices=Changed)
    epsilon = models.PositiveBigIntegerField(
        help_text="Of one record whose answers are changed, in billionths, rounded up."
    )
    smallest_batch = models.PositiveIntegerField()

    class Meta:
        verbose_name_plural = "summaries"

    def __str__(self) -> str:
        return f"summary of {self.plan}"


class LedgerReader(models.Model):
    """How far a task has read the ledger, which it reads on from there (news.py)."""

    name = models.CharField(max_length=30, primary_key=True)
    position = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.name}, to row {self.position}"
