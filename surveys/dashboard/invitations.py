"""Words to invite people with: true ones, in the study's language. Nothing is promised but what the Plan proves."""

import datetime
from dataclasses import dataclass
from typing import Any

from django.utils import formats
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from surveys.design.documents import DEVICE


@dataclass(frozen=True, slots=True)
class Invitation:
    """One text to copy."""

    name: str  # email or sms
    title: str | Promise  # in the language of the page around it
    subject: str
    text: str

    @property
    def lines(self) -> int:
        return self.text.count("\n") + 1 + len(self.text) // 70


def invitations(texts: dict[str, Any], link: str, last: datetime.date | None) -> list[Invitation]:
    """Return what can be sent to people: everyone gets the same link."""
    return [
        Invitation("email", gettext_lazy("E-mail"), texts["title"], "\n\n".join(_letter(texts, link, last))),
        Invitation("sms", gettext_lazy("Short message"), "", _short(texts, link)),
    ]


def _letter(texts: dict[str, Any], link: str, last: datetime.date | None) -> list[str]:
    count = len(texts["questions"])
    asks = ngettext(
        "%(organisation)s asks %(count)s question: “%(title)s”.",
        "%(organisation)s asks %(count)s questions: “%(title)s”.",
        count,
    ) % {"organisation": texts["organisation"], "count": count, "title": texts["title"]}
    found = [f"{asks} {texts['purpose']}", _protection(texts), _open(), link]
    if last is not None:
        found.append(_("The last day is %(day)s.") % {"day": formats.date_format(last, "DATE_FORMAT")})
    found.append(
        _("Taking part is your choice. Questions about it: %(contact)s") % {"contact": texts["contact"]},
    )
    return found


def _protection(texts: dict[str, Any]) -> str:
    protections = {question["protection"] for question in texts["questions"]}
    if protections == {DEVICE}:
        return _(
            "Your answers are changed by chance on your device before they are sent, by odds that the page shows you "
            "and "
            "your browser checks. Only totals are published."
        )
    if DEVICE in protections:
        return _(
            "Some answers are changed by chance on your device before they are sent; others are sent as given and kept "
            "encrypted. The page says which. Only totals, changed by chance, are published."
        )
    return _("Your answers are kept encrypted. Only totals, changed by chance, are published.")


def _open() -> str:
    return _(
        "What this does not protect: that you took part, and what somebody sees who looks at your screen. The link is "
        "the "
        "same for everyone and does not say who you are."
    )


def _short(texts: dict[str, Any], link: str) -> str:
    return _("%(organisation)s: “%(title)s”. What is changed by chance, and what is not protected: %(link)s") % {
        "organisation": texts["organisation"],
        "title": texts["title"],
        "link": link,
    }
