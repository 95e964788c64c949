"""Pages as a browser has them: what is visible, where links lead, what a form would send."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin, urlsplit

VOID = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
    ]
)
CLOSED_BY_THE_NEXT = frozenset(
    ["li", "p", "dt", "dd", "tr", "td", "th", "option", "thead", "tbody"]
)
INLINE = frozenset(
    [
        "a",
        "abbr",
        "b",
        "bdi",
        "cite",
        "code",
        "data",
        "del",
        "em",
        "i",
        "ins",
        "kbd",
        "label",
        "mark",
        "q",
        "s",
        "small",
        "span",
        "strong",
        "sub",
        "sup",
        "time",
    ]
)
UNSEEN = frozenset(["script", "style", "template", "head", "noscript"])
LABELLED = frozenset(
    ["a", "button", "h1", "h2", "h3", "h4", "legend", "summary", "label", "caption"]
)


@dataclass(eq=False)
class Node:
    """An element; `parts` are its elements and texts, in order."""

    tag: str
    attrs: dict[str, str]
    parent: "Node | None" = None
    parts: list["Node | str"] = field(default_factory=list)

    def walk(self) -> list["Node"]:
        """Return it and all elements in it, in order."""
        found, waiting = [], [self]
        while waiting:
            node = waiting.pop()
            found.append(node)
            waiting += [part for part in reversed(node.parts) if not isinstance(part, str)]
        return found

    def all(self, *tags: str) -> list["Node"]:
        return [each for each in self.walk() if each.tag in tags]

    def above(self) -> Iterator["Node"]:
        """Yield it and all that it stands in, outwards."""
        here: Node | None = self
        while here is not None:
            yield here
            here = here.parent

    def has(self, name: str) -> bool:
        return name in self.attrs.get("class", "").split()

    @cached_property
    def is_unseen(self) -> bool:
        """Tell whether no reader gets this element, by eye or by ear, or what it stands in."""
        return (
            self.tag in UNSEEN
            or "hidden" in self.attrs
            or self.attrs.get("aria-hidden") == "true"
            or (self.tag == "input" and self.attrs.get("type") == "hidden")
            or (self.parent is not None and self.parent.is_unseen)
        )

    @cached_property
    def text(self) -> str:
        """Return what is read in it: its blocks a line each, white space as a browser shows it."""
        pieces: list[str] = []
        self._read(pieces)
        lines = "".join(pieces).split("\n")
        return "\n".join(filter(None, (" ".join(line.split()) for line in lines)))

    def _read(self, pieces: list[str]) -> None:
        for part in self.parts:
            if isinstance(part, str):
                pieces.append(" ".join(part.split("\n")))
            elif not part.is_unseen:
                edge = "" if part.tag in INLINE else "\n"
                pieces.append(edge)
                part._read(pieces)
                pieces.append(edge)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = self.here = Node("document", {})

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in CLOSED_BY_THE_NEXT and self.here.tag == tag and self.here.parent:
            self.here = self.here.parent
        node = Node(tag, {name: value or "" for name, value in attrs}, self.here)
        self.here.parts.append(node)
        if tag not in VOID:
            self.here = node

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs}, self.here)
        self.here.parts.append(node)

    def handle_endtag(self, tag: str) -> None:
        for node in self.here.above():
            if node.tag == tag and node.parent:
                self.here = node.parent
                return

    def handle_data(self, data: str) -> None:
        self.here.parts.append(data)


def parse(html: str) -> Node:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.root


@dataclass(eq=False)
class Form:
    """A form, and what a browser sends of it when nothing is typed."""

    node: Node
    page: "Page"

    @property
    def method(self) -> str:
        return self.node.attrs.get("method", "get").lower()

    @cached_property
    def controls(self) -> list[Node]:
        """Return its fields that can be sent, those elsewhere that name it too."""
        own = self.node.attrs.get("id")
        found = []
        for each in self.page.controls:
            named = each.attrs.get("form")
            is_own = named == own if named else any(up is self.node for up in each.above())
            if is_own and not _is_disabled(each):
                found.append(each)
        return found

    @property
    def buttons(self) -> list[Node]:
        """Return the buttons that send it and that somebody can press."""
        return [
            each
            for each in self.controls
            if _sends(each)
            and "hidden" not in each.attrs
            and each.attrs.get("aria-disabled") != "true"
        ]

    @property
    def fields(self) -> list[str]:
        return list(
            dict.fromkeys(each.attrs.get("name", "") for each in self.controls if not _sends(each))
        )

    def data(self, button: Node | None = None) -> dict[str, list[str]]:
        """Return what is sent, by name."""
        data: dict[str, list[str]] = {}
        for each in self.controls:
            name = each.attrs.get("name")
            if not name or (_sends(each) and each is not button):
                continue
            for value in _values(each):
                data.setdefault(name, []).append(value)
        return data

    def action(self, button: Node | None = None) -> str:
        own = self.node.attrs.get("action", "")
        where = button.attrs.get("formaction", own) if button else own
        return self.page.to(where or self.page.address)

    def refused_by_browser(self, button: Node | None = None) -> str:
        """Return the field that a browser would not send empty, if there is one."""
        free = "novalidate" in self.node.attrs or (button and "formnovalidate" in button.attrs)
        data = self.data(button)
        for each in self.controls:
            name = each.attrs.get("name", "")
            if not free and "required" in each.attrs and not "".join(data.get(name, [])).strip():
                return name
        return ""


def _is_disabled(node: Node) -> bool:
    return "disabled" in node.attrs or any(
        up.tag == "fieldset" and "disabled" in up.attrs for up in node.above()
    )


def _sends(node: Node) -> bool:
    kind = node.attrs.get("type", "submit" if node.tag == "button" else "text")
    return node.tag in ("button", "input") and kind in ("submit", "image")


def _values(node: Node) -> list[str]:
    if node.tag == "textarea":
        return ["".join(part for part in node.parts if isinstance(part, str)).removeprefix("\n")]
    if node.tag == "select":
        options = node.all("option")
        chosen = [each for each in options if "selected" in each.attrs]
        if "multiple" not in node.attrs:
            chosen = chosen[-1:] or options[:1]
        return [each.attrs.get("value", each.text) for each in chosen]
    kind = node.attrs.get("type", "text")
    if kind in ("checkbox", "radio"):
        return [node.attrs.get("value", "on")] if "checked" in node.attrs else []
    if kind in ("file", "button", "reset"):
        return []
    return [node.attrs.get("value", "")]


@dataclass(eq=False)
class Page:
    """An answer of the site, where it came from, and what it says."""

    address: str
    status: int
    html: str  # empty where it is a file
    kind: str  # of its content
    content: bytes = b""

    @cached_property
    def root(self) -> Node:
        return parse(self.html)

    @cached_property
    def main(self) -> Node:
        return next(iter(self.root.all("main")), self.root)

    @cached_property
    def text(self) -> str:
        return self.root.text

    @cached_property
    def language(self) -> str:
        return next((each.attrs.get("lang", "") for each in self.root.all("html")), "")

    @cached_property
    def nodes(self) -> list[Node]:
        return self.root.walk()

    def form_like(self, form: Form) -> Form | None:
        """Return the form of this page that does the same as one of another page."""
        for each in self.forms:
            if each.action() == form.action() and each.method == form.method:
                return each
        return None

    @cached_property
    def controls(self) -> list[Node]:
        fields = ("input", "select", "textarea", "button")
        return [each for each in self.nodes if each.tag in fields]

    @cached_property
    def forms(self) -> list[Form]:
        return [Form(node, self) for node in self.nodes if node.tag == "form"]

    def to(self, where: str) -> str:
        """Return an address of this page as the site's own, without what stays in the browser."""
        return urldefrag(urljoin(self.address, where)).url

    @property
    def links(self) -> list[str]:
        """Return the addresses on this site that somebody can click, each once."""
        found = {}
        for each in (node for node in self.nodes if node.tag == "a" and not node.is_unseen):
            href = each.attrs.get("href", "")
            if href and not urlsplit(href).scheme and not href.startswith(("#", "//", "/static/")):
                found[self.to(href)] = None
        return list(found)

    @property
    def errors(self) -> list[Node]:
        """Return what says that something was refused."""
        return [
            each
            for each in self.nodes
            if each.text and (each.has("errors") or each.has("error") or _is_alarm(each))
        ]

    @cached_property
    def facts(self) -> list[Node]:
        """Return the numbers that the page tells machines: <data class="cap" value="2">."""
        return [each for each in self.nodes if each.tag == "data"]

    def fact(self, kind: str) -> str:
        """Return the first number of this kind; nothing where it tells none."""
        return next((each.attrs["value"] for each in self.facts if each.has(kind)), "")


def _is_alarm(node: Node) -> bool:
    """Tell whether a message says that nothing was done."""
    is_said = node.parent is not None and node.parent.attrs.get("role") == "status"
    return node.attrs.get("role") == "alert" or (is_said and node.has("risk"))


def field_of(node: Node) -> str:
    """Return the field that a message stands at, or leads to."""
    if not node.has("error") and not any(up.has("errors") for up in node.above()):
        return ""
    for name in (node.attrs.get("id", ""), node.attrs.get("href", "")):
        if found := re.fullmatch(r"#?id_([\w-]+?)(?:_error)?", name):
            return found[1]
    return ""
