"""Texts of a form with their marks taken out: the form shows plain text."""

import html
import re
from dataclasses import dataclass

TAGS = (
    "a|b|big|br|center|code|div|em|font|h[1-6]|hr|i|img|li|mark|ol|p|pre|s|small|span|strike|strong"
    "|sub|sup|table|td|th|tr|u|ul"
)
ATTRIBUTE = r"""\s+[\w:-]+\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+)"""
HTML = re.compile(rf"</?(?:{TAGS})(?:{ATTRIBUTE})*\s*/?>", re.IGNORECASE)
ENTITY = re.compile(r"&(?:[a-zA-Z]{2,8}|#\d{1,6}|#x[0-9a-fA-F]{1,5});")
LINK = re.compile(r"\[([^\[\]]+)\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#{1,6}\s+(?=\S)", re.MULTILINE)
# **bold**, __bold__, *italic*, _italic_: not 2*3*4, and not a_name_of_this_kind
EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3}|(?<!_)_{1,3})(?=[^\s*_])([^*_\n]*?[^\s*_])\1(?![\w*])")


@dataclass(frozen=True, slots=True)
class Plain:
    """A text without marks, the HTML that stood in it, and whether anything else was taken out."""

    text: str
    tags: tuple[str, ...] = ()
    is_marked: bool = False


def plain(cell: str) -> Plain:
    """Return a cell's text as the form shows it, on one line."""
    tags = tuple(dict.fromkeys(HTML.findall(cell)))
    text = HTML.sub(lambda tag: " " if tag[0][:3].lower() == "<br" else "", cell)
    text = ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    unmarked = HEADING.sub("", LINK.sub(r"\1 (\2)", text))
    for _outer_and_inner in range(2):
        unmarked = EMPHASIS.sub(r"\2", unmarked)
    return Plain(" ".join(unmarked.split()), tags, unmarked != text or "\n" in cell.strip())
