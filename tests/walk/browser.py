"""A browser on the site, in this process: it goes where links lead and sends what forms hold. All
that it gets is looked at.
"""

import random
import re
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client

from tests.walk import faults
from tests.walk.pages import Form, Node, Page, field_of
from tests.walk.record import Record
from tests.walk.truth import AGREE, Known, is_same

NUMBER = re.compile(r"\d+")
HEX = re.compile(r"[0-9a-f]{32,}")
LITTLE = 25.0  # points of ±, or hundredths of a range, from which on a page has to warn
SAID_OF_ONE = re.compile(  # what one person gives away on the device
    r"answers of one response reveal ε ([\d.]+\d) at most"
    r"|ε ([\d.]+\d) in all, on the device"
    r"|One person, all questions: ε ([\d.]+\d) of"
    r"|One person, all together: ε ([\d.]+\d)\."
)
SAID_HALF = re.compile(r"± ([\d.]+) points with ([\d,]+) responses, for the least precise question")
SAID_CAP = re.compile(r"(?:The|study’s) cap is ε ([\d.]+\d|\d)\b|capped at ε = ([\d.]+\d|\d)\b")
SAID_LEFT = re.compile(r"of the cap of [\d.]+,\s+([\d.]+)\s+is\s+left")
ANSWERS = re.compile(r"(?<![\d.,])(\d[\d,]*)(?= (?:answers|responses))")
AMOUNT = re.compile(r"\d+(?:\.\d+)?")
ABOUT = re.compile(r"\babout (\d[\d,]*) (?:answers|responses)")
FILE = re.compile(r"/export\.|\.(?:csv|svg|xlsx)$|/methods/")
MOST_HOPS = 5
# Instead of what is offered, where that takes long: a rehearsal, and a sheet of paper for everybody
LESS = {"runs": "20", "people": "50", "as": "file"}
CHANGED = 1  # field of each form that is changed, drawn by chance for each study
NOT_HELD = ("csrfmiddlewaretoken", "revision", "why", "language", "confirmed", "sure")
NOT_FIXED = (
    "expected",
    "name",
    "label",
    "matters",
    "drawn_in",
    "group",
    "cap",
    "epsilon",
    "zone",
    "hours",
)
IN_DOUBT = ("of_scale", "wanted", "may_decline")  # what goes with some kinds of questions only


@dataclass(frozen=True)
class Fault:
    """What is wrong, so that somebody can see it again: in which study, after which step, where."""

    study: str
    step: str
    page: str
    what: str

    def __str__(self) -> str:
        return f"{self.study}, {self.step}: {self.page} {self.what}"


Told = dict[tuple[str, str], tuple[Decimal, str]]  # by kind and measure: a number, and where


