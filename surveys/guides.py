"""The guides of `docs/guides`, as pages under Help, in the language of the reader."""

import re
from functools import cache
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from django.views.decorators.http import require_safe
from markdown_it import MarkdownIt

GUIDES = Path("docs/guides")
NAMES = (
    "choose-epsilon",
    "invite-people",
    "read-the-results",
    "second-wave",
    "ethics-section",
    "data-requests",
    "questions",
    "accessibility",
)
TABLE = '<div class="scrolling" tabindex="0"><table>'  # also by keyboard, where it is too wide
TO_A_GUIDE = re.compile(r"\]\(([a-z-]+)\.md\)")


@cache
def guide(name: str, language: str) -> tuple[str, SafeString]:
    """Return the title of a guide and its text as HTML: in English where nobody translated it."""
    folder = settings.BASE_DIR / GUIDES
    path = folder / language / f"{name}.md"
    text = (path if path.exists() else folder / f"{name}.md").read_text()
    heading, _, rest = text.partition("\n")
    written = MarkdownIt("commonmark").enable("table").render(TO_A_GUIDE.sub(r"](../\1/)", rest))
    written = written.replace("<table>", TABLE).replace("</table>", "</table></div>")
    return heading.removeprefix("# "), mark_safe(written)  # noqa: S308 (a file of this repository)


@require_safe
def contents(request: HttpRequest) -> HttpResponse:
    """List the guides."""
    titles = [(name, guide(name, get_language() or "en")[0]) for name in NAMES]
    return render(request, "help/contents.html", {"titles": titles})


@require_safe
def read(request: HttpRequest, name: str) -> HttpResponse:
    """Show one guide."""
    if name not in NAMES:
        raise Http404
    title, text = guide(name, get_language() or "en")
    return render(request, "help/guide.html", {"title": title, "text": text})
