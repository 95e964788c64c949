"""A list from its import to its response rate, in Chinese, by keyboard alone: owner and invited
person at real browsers, letters from a real server of letters, and the issuer a process with a key
and a database of its own.

A file is given to its field without the system's own dialog, which no test can drive; and a day
passes by moving what happened to the day before: the letter, so that a reminder may follow, and the
counts of the next midnight.
"""

import contextlib
import re
import signal
import subprocess
import sys

import pytest
from aiosmtpd.controller import Controller

from tests.doors import HOUSE, answers
from tests.journeys.site import own_environment, running_site
from tests.journeys.test_drafting import press, tab_to, type_into
from tests.journeys.test_invited import QUARTER, leave, new_guest, opened, posted
from tests.patience import PATIENCE, became
from tests.ports import free_port
from tests.surveys.invited.conftest import Sink

TOKEN = "a token of both, which nobody guesses"
DESK = {"width": 1280, "height": 900}
EACH = 30  # people of a stratum: fewer are refused
STRATA = ("文学院", "法学院")
FIRST = "p0.law@example.org"
SENTENCE = re.compile(r"[A-Za-z]{2,},? [a-z]{2,} [a-z]{2,}")  # of a text without a translation
DRAFT = """
import json
from surveys.design.drafts import new_draft
from surveys.people.models import Role
from surveys.people.services import ensure_user, share
texts = dict(
    title="考试诚信",
    organisation="明川学院",
    purpose="了解抄袭有多普遍。",
    contact="asks@example.org",
    language="zh-hans",
    is_invited=True,
    expected=60,
)
asked = dict(name="copied", kind="yes_no", text="您在考试中抄袭过吗", label="抄袭", epsilon=2)
study = new_draft(texts=texts, questions=[asked])
owner = ensure_user(username="olga", password="demo-researcher")
share(study=study, user=owner, role=Role.OWNER)
print(json.dumps(study.slug))
"""
YESTERDAY = """
import datetime
from django.db.models import F
from surveys.invited.models import Letter
Letter.objects.update(day=F("day") - datetime.timedelta(days=1))
print("true")
"""
TOMORROW = """
import datetime, json
from surveys.invited import services
from surveys.invited.models import Count
today = datetime.datetime.now(datetime.UTC).date()
counted = services.count_day(today=today + datetime.timedelta(days=1))
Count.objects.update(day=today)
print(json.dumps(counted))
"""


@pytest.fixture
def sink():
    own = Sink()
    own.server = Controller(own, hostname="127.0.0.1", port=free_port())
    own.server.start()
    yield own
    own.server.stop(no_assert=True)


@pytest.fixture
def site(tmp_path, bare, sink):
    """A site whose letters go to the sink, and whose issuer is elsewhere."""
    port = free_port()
    with (
        running_site(
            tmp_path / "site",
            bare,
            EMAIL_URL=f"smtp://127.0.0.1:{sink.server.port}",
            CANDOR_LETTERS_A_SECOND="0",
            ISSUER_URL=f"http://127.0.0.1:{port}",
            ISSUER_TOKEN=TOKEN,
        ) as found,
        issuer(tmp_path / "issuer", port, found.base),
    ):
        yield found


@contextlib.contextmanager
def issuer(folder, port, origin):
    folder.mkdir()
    environment = own_environment(folder) | {
        "CANDOR_PORT": str(port),
        "ISSUER_TOKEN": TOKEN,
        "ISSUER_ORIGIN": origin,
    }
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "issuer"],
            cwd=HOUSE,
            env=environment,
            stdout=output,
            stderr=output,
        )
    try:
        assert became(lambda: answers(port) or process.poll() is not None)
        assert process.poll() is None, log.read_text()
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)


def test_a_list_from_its_import_to_its_response_rate_in_chinese_by_keyboard(
    site, sink, chromium, tmp_path
):
    slug = site.python(DRAFT)
    owner = signed_in(chromium, site)
    imports(owner, tmp_path, slug)
    launches(owner, slug)
    writes(owner, slug, "invitation")
    site.wait_for(lambda: len(sink.letters) == 2 * EACH, "not all letters came")
    assert len(set(sink.to())) == 2 * EACH

    guest = new_guest(chromium, locale="zh-CN")
    link = link_in(sink, FIRST)
    answers_by(guest, link)
    is_refused_a_second_time(guest, link)
    assert guest.context.cookies() == []
    assert guest.violations == []

    sink.letters.clear()
    site.python(YESTERDAY)
    writes(owner, slug, "reminder")
    site.wait_for(lambda: len(sink.letters) >= 2 * EACH - 1, "not all reminders came")
    owner.goto(f"/studies/{slug}/list/letters/")
    site.wait_for(lambda: owner.reload() and states(owner) == 2 * ["已发送"], "one is not done")
    assert sink.to() == sorted(address(at) for at in range(2 * EACH) if address(at) != FIRST)

    assert len(site.python(TOMORROW)) == 1
    for place in (f"/studies/{slug}/", f"/registry/{slug}/"):
        owner.goto(place)
        table = owner.locator("section[aria-labelledby=came-of-list] tbody")
        in_chinese(owner)
        rows = [row.split("\t") for row in table.inner_text().splitlines()]
        assert rows == [["文学院", "30", "0 (0%)", "0", "0"], ["法学院", "30", "1 (3%)", "1", "0"]]
    assert owner.trouble == []