@dataclass
class Watch:
    """What was seen of a study so far."""

    study: str
    step: str = "draft"
    faults: list[Fault] = field(default_factory=list)
    told: Told = field(default_factory=dict)  # since something last happened
    was_warned: bool = False  # that little would be learned
    promised: tuple[float, int] = (0, 0)  # the ± that was told before launch, and for how many
    protected: int = 0  # people who are protected together; none, where one answer is
    is_noisy: bool = False  # how many answer is published with noise only
    not_noisy: frozenset[str] = frozenset()  # numbers that everybody knows
    before: set[str] = field(default_factory=set)  # told of answers before anybody gave one
    about: set[str] = field(default_factory=set)  # how many answer, as pages tell it
    known: Known = field(default_factory=Known)
    record: Record | None = None  # of a study in which nothing is left to chance
    is_one_wave: bool = True
    is_of_shares: bool = False  # every question asks for shares, and the rule publishes them
    is_trying: bool = False  # what is undone again
    pages: int = 0
    seconds: float = 0
    slowest: tuple[float, str] = (0, "")

    def something_happens(self) -> None:
        """Forget what pages told: from now on they may tell something else."""
        self.told.clear()
        self.known.is_settled = False

    def compare(self, page: Page, here: str) -> None:
        """See that a page tells what was done, the same cap as others, and as much spent and left
        of it.
        """
        if not self.is_trying:
            self.known.step = self.step
            for what in self.known.wrong_with(page):
                self.wrong(here, what)
        if urlsplit(page.address).path.startswith("/panels/"):
            return  # what it has spent is no study's
        for node in page.facts:
            if node.has("outlook"):
                half = Decimal(node.attrs["value"])
                if self.is_of_shares and 0 < half < 100 and page.status == 200:
                    self._same(("±", node.attrs["data-n"]), half, here, Decimal("0.15"))
                few = int(node.attrs["data-n"]) < int(node.attrs["data-least"])
                self.was_warned |= few or float(node.attrs["value"]) > LITTLE
                is_told = not self.is_trying and int(node.attrs["data-n"])
                if self.step.startswith("launch") and is_told:
                    self.promised = float(node.attrs["value"]), int(node.attrs["data-n"])
            if node.has("together"):
                self._compare_together(node, here)
            kind, measure = node.attrs.get("class", ""), node.attrs.get("data-in", "ε")
            if kind not in ("cap", "spent", "left"):
                continue
            value = Decimal(node.attrs["value"])
            other, where = self.told.setdefault((kind, measure), (value, here))
            if other != value:
                self.wrong(here, f"tells {kind} {measure} {value}; {where} tells {other}")

        for measure in {measure for _kind, measure in self.told}:
            parts = [self.told.get((kind, measure)) for kind in ("cap", "spent", "left")]
            if all(parts) and abs(parts[0][0] - parts[1][0] - parts[2][0]) > Decimal("0.01"):
                told = " − ".join(f"{part[0]}" for part in parts[:2])
                self.wrong(here, f"tells {measure} {told} = {parts[2][0]}")
        for node in page.nodes:
            if node.tag == "dl" and page.status == 200:
                self._add_up(node, here)
        self._compare_prose(page, here)

    def _add_up(self, ladder: Node, here: str) -> None:
        """See that the parts of a cap that stand in one list with it are all of it."""
        steps = ladder.all("dd")
        amounts = [AMOUNT.search(each.text) for each in steps]
        if (
            not steps
            or not all(amounts)
            or not any(each.has("cap") for each in steps[-1].all("data"))
        ):
            return
        *parts, cap = [Decimal(each[0]) for each in amounts if each]
        places = min(-each.as_tuple().exponent for each in (*parts, cap))
        if abs(sum(parts) - cap) > len(parts) * Decimal(10) ** -places:
            told = " + ".join(map(str, parts))
            self.wrong(here, f"tells {told} as parts of {cap}")

    def _compare_together(self, node: Node, here: str) -> None:
        """See that those who are protected together lose the cap at most, told as one row."""
        told, people = self.told.get(("cap", "ε")), int(node.attrs["data-people"])
        if (
            told
            and people <= self.protected
            and float(node.attrs["value"]) > 1.001 * float(told[0])
        ):
            self.wrong(
                here,
                f"tells a cap of {node.attrs['value']} for {people}, who are protected together; "
                f"{told[1]} tells {told[0]}",
            )

    def _compare_prose(self, page: Page, here: str) -> None:
        """See that sentences tell what the numbers for machines do."""
        text = " ".join(page.main.text.split()) if page.html else ""
        for said in SAID_LEFT.findall(text):
            told = self.told.setdefault(("left", "ε"), (Decimal(said.rstrip(".")), here))
            if abs(told[0] - Decimal(said.rstrip("."))) > Decimal("0.01"):
                self.wrong(here, f"says that {said} is left; {told[1]} tells {told[0]}")
        is_taken = page.status == 200
        for said in SAID_CAP.findall(text) if is_taken else ():
            self._same(("cap", "ε"), Decimal("".join(said)), here, Decimal(0))
        for said in SAID_OF_ONE.findall(text) if self.is_one_wave and is_taken else ():
            self._same(("ε of one", ""), Decimal("".join(said)), here, AGREE)
        for half, n in SAID_HALF.findall(text) if self.is_of_shares and is_taken else ():
            self._same(("±", n.replace(",", "")), Decimal(half), here, Decimal("0.15"))
        if not sum(self.known.waves):
            self.before.update(ANSWERS.findall(text))
        if self.is_noisy:
            self.about.update(set(ABOUT.findall(text)) - self.not_noisy - self.before)
            for n in self.about:
                bare = rf"(?<![\d.,])(?<!about ){n}(?= (?:answers|responses))|(?<=Responses: ){n}"
                if found := re.search(bare, text):
                    around = text[max(found.start() - 40, 0) : found.end() + 40]
                    self.wrong(here, f"tells a noisy number as if it were exact: “…{around}…”")

    def _same(self, kind: tuple[str, str], value: Decimal, here: str, about: Decimal) -> None:
        """See that a number is told as it was told before, but for how it is rounded."""
        if self.is_trying:
            return
        other, where = self.told.setdefault(kind, (value, here))
        if abs(other - value) > about:
            self.wrong(here, f"tells {' '.join(kind)} {value}; {where} tells {other}")

    def wrong(self, page: str, what: str) -> None:
        same = {(each.page, each.what) for each in self.faults}
        if (page, what) not in same:
            self.faults.append(Fault(self.study, self.step, page, what))


