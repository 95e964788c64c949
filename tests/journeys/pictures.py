"""Take the pictures of the README and docs/pictures.md: the main screens of the four people, in
both languages.

python -m tests.journeys.pictures [docs/pictures]
"""

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.journeys.conftest import QUIET
from tests.journeys.respondent import PHONE
from tests.journeys.site import Site, running_site
from tests.services import find_chromium

DESK = {"width": 1280, "height": 900}


@dataclass(frozen=True)
class Picture:
    """A screen: whose, where, how wide, and how much of it."""

    name: str
    address: str
    role: str = ""
    phone: bool = False
    whole: bool = False
    scheme: str = "light"


PICTURES = (
    Picture("respondent-welcome", "/s/sleep-and-work/", phone=True, whole=True),
    Picture("respondent-welcome-dark", "/s/sleep-and-work/", phone=True, whole=True, scheme="dark"),
    Picture("researcher-plan", "/studies/health-and-habits/plan/", role="researcher"),
    Picture("researcher-build", "/studies/exam-honesty/build/", role="researcher"),
    Picture("researcher-results", "/studies/health-and-habits/", role="researcher"),
    Picture("admin-limits", "/studies/exam-honesty/limits/", role="admin"),
    Picture("admin-health", "/health/", role="admin"),
    Picture("registry", "/registry/"),
    Picture("registry-study", "/registry/health-and-habits/"),
)
LANGUAGES = ("en", "zh-hans")
DRAFT = """
from surveys.design import services as design
from surveys.people import services as people
from surveys.people.models import Role, User
from tests.conftest import QUESTIONS, STUDY
study = design.draft_study(study={**STUDY, "expected": 800}, questions=QUESTIONS)
people.share(study=study, user=User.objects.get(username="researcher"), role=Role.OWNER)
print(study.pk)
"""


def take(folder: Path) -> None:
    """Take every picture in every language."""
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="candor-pictures-") as data,
        sync_playwright() as playwright,
        running_site(Path(data), CANDOR_DEMO="1") as site,
    ):
        site.python(DRAFT)
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=QUIET)
        for picture in PICTURES:
            for language in LANGUAGES:
                take_one(
                    browser, site, picture, language, folder / f"{picture.name}.{language}.png"
                )
        browser.close()


def take_one(browser: Browser, site: Site, picture: Picture, language: str, target: Path) -> None:
    context = browser.new_context(
        viewport=PHONE if picture.phone else DESK,  # type: ignore[arg-type]
        color_scheme=picture.scheme,  # type: ignore[arg-type]
        base_url=site.base,
    )
    page = context.new_page()
    if picture.role:
        sign_in(page, picture.role)
    context.add_cookies([{"name": "django_language", "value": language, "url": site.base}])
    page.goto(address_in(picture.address, language))
    page.wait_for_load_state("networkidle")
    page.screenshot(path=target, full_page=picture.whole)
    context.close()


def address_in(address: str, language: str) -> str:
    """A form's language is in its address; elsewhere the browser asks for it."""
    return f"{address}{language}/" if address.startswith("/s/") and language != "en" else address


def sign_in(page: Page, role: str) -> None:
    page.goto("/accounts/login/?next=/studies/")
    page.fill("#id_login", role)
    page.fill("#id_password", f"demo-{role}")
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/studies/")


if __name__ == "__main__":
    take(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures"))
