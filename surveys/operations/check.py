"""What can be wrong: page, letters, `doctor`, `/health/ready` and `/metrics` read the same list."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.conf import settings
from django.db.models import TextChoices
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

CAP = "cap of "


class State(TextChoices):
    GOOD = "good", gettext_lazy("OK")
    WATCH = "watch", gettext_lazy("Warning")
    ALARM = "alarm", gettext_lazy("Critical")


COMMAND = re.compile("manage[.]py( up)?")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing: how it is, what is normal, what to do. What is dear to say is said when read."""

    key: str  # in logs, and in what remembers that it was told
    name: str
    state: State
    said: str | Promise
    normal: str
    todo: str
    missing: str = ""  # what `/health/ready` calls it while the site cannot work for it
    gauges: Mapping[str, float | None] = field(default_factory=dict)  # None: not known, so not said

    @property
    def to_do(self) -> str:
        """Return what to do, with commands as they are typed where this site runs."""
        return COMMAND.sub(lambda it: settings.RESTART if it[1] else settings.MANAGE, self.todo)

    @property
    def is_told(self) -> bool:
        """Tell whether it is worth a letter: what is wrong, and a cap that is nearly reached."""
        return self.state is State.ALARM or self.key.startswith(CAP)


def line(key: str, state: State, said: str, todo: str = "", missing: str = "") -> Check:
    """Return what is said on a console only, under its key and without what is normal."""
    return Check(key, key, state, said, "", todo, missing)


def worst_first(checks: list[Check]) -> list[Check]:
    order = [State.ALARM, State.WATCH, State.GOOD]
    return sorted(checks, key=lambda check: order.index(check.state))