@dataclass(eq=False)
class Browser:
    """One person's browser; nobody's, without a user."""

    who: str
    watch: Watch
    client: Client = field(default_factory=Client)
    seen: set[tuple[str, str]] = field(default_factory=set)  # step and address
    tried: set[tuple[str, ...]] = field(default_factory=set)  # forms, by what they are

    def get(self, address: str, *, came_by: str = "") -> Page:
        """Go to an address, and on to where it leads."""
        return self._request("get", address, {}, came_by)

    def send(
        self, form: Form, button: Node | None = None, *, came_by: str = "", **typed: Any
    ) -> Page:
        """Send a form with what somebody typed; all else as it stands there."""
        unknown = [name for name in typed if name not in form.fields]
        assert not unknown, f"{form.page.address}: no field {unknown}, but {form.fields}"
        data: dict[str, Any] = form.data(button)
        for name, value in typed.items():
            data[name] = value if isinstance(value, list) else [value]
        address = form.action(button)
        if form.method == "get":
            return self.get(
                f"{urlsplit(address).path}?{urlencode(data, doseq=True)}", came_by=came_by
            )
        return self.post(address, data, came_by=came_by)

    def post(self, address: str, data: dict[str, Any], *, came_by: str = "") -> Page:
        self.watch.something_happens()
        return self._request("post", address, data, came_by)

    def _request(self, method: str, address: str, data: dict[str, Any], came_by: str) -> Page:
        here = f"{self.who} {method.upper()} {address}"
        for _hop in range(MOST_HOPS):
            began = time.perf_counter()
            try:
                answer = getattr(self.client, method)(address, data)
                content = b"".join(answer) if answer.streaming else answer.content
            except Exception as error:
                last = traceback.extract_tb(error.__traceback__)[-1]
                place = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
                self.watch.wrong(
                    here, f"breaks: {type(error).__name__}: {error} ({place}){came_by}"
                )
                return Page(address, 500, "", "")
            self._count(time.perf_counter() - began, here)
            if answer.status_code not in (301, 302, 303, 307):
                break
            address, method, data = answer["Location"], "get", {}
        kind = answer.get("Content-Type", "").partition(";")[0]
        html = content.decode() if kind == "text/html" else ""
        page = Page(address, answer.status_code, html, kind, content)
        for what in faults.look(page):
            self.watch.wrong(here, f"{what}{came_by}")
        self.watch.compare(page, here)
        if self.watch.record and self.watch.known.slug in here:
            self.watch.record.add(self.watch.step, here, page)
        return page

    def _count(self, seconds: float, here: str) -> None:
        self.watch.pages += 1
        self.watch.seconds += seconds
        self.watch.slowest = max(self.watch.slowest, (seconds, here))

    def visit(self, address: str, *, came_by: str = "") -> Page | None:
        """Go where a link leads, once a step; what does not open there is wrong."""
        is_file = FILE.search(address)  # the same of every release
        key = ("", _like(address)) if is_file else (self.watch.step, address)
        if key in self.seen:
            return None
        self.seen.add(key)
        page = self.get(address, came_by=came_by)
        if 400 <= page.status < 500:
            self.watch.wrong(f"{self.who} GET {address}", f"answers {page.status}{came_by}")
        return page

    def try_forms(self, page: Page) -> None:
        """Send each form of a page as it stands there, by each of its buttons, and undo what that
        did. It may be refused, with a word why; it may not break, or lead nowhere.
        """
        for form in page.forms:
            for button in form.buttons or [None]:
                self._try(form, button)

    def _try(self, form: Form, button: Node | None) -> None:
        action = form.action(button)
        pressed = (button.attrs.get("name", ""), button.text) if button else ("", "")
        what = (form.method, _like(action), *sorted(form.fields), *map(_like, pressed))
        if what in self.tried or urlsplit(action).path.startswith("/accounts/"):
            return
        self.tried.add(what)
        if form.refused_by_browser(button):
            return
        came_by = f", by “{' '.join(pressed[1].split())}” on {form.page.address}"
        less = {name: value for name, value in LESS.items() if name in form.fields}
        with self.undone(is_trying=True):
            answer = self.send(form, button, came_by=came_by, **less)
            self._compare_with(form, button, answer, came_by)
            self._see_held(form, button, answer, less)
            is_told = answer.status in (400, 409, 422) and bool(answer.errors or not answer.html)
            if 400 <= answer.status < 500 and not is_told:
                self.watch.wrong(
                    f"{self.who} {form.method.upper()} {action}",
                    f"answers {answer.status}, and does not say why{came_by}",
                )
        if form.method == "post":
            self._change(form, button)

    def _change(self, form: Form, button: Node | None) -> None:
        """Change some fields of a form, one at a time: each is refused with a word, or it is held
        when the form is opened again, and what is typed of a draft stands on its launch.
        """
        named = [each for each in form.fields if each and _is_shown(form, each)]
        others = {each: other for each in named if (other := _another(form, each))}
        chance = random.Random(f"{self.watch.study} {_like(form.action(button))}")
        why = {"why": "It is changed."} if "why" in form.fields else {}
        for name in chance.sample(sorted(others), min(CHANGED, len(others))):
            with self.undone(is_trying=True):
                typed = {**why, name: others[name]}
                answer = self.send(form, button, **typed)
                is_held = self._see_held(form, button, answer, typed)
                if is_held and "/build/" in form.page.address and others[name] not in ("", "on"):
                    self._see_in_launch(form, name, others[name])

    def _see_held(
        self, form: Form, button: Node | None, answer: Page, typed: dict[str, Any]
    ) -> bool:
        """See that a form, opened again, holds what was sent; tell whether it was taken."""
        is_shown_only = set(LESS) & set(form.fields) or (button and button.attrs.get("name"))
        is_asked_again = any("confirmed" in each.fields for each in answer.forms)
        if answer.status != 200 or answer.errors or is_shown_only or is_asked_again:
            return False
        again = answer
        if form.method != "get":
            again = self._request("get", form.page.address, {}, "")
        if (same := again.form_like(form)) is None or again.status != 200:
            return False
        stands, hidden = same.data(), _hidden(form)
        sent = {name: [value] for name, value in typed.items()} or form.data(button)
        for name, values in sent.items():
            own, held = "\n".join(values), "\n".join(stands.get(name, []))
            is_offered = name in same.fields and name not in (*NOT_HELD, *hidden)
            if is_offered and not is_same(own, held):
                told = f"was sent {own!r} as {name}, and holds {held!r}"
                self.watch.wrong(form.page.address, f"{told} ({sorted(typed) or 'as it stood'})")
        return True

    def _see_in_launch(self, form: Form, name: str, typed: str) -> None:
        """See that a text that was changed in a draft is what its launch would fix."""
        control = next(each for each in form.controls if each.attrs.get("name") == name)
        kind = control.attrs.get("type", "text")
        if control.tag not in ("input", "textarea") or kind in ("radio", "checkbox"):
            return
        slug = form.page.address.split("/")[2]
        page = self._request("get", f"/studies/{slug}/launch/", {}, "")
        text = " ".join(page.main.text.split())
        if "What becomes fixed" in text and name not in NOT_FIXED:
            for line in filter(None, map(str.strip, typed.split("\n"))):
                if line not in text:
                    self.watch.wrong(page.address, f"does not tell {line!r}, typed as {name}")

    def _compare_with(self, form: Form, button: Node | None, answer: Page, came_by: str) -> None:
        """See that the site takes what it fills in itself, and that a button does something."""
        if form.method == "get":
            return
        own, typed = f"{self.who} POST {form.action(button)}", form.data(button)
        if answer.status == 422:
            for name in {field_of(each) for each in answer.nodes} - {""}:
                if "".join(typed.get(name, [])).strip():
                    said = " ".join(answer.errors[0].text.split()) if answer.errors else ""
                    self.watch.wrong(own, f"refuses what stood in {name} already: {said}{came_by}")
        shows = button is not None and button.attrs.get("name")  # what would be, and does nothing
        if answer.status == 200 and not shows and answer.main.text == form.page.main.text:
            self.watch.wrong(own, f"changes nothing, and says nothing{came_by}")

    @contextmanager
    def undone(self, *, is_trying: bool = False) -> Iterator[None]:
        """Let something happen, and undo it; what is only tried is not what is known."""
        cookies, told = deepcopy(self.client.cookies), dict(self.watch.told)
        was_trying, self.watch.is_trying = self.watch.is_trying, is_trying or self.watch.is_trying
        state = set(self.watch.known.state)
        try:
            with transaction.atomic():
                yield
                transaction.set_rollback(True)
        finally:
            self.client.cookies, self.watch.told = cookies, told
            self.watch.is_trying, self.watch.known.state = was_trying, state


