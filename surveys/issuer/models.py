"""What an issuer knows: that an invitation fetched a ticket, and not what it signed, for whom, or
when.

Of a person there are a random reference that the list's owner drew, and digests of the codes in
their letters. No row has a day, and none keeps the order in which it came over a night
(`tables.py`). No foreign key is in the database: a check would lock rows, and locks leave marks.
"""

from django.db import models

from surveys.sealed_keys import SealedKey


class Key(SealedKey):
    """A stratum's key; once its Plan has closed, only its modulus and how many there were."""

    modulus = models.CharField(max_length=1024, unique=True, help_text="In hexadecimal digits.")
    plan = models.CharField(max_length=64, default="", help_text="Its digest; empty until bound.")
    stratum = models.PositiveSmallIntegerField(default=0)
    invited = models.PositiveIntegerField(default=0, help_text="People, once closed.")
    fetched = models.PositiveIntegerField(default=0, help_text="Those of them who fetched.")
    reissued = models.PositiveIntegerField(default=0, help_text="Lost tickets issued anew.")

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("plan", "stratum"),
                condition=~models.Q(plan=""),
                name="issuer_key_once_a_stratum",
            ),
        )

    opens = "tickets"  # by the private exponent; empty once closed

    @property
    def about(self) -> str:
        return f"key of tickets {self.modulus}"

    @property
    def is_closed(self) -> bool:
        return not self.sealed


class Invitation(models.Model):
    """A person, by a random number."""

    reference = models.BinaryField(max_length=16, primary_key=True)
    key = models.ForeignKey(Key, on_delete=models.PROTECT, related_name="+", db_constraint=False)
    reissued = models.PositiveSmallIntegerField(default=0, help_text="Lost tickets issued anew.")
    asked = models.PositiveSmallIntegerField(
        default=0, help_text="How often one was to be issued anew to who had none."
    )


class Code(models.Model):
    """What a letter holds, as a digest: each letter has one of its own."""

    digest = models.BinaryField(max_length=32, primary_key=True, help_text="SHA-256 of the code.")
    invitation = models.ForeignKey(
        Invitation, on_delete=models.PROTECT, related_name="+", db_constraint=False
    )
    is_alone = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whoever made the list has it too: it answers for itself, as of midnight.",
    )


class Mark(models.Model):
    """That somebody has fetched a ticket, and for which blinded message: the same one is signed
    again, which gives the same bytes.
    """

    invitation = models.OneToOneField(
        Invitation,
        on_delete=models.PROTECT,
        related_name="+",
        db_constraint=False,
        primary_key=True,
    )
    blinded = models.BinaryField(max_length=32, help_text="SHA-256 of the blinded message.")
    code = models.BinaryField(
        max_length=32, null=True, help_text="The code that fetched it, if that answers for itself."
    )
    is_settled = models.BooleanField(
        default=False, db_default=False, help_text="It was made before the last night."
    )


class Settling(models.Model):
    """The last day on whose morning tables were written anew: the one row there is."""

    day = models.DateField()