def address(at):
    return f"p{at // 2}.{'law' if at % 2 else 'arts'}@example.org"


def in_chinese(page):
    """See that a page is in Chinese and leaves nothing untranslated."""
    assert page.locator("html").get_attribute("lang") == "zh-hans"
    assert SENTENCE.findall(page.locator("body").inner_text()) == []


def goes(page, selector, where):
    """Press a link or a button, and be led there."""
    in_chinese(page)
    press(page, selector)
    page.wait_for_url(where)


def signed_in(chromium, site):
    context = chromium.new_context(viewport=DESK, base_url=site.base, locale="zh-CN")
    page = context.new_page()
    page.trouble = []
    page.on(
        "console", lambda said: page.trouble.append(said.text) if said.type == "error" else None
    )
    page.goto("/accounts/login/?next=/studies/")
    type_into(page, "#id_login", "olga")
    type_into(page, "#id_password", "demo-researcher")
    goes(page, "form:has(#id_password) button:not([type=button])", "**/studies/")
    return page


def imports(page, folder, slug):
    file = folder / "list.csv"
    rows = [f"{address(at)},学生{at},{STRATA[at % 2]}\n" for at in range(2 * EACH)]
    file.write_text("".join(["邮箱,姓名,分组\n", *rows]))
    goes(page, f"main th a[href*='/{slug}/']", f"**/{slug}/build/")
    previews(page)
    goes(page, "main a[href$='/list/']", "**/list/")
    tab_to(page, "#id_file")
    page.set_input_files("#id_file", file)
    press(page, "form[action$='/add/'] .button")
    page.get_by_role("status").wait_for()
    assert "30" in page.locator("table").first.inner_text()


def previews(page):
    """See the draft as invited people do, and come back."""
    press(page, "main a.small[href*='/preview/']")
    page.locator("[data-do=ticket]").wait_for()
    press(page, "[data-do=ticket]")
    page.locator("[data-do=start]:focus").wait_for()
    page.keyboard.press("Enter")
    page.locator("[data-question=copied]").wait_for()
    page.go_back()  # to the welcome
    page.go_back()
    page.wait_for_url("**/build/")


def launches(page, slug):
    goes(page, "main a[href$='/launch/']", "**/launch/")
    in_chinese(page)
    press(page, "main form .wide-button")
    page.locator("#open").wait_for()


def writes(page, slug, kind):
    page.goto(f"/studies/{slug}/launch/")
    goes(page, "main a.button[href$='/letters/']", "**/letters/")
    goes(page, f"main a[href$='/{kind}/']", f"**/{kind}/")
    in_chinese(page)
    press(page, "[name=do][value=look]")
    article = page.locator("article").inner_text()
    assert any(line.startswith("http") for line in article.splitlines())  # a line of its own
    goes(page, "[name=do][value=send]", "**/letters/")


def states(page):
    return page.locator("main article .badge").all_inner_texts()


def link_in(sink, who):
    (at,) = [at for at, letter in enumerate(sink.letters) if letter.rcpt_tos == [who]]
    letter = sink.read(at)
    (text,) = [
        part.get_content() for part in letter.walk() if part.get_content_type() == "text/plain"
    ]
    assert "学生" in text
    (link,) = re.findall(r"http\S+#\S+", text)
    return link


def answers_by(guest, link):
    """Fetch a ticket, answer, and let the moment come at which the message leaves."""
    page = guest.page
    opened(guest, link)
    says(guest, "您受到了邀请", "“法学院”")
    presses(guest, "[data-do=ticket]")
    page.locator("#invited:focus").get_by_text("您的凭证已到").wait_for()
    presses(guest, "[data-do=start]")
    presses(guest, "[data-question=copied] input", "Space")
    presses(guest, "main form .button:not(.plain)")
    presses(guest, "#stays", "Space")  # the note by which it is known a second time
    presses(guest, "[data-do=send]")
    page.locator("[data-do=send]").wait_for(state="detached")
    assert posted(guest, "/reports") == []
    leave(guest, 2 * QUARTER)  # of two groups
    page.get_by_role("heading", name="已发送").wait_for()


def is_refused_a_second_time(guest, link):
    """Open the letter again: there is no second ticket, and it is said why."""
    guest.page.goto("about:blank")
    guest.page.goto(link)
    says(guest, "您的设备回答过这些问题", "第二份会被拒绝")
    assert guest.page.get_by_text("掷两次").count() == 0  # nothing can be sent a second time
    presses(guest, "[data-do=ticket]")
    guest.page.get_by_text("已经有人凭您的邀请领取了凭证").wait_for()
    guest.page.locator("[data-do=ticket]:focus").wait_for()


def says(guest, *texts):
    """The page's script shows them when it has checked the Plan."""
    main = guest.page.locator("main")
    became(lambda: all(text in main.inner_text() for text in texts))
    assert [text for text in texts if text not in main.inner_text()] == []


def presses(guest, selector, key="Enter"):
    guest.page.locator(selector).first.wait_for()
    in_chinese(guest.page)
    press(guest.page, selector, key)
