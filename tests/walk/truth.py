"""What pages tell of a study, beside what the walk itself did with it: what was typed, in which
order, how many answered, on which day, and why.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from io import BytesIO
from itertools import islice
from typing import Any
from urllib.parse import parse_qs, urlsplit

from openpyxl import load_workbook

from tests.walk.pages import Node, Page
from tests.walk.words import Asked as Asked, Words, planned_wrong

ORDERED = ("", "build/", "launch/", "preview/", "methods/")  # pages that go through the questions
ALL_SPENT = "All spent"  # how the registry calls a closed study that can pay for nothing more
FEWER = ("answers to",)  # steps in which not all that came has been counted
AGREE = Decimal("0.011")  # two roundings of one amount
# who counts: a phrase with a number of answers
SO_FAR = re.compile(r"· ([\d,]+) responses?$", re.MULTILINE)
HAVE_COME = re.compile(r"Responses: ([\d,]+)")
PUBLISHED = re.compile(r"all ([\d,]+) responses are published")
COUNTED = re.compile(r": ([\d,]+) responses? counted")
RELEASED = re.compile(r"(?<![\d,])([\d,]+) responses? in wave \d+, published \d")
ASKED = re.compile(r"Asked of ([\d,]+) of ([\d,]+) people, whom")
ROUND = re.compile(r"This is round (\d+) of (\d+)")
MORE_ROUNDS = re.compile(r"This study plans \d+ rounds|stays on this device for later rounds")
SPENT_OF = re.compile(r"[ερ] ([\d.]+) of ([\d.]+)")


def in_words(day: Any) -> str:
    """Return a day as pages tell it."""
    return f"{day.day} {day:%B %Y}"


def _series(main: Node) -> Iterator[str]:
    """Yield what a page goes through: its own text, and each list beside it, which has no order
    with that.
    """
    yield _without_lists(main).text
    for each in main.all("ul"):
        if not any(up.tag == "ul" for up in islice(each.above(), 1, None)):
            yield each.text


def _without_lists(node: Node) -> Node:
    parts = [
        part if isinstance(part, str) else _without_lists(part)
        for part in node.parts
        if isinstance(part, str) or part.tag != "ul"
    ]
    return replace(node, parts=parts)


def number(text: str) -> int:
    return int(text.replace(",", ""))


def is_same(typed: str, stands: str) -> bool:
    """Tell whether a field holds what was typed: a number however it is written."""
    try:
        return Decimal(typed) == Decimal(stands)
    except InvalidOperation:
        return typed.split() == stands.split()


@dataclass
class Known(Words):
    """What the walk knows of its study."""

    expected: int | None = None  # people
    invited: int = 0  # people on a list, if there is one
    reasons: list[str] = field(default_factory=list)  # given where the public ledger keeps them
    step: str = ""
    digest: str = ""  # of the Plan of this wave
    is_counted: bool = False  # how many answer is public, and told at the end of the wave only
    waves: list[int] = field(default_factory=list)  # answers that were taken
    asked: set[int] = field(default_factory=set)  # answers to a question, in any wave
    planned: int = 1  # waves

    def wrong_with(self, page: Page) -> Iterator[str]:
        """Yield what a page of this study tells otherwise than it was."""
        path = urlsplit(page.address).path
        if not self.slug or self.slug not in re.split(r"[/.]", path) or page.status != 200:
            return
        if page.html:
            yield from self._links(page, path)
            yield from self._order(page, path)
            yield from self._numbers(page, path)
            yield from self._rounds(page, path)
            yield from self.told_wrong(page, path)
        elif path == f"/registry/{self.slug}.json":
            yield from self._registered(json.loads(page.content))
        elif path.endswith(f"/{self.slug}/plan"):
            yield from self._planned(json.loads(page.content))
        elif path.endswith("/build/form.xlsx"):
            sheet = load_workbook(BytesIO(page.content), read_only=True)["survey"]
            cells = [str(cell) for row in sheet.iter_rows(values_only=True) for cell in row if cell]
            yield from self._in_order(cells)

    def _links(self, page: Page, path: str) -> Iterator[str]:
        """See that all links to the form on a page lead to this wave, in the page's language."""
        if not self.digest or not re.search(r"/(?:collect|launch)/", path):
            return
        of_poster = re.search(r"/poster/([\w-]+)/", path)
        language = of_poster[1] if of_poster else ""
        if not of_poster:
            language = parse_qs(urlsplit(page.address).query).get("language", [self.language])[0]
        own = f"/s/{self.slug}/" + ("" if language == self.language else f"{language}/")
        for where, digest in re.findall(r"(/s/[\w/-]+)#([0-9a-f]{64})", page.html):
            if (where, digest) != (own, self.digest):
                yield f"links to {where}#{digest[:6]}…, not to {own}#{self.digest[:6]}…"

    def _order(self, page: Page, path: str) -> Iterator[str]:
        own = (f"/studies/{self.slug}/{each}" for each in ORDERED)
        public = f"/registry/{self.slug}/", f"/results/{self.slug}/"
        if path in (*own, *public):
            is_whole = path == f"/registry/{self.slug}/"  # elsewhere some may stand alone
            for text in [page.main.text] if is_whole else _series(page.main):
                yield from self._in_order(text.split("\n"), is_whole=is_whole)

    def _in_order(self, lines: Iterable[str], *, is_whole: bool = True) -> Iterator[str]:
        """See that the questions stand as they were typed, if any of them does."""
        texts, found = list(dict.fromkeys(each["text"] for each in self.typed)), dict[str, None]()
        for line in lines:
            own = re.sub(r"^\d+\. ", "", line)
            found |= {text: None for text in texts if own.startswith(text)}
        texts = texts if is_whole else [text for text in texts if text in found]
        if found and list(found) != texts:
            yield f"goes through the questions so: {list(found)}; they were typed so: {texts}"

    def _numbers(self, page: Page, path: str) -> Iterator[str]:
        text = page.main.text
        for node in page.facts if self.expected and not sum(self.waves) else ():
            if node.has("outlook") and int(node.attrs["data-n"]) not in (0, self.expected):
                yield f"looks out for {node.attrs['data-n']} people, not {self.expected}"
        if path == f"/registry/{self.slug}/":
            for reason in self.reasons:
                if reason not in text:
                    yield f"does not tell the reason that was given: {reason!r}"
        if not self.is_counted or self.step.startswith(FEWER):
            return
        total, last = sum(self.waves), self.waves[-1:]
        is_registry = path == f"/registry/{self.slug}/"
        for pattern, those in (
            *([(SO_FAR, [total])] if is_registry else []),
            (HAVE_COME, last),
            (PUBLISHED, last),
            (COUNTED, self.waves),
            (RELEASED, self.waves),
        ):
            for told in pattern.findall(text):
                if number(told) not in those:
                    yield f"tells {told} answers ({pattern.pattern}), and {those} came"
        for asked, of in ASKED.findall(text):
            if number(asked) not in self.asked or number(of) not in self.waves:
                yield f"tells that {asked} of {of} were asked: {sorted(self.asked)}, {self.waves}"

        for table in page.nodes:
            if table.attrs.get("aria-labelledby") == "came-of-list" and self.step.startswith("cl"):
                cells = [number(each.text.split()[0]) for each in table.all("td")]
                told = [sum(cells[at::4]) for at in range(3)]
                if told != [self.invited, *last, *last]:
                    yield f"tells {told} of a list: {self.invited} invited, {last} answered"

    def _rounds(self, page: Page, path: str) -> Iterator[str]:
        """See that the form, with all that it may come to say, tells of the waves that are planned,
        and of none after the last.
        """
        if not path.startswith(f"/s/{self.slug}/") or not self.waves:
            return
        said = " ".join(re.sub(r"<[^>]*>", " ", page.html).split())
        at = str(len(self.waves)), str(self.planned)
        for told in ROUND.findall(said):
            if told != at:
                yield f"says that this is round {' of '.join(told)}, not {' of '.join(at)}"
        for told in MORE_ROUNDS.findall(said):
            if len(self.waves) == self.planned:
                yield f"says “{told}” in the last wave, {' of '.join(at)}"

    def listed_otherwise(self, page: Page, own: Page) -> Iterator[str]:
        """Yield what the line of a list that leads to this study tells otherwise than its own page
        does: what is spent, of which cap; and in how many waves.
        """
        lines = [
            line
            for line in page.root.all("tr")
            if any(page.to(each.attrs.get("href", "")) == own.address for each in line.all("a"))
        ]
        if not lines:
            yield f"has no line that leads to {own.address}"
        for line in lines:
            text = " ".join(line.text.split())
            badges = [each.text for each in line.all("span") if each.has("badge")]
            for badge in badges if self.state else ():
                stands = any(each.startswith(badge) for each in self.state)
                if not stands and badge != ALL_SPENT:
                    yield f"says “{badge}” of this study, which is {sorted(self.state)}"
            table = next(each for each in line.above() if each.tag == "table")
            heads = [each.text for each in table.all("tr")[0].all("th")]
            cells = dict(zip(heads, [each.text for each in line.all("th", "td")], strict=False))
            came = cells.get("Answers", "").replace(",", "")
            those = sum(self.waves), *self.waves[-1:]
            if self.is_counted and came.isdecimal() and int(came) not in those:
                yield f"tells {came} answers, and {self.waves} came"
            waves = re.search(r"\bin (?:each of )?(\d+) waves", text)
            told = int(waves[1]) if waves else 1
            if own.address.startswith("/registry/") and told != len(self.waves):
                yield f"tells {told} waves of this study, which opened {len(self.waves)}: {text!r}"
            if spent := SPENT_OF.search(text):
                here = tuple(map(Decimal, spent.groups()))
                there = tuple(Decimal(own.fact(kind) or -1) for kind in ("spent", "cap"))
                if here != there:
                    yield f"tells {spent[0]}; {own.address} tells {there[0]} of {there[1]}"

    def _registered(self, document: dict[str, Any]) -> Iterator[str]:
        """See what the registry tells machines."""
        for name, typed in self.texts.items():
            if name in document and document[name] != typed:
                yield f"tells the {name} {document[name]!r}; {typed!r} was typed"
        told, came = document["answers"], sum(self.waves)
        if self.is_counted and not self.step.startswith(FEWER) and told != came:
            yield f"tells {told} answers, and {came} came"

    def _planned(self, document: dict[str, Any]) -> Iterator[str]:
        """See that a Plan says what was typed."""
        asked = {each["text"]: each for each in document["questions"]}
        texts = [each["text"] for each in document["questions"]]
        yield from self._in_order(asked)
        for name, typed in self.texts.items():
            if name in document and document[name] != typed:
                yield f"tells the {name} {document[name]!r}; {typed!r} was typed"
        for each in self.typed:
            choices = [choice.strip() for choice in str(each.get("choices", "")).split("\n")]
            own = asked.get(each["text"], {}).get("choices", [])[: len(choices)]
            if "choices" in each and own != choices:
                yield f"tells the choices {own} of {each['text']!r}; {choices} were typed"
            if each["text"] in asked and texts.count(each["text"]) == 1:
                yield from planned_wrong(each, asked[each["text"]])
