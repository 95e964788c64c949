"""The list of people whom a study asks, the letters that are sent to them, and numbers of a day.

What is known of a person, and nothing else, is sealed under a key of the study's list. Nobody's
mark stands here: who has fetched a ticket is known to the issuer, and asked of it for reminders.
"""

from django.db import models
from django.utils.translation import gettext_lazy

from surveys.design.models import Plan, Study
from surveys.sealed_keys import SealedKey


class Key(SealedKey):
    """The key of a study's list, or of those who want no letters, sealed; without it a list says
    nothing. It goes on a day, or when its study retires.
    """

    name = models.CharField(max_length=80, primary_key=True)
    study = models.OneToOneField(Study, on_delete=models.CASCADE, null=True, related_name="+")
    erase_on = models.DateField(null=True)
    opens = "lists"

    @property
    def about(self) -> str:
        return str(self.name)


class Person(models.Model):
    """Somebody on a list. The reference is an HMAC of their address, or is drawn; the issuer knows
    them by another one, in each wave.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="+")
    reference = models.CharField(max_length=32, unique=True)
    stratum = models.CharField(max_length=80, blank=True)
    digest = models.BinaryField(help_text="HMAC of the address, under the list's key.")
    sealed = models.BinaryField(help_text="Address, name, language and columns.")
    has_email = models.BooleanField(default=False)
    came_back = models.BooleanField(default=False, help_text="A letter could not be delivered.")
    was_changed = models.BooleanField(
        default=False, db_default=False, help_text="Its owners have written another address."
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("study", "digest"), name="invited_once_on_a_list"),
        )


class Letter(models.Model):
    """A letter to everybody on a list or, a reminder, to those who have fetched no ticket."""

    class State(models.TextChoices):
        WAITS = "waits", gettext_lazy("waits for its day")
        GOES = "goes", gettext_lazy("is being sent")
        STOPPED = "stopped", gettext_lazy("stopped")
        DONE = "done", gettext_lazy("sent")

    RUNNING = (State.WAITS, State.GOES)
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="+")
    reminds = models.BooleanField(default=False)
    texts = models.JSONField(help_text="By language: subject and text.")
    origin = models.CharField(max_length=200, help_text="Of the site, as its links begin.")
    day = models.DateField()
    state = models.CharField(max_length=10, choices=State, default=State.WAITS)
    trouble = models.CharField(max_length=20, blank=True)
    stopped_on = models.DateField(null=True)
    rests_until = models.DateTimeField(null=True, help_text="Those whose server said: later.")
    past = models.CharField(
        max_length=32,
        blank=True,
        db_default="",
        help_text="The reference up to which the list was looked at.",
    )
    is_forgotten = models.BooleanField(default=False, help_text="Who had it is erased.")
    sent = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0)
    silent = models.PositiveIntegerField(default=0, help_text="Who want no letters.")

    class Meta:
        ordering = ("day", "pk")
        constraints = (
            models.UniqueConstraint(fields=("plan", "day"), name="invited_one_letter_a_day"),
        )


class Delivery(models.Model):
    """One person's letter, claimed before it is sent: it goes out once at most. When the letter is
    done, who had it is forgotten. No foreign key of the person is in the database: a check would
    lock their row, and locks leave marks.
    """

    class State(models.TextChoices):
        CLAIMED = "claimed"
        SENT = "sent"
        LATER = "later"  # the server asked for it
        REFUSED = "refused"
        SILENT = "silent"
        DOUBTFUL = "doubtful"

    letter = models.ForeignKey(Letter, on_delete=models.CASCADE, related_name="deliveries")
    person = models.ForeignKey(
        Person, on_delete=models.CASCADE, related_name="+", db_constraint=False
    )
    state = models.CharField(max_length=10, choices=State, default=State.CLAIMED)
    tries = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("letter", "person"), name="invited_one_letter_each"),
        )


class Silent(models.Model):
    """An address that wants no letters of this site, ever, as its HMAC."""

    digest = models.CharField(max_length=64, primary_key=True)


class Turn(models.Model):
    """Until when one worker alone sends letters: one row."""

    until = models.DateTimeField()


class Opened(models.Model):
    """A Plan that was opened for a list, until its keys and marks are erased at the issuer."""

    plan = models.OneToOneField(Plan, on_delete=models.PROTECT, related_name="+")
    is_over = models.BooleanField(default=False)


class Unopened(models.Model):
    """Keys that were made for a launch, until it has opened. The launch that opens deletes this,
    in its own transaction; where it stays the launch came to nothing, and the keys are dropped.
    """

    keys = models.JSONField(help_text="Their moduli.")


class Count(models.Model):
    """How many people of a stratum were invited, fetched and answered, at the end of a day."""

    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="+")
    day = models.DateField(help_text="It is shown from this day's midnight on.")
    stratum = models.PositiveSmallIntegerField()
    invited = models.PositiveIntegerField()
    fetched = models.PositiveIntegerField()
    accepted = models.PositiveIntegerField()
    reissued = models.PositiveIntegerField()
    name = ""  # of the stratum, where it is read with its Plan

    class Meta:
        ordering = ("stratum",)
        constraints = (
            models.UniqueConstraint(fields=("plan", "day", "stratum"), name="invited_one_count"),
        )

    @property
    def rate(self) -> float:
        return 100 * self.fetched / self.invited if self.invited else 0.0

    @property
    def is_alarming(self) -> bool:
        return self.accepted > self.fetched + self.reissued
