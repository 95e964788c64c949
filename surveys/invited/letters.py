"""What a letter says: the words of the study's owners, with a person's own filled in, as plain text
and as HTML made of it.

`{name}`, `{link}` and `{last_day}` are of every letter; a list's columns stand in braces too. What
a person lacks is left out. Below each stand who sends it and the link that ends all letters.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings
from django.core import signing
from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.base import BaseEmailBackend
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _

from surveys.design import days
from surveys.design.models import Plan
from surveys.invited.keys import site_digest
from surveys.invited.lists import Entry
from surveys.languages import speaking
from surveys.plan.content import PlanContent

HOLE = re.compile(r"\{([^{}\n]*)\}")
OWN = {"name", "link", "last_day"}
MAX_SUBJECT, MAX_TEXT = 150, 5000
SALT = "candor.invited.silent"
Texts = Mapping[str, Mapping[str, str]]  # by language: subject and text


@dataclass(frozen=True, slots=True)
class Written:
    """A letter with somebody's own words filled in."""

    subject: str
    text: str
    html: str
    stop: str  # the link that ends all letters


def usual(content: PlanContent, *, reminds: bool) -> dict[str, str]:
    """Return a letter to begin from, in the language that is spoken now."""
    names = {"organisation": content.organisation, "title": content.title}
    subject = _("Reminder: %(title)s") if reminds else "%(title)s"
    lines = [
        _("Hello {name},"),
        _("%(organisation)s asks you to take part in “%(title)s”.") % names + f" {content.purpose}",
    ]
    if reminds:
        lines.append(
            _(
                "This goes to those who have not fetched their ticket. A program chose them, and "
                "its site shows nobody who they are."
            )
        )
    lines += [
        _("Your own link, for one answer. Whoever has it can answer in your place:"),
        "{link}",
        _(
            "It fetches a ticket that proves you were invited, and nothing else: who wrote to you "
            "cannot see which answer is yours. Whether you took part can be known."
        ),
        _("The last day is {last_day}."),
        _("Taking part is your choice. Questions about it: %(contact)s")
        % {"contact": content.contact},
    ]
    return {"subject": subject % names, "text": "\n\n".join(lines)}


def usual_on_paper(plan: Plan, content: PlanContent, entry: Entry) -> str:
    """Return one person's letter to print, in the language that is spoken now."""
    link = _("Scan the code below, or type the address beside it.")
    own = {"name": entry.name, "link": link, "last_day": last_day(plan)}
    return filled(usual(content, reminds=False)["text"], {**entry.columns, **own})


def write(
    plan: Plan, texts: Texts, entry: Entry, *, link: str, origin: str, key: bytes | None = None
) -> Written:
    """Fill in one person's letter, in their language if it is written in it."""
    language = entry.language if entry.language in texts else next(iter(texts))
    said = texts[language]
    with speaking(language):
        values = {**entry.columns, "name": entry.name, "link": link, "last_day": last_day(plan)}
        stop = origin + reverse("invited:stop", args=[stop_token(entry.address, key)])
        text = filled(said["text"], values)
        anchor = format_html('<a href="{0}">{0}</a>', link)
        context = {
            "paragraphs": [
                [
                    format_html_join(anchor, "{}", zip(line.split(link)))
                    for line in part.splitlines()
                ]
                for part in re.split(r"\n\s*\n", text)
            ],
            "language": language,
            "organisation": plan.content.organisation,
            "stop": stop,
        }
        return Written(
            subject=" ".join(filled(said["subject"], values).split()),
            text=render_to_string("invited/letter.txt", {**context, "text": text}).strip() + "\n",
            html=render_to_string("invited/letter.html", context),
            stop=stop,
        )


def last_day(plan: Plan) -> str:
    """Return the last day of a Plan in the language that is spoken now; nothing if it has none."""
    return days.told(plan.closes_on, plan.zone)


def filled(text: str, values: Mapping[str, str]) -> str:
    """Fill in what a person has. A paragraph whose one hole is empty, the last day say, goes; of a
    greeting without a name only the blank before the hole does.
    """
    kept = [
        re.sub(r" ?\{([^{}\n]*)\}", lambda hole: _put(hole, values), part)
        for part in re.split(r"\n\s*\n", text)
        if HOLE.findall(part) != ["last_day"] or values.get("last_day")
    ]
    return "\n\n".join(kept)


def _put(hole: re.Match[str], values: Mapping[str, str]) -> str:
    value = values.get(hole[1], "")
    return (" " if hole[0].startswith(" ") else "") + value if value else ""


def message(written: Written, address: str, connection: BaseEmailBackend) -> EmailMultiAlternatives:
    """Return an e-mail. Its headers let a reader's program end all letters by one press."""
    letter = EmailMultiAlternatives(
        written.subject,
        written.text,
        settings.RETURN_PATH or None,
        [address],
        connection=connection,
        headers={
            "From": settings.DEFAULT_FROM_EMAIL,
            "List-Unsubscribe": f"<{written.stop}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            "Auto-Submitted": "auto-generated",
        },
    )
    letter.attach_alternative(written.html, "text/html")
    return letter


def link_of(plan: Plan, origin: str, stratum: int, code: str, language: str = "") -> str:
    """Return the address in a letter: what tells a person stands behind its #, which no server
    sees.
    """
    content = plan.content
    speaks = language in content.languages and language != content.language
    path = reverse("form", args=[plan.study.slug, language] if speaks else [plan.study.slug])
    return f"{origin}{path}#{plan.digest}.{stratum}.{code}"


def stop_token(address: str, key: bytes | None = None) -> str:
    """Return what ends all letters to an address, and does not say which it is."""
    return signing.dumps(site_digest(address, key), salt=SALT)


def stopped_by(token: str) -> str:
    """Return what a token ends, or raise BadSignature."""
    return str(signing.loads(token, salt=SALT))
