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

    class Meta:
        constraints = (models.UniqueConstraint(fields=("user", "study"), name="one_membership_per_study"),)

    def __str__(self) -> str:
        return f"{self.user} may see {self.study}"
