"""What must not stand on any page, whatever study it shows."""

import re
from collections.abc import Iterator

from tests.walk.pages import LABELLED, Node, Page

NOTHING = re.compile(
    r"(?<![\w’'-])(?:nan|NaN|inf|Infinity|undefined|null|Decimal\()(?![\w’'-])"
    r"|(?<![\w’'-])None(?: (?:answer|question|point|percent|people|person|day|wave|row)|%|$)"
    r"|(?<=[^.:!?…] )None(?![\w’'-])"  # where it does not begin a sentence
)
UNFILLED = re.compile(r"%\(\w+\)|\{\{|\}\}|\{%|%\}|&(?:lt|gt|amp|quot|#\d+);")
DOUBLED = re.compile(  # of both languages
    r"“\s*”|‘\s*’|«\s*»|(?<!\w)\(\s*\)|（\s*）"  # a name that is empty  # noqa: RUF001
    r"|(?<!\.)\.\.(?!\.)|\?\?|!!|,\s*,|;\s*;|:\s*:(?!:)|[?!]\.|\.[?!]|,\.|:\.|。。|，，|；；|？。|。，|，。"  # noqa: RUF001
    r"|\s[,;](?=\s)|(?<=[a-z])\s\.(?=\s|$)"
)
SEVERAL = re.compile(r"(?<![\d.,])1 (?:answers|people|questions|publications|days|points)\b")
FLOAT = re.compile(r"\d\.\d{14,}|\de[+-]\d+")  # the ledger counts in twelve decimals
SEEN_AS_CODE = ("code", "pre", "textarea", "input", "q", "del", "ins")


def look(page: Page) -> Iterator[str]:
    """Yield what is wrong with a page, in words that say where."""
    if page.status >= 500:
        yield f"answers {page.status}"
        return
    if not page.html:
        return
    for line in _prose(page.root).split("\n"):
        for name, pattern in (
            ("says nothing", NOTHING),
            ("is not filled in", UNFILLED),
            ("has a doubled mark or an empty name", DOUBLED),
            ("shows the digits of a float", FLOAT),
        ):
            if found := pattern.search(line):
                start = max(found.start() - 50, 0)
                yield f"{name}: {found[0]!r} in “…{line[start : found.end() + 40]}…”"
    yield from _unnamed(page)
    yield from _without_interval(page)


def _prose(root: Node) -> str:
    """Return what is read, but for what others typed and what is a code."""
    pieces: list[str] = []

    def read(node: Node) -> None:
        for part in node.parts:
            if isinstance(part, str):
                pieces.append(" ".join(part.split("\n")))
            elif part.is_unseen:
                continue
            elif part.tag in SEEN_AS_CODE or part.has("code"):
                pieces.append("…" if part.tag not in ("textarea", "input") else "\n")
            else:
                edge = (
                    ""
                    if part.tag in ("a", "b", "em", "i", "span", "strong", "time", "data")
                    else "\n"
                )
                pieces.append(edge)
                read(part)
                pieces.append(edge)

    read(root)
    text = "".join(pieces).replace("\u202f;", ";")  # as French writes it
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))


def _unnamed(page: Page) -> Iterator[str]:
    """Yield what somebody has to press or fill in, or is led by, and that has no name."""
    labels = {each.attrs.get("for", "") for each in page.nodes if each.tag == "label" and each.text}
    for node in page.nodes:
        if node.is_unseen:
            continue
        if (
            node.tag in LABELLED
            and not node.attrs.keys() & {"aria-label", "title"}
            and not node.text
            and not node.all("img")
        ):
            yield f"has a <{node.tag}> without a name: {node.attrs}"
        if node.tag in ("input", "select", "textarea"):
            kind = node.attrs.get("type", "text")
            labelled = node.attrs.keys() & {"aria-label", "aria-labelledby", "title"}
            inside = any(up.tag == "label" and up.text for up in node.above())
            if (
                kind not in ("hidden", "submit", "button")
                and not labelled
                and not inside
                and node.attrs.get("id", "") not in labels
            ):
                yield f"has a field without a label: {node.attrs.get('name') or node.attrs}"


def _holds(value: float, low: float, high: float) -> bool:
    """Tell whether an interval holds its estimate. Numbers of people may be estimated below none or
    above all, where intervals are cut; the page says why.
    """
    return low <= value <= high or value < low == 0 or (value > high and high.is_integer())


def _without_interval(page: Page) -> Iterator[str]:
    """Yield the estimates that stand without their interval: facts of the kind `estimate` have one,
    from least to greatest, which holds them.
    """
    for node in page.facts:
        if not node.has("estimate"):
            continue
        value, low, high = (node.attrs.get(name, "") for name in ("value", "data-low", "data-high"))
        try:
            if not _holds(float(value), float(low), float(high)):
                yield f"tells an estimate of {value} outside of its interval, {low} to {high}"
        except ValueError:
            yield f"tells an estimate without its interval: {node.text!r} ({value}, {low}, {high})"
