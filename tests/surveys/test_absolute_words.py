"""What pages promise, they promise of every study that can show them: no absolute words.

Of the form all variants are read that its scripts choose from: what anybody can see, and more.
"""

from decimal import Decimal
from html.parser import HTMLParser

import pytest

from surveys.design import services as design
from surveys.design.models import SiteLimits
from surveys.design.together import send_together
from tests.absolute import REASONS, WORDS, sentences
from tests.conftest import NOW, STUDY

SEEN = {  # templates of the form that are shown where nothing goes wrong
    *(
        "welcome",
        "fact",
        "limits",
        "fact-given",
        "asking",
        "question",
        "matrix",
        "chip",
        "chip-given",
    ),
    *("errors", "ready", "score", "sending", "held", "waiting", "sent", "pair", "done", "copied"),
    *("answered", "later", "choice", "typed"),
}
EPSILONS = ["0.1", "1", "2", "4"]
MORE = {"epsilon_ceiling": Decimal(8)}  # than a study may usually ask of one answer


def asked(name, epsilon, given=False, **parts):
    protection = "publication" if given else "device"
    own = {} if given else {"epsilon": Decimal(epsilon)}
    text = {"text": f"{name}?", "label": name.capitalize(), "kind": "yes_no"}
    return {"name": name, "protection": protection, **text, **own, **parts}


MIXES = {
    "randomised": lambda e: [
        asked("smoked", e),
        asked("mood", e, kind="single", choices="a\nb\nc"),
    ],
    "one": lambda e: [asked("smoked", e)],
    "mixed": lambda e: [asked("region", e, given=True), asked("smoked", e)],
    "given": lambda e: [asked("smoked", e, given=True), asked("region", e, given=True)],
    "joint": lambda e: [asked(name, e) for name in ("smoked", "drank", "slept")],
    "drawn": lambda e: [asked(name, e) for name in ("smoked", "drank", "slept")],
    "skips": lambda e: [
        asked("smoked", e),
        asked("daily", e, asked_if="smoked", asked_if_answers=[1]),
    ],
}


class Seen(HTMLParser):
    """The text of a page, or of its templates: none of scripts, each element on a line."""

    def __init__(self, page, only=None):
        super().__init__()
        self.only, self.inside, self.text = only, None, []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag == "template":
            self.inside = dict(attrs).get("id")
        if tag in ("script", "style"):
            self.inside = tag
        if tag not in ("b", "span", "a", "code", "data"):
            self.text.append("\n")

    def handle_endtag(self, tag):
        if tag in ("template", "script", "style"):
            self.inside = None

    def handle_data(self, data):
        if self.inside is None or (self.only and self.inside in self.only):
            self.text.append(data)


def said(page, only=None):
    return "".join(Seen(page, only).text)


def opened(mix, epsilon, language):
    SiteLimits.objects.update_or_create(
        pk=1, defaults={"epsilon_ceiling": 8, "person_ceiling": 24, "cap_ceiling": 24}
    )
    parts = {"asked": 1} if mix == "drawn" else {}
    study = design.draft_study(
        study={**STUDY, "given_why": "A test.", "language": language, **MORE, **parts},
        questions=MIXES[mix](epsilon),
    )
    if mix == "joint":
        send_together(study_id=study.pk, names=["smoked", "drank"], who="ada", now=NOW)
    design.open_study(why="A test.", study_id=study.pk, who="ada", now=NOW)
    return study


# a person gives away ε 8 at most in any study: of one answer, or of two with half of it each
CASES = [(epsilon, mix) for epsilon in EPSILONS for mix in MIXES]
CASES += [("8", mix) for mix in ("one", "mixed", "drawn")]


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize(("epsilon", "mix"), CASES)
def test_no_page_promises_in_absolutes(admin_client, mix, epsilon, language):
    opened(mix, epsilon, language)
    spoken = {"HTTP_ACCEPT_LANGUAGE": language}
    pages = {
        "form": said(admin_client.get("/s/exam-honesty/").content.decode(), SEEN),
        "my": said(
            admin_client.get(f"/my/{language}/").content.decode(),
            {"total", "list", "study", "line", "guess-row", "keys", "key", "empty", "everything"},
        ),
        "registry": said(admin_client.get("/registry/exam-honesty/", **spoken).content.decode()),
        "limits": said(
            admin_client.get("/studies/exam-honesty/limits/", **spoken).content.decode()
        ),
    }
    assert all(len(text) > 300 for text in pages.values())
    assert {place: found for place, text in pages.items() if (found := sentences(text))} == {}


def test_every_sentence_let_through_needs_its_reason():
    assert all(WORDS.search(sentence) for sentence in REASONS)
    assert all(len(reason.split()) > 4 for reason in REASONS.values())


def test_a_promise_in_absolutes_is_found():
    assert sentences("Nobody who reads the message can tell. It is so.") == {
        "Nobody who reads the message can tell"
    }
    assert sentences("所以什么也证明不了。") == {"所以什么也证明不了"}
