"""Accounts on a site that is no demo: from an admin's link to the first page, by keyboard alone;
keys; members.
"""

import re
import time
from collections.abc import Iterator

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from playwright.sync_api import Browser, Page

from tests.journeys.site import Site, running_site
from tests.journeys.test_accessibility import complaints

NARROW = {"width": 320, "height": 640}
PASSWORD = "quite a long password"
FOCUSED = """(() => {
  const at = document.activeElement;
  if (at.labels?.length) return `field ${at.labels[0].innerText}`;
  return at.matches('a, button, summary') ? at.textContent : '';
})()"""
SHARED = """
from surveys.design import services as design
from surveys.design.models import Study
from surveys.people import services
from surveys.people.models import Role
from tests.conftest import QUESTIONS, STUDY
study = Study.objects.filter(slug=STUDY["slug"]).first() or design.draft_study(study=STUDY, questions=QUESTIONS)
for name in ("olga", "otto"):
    user = services.ensure_user(username=name, password="quite a long password")
services.share(study=study, user=services.ensure_user(username="olga", password=""), role=Role.OWNER)
study.memberships.exclude(user__username="olga").delete()
print("true")
"""


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site as it is made first: no demo, no account."""
    with running_site(tmp_path_factory.mktemp("strict")) as found:
        assert found.python(SHARED)
        yield found


class Visitor:
    """Somebody with a keyboard only, on a narrow screen, whose every page must be without
    complaint.
    """

    def __init__(self, chromium: Browser, base: str, scheme: str = "light") -> None:
        self.context = chromium.new_context(viewport=NARROW, color_scheme=scheme, base_url=base)  # type: ignore[arg-type]
        self.page: Page = self.context.new_page()
        self.found: list[object] = []
        self.page.on(
            "console",
            lambda said: self.found.append(said.text) if "Content Security" in said.text else None,
        )

    def look(self) -> None:
        self.found += complaints(self.page)
        if self.page.evaluate("document.documentElement.scrollWidth") > NARROW["width"]:
            self.found.append((self.page.url, "wider than the screen"))

    def tab_to(self, text: str) -> None:
        """Tab until the focus is on what says so."""
        for _ in range(60):
            said = self.page.evaluate(FOCUSED)
            if text in said:
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"no way to {text!r} by keyboard on {self.page.url}")

    def type_into(self, label: str, text: str) -> None:
        self.tab_to(f"field {label}")
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)

    def enter(self) -> None:
        """Press Enter, and wait for the page it leads to."""
        with self.page.expect_navigation(wait_until="load"):
            self.page.keyboard.press("Enter")

    def press(self, name: str) -> None:
        self.tab_to(name)
        self.enter()

    def sign_in(self, name: str) -> None:
        self.page.goto("/accounts/login/")
        self.look()
        self.type_into("Name", name)
        self.type_into("Password", PASSWORD)
        self.enter()

    def say_again(self) -> None:
        """Give the password once more, where it is asked for."""
        if "/reauthenticate/" in self.page.url:
            self.look()
            self.type_into("Password", PASSWORD)
            self.enter()


def shown_by_app(key: str) -> str:
    """Return a code that holds for 15 seconds at least: it is looked at when it is sent."""
    if (left := 30 - time.time() % 30) < 15:
        time.sleep(left)
    return str(format_hotp_value(hotp_value(key, int(time.time()) // 30)))


def test_from_a_link_to_an_admin_s_first_page_by_keyboard(chromium: Browser, strict: Site) -> None:
    link = strict.manage("invite", "ada", "--admin", "--site", strict.base).strip()
    guest = Visitor(chromium, strict.base)
    page = guest.page
    page.goto(link)
    guest.look()
    guest.type_into("New password", "12345")
    guest.type_into("Repeat the password", "1234")
    guest.enter()
    page.get_by_role("alert").wait_for()
    guest.look()
    guest.type_into("New password", PASSWORD)
    guest.type_into("Repeat the password", PASSWORD)
    guest.enter()
    page.wait_for_url("**/account/second-factor/**")
    guest.look()
    guest.press("An authenticator app")
    guest.say_again()
    page.locator("svg.qr").wait_for()
    guest.look()
    key = page.locator("code.key").inner_text()
    guest.type_into("Code", "000000")
    guest.enter()
    page.get_by_role("alert").wait_for()
    guest.look()
    guest.type_into("Code", shown_by_app(key))
    guest.enter()
    page.get_by_text("Recovery codes").first.wait_for()
    guest.look()
    codes = page.locator(".codes code").all_inner_texts()
    assert len(codes) == 10
    for address in (
        "/account/",
        "/accounts/2fa/recovery-codes/generate/",
        "/accounts/2fa/totp/deactivate/",
        "/accounts/password/change/",
        "/accounts/logout/",
        "/accounts/2fa/reauthenticate/",
    ):
        page.goto(address)
        assert re.sub(r"\?.*", "", page.url) == strict.base + address
        guest.look()
    page.goto("/admin/")
    assert page.url == f"{strict.base}/admin/"
    page.goto("/account/")
    guest.press("Sign out")
    guest.sign_in("ada")
    assert "/2fa/authenticate/" in page.url
    guest.look()
    guest.type_into("Code", codes[0])
    guest.enter()
    page.wait_for_url("**/studies/")
    guest.context.close()
    assert guest.found == []


def test_a_key_is_added_and_opens_the_account_without_a_password(
    chromium: Browser, strict: Site
) -> None:
    guest = Visitor(chromium, strict.base.replace("127.0.0.1", "localhost"))
    page = guest.page
    devices = guest.context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    devices.send(
        "WebAuthn.addVirtualAuthenticator",
        {
            "options": {
                "protocol": "ctap2",
                "transport": "internal",
                "hasResidentKey": True,
                "hasUserVerification": True,
                "isUserVerified": True,
                "automaticPresenceSimulation": True,
            }
        },
    )
    guest.sign_in("otto")
    page.goto("/account/second-factor/")
    guest.look()
    guest.press("A security key or passkey")
    guest.say_again()
    guest.look()
    guest.tab_to("Make it a passkey")
    page.keyboard.press("Space")
    guest.tab_to("Add this key")
    guest.enter()
    page.wait_for_url("**/recovery-codes/")
    page.goto("/account/")
    page.get_by_text("Passkey: signs in without a password").wait_for()
    guest.look()
    for name in ("Rename", "Remove"):
        page.goto("/account/")
        guest.press(name)
        guest.say_again()
        guest.look()
    page.goto("/account/")
    guest.press("Sign out")
    for _ in range(
        6
    ):  # somebody guesses: the password is stopped, from here, and the passkey is not
        page.goto("/accounts/login/")
        page.fill("#id_login", "otto")
        page.fill("#id_password", "wrong")
        page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_text("Too many wrong tries from here").wait_for()
    guest.look()
    guest.press("Sign in with a passkey")
    page.wait_for_url("**/studies/")
    guest.context.close()
    assert guest.found == []


def test_a_key_where_a_browser_knows_none_is_told_why(chromium: Browser, strict: Site) -> None:
    """A site opened by its number has no name that a key could be bound to."""
    guest = Visitor(chromium, strict.base)
    guest.page.goto("/accounts/login/")
    guest.tab_to("Sign in with a passkey")
    guest.page.keyboard.press("Enter")
    guest.page.get_by_text("open it as localhost").wait_for()
    guest.look()
    guest.context.close()
    assert guest.found == []


def test_an_owner_adds_changes_and_removes_by_keyboard(chromium: Browser, strict: Site) -> None:
    guest = Visitor(chromium, strict.base)
    page = guest.page
    guest.sign_in("olga")
    page.goto("/studies/exam-honesty/people/")
    guest.look()
    guest.type_into("Name", "nobody")
    guest.enter()
    page.get_by_role("alert").wait_for()
    page.wait_for_function("document.activeElement.className === 'errors'")
    guest.look()
    guest.type_into("Name", "otto")
    guest.enter()
    page.get_by_text("otto is in the study now.").wait_for()
    guest.look()
    guest.press("Remove otto")
    page.get_by_role("button", name="Put otto back").wait_for()
    guest.look()
    guest.press("Put otto back")
    page.get_by_text("otto is back in the study.").wait_for()
    guest.press("Remove otto")
    guest.press("Remove olga")
    guest.look()
    guest.press("Leave it")
    page.get_by_text("the only owner").wait_for()
    guest.look()
    guest.context.close()
    assert guest.found == []


def test_the_pages_that_say_no(chromium: Browser, strict: Site) -> None:
    guest = Visitor(chromium, strict.base)
    for address in (
        "/accounts/signup/",
        "/accounts/password/reset/",
        "/account/invitation/broken/",
        "/accounts/password/reset/key/1-broken/",
        "/accounts/inactive/",
        "/accounts/password/reset/done/",
        "/accounts/password/reset/key/done/",
    ):
        guest.page.goto(address)
        guest.look()
    guest.context.close()
    assert guest.found == []


def test_a_phone_can_read_the_code_in_both_schemes(chromium: Browser, strict: Site) -> None:
    """Dark on light, whatever the page is: many phones read no other."""
    for scheme in ("light", "dark"):
        guest = Visitor(chromium, strict.base, scheme)
        guest.sign_in("olga")
        guest.page.goto("/accounts/2fa/totp/activate/")
        guest.say_again()
        colours = guest.page.eval_on_selector(
            ".qr-frame",
            "frame => [getComputedStyle(frame).backgroundColor, getComputedStyle(frame).color]",
        )
        assert colours == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]
        guest.context.close()
