"""A respondent at a real browser, and a witness of everything that leaves it and of the key its
chance comes from.
"""

import datetime
import json
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, Request

from tests.waves import drawn

# Record the key that the page makes for its draws (32 bytes; a report's id has 16), and count
# violations of the policy.
WITNESS = """
window.candorKeys = [];
window.candorViolations = [];
const draw = crypto.getRandomValues.bind(crypto);
crypto.getRandomValues = (array) => {
  draw(array);
  if (array instanceof Uint8Array && array.length === 32) window.candorKeys.push([...array]);
  return array;
};
addEventListener('securitypolicyviolation', (event) => window.candorViolations.push(event.blockedURI));
"""
PHONE = {"width": 390, "height": 844}


@dataclass
class Visit:
    """One respondent's context: a browser without a past."""

    context: BrowserContext
    page: Page
    requests: list[Request] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    @property
    def bodies(self) -> list[str]:
        """Everything that left the page with a body, beacons too."""
        return [request.post_data for request in self.requests if request.post_data is not None]

    @property
    def violations(self) -> list[str]:
        found: list[str] = self.page.evaluate("window.candorViolations")
        return found

    def stand_still(self) -> None:
        """Stop the page's clock, which must be installed, an hour from now: nothing is due any
        more.
        """
        hour = datetime.timedelta(hours=1)
        self.page.clock.pause_at(datetime.datetime.now(datetime.UTC) + hour)

    def choose(self, text: str) -> None:
        self.page.locator("label.choice").get_by_text(text, exact=True).click()

    def go_on(self) -> None:
        self.page.get_by_role("button", name="Continue").click()

    def answer(self, *choices: str) -> None:
        """Start, answer every question, and stop at “Ready to send”."""
        self.page.locator("[data-do=start]").click()
        for number, choice in enumerate(choices, start=1):
            self.page.get_by_text(f"Question {number} of {len(choices)}").wait_for()
            self.choose(choice)
            self.go_on()
        self.page.get_by_role("heading", name="Ready to send").wait_for()

    def keep_note(self) -> None:
        """Have a line of what is sent stay on this device."""
        box = self.page.get_by_label("Keep a note on this device")
        assert not box.is_checked()
        box.check()

    def send(self, note: bool = False) -> dict[str, Any]:
        """Send, at once where the message would wait, with a note if asked for; return it."""
        if note:
            self.keep_note()
        self.page.get_by_role("button", name="Send my response").click()
        self.page.locator("h1:text-matches('Sent|waits')").wait_for()
        if self.page.get_by_role("heading", name="Your response waits a little").count():
            self.page.get_by_role("button", name="Send now").click()
        self.page.get_by_role("heading", name="Sent. Thank you.").wait_for()
        message: dict[str, Any] = json.loads(self.bodies[-1])
        return message

    def key(self) -> bytes:
        """Return the key that this page made: nothing in it can read the one that it keeps."""
        return bytes(self.page.evaluate("window.candorKeys.at(-1)"))

    def drawn(
        self, plan: dict[str, Any], *answers: tuple[str, int | list[int]], key: bytes | None = None
    ) -> dict[str, Any]:
        """Return what the Python twin makes of these true answers with this key, or the one this
        page made.
        """
        questions = {question["name"]: question for question in plan["questions"]}
        made = key or self.key()
        return {name: drawn(made, questions[name], answer) for name, answer in answers}


def visit(browser: Browser, viewport: dict[str, int] | None = None, **settings: Any) -> Visit:
    context = browser.new_context(viewport=viewport or PHONE, **settings)
    context.add_init_script(WITNESS)
    found = Visit(context, context.new_page())
    found.page.on("request", lambda request: found.requests.append(request))
    found.page.on(
        "console",
        lambda message: found.complaints.append(message.text) if message.type == "error" else None,
    )
    found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
    return found
