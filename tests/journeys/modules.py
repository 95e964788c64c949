"""A page in Chromium with the house's modules at hand, as they are shipped, and no server behind
it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, Route

HOUSE = Path(__file__).parent.parent.parent
# folders that the page may load from
OPEN = ("surveys/intake/static/intake/", "tests/browser/", "tests/bench/")
ORIGIN = "http://localhost"  # a secure context, as the real page is one


@contextmanager
def module_page(browser: Browser) -> Iterator[Page]:
    """Give a blank page whose origin is the house: `import('/tests/browser/replay.js')` loads
    that file.
    """
    context = browser.new_context()
    context.route("**/*", answer)
    page = context.new_page()
    page.goto(ORIGIN)
    yield page
    context.close()


def answer(route: Route) -> None:
    path = urlsplit(route.request.url).path.lstrip("/")
    if not path:
        route.fulfill(content_type="text/html", body="<!doctype html><title>Modules</title>")
    elif (
        path.startswith(OPEN)
        and path.endswith(".js")
        and ".." not in path
        and (HOUSE / path).is_file()
    ):
        route.fulfill(content_type="text/javascript", body=(HOUSE / path).read_text())
    else:
        route.fulfill(status=404, body="")
