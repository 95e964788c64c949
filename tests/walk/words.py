"""What pages tell in words of what was typed, of the Plan and of what was done, each by a rule that
holds for whatever page tells it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qs, urlsplit

from surveys.plan.content import PlanContent
from tests.walk.pages import Page

Asked = dict[str, Any]  # a question, by the names of the editor's fields
IN_ZONE = r"(?: \([^)]*\))?"
DAY = r"\d{1,2} [A-Z][a-z]+ \d{4}"
TOLD_AS: dict[str, tuple[str, ...]] = {  # of a draft's fields, the words in which pages tell them
    "smallest_batch": (
        r"Minimum number of responses to publish ([\d,]+)",
        r"needed to publish ([\d,]+)",
        r"not for fewer than ([\d,]+) answers",
        r"Nothing is published before ([\d,]+) responses",
        r"waits for ([\d,]+) new responses",
        r"A release needs ([\d,]+), so",
        r"It needed ([\d,]+) responses",
    ),
    "widest": (r"Widest interval to publish ([\d.]+) %",),
    "hours": (r"(?<!publish )every (\d+) hours",),
    "horizon": (r"(\d+) times, every",),
    "expected": (r"needed to publish [\d,]+ expected ([\d,]+)",),
    "asked": (r"(\d+) of these, drawn by their device",),
    "waves": (r"\b(\d+) are planned", r"wave \d+ of (\d+) planned", r"plans (\d+) waves"),
    "cap": (
        r"[Tt]he cap is ε ([\d.]*\d) now",
        r"All publications together ε ([\d.]*\d) at most",
        r"All releases together may reveal ε ([\d.]*\d)",
        r"capped at ε = ([\d.]*\d) ",
        r"\bof the cap of ([\d.]*\d)\b",
    ),
    "release_epsilon": (
        r"when (?:the wave|it) has closed, for ε ([\d.]*\d)\b",
        r"[Oo]ne publication when a wave has closed, for ε ([\d.]*\d)\b",
    ),
    "weekly": (r"limit for seven days ε ([\d.]*\d)", r"At most ε ([\d.]*\d) in any seven days"),
    "closes_on": (
        rf"\blast day (?:is )?({DAY}{IN_ZONE})",
        rf"\b[Uu]ntil ({DAY}{IN_ZONE})",
        rf"It closes after ({DAY}{IN_ZONE})",
    ),
}
OPENED = (rf"with Candor from ({DAY})", rf"with Candor since ({DAY})", rf"is open since ({DAY})")
CLOSED = (rf"with Candor from {DAY} to ({DAY})", rf"[Cc]losed (?:on )?({DAY})")
PAYS_FOR = re.compile(
    r"A release uses ([\d.]*\d)\. Releases left: (\d+)"
    r"|for ε ([\d.]*\d): of the cap of [\d.]*\d, [\d.]*\d is left, which pays for (\d+) more"
)
WITHOUT_DELTA = re.compile(r"all publications: ε [\d.]*\d(?!\.?\d|, δ)")
REFRESHES = re.compile(r"Refreshes left: (\d+)")
ALL_REFRESHED = "All paid refreshes are published"
AT_WORK = re.compile(  # what a worker would have done by now
    r"[^.]*(?:being made|being counted|published within minutes|is drawn within)[^.]*"
)
TO_ALL = re.compile(r"Anyone with the link could answer|[Ee]veryone (?:gets|has) the same link")
PAGES = re.compile(r"^([\d,]+)–([\d,]+) of ([\d,]+)$", re.MULTILINE)
GIVEN = re.compile(r"[Nn]ot randomised")
CHANGED = re.compile(r"(?:[Cc]hanged|[Rr]andomised) on the device")
# where each text of a study stands
TEXTS = ("title", "organisation", "purpose", "contact")
STANDS_ON = (
    (r"/registry/{slug}/", TEXTS[:3]),
    (r"/results/{slug}/", TEXTS[:2]),
    (r"/studies/{slug}/collect/poster/[\w-]+/", TEXTS),
    (r"/studies/{slug}/(?:collect/|methods/|)", TEXTS[:1]),
    (r"/s/{slug}/(?:[\w-]+/)?", TEXTS[:2]),
)


@dataclass
class Words:
    """What was typed and done, for pages that tell it in words."""

    slug: str = ""
    language: str = "en"
    texts: dict[str, str] = field(default_factory=dict)  # of the study
    spoken: dict[str, dict[str, str]] = field(default_factory=dict)  # its texts by other languages
    typed: list[Asked] = field(default_factory=list)  # its questions, in order
    held: dict[str, str] = field(default_factory=dict)  # by fields of its draft, as it was saved
    state: set[str] = field(default_factory=set)  # what its badge may say
    opened: set[str] = field(default_factory=set)  # days
    closed: set[str] = field(default_factory=set)
    content: PlanContent | None = None  # of the present wave
    is_settled: bool = False  # a worker has done all that was due
    refreshed: int = 0  # times that numbers of this wave were published

    def told_wrong(self, page: Page, path: str) -> Iterator[str]:
        """Yield what a page of this study tells in words otherwise than it was."""
        text = " ".join(page.main.text.split())
        yield from self._texts(page, path)
        if page.language == "en":
            yield from self._fields(text)
            yield from self._sentences(page, path, text)
            yield from self._badge(page)
            yield from self._protections(page)
            if "What becomes fixed" in text:
                yield from self._fixed(page, text)
            if path == f"/registry/{self.slug}/":
                for each in self.typed:
                    for line in [line for name, line in expected_of(each) if name == "Answers"]:
                        if line not in text and each.get("kind") not in ("month", "date"):
                            yield f"does not tell the answers {line!r} of {each['text']!r}"

    def texts_in(self, language: str) -> dict[str, str]:
        own = self.spoken.get(language, {})
        return {**self.texts, **{name: own[name] for name in self.texts if name in own}}

    def _texts(self, page: Page, path: str) -> Iterator[str]:
        """See that the study's texts stand where they belong, in the page's language."""
        if not self.texts.keys() >= set(TEXTS):
            return
        own = self.texts_in(page.language)
        for pattern, names in STANDS_ON:
            if re.fullmatch(pattern.format(slug=self.slug), path):
                said = " ".join(page.root.text.split())
                for name in names:
                    if own[name] not in said:
                        yield f"does not tell the {name}, {own[name]!r}"
        asked_in = parse_qs(urlsplit(page.address).query).get("language", [self.language])[0]
        for each in page.nodes:
            in_field = re.fullmatch(r"text_([\w-]+)", each.attrs.get("name", ""))
            if each.tag == "textarea" and in_field:
                yield from self._letter(each.text, in_field[1])
            elif path.endswith("/collect/") and each.attrs.get("id") == "email-text":
                yield from self._letter(each.text, asked_in)
                subject = f"Subject: {self.texts_in(asked_in)['title']}"
                if page.language == "en" and subject not in page.main.text:
                    yield f"has a letter without “{subject}”"

    def _letter(self, said: str, language: str) -> Iterator[str]:
        """See that a letter has the study's texts in its own language, and in no other."""
        own, said = self.texts_in(language), " ".join(said.split())
        for name in TEXTS:
            if own[name] not in said:
                yield f"has a letter in {language} without the {name}, {own[name]!r}"

    def _fields(self, text: str) -> Iterator[str]:
        for name, patterns in TOLD_AS.items():
            held = self.held.get(name, "")
            for pattern in patterns if held else ():
                for told in re.findall(pattern, text):
                    if not _is_told(told, held):
                        yield f"tells {told} as {name} ({pattern}); it is {held}"

    def _sentences(self, page: Page, path: str, text: str) -> Iterator[str]:
        for patterns, days, what in (
            (OPENED, self.opened, "opened"),
            (CLOSED, self.closed, "closed"),
        ):
            for pattern in patterns if days else ():
                for told in re.findall(pattern, text):
                    if told not in days:
                        yield f"tells that it {what} on {told}, not {sorted(days)} ({pattern})"
        if self.content and self.content.invited and (said := TO_ALL.search(text)):
            yield f"says “{said[0]}” of a study that asks people on a list"
        if self.is_settled and (said := AT_WORK.search(text)):
            yield f"says “{said[0].strip()}” when all is done that was due"
        left = next((each for each in page.facts if each.has("left")), None)
        if self.content and self.content.is_concentrated:
            left = None  # ε does not add up there
        if (
            self.content
            and self.content.caps.central_delta
            and (said := WITHOUT_DELTA.search(text))
        ):
            yield f"tells the cap of publications without its δ: {said[0]!r}"
        for cost, more, other_cost, other_more in PAYS_FOR.findall(text) if left else ():
            cost, more = Decimal(cost or other_cost), int(more or other_more)
            amount = Decimal(left.attrs["value"])
            if cost and not amount // cost <= more <= amount // max(
                cost - Decimal("0.0099"), Decimal("0.0001")
            ):
                yield f"says that {amount} left pays for {more} more, each for {cost}"
        horizon = int(self.held.get("horizon") or 0)
        for told in REFRESHES.findall(text):
            if self.refreshed and int(told) != horizon - self.refreshed:
                yield f"says that {told} refreshes are left: {self.refreshed} of {horizon} came"
        if ALL_REFRESHED in text and 0 < self.refreshed < horizon:
            yield f"says “{ALL_REFRESHED}” after {self.refreshed} of {horizon}"
        for first, last, _all in PAGES.findall(page.main.text):
            rows = [len(each.all("tr")) for each in page.main.all("tbody")]
            many = int(last.replace(",", "")) - int(first.replace(",", "")) + 1
            if rows and many not in rows:
                yield f"says that it shows {first}–{last}, and has {rows} rows"

    def _badge(self, page: Page) -> Iterator[str]:
        for each in page.main.all("h1"):
            beside = each.parent.all("span") if each.parent else []
            for badge in beside:
                if badge.has("badge") and self.state and badge.text not in self.state:
                    yield f"says “{badge.text}”, and it is “{' or '.join(sorted(self.state))}”"

    def _protections(self, page: Page) -> Iterator[str]:
        """See that a line about one question says how that is protected, as the Plan does."""
        if not self.content:
            return
        asked: dict[str, set[bool]] = {}
        for each in self.content.questions:
            asked.setdefault(each.text, set()).add(each.is_cleartext)
        for line in page.main.all("tr", "li"):
            text = " ".join(line.text.split())
            about = [is_given for name, is_given in asked.items() if name in text]
            given, changed = bool(GIVEN.search(text)), bool(CHANGED.search(text))
            is_clear = len(about) == 1 and len(about[0]) == 1 and given != changed
            if is_clear and given not in about[0]:
                yield f"says of a question that it is protected otherwise: {text[:150]!r}"
        for rest, name in re.findall(
            r"^(?:\d+\. )?(.*) \(asked after some answers to (\w+);",
            page.main.text,
            re.MULTILINE,
        ):
            others = [each.asked_if.question for each in self.content.questions if each.asked_if]
            if name not in others:
                yield f"says that {rest!r} follows from {name}; {others} are followed"

    def _fixed(self, page: Page, text: str) -> Iterator[str]:
        """See that a launch would fix what was typed, in each language."""
        for language, texts in self.spoken.items():
            for name, typed in texts.items():
                if typed not in text and not name.endswith(".label"):
                    yield f"does not tell {typed!r}, typed as {name} in {language}"
        told = [
            (" ".join(name.text.split()), " ".join(each.text.split()))
            for name, each in zip(page.main.all("dt"), page.main.all("dd"), strict=False)
        ]
        study = dict(reversed(told))
        for name, line in zip(TEXTS, ("Title", "Organisation", "Why", "Contact"), strict=True):
            if name in self.texts and study.get(line) != self.texts[name]:
                yield f"tells {study.get(line)!r} as {line}; {self.texts[name]!r} was typed"
        results = {"public": "everyone", "members": "its researchers"}.get(
            self.held.get("results", ""), ""
        )
        if results and study.get("Results are for") != results:
            yield f"tells results for {study.get('Results are for')}, not {results}"
        starts = [at for at, (name, _told) in enumerate(told) if name == "Question"]
        parts = [dict(told[at:end]) for at, end in zip(starts, [*starts[1:], None], strict=True)]
        for each in self.typed:
            own = next((part for part in parts if part["Question"] == each["text"]), None)
            if own is None:
                yield f"does not tell the question {each['text']!r}"
                continue
            parts.remove(own)
            for name, line in expected_of(each):
                if line not in own.get(name, ""):
                    yield f"tells {own.get(name)!r} as {name} of {each['text']!r}, without {line!r}"


