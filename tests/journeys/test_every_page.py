"""Every page of the four people, in both colour schemes and both languages: axe, narrow screens,
untranslated words.

`PAGES` is the list of pages visited. What takes several steps to reach is in the journeys of its
room.
"""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.journeys.axe import complaints, too_wide
from tests.journeys.pictures import sign_in
from tests.journeys.respondent import PHONE
from tests.journeys.site import Site

PAGES = {
    "stranger": (
        "/",
        "/accounts/login/",
        "/plan/",
        "/plan/?n=40&half=4&many=2&many=1&kind=number",
        "/promises/",
        "/help/",
        "/help/choose-epsilon/",
        "/help/accessibility/",
        "/help/glossary/",
        "/help/settings/",
        "/help/theory/",
        "/registry/",
        "/registry/?text=health",
        "/registry/health-and-habits/",
        "/registry/partners-and-drinking/",
        "/results/health-and-habits/",
        "/results/health-and-habits/over-time/",
        "/results/health-and-habits/compare/",
        "/results/health-and-habits/methods/",
        "/receipts/",
        "/my/",
        "/ledger/",
        "/ledger/?kind=charge",
        "/ledger/1/",
        "/s/health-and-habits/",
        "/s/medicines-and-help/",
        "/s/no-such-study/",
        "/no-such-page/",
        "/account/invitation/",
        "/account/invitation/expired/",
        "/accounts/password/reset/",
    ),
    "researcher": (
        "/studies/",
        "/studies/new/",
        "/studies/new/?way=plan&many=2",
        "/plan/",
        "/account/",
        "/accounts/password/change/",
        *(
            f"/studies/health-and-habits/{page}"
            for page in (
                "",
                "plan/",
                "build/",
                "rehearse/",
                "launch/",
                "collect/",
                "limits/",
                "people/",
            )
        ),
        "/studies/medicines-and-help/",
        "/studies/medicines-and-help/collect/",
        "/studies/medicines-and-help/collect/poster/en/",
        "/studies/medicines-and-help/preview/",
        "/studies/partners-and-drinking/",
        "/studies/partners-and-drinking/ask/",
        "/studies/partners-and-drinking/ask/synthetic/",
        "/studies/partners-and-drinking/ask/expression/",
        "/studies/partners-and-drinking/releases/4/",
        "/studies/health-and-habits/compare/",
        "/studies/health-and-habits/methods/",
        "/studies/health-and-habits/over-time/",
        "/limits/",
    ),
    "admin": (
        "/studies/",
        "/limits/",
        "/health/",
        "/studies/health-and-habits/limits/",
        "/studies/health-and-habits/limits/retire/",
        "/studies/health-and-habits/people/",
        "/admin/",
        "/admin/design/study/",
        "/admin/ledger/entry/",
    ),
}
ENGLISH = re.compile(r"[A-Za-z][a-z’']+(?:[ ,;:]+[A-Za-z][a-z’']+){2,}")  # three words in a row
# What is shown as it was written: code, English marked as such, a list of references, and the
# ledger in Django's admin.
VERBATIM = (
    "code, pre, script, style, template, [lang=en], [data-verbatim], #result_list td, "
    "#result_list th"
)
DJANGOS = {"Change or view list link"}  # a text of Django's own that has no Chinese yet
TEXTS = """(() => {
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const names = ['aria-label', 'placeholder', 'title', 'alt'];
  const named = (node) => names.flatMap((name) => node.getAttribute?.(name) ?? []);
  while (walk.nextNode()) {
    const holder = walk.currentNode.parentElement;
    if (holder.closest(VERBATIM)) continue;
    const raw = holder.localName === 'noscript'; // its text is its source
    const text = raw ? walk.currentNode.textContent.replace(/<[^>]*>/g, ' ') : walk.currentNode.textContent;
    found.push(text.replace(/\\s+/g, ' ').trim());
  }
  for (const node of document.querySelectorAll('body *:not([lang="en"] *)')) found.push(...named(node));
  return found.filter(Boolean);
})()""".replace("VERBATIM", repr(VERBATIM))


@pytest.fixture(scope="module")
def visitors(chromium: Browser, site: Site) -> Iterator[dict[str, Page]]:
    """A page of each role, signed in once."""
    contexts: list[BrowserContext] = []
    found = {}
    for role in PAGES:
        context = chromium.new_context(viewport=PHONE, base_url=site.base, bypass_csp=True)  # type: ignore[arg-type]
        contexts.append(context)
        found[role] = context.new_page()
        if role != "stranger":
            sign_in(found[role], role)
    yield found
    for context in contexts:
        context.close()


@pytest.mark.parametrize("role", PAGES)
def test_axe_finds_nothing_and_nothing_scrolls_sideways(visitors, role):
    page, found = visitors[role], []
    for address in PAGES[role]:
        page.set_viewport_size(PHONE)
        page.goto(address)
        found += complaints(page)
        found += too_wide(page, 320) + too_wide(page, 640)  # 640 px is 1280 at 200 %
    assert found == [], "\n".join(map(str, found))


@pytest.fixture(scope="module")
def studies_own(site: Site) -> list[str]:
    """The texts of all studies, drafts too, and of the admin's own log, longest first: they are in
    the language they were written in.
    """
    found: list[str] = site.python(
        "import json\n"
        "from django.contrib.admin.models import LogEntry\n"
        "from surveys.design.models import Plan, Question, Study\n"
        "def texts(x):\n"
        "    if isinstance(x, str): yield x\n"
        "    elif isinstance(x, dict): yield from (t for v in x.values() for t in texts(v))\n"
        "    elif isinstance(x, list): yield from (t for v in x for t in texts(v))\n"
        "rows = [list(m.objects.values()) for m in (Study, Question)]\n"
        "rows.append(list(LogEntry.objects.values_list('object_repr', flat=True)))\n"
        "print(json.dumps(sorted({t for r in [*rows, [json.loads(p.document) for p in Plan.objects.all()]] for "
        "t in texts(r)})))"
    )
    lines = {line.strip() for text in found for line in text.splitlines()}
    return sorted((line for line in lines if len(line) > 3), key=len, reverse=True)


@pytest.mark.parametrize("role", PAGES)
def test_no_page_has_a_text_left_in_english_when_read_in_chinese(visitors, role, site, studies_own):
    page, found = visitors[role], []
    page.context.add_cookies([{"name": "django_language", "value": "zh-hans", "url": site.base}])
    for address in PAGES[role]:
        page.goto(address)
        for text in page.evaluate(TEXTS):
            ours = text
            for own in studies_own:
                ours = ours.replace(own, "")
            if ENGLISH.search(ours) and ours not in DJANGOS:
                found.append((address, ours))
    page.context.clear_cookies(name="django_language")
    assert found == [], "\n".join(map(str, found))
