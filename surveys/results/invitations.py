"""The link to the form, as words and as a QR code, and texts to invite people with.

The texts are in the study's language, and promise nothing but what the Plan proves.
"""

from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy, ngettext

from surveys import languages
from surveys.addresses import form_address
from surveys.charts.codes import QrCode
from surveys.design.models import Plan
from surveys.plan.content import PlanContent
from surveys.plan.kinds import DEVICE


@dataclass(frozen=True, slots=True)
class InvitationText:
    """One text to copy."""

    name: str  # email or sms
    title: str | Promise  # in the language of the page around it
    subject: str
    text: str


def invitations(texts: PlanContent, link: str, last: str) -> list[InvitationText]:
    """Return what can be sent to people: everyone gets the same link. `last`: the
    last day in words, or nothing.
    """
    names = {"organisation": texts.organisation, "title": texts.title}
    count = len(texts.cleartext) + max(map(len, texts.sets))
    asks = ngettext(
        "%(organisation)s asks %(count)s question: “%(title)s”.",
        "%(organisation)s asks %(count)s questions: “%(title)s”.",
        count,
    ) % {**names, "count": count}
    unprotected = _(
        "This does not hide that you took part, or what someone sees on your screen. The link is "
        "the same for everyone and does not say who you are."
    )
    letter = [f"{asks} {texts.purpose}", _protection(texts), *_waves(texts), unprotected, link]
    if last:
        letter.append(_("The last day is %(day)s.") % {"day": last})
    contact = _("Taking part is your choice. Questions about it: %(contact)s")
    letter.append(contact % {"contact": texts.contact})
    message = _(
        "%(organisation)s: “%(title)s”. What is randomised, and what is not protected: %(link)s"
    ) % {**names, "link": link}
    return [
        InvitationText("email", gettext_lazy("E-mail"), texts.title, "\n\n".join(letter)),
        InvitationText("sms", gettext_lazy("Short message"), "", message),
    ]


def _waves(texts: PlanContent) -> list[str]:
    """Say that people are asked again, and what their device keeps for that."""
    if texts.waves < 2:
        return []
    again = _("The same questions are asked %(waves)s times. Each time you choose anew.")
    if texts.keeps_key:
        again = _(
            "The same questions are asked %(waves)s times. Each time you choose anew. Your device "
            "keeps a key, and sends an answer that has not changed the same way again."
        )
    return [again % {"waves": texts.waves}]


def _protection(texts: PlanContent) -> str:
    protections = {question.protection for question in texts.questions}
    if protections == {DEVICE}:
        return _(
            "Your answers are randomised on your device before they are sent, by odds that "
            "the page shows you and your browser checks. Only totals are published."
        )
    if DEVICE in protections:
        return _(
            "Some answers are randomised on your device before they are sent; others are not, and "
            "are kept encrypted: the research team can read them. The page says which. Only "
            "statistics with random noise are published."
        )
    return _(
        "Your answers are kept encrypted: the research team can read them. Only statistics with "
        "random noise are published."
    )


@dataclass(frozen=True, slots=True)
class FormLink:
    """The link to the form in one language."""

    code: str
    name: str
    address: str
    texts: PlanContent

    @property
    def qr(self) -> QrCode:
        return QrCode.of(self.address)


def form_links(request: HttpRequest, plan: Plan) -> list[FormLink]:
    """Return a study's links, its own language first; each ends with the Plan's fingerprint."""
    own, slug = plan.content.language, plan.study.slug
    return [
        FormLink(
            code=code,
            name=languages.name(code),
            address=form_address(
                request, reverse("form", args=[slug] if code == own else [slug, code])
            )
            + f"#{plan.digest}",
            texts=plan.content.spoken(code),
        )
        for code in plan.content.languages
    ]
