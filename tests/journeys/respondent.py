"""A respondent at a real browser, and a witness of everything that leaves it and of all chance it draws."""

import json
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, Request

from dpengine.local.channels import channel_from
from tests.vectors import replay

# Record the words that the page draws, in order (a report's id is drawn as bytes), and count violations of the policy.
WITNESS = """
window.candorWords = [];
window.candorViolations = [];
const draw = crypto.getRandomValues.bind(crypto);
crypto.getRandomValues = (array) => {
  draw(array);
  if (array instanceof Uint32Array) window.candorWords.push(...array);
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

    def choose(self, text: str) -> None:
        self.page.locator("label.choice").get_by_text(text, exact=True).click()

    def go_on(self) -> None:
        self.page.get_by_role("button", name="Continue").click()

    def answer(self, *choices: str) -> None:
        """Start, answer every question, and stop at “Ready to send”."""
        self.page.get_by_role("button", name="Start").click()
        for number, choice in enumerate(choices, start=1):
            self.page.get_by_text(f"Question {number} of {len(choices)}").wait_for()
            self.choose(choice)
            self.go_on()
        self.page.get_by_role("heading", name="Ready to send").wait_for()

    def send(self) -> dict[str, Any]:
        """Send; return the message."""
        self.page.get_by_role("button", name="Send these answers").click()
        self.page.get_by_role("heading", name="Sent").first.wait_for()
        message: dict[str, Any] = json.loads(self.bodies[-1])
        return message

    def drawn(self, plan: dict[str, Any], *answers: tuple[str, int]) -> dict[str, Any]:
        """Return what the Python twin makes of these true answers with the very words that this page drew."""
        words = replay(self.page.evaluate("window.candorWords"))
        channels = {question["name"]: channel_from(question["channel"]) for question in plan["questions"]}
        reports: dict[str, Any] = {}
        for name, answer in answers:
            reports[name] = channels[name].randomise(answer, words)
        return reports


def visit(browser: Browser, viewport: dict[str, int] | None = None, **settings: Any) -> Visit:
    context = browser.new_context(viewport=viewport or PHONE, **settings)
    context.add_init_script(WITNESS)
    found = Visit(context, context.new_page())
    context.set_default_timeout(10_000)
    found.page.on("request", lambda request: found.requests.append(request))
    found.page.on("console", lambda message: found.complaints.append(message.text) if message.type == "error" else None)
    found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
    return found
