"""The documents that the site shows under Help, in the language of the reader: guides, reference
and explanations of `docs/guides`, and those of `docs` that are in English only.
"""

import re
from functools import cache
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.utils.translation import get_language
from django.views.decorators.http import require_safe
from markdown_it import MarkdownIt

DOCS, GUIDES, CONTENTS = Path("docs"), Path("docs/guides"), "index"
IN_ENGLISH = (
    "people",
    "deploy",
    "several-machines",
    "backups",
    "keys",
    "upgrade",
    "languages",
    "analyse",
    "promises",
    "check",
    "theory",
)
# also by keyboard, where it is too wide
TABLE, CODE = '<div class="scrolling" tabindex="0"><table>', '<pre class="scrolling" tabindex="0">'
LINK = re.compile(r"(?<!!)\[([^]]+)\]\((?!\w+:)(?:[^)#]*?([\w-]+)\.md)?(#[^)]+)?[^)]*\)")
PICTURE = re.compile(r'<img src="([\w-]+\.svg)"[^>]*>')
HEADING = re.compile(r"<h([23])>(.+)</h")


def place(name: str, language: str) -> Path | None:
    """Return the file of a page: the translation, where there is one."""
    folders = [GUIDES / language, GUIDES, *([DOCS] if name in IN_ENGLISH else [])]
    paths = (settings.BASE_DIR / folder / f"{name}.md" for folder in folders)
    return next((path for path in paths if path.exists()), None)


@cache
def guide(name: str, language: str) -> tuple[str, SafeString]:
    """Return the title of a page and its text as HTML. Of its links only those to other pages are
    left.
    """

    def linked(found: re.Match[str]) -> str:
        words, page, part = found[1], found[2], found[3] or ""
        address = page and place(page, language) and reverse("guide", args=[page])
        return f"[{words}]({address or ''}{part})" if address or (part and not page) else words

    path = place(name, language)
    if path is None:
        raise Http404
    heading, _, rest = path.read_text().partition("\n")
    written = MarkdownIt("commonmark").enable("table").render(LINK.sub(linked, rest))
    written = written.replace("<table>", TABLE).replace("</table>", "</table></div>")
    written = written.replace("<pre>", CODE)
    written = HEADING.sub(lambda it: f'<h{it[1]} id="{slugify(it[2], True)}">{it[2]}</h', written)
    written = PICTURE.sub(lambda it: (path.parent / it[1]).read_text(), written)
    return heading.removeprefix("# "), mark_safe(written)  # noqa: S308 (a file of this repository)


@require_safe
def read(request: HttpRequest, name: str = CONTENTS) -> HttpResponse:
    """Show one page, or the list of all."""
    title, text = guide(name, get_language() or "en")
    told = {"title": title, "text": text, "is_contents": name == CONTENTS}
    return render(request, "help/guide.html", told | {"is_english": name in IN_ENGLISH})