def expected_of(each: Asked) -> Iterator[tuple[str, str]]:
    """Yield what a launch has to tell of a question: the name of a line, and what is in it."""
    if "help" in each:
        yield "Help", each["help"]
    if "choices" in each:
        yield "Answers", " · ".join(each["choices"].split("\n"))
    for ends in (("least", "most"), ("first_month", "last_month"), ("first_date", "last_date")):
        if ends[0] in each:
            yield "Answers", f"{each[ends[0]]} to {each[ends[1]]} {each.get('unit', '')}".strip()
    if each.get("group_text"):
        yield "Stands in a matrix", each["group_text"]
    if each.get("protection") and "loss" not in each:
        is_given = each["protection"] == "publication"
        yield "Protection", "not randomised" if is_given else "randomised on the device"
    for part in re.findall(r"“[^”]*”", each.get("condition_text", "")):
        yield each["condition_in"], part


def planned_wrong(each: Asked, planned: dict[str, Any]) -> Iterator[str]:
    """Yield what a Plan has of a question otherwise than it was typed."""
    for name, own in (
        ("help", planned.get("help", "")),
        ("least", planned.get("least")),
        ("most", planned.get("most")),
        ("unit", planned.get("unit")),
        ("group_text", (planned.get("group") or {}).get("text")),
        ("protection", planned.get("protection")),
    ):
        typed = each.get(name)
        if typed is not None and str(typed) not in str(own):
            yield f"tells {own!r} as {name} of {each['text']!r}; {typed!r} was typed"
    is_followed = each.get("condition_in") == "Asked only after"
    for part in [] if is_followed else re.findall(r"“[^”]*”", each.get("condition_text", "")):
        if part not in planned.get("help", ""):
            yield f"asks {each['text']!r} with the help {planned.get('help')!r}, without {part!r}"
    if is_followed:
        asked, _colon, answers = each["condition"].partition(":")
        own = planned.get("asked_if") or {}
        if (own.get("question"), own.get("answers")) != (asked, [int(answers)]):
            yield f"asks {each['text']!r} after {own}; {each['condition']} was typed"


def _is_told(told: str, held: str) -> bool:
    bare = told.replace(",", "")
    if re.fullmatch(r"[\d.]+", bare) and re.fullmatch(r"[\d.]+", held):
        places = len(bare.partition(".")[2])
        return abs(Decimal(bare) - Decimal(held)) < Decimal(10) ** -places
    return told == held