OF_RULES = {"hours": ("every", "continual"), "horizon": ("continual",)}


def _hidden(form: Form) -> list[str]:
    return [
        each.attrs.get("name", "") for each in form.controls if each.attrs.get("type") == "hidden"
    ]


def _is_shown(form: Form, name: str) -> bool:
    """Tell whether a field belongs to the kind of question, or to the rule, that a form has."""
    typed = {each: "".join(values) for each, values in form.data().items()}
    control = next(each for each in form.controls if each.attrs.get("name") == name)
    kinds = [
        each.attrs["data-kinds"].split() for each in control.above() if "data-kinds" in each.attrs
    ]
    rules = OF_RULES.get(name)
    is_of_rule = rules is None or typed.get("rule") in rules
    return is_of_rule and all(typed.get("kind") in own for own in kinds)


def _another(form: Form, name: str) -> str:
    """Return something else than a field holds; nothing, where it is not to be changed."""
    own = [each for each in form.controls if each.attrs.get("name") == name]
    kind, held = own[0].attrs.get("type", own[0].tag), "\n".join(form.data().get(name, []))
    if name in (*NOT_HELD, *IN_DOUBT, *LESS) or kind in ("hidden", "file", "password", "submit"):
        return ""
    if own[0].tag == "select" or kind == "radio":
        each = own[0].all("option") if own[0].tag == "select" else own
        values = [one.attrs.get("value", "") for one in each]
        return next((one for one in values if one and one != held), "")
    if kind == "checkbox":
        return "on" if len(own) == 1 and not held and "value" not in own[0].attrs else ""
    if not held.strip():
        return ""
    if kind == "number" or own[0].attrs.get("inputmode") == "decimal":
        return str(int(held) + 1) if held.isdecimal() else f"{Decimal(held) * Decimal('0.9'):f}"
    return f"{held.strip()} anew" if kind in ("text", "textarea") else ""


def upload(name: str, content: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def _like(text: str) -> str:
    """Return what an address or a text is like, whatever numbers are in it."""
    return NUMBER.sub("0", HEX.sub("hex", text))
