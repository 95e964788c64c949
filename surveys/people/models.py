"""Accounts. Respondents have none."""

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models

from surveys.design.models import Study


class User(AbstractUser):
    """A researcher or, when `is_staff`, an admin."""


class Membership(models.Model):
    """A researcher who may see a study."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="memberships")
    may_ask = models.BooleanField(
        "may ask for more numbers", default=False, help_text="Each request uses some of the study’s budget, for good."
    )

    class Meta:
        constraints = (models.UniqueConstraint(fields=("user", "study"), name="one_membership_per_study"),)

    def __str__(self) -> str:
        return f"{self.user} may {'see and ask' if self.may_ask else 'see'} {self.study}"
