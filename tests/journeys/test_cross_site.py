"""A page of another site, in a real browser, tries to have its visitor send reports. None is
taken.
"""

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest
from playwright.sync_api import Browser

from tests.journeys.conftest import OPEN
from tests.journeys.site import Site

# Every way that a page has of sending without asking first, and those for which its browser asks.
TRIES = """async ({ url, bodies }) => {
  const said = [];
  const attempt = async (name, act) => said.push([name, await act().then(String, (error) => error.name)]);
  const next = () => bodies.pop();
  const post = (how) => fetch(url, { method: 'POST', mode: 'no-cors', ...how }).then((answer) => answer.type);
  const text = { headers: { 'Content-Type': 'text/plain' } };
  const type = 'application/json';
  await attempt('text', () => post({ ...text, body: next() }));
  await attempt('bare', () => post({ body: next() }));
  await attempt('blob', () => post({ body: new Blob([next()]) }));
  await attempt('anonymous', () => post({ credentials: 'omit', referrerPolicy: 'no-referrer', body: next() }));
  await attempt('kept', () => post({ ...text, keepalive: true, body: next() }));
  await attempt('beacon', async () => navigator.sendBeacon(url, next()));
  await attempt('typed beacon', async () => navigator.sendBeacon(url, new Blob([next()], { type })));
  await attempt('json', () => post({ mode: 'cors', headers: { 'Content-Type': type }, body: next() }));
  await attempt('sandbox', () => new Promise((done) => {
    const frame = Object.assign(document.createElement('iframe'), { sandbox: 'allow-scripts' });
    const code = `fetch(${JSON.stringify(url)}, { method: 'POST', mode: 'no-cors', body: ${JSON.stringify(next())} })`;
    frame.srcdoc = `<script>${code}.finally(() => parent.postMessage(1, '*'))</` + 'script>';
    addEventListener('message', () => done('sent'), { once: true });
    document.body.append(frame);
  }));
  return said;
}"""
FORM = """({ url, body }) => {
  const form = Object.assign(document.createElement('form'), { method: 'post', enctype: 'text/plain', action: url });
  form.append(Object.assign(document.createElement('input'), { name: body.slice(0, -1) + ', "x":"', value: '"}' }));
  document.body.append(form);
  form.submit();
}"""
COUNT = f"""
import json
from surveys.intake.models import Receipt, Settled
parts = [each.objects.filter(plan__study__slug={OPEN!r}).values("id_digest") for each in (Receipt, Settled)]
print(json.dumps(parts[0].union(parts[1]).count()))  # at midnight they move
"""


class Elsewhere(BaseHTTPRequestHandler):
    page: ClassVar[bytes] = b"<!doctype html><title>Elsewhere</title><p>Free kittens."

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(self.page)

    def log_message(self, *words: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[int]:
    """Another server on this machine: its port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def bodies(served: bytes, plan: Any, start: int) -> list[str]:
    """Return sound reports, which the door takes from the form's own page."""
    digest = hashlib.sha256(served).hexdigest()
    answers = {question["name"]: _value(question["channel"]) for question in plan["questions"]}
    return [
        json.dumps({"plan": digest, "report_id": f"{start + number:032x}", "answers": answers})
        for number in range(10)
    ]


def _value(channel: dict[str, Any]) -> Any:
    return list(range(channel["size"])) if channel["kind"] == "subset" else 0


@pytest.mark.parametrize(
    ("host", "start"), [("127.0.0.1", 0xA00), ("localhost", 0xB00)], ids=["same-site", "cross-site"]
)
def test_a_page_of_another_origin_has_no_report_taken(
    chromium: Browser, site: Site, elsewhere: int, served: bytes, plan: Any, host: str, start: int
) -> None:
    url = f"{site.base}/api/v1/studies/{OPEN}/reports"
    ours = bodies(served, plan, start)
    before = site.python(COUNT)
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"http://{host}:{elsewhere}/")
    said = page.evaluate(TRIES, {"url": url, "bodies": ours[:9]})
    assert len(said) == 9
    page.wait_for_timeout(500)  # beacons leave when they like
    page.evaluate(FORM, {"url": url, "body": ours[9]})
    page.wait_for_url(url)
    assert dict(said)["json"] == "TypeError"
    assert site.python(COUNT) - before == 0, said
    context.close()


def test_the_same_report_from_a_page_of_this_site_is_taken(
    chromium: Browser, site: Site, served: bytes, plan: Any
) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{site.base}/promises/")
    post = """([url, body]) => fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body,
      referrerPolicy: 'no-referrer', credentials: 'omit' }).then((answer) => answer.status)"""
    url = f"{site.base}/api/v1/studies/{OPEN}/reports"
    assert page.evaluate(post, [url, bodies(served, plan, 0xC00)[0]]) == 201
    context.close()


def test_files_pages_and_errors_say_that_no_other_site_may_embed_them_and_browsers_understand(
    chromium: Browser, site: Site
) -> None:
    """The server of files stands before every view. A feature that a browser does not know is a
    complaint of it.
    """
    context = chromium.new_context(base_url=site.base)
    page = context.new_page()
    said: list[str] = []
    page.on(
        "console",
        lambda message: said.append(message.text) if "Permissions-Policy" in message.text else None,
    )
    for address in (
        "/static/candor/base.css",
        "/static/form/form.css",
        f"/s/{OPEN}/",
        "/accounts/login/",
        "/nowhere/",
    ):
        answer = page.goto(address)
        assert answer is not None
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert "camera=()" in answer.headers["permissions-policy"]
    context.close()
    assert said == []
